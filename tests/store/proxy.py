# SPDX-License-Identifier: Apache-2.0
"""A proxy between a client of a store and its server, which spoils requests."""

import socket
import threading

PIECE = 65536


class Proxy:
    """Listens at (port); (spoil)(number of an insert) says what becomes of it:

    "pass"       it goes through
    "lose"       it is carried out, and its answer is not passed on
    "cut"        half of it is passed on, and then the connection ends
    "double"     it is carried out twice, and the second answer is passed on
    "late"       it is carried out, and the client gives up before the answer
    "hold"       it is passed on long after the client has given up: when
                 another insert, which may be the client's next try, has been
                 carried out

    (asked) are the requests that were no inserts."""

    def __init__(self, target, spoil):
        self.target, self.spoil = target, spoil
        self.count, self.asked = 0, []
        fates = ("pass", "lose", "cut", "double", "late", "hold")
        self.done = dict.fromkeys(fates, 0)
        self.carried = threading.Condition()  # of (passed)
        self.passed = 0
        self.held = []
        self.socket = socket.socket()
        self.socket.bind(("127.0.0.1", 0))
        self.socket.listen(16)
        self.port = self.socket.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for thread in self.held:
            thread.join()
        self.socket.close()

    def _accept(self):
        while True:
            try:
                client, _ = self.socket.accept()
            except OSError:
                return
            threading.Thread(
                target=self._serve, args=(client,), daemon=True
            ).start()

    def _serve(self, client):
        with client:
            try:
                while True:
                    request = read_message(client)
                    if not request or not self._carry_out(client, request):
                        return
            except OSError:
                return

    def _carry_out(self, client, request):
        """False: the client's connection is to end."""
        # only inserts are spoilt: others may be sent again by anybody
        fate = "pass"
        if b"query=INSERT" in request:
            self.count += 1
            fate = self.spoil(self.count)
        else:
            self.asked.append(request)
        self.done[fate] += 1
        if fate == "cut":
            with socket.create_connection(self.target) as server:
                server.sendall(request[: len(request) - len(request) // 3])
            return False
        if fate == "hold":
            thread = threading.Thread(
                target=self._hold, args=(request, self.passed)
            )
            self.held.append(thread)
            client.recv(1)  # it ends: the client waits no longer
            thread.start()
            return False
        answer = self._ask(request)
        if fate == "double":
            answer = self._ask(request)
        if fate == "late":
            client.recv(1)
        if fate in {"lose", "late"} or not answer:
            return False
        if fate != "pass" or b"query=INSERT" in request:
            with self.carried:
                self.passed += 1
                self.carried.notify_all()
        client.sendall(answer)
        return True

    def _hold(self, request, before):
        with self.carried:
            self.carried.wait_for(lambda: self.passed > before)
        self._ask(request)

    def _ask(self, request):
        try:
            with socket.create_connection(self.target) as server:
                server.sendall(request)
                return read_message(server)
        except OSError:
            return b""


def is_whole(body):
    """Whether the chunks of a body have come to their end."""
    at = 0
    while True:
        line = body.find(b"\r\n", at)
        if line < 0:
            return False
        count = int(body[at:line].split(b";")[0], 16)
        at = line + 2 + count + 2
        if count == 0 or at > len(body):
            return at <= len(body)


def read_message(stream):
    """A request or an answer with its body; b"" at the end."""
    data = b""
    while b"\r\n\r\n" not in data:
        piece = stream.recv(PIECE)
        if not piece:
            return b""
        data += piece
    head, _, body = data.partition(b"\r\n\r\n")
    lines = [line.partition(b":") for line in head.lower().split(b"\r\n")]
    words = {name.strip(): value.strip() for name, _, value in lines}
    if words.get(b"transfer-encoding") == b"chunked":
        while not is_whole(body):
            piece = stream.recv(PIECE)
            if not piece:
                return b""
            body += piece
    else:
        length = int(words.get(b"content-length", b"0"))
        while len(body) < length:
            piece = stream.recv(PIECE)
            if not piece:
                return b""
            body += piece
    return head + b"\r\n\r\n" + body
