# SPDX-License-Identifier: Apache-2.0
"""An IRC server of a few lines that stands still for a while.

stalling_server.py PORT-FILE AT SECONDS: writes its port to PORT-FILE; AT
seconds after its first client it answers nobody for SECONDS.
"""
import asyncio
import sys
import time

port_file, stall_at, stall_seconds = sys.argv[1:]
stalls = False


async def client(reader, writer):
    global stalls
    if not stalls:
        stalls = True
        asyncio.get_running_loop().call_later(
            float(stall_at), time.sleep, float(stall_seconds)
        )
    while line := await reader.readline():
        word = line.split()[0]
        if word == b"USER":
            writer.write(b":s 001 x :Welcome\r\n:s 376 x :End\r\n")
        elif word == b"JOIN":
            writer.write(b":s 366 x #c :End\r\n")
        elif word == b"QUIT":
            break
    writer.close()


async def main():
    server = await asyncio.start_server(client, "127.0.0.1", 0, backlog=4096)
    with open(port_file, "w") as out:
        print(server.sockets[0].getsockname()[1], file=out)
    await server.serve_forever()


asyncio.run(main())
