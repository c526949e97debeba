# SPDX-License-Identifier: Apache-2.0
"""Finds IPv4 packets in a capture that were sent more than once."""

import struct
from pathlib import Path

RECENT = 65536  # frames; after so many an identification may come again


def repeated(path, port):
    """(frames, messages): the TCP packets from (port) in a file of pcap, and
    those that are the same to the last bit, their identification included: a
    sender counts that up even where it sends data again."""
    data = Path(path).read_bytes()
    at, seen, number, frames, same = 24, {}, 0, 0, []
    while at + 16 <= len(data):
        (captured,) = struct.unpack_from("<8xI", data, at)
        frame = data[at + 16 : at + 16 + captured]
        at += 16 + captured
        number += 1
        if frame[12:14] != b"\x08\x00" or frame[23] != 6:
            continue
        tcp = 14 + 4 * (frame[14] & 15)
        if struct.unpack_from(">H", frame, tcp)[0] != port:
            continue
        frames += 1
        if number - seen.get(frame, -1000000) < RECENT:
            same.append(f"frame {number} repeats frame {seen[frame]}")
        seen[frame] = number
    return frames, same
