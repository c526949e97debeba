# SPDX-License-Identifier: Apache-2.0
"""One line of a guest, for several who listen and speak.

QEMU's end of a socket can be held by one process only. The relay holds it,
keeps all that comes in a file, hands it on to whoever is connected, and sends
the guest whole lines of what these say. It can also refuse to read for a
while: then the guest's way out fills up, as with a host that is busy.
"""

import os
import selectors
import socket
import threading
import time

PIECE = 65536
TURN_S = 0.05


def listener(path):
    """A socket at (path), where nobody is any more."""
    if os.path.exists(path):
        os.unlink(path)
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    sock.bind(path)
    sock.listen()
    return sock


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
    """Listens at (guest_path) for QEMU, at (client_path) for others; what the
    guest sends is appended to the file (kept)."""

    def __init__(self, guest_path, client_path, kept):
        self.client_path = client_path
        self.kept_path = kept
        self.kept = open(kept, "wb")
        self.kept_bytes = 0
        self.guest = None
        self.clients = []
        self.held_until = 0.0
        self.waiting = [listener(guest_path), listener(client_path)]
        self.stopped = False
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def hold(self, seconds):
        """Reads nothing for that long."""
        self.held_until = time.monotonic() + seconds

    def held(self):
        return time.monotonic() < self.held_until

    def say(self, data):
        """Sends (data) to the guest as it is."""
        self.guest.sendall(data)

    def stop(self):
        """Once the guest is gone: all that it has sent is kept."""
        self.held_until = 0.0
        self.stopped = True
        self.thread.join(30)
        self.kept.close()

    def run(self):
        while True:
            busy = self.turn()
            if self.stopped and (self.guest is None or not busy):
                break
        for client in self.clients:
            client.sock.close()

    def turn(self):
        """Does what there is to do; whether bytes came from the guest."""
        with selectors.DefaultSelector() as selector:
            for sock in self.waiting:
                selector.register(sock, selectors.EVENT_READ, self.accept)
            for client in self.clients:
                mask = selectors.EVENT_READ
                if client.out:
                    mask |= selectors.EVENT_WRITE
                selector.register(client.sock, mask, client)
            if self.guest is not None and not self.held():
                selector.register(self.guest, selectors.EVENT_READ, self.hear)
            busy = False
            for key, _ in selector.select(TURN_S):
                if key.data == self.accept:
                    self.accept(key.fileobj)
                elif key.data == self.hear:
                    busy = self.hear()
                else:
                    self.serve(key.data)
        return busy

    def accept(self, sock):
        connected, _ = sock.accept()
        if sock is self.waiting[0]:
            self.guest = connected
        else:
            self.clients.append(Client(connected))

    def drop(self, client):
        client.sock.close()
        if client in self.clients:
            self.clients.remove(client)

    def hear(self):
        try:
            data = self.guest.recv(PIECE)
        except OSError:
            data = b""
        if not data:
            self.guest.close()
            self.guest = None
            return False
        self.kept.write(data)
        self.kept.flush()
        self.kept_bytes += len(data)
        for client in list(self.clients):
            client.out += data
            if not client.flush():
                self.drop(client)
        return True

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
        if lines and self.guest is not None:
            self.guest.sendall(b"\n".join(lines) + b"\n")
