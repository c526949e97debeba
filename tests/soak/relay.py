# SPDX-License-Identifier: Apache-2.0
"""One line of a guest, for several who listen and speak.

QEMU writes what the guest sends to a file. A socket would not do: a virtconsole
throws away what its socket has no room for, and says so to nobody. So the file
is all that the guest has sent, however late we are. The relay hands it on to
whoever is connected, and sends the guest whole lines of what these say. It can
also do to them what a full socket would: read nothing for a while, and then
throw away what would have found no room meanwhile.
"""

import os
import selectors
import socket
import threading
import time

PIECE = 65536
ROOM = 100000  # bytes that wait for who does not read; ends within a packet
TURN_S = 0.05


def listener(path):
    """A socket at (path), where nobody is any more."""
    if os.path.exists(path):
        os.unlink(path)
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    sock.bind(path)
    sock.listen()
    return sock


def fifo(path):
    """A named pipe at (path), open; writing to it never finds no reader."""
    if os.path.exists(path):
        os.unlink(path)
    os.mkfifo(path)
    return os.open(path, os.O_RDWR)


class Client:
    """Somebody who listens: what was not sent yet, and half a line."""

    def __init__(self, sock):
        sock.setblocking(False)
        self.sock = sock
        self.out = bytearray()
        self.said = b""

    def flush(self):
        """False: gone."""
        try:
            while self.out:
                del self.out[: self.sock.send(self.out[:PIECE])]
        except BlockingIOError:
            pass
        except OSError:
            return False
        return True


class Relay:
    """The guest's line is QEMU's `-chardev pipe,path=(line)`, of which only the
    way in is a pipe; others connect to (client_path). What these were sent is
    in the file (heard), too."""

    def __init__(self, line, client_path, heard):
        self.line = line
        self.client_path = client_path
        self.kept_path = line + ".out"
        self.heard_path = heard
        self.guest = fifo(line + ".in")
        with open(self.kept_path, "wb"):
            pass
        self.kept = open(self.kept_path, "rb", buffering=0)
        self.heard = open(heard, "wb")
        self.clients = []
        self.held_until = None
        self.thrown_away = 0  # bytes that are in no client's trace
        self.listener = listener(client_path)
        self.stopped = False
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def hold(self, seconds):
        """Reads nothing for that long."""
        self.held_until = time.monotonic() + seconds

    def held(self):
        return self.held_until is not None

    def say(self, data):
        """Sends (data) to the guest as it is."""
        os.write(self.guest, data)

    def stop(self):
        """Once the guest is gone: all that it has sent is handed on."""
        if self.held():
            self.held_until = 0.0
        self.stopped = True
        self.thread.join()

    def run(self):
        while True:
            stopped = self.stopped
            self.turn()
            if stopped:
                break
        for client in self.clients:
            client.sock.setblocking(True)
            client.flush()
            client.sock.close()
        self.listener.close()
        self.kept.close()
        self.heard.close()
        os.close(self.guest)

    def turn(self):
        """Does what there is to do."""
        with selectors.DefaultSelector() as selector:
            selector.register(self.listener, selectors.EVENT_READ, None)
            for client in self.clients:
                mask = selectors.EVENT_READ
                if client.out:
                    mask |= selectors.EVENT_WRITE
                selector.register(client.sock, mask, client)
            for key, _ in selector.select(TURN_S):
                if key.data is None:
                    self.clients.append(Client(self.listener.accept()[0]))
                else:
                    self.serve(key.data)
        if not self.held():
            self.hand_on()
        elif time.monotonic() >= self.held_until:
            self.throw_away()
            self.held_until = None

    def drop(self, client):
        client.sock.close()
        if client in self.clients:
            self.clients.remove(client)

    def hand_on(self):
        """All that has come by now."""
        while data := self.kept.read(PIECE):
            self.send(data)

    def throw_away(self):
        """What came while nobody read, but for the first of it."""
        self.send(self.kept.read(ROOM))
        at = self.kept.seek(0, os.SEEK_CUR)
        self.thrown_away += self.kept.seek(0, os.SEEK_END) - at

    def send(self, data):
        self.heard.write(data)
        for client in list(self.clients):
            client.out += data
            if not client.flush():
                self.drop(client)

    def serve(self, client):
        if not client.flush():
            self.drop(client)
            return
        try:
            data = client.sock.recv(PIECE)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self.drop(client)
            return
        lines = (client.said + data).split(b"\n")
        client.said = lines.pop()
        if lines:
            self.say(b"\n".join(lines) + b"\n")
