# SPDX-License-Identifier: Apache-2.0
"""Looks for IPv4 packets of a server's that were sent more than once.

twice.py FILE.pcap [PORT]: exits with 1 if two TCP packets from PORT (6667) are
the same to the last bit, their identification included: a sender counts that
up even where it sends data again.
"""
import struct
import sys

data = open(sys.argv[1], "rb").read()
port = int(sys.argv[2]) if len(sys.argv) > 2 else 6667
at = 24
seen = {}
number = same = frames = 0
while at + 16 <= len(data):
    captured, = struct.unpack_from("<8xI", data, at)
    frame = data[at + 16:at + 16 + captured]
    at += 16 + captured
    number += 1
    if frame[12:14] != b"\x08\x00" or frame[23] != 6:
        continue
    tcp = 14 + 4 * (frame[14] & 15)
    if struct.unpack_from(">H", frame, tcp)[0] != port:
        continue
    frames += 1
    if number - seen.get(frame, -1000000) < 65536:
        same += 1
        print(f"frame {number} is frame {seen[frame]} once more")
    seen[frame] = number
print(f"{frames} frames from port {port}, {same} of them twice")
sys.exit(same > 0 or frames == 0)
