# SPDX-License-Identifier: Apache-2.0
"""What one client may take of a server: time, and connections."""

import socket
from contextlib import ExitStack

import talk
from harness.suite import Failed, check, soon

MESSAGE_LATE = "HTTP/1.1 408 Request Timeout"
GET = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"
PER_ADDRESS = 3
REFUSALS = 16  # NET_REFUSALS of <kernel/net.h>
CROWD = PER_ADDRESS + REFUSALS + 20


def server(s, image, name, append, port):
    return s.guest(
        *(s.width, image, name),
        append=f"prof.start=off prof.every=0 {append}",
        forward=[port],
    )


def reach(guest, port):
    """The address of (port), once it answers."""
    address = "127.0.0.1", guest.port(port)
    talk.until_answered(address, GET)
    return address


def read_all(connection):
    """Up to the end or a reset, whatever comes first."""
    parts = []
    try:
        while parts[-1:] != [b""]:
            parts.append(talk.receive(connection))
    except ConnectionError:
        pass
    return b"".join(parts).decode()


# ---- time


def head_by_bytes(address):
    """A byte at a time, as long as the connection is open: it is ended before
    the head could become too long."""
    head = b"GET / HTTP/1.1\r\nHost: a\r\nX: " + 10000 * b"x"
    with talk.connect(address) as late:
        answer = ""
        for number in range(len(head)):
            try:
                late.send(head[number : number + 1])
                answer += late.recv(4096).decode()
                break
            except BlockingIOError:
                talk.pause(0.05)
            except ConnectionError:
                break
        answer += read_all(late)
    check.contains(answer, MESSAGE_LATE)
    check.contains(answer, "Connection: close")


def silent(address):
    with talk.connect(address) as client:
        check.same(read_all(client), "")


def idle_after_request(address):
    with talk.connect(address) as client:
        talk.send(client, GET)
        answer = read_all(client)
    check.contains(answer, "HTTP/1.1 200")
    check.contains(answer, "Connection: keep-alive")


def test_time(s):
    with server(s, "http", "late", "http.head=2 http.idle=2", 80) as guest:
        address = reach(guest, 80)
        for function in (head_by_bytes, silent, idle_after_request):
            s.holds(function, address)


# ---- connections


def crowd(address):
    """What CROWD connections at a time are heard, {text: how many}."""
    heard = {}
    with ExitStack() as all_of_them:
        clients = [
            all_of_them.enter_context(talk.connect(address))
            for _ in range(CROWD)
        ]
        for client in clients[PER_ADDRESS:]:
            text = read_all(client)
            heard[text] = heard.get(text, 0) + 1
        for client in clients[:PER_ADDRESS]:
            try:
                check.same(client.recv(1), None)
            except BlockingIOError:
                pass  # still open
    return heard


def refused(guest, address, text):
    def attempt():
        """Some connections get the answer, others are closed without one, if
        all came within a short time."""
        heard = crowd(address)
        check.true(any(text in each for each in heard), heard)
        check.true(heard.get("", 0) > 0, heard)
        return True

    soon(attempt, "a refusal without a word")
    guest.wait_line(
        rf"^net: 10\.0\.2\.2 refused: more than {PER_ADDRESS} connections "
        r"from one address \(net.per_address\)$"
    )


def served_again(address, ask, answer):
    def attempt():
        with talk.connect(address) as client:
            talk.send(client, ask)
            client.shutdown(socket.SHUT_WR)
            text = read_all(client)
        if answer not in text:
            raise Failed(text)
        return True

    soon(attempt, "an answer to the next client")


def test_address(s, image, port, ask, text, answer):
    append = f"net.per_address={PER_ADDRESS} http.idle=3600 http.head=3600"
    with server(s, image, image, append, port) as guest:
        address = reach(guest, port)
        s.holds(f"{image}: refused", refused, guest, address, text)
        s.holds(f"{image}: served again", served_again, address, ask, answer)


def test_limits(s):
    test_time(s)
    unavailable = "503 Service Unavailable"
    test_address(s, "http", 80, GET, unavailable, "HTTP/1.1 200")
    test_address(
        *(s, "irc", 6667, b"NICK a\r\nUSER u 0 * :A\r\nQUIT\r\n"),
        "ERROR :Closing Link: too many connections from your address",
        " 001 a ",
    )
