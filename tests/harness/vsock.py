# SPDX-License-Identifier: Apache-2.0
"""A virtio socket device for QEMU, as a vhost-user backend: the other end of
`-device vhost-user-vsock-pci`, whose queues are in memory that QEMU shares
with this process. The host needs no support for it.

Beyond it are sockets of the host, by Firecracker's convention (its
docs/vsock.md): who connects to (path) and sends "CONNECT PORT\\n" gets
"OK HOSTPORT\\n" and a connection to the guest's PORT, or is disconnected; the
guest's connections to port P of CID 2 arrive at the socket (path)_P.

Sources: QEMU's docs/interop/vhost-user.rst; Virtual I/O Device (VIRTIO)
Version 1.2, 2.7 and 5.10."""

import mmap
import os
import selectors
import shutil
import socket
import struct
import tempfile
import threading
from collections import Counter, deque
from contextlib import suppress
from dataclasses import dataclass, field

from . import progress

# requests of vhost-user
GET_FEATURES, SET_FEATURES, SET_OWNER, RESET_OWNER, SET_MEM_TABLE = range(1, 6)
SET_VRING_NUM, SET_VRING_ADDR, SET_VRING_BASE, GET_VRING_BASE = range(8, 12)
SET_VRING_KICK, SET_VRING_CALL, SET_VRING_ERR = range(12, 15)
GET_PROTOCOL_FEATURES, SET_PROTOCOL_FEATURES, GET_QUEUE_NUM = range(15, 18)
SET_VRING_ENABLE, GET_CONFIG, SET_CONFIG = 18, 24, 25

F_PROTOCOL_FEATURES, F_VERSION_1 = 1 << 30, 1 << 32
F_STREAM = 1
PROTOCOL_REPLY_ACK, PROTOCOL_CONFIG = 1 << 3, 1 << 9
NEED_REPLY = 8

RX, TX = 0, 1  # queues; the third, of events, is QEMU's own
QUEUES = 3

# packets
HEADER = struct.Struct("<QQIIIHHIII")
REQUEST, RESPONSE, RST, SHUTDOWN, RW, CREDIT_UPDATE, CREDIT_REQUEST = range(
    1, 8
)
STREAM = 1
HOST = 2  # its CID
FIRST_PORT = 1 << 30
ROOM = 65536  # for what the guest sends on one connection
UPDATE = 4096  # bytes forwarded, not advertised yet
LINE = 32  # bytes of CONNECT, at most


@dataclass
class Packet:
    """One packet; addresses are (CID, port)."""

    source: tuple
    target: tuple
    op: int
    data: bytes = b""
    flags: int = 0
    room: int = ROOM
    forwarded: int = 0
    type: int = STREAM
    length: int | None = None  # another one than that of the data

    def pack(self):
        length = len(self.data) if self.length is None else self.length
        head = HEADER.pack(
            *(self.source[0], self.target[0], self.source[1], self.target[1]),
            *(length, self.type, self.op, self.flags),
            *(self.room, self.forwarded & 0xFFFFFFFF),
        )
        return head + self.data

    @staticmethod
    def unpack(data):
        (
            src,
            dst,
            sport,
            dport,
            length,
            kind,
            op,
            flags,
            room,
            forwarded,
        ) = HEADER.unpack_from(data)
        rest = data[HEADER.size : HEADER.size + length]
        return Packet(
            *((src, sport), (dst, dport), op, rest, flags, room, forwarded),
            *(kind, length),
        )


class Memory:
    """The guest's memory."""

    def __init__(self):
        self.regions = []

    def set(self, table, files):
        self.close()
        for i, file in enumerate(files):
            guest, size, user, offset = struct.unpack_from(
                "<QQQQ", table, 8 + 32 * i
            )
            view = mmap.mmap(file, size + offset)
            os.close(file)
            self.regions.append((guest, user, size, offset, view))

    def close(self):
        for region in self.regions:
            region[4].close()
        self.regions = []

    def _find(self, address, size, column):
        for region in self.regions:
            at = address - region[column]
            if 0 <= at and at + size <= region[2]:
                return region[4], at + region[3]
        raise ValueError(f"{size} bytes at {address:#x} are no memory")

    def guest(self, address, size):
        """(map, offset) of the guest's (address)."""
        return self._find(address, size, 0)

    def user(self, address, size):
        """The same of an address in QEMU's process."""
        return self._find(address, size, 1)


class Queue:
    """A split queue, as the device sees it."""

    def __init__(self, memory):
        self.memory = memory
        self.size = self.next = 0
        self.tables = None  # descriptors, available, used: (map, offset)
        self.kick = self.call = None

    def set_tables(self, payload):
        _, _, descriptors, used, available, _ = struct.unpack(
            "<IIQQQQ", payload
        )
        self.tables = (
            self.memory.user(descriptors, 16 * self.size),
            self.memory.user(available, 6 + 2 * self.size),
            self.memory.user(used, 6 + 8 * self.size),
        )

    def ready(self):
        return self.tables is not None and self.kick is not None

    def _index(self, table):
        view, at = self.tables[table]
        return struct.unpack_from("<H", view, at + 2)[0]

    def take(self):
        """The next chain, (head, [(address, bytes, written)]), or None."""
        if not self.ready() or self._index(1) == self.next:
            return None
        view, at = self.tables[1]
        head = struct.unpack_from(
            "<H", view, at + 4 + 2 * (self.next % self.size)
        )[0]
        self.next = (self.next + 1) & 0xFFFF
        parts, each = [], head
        while True:
            view, at = self.tables[0]
            address, size, flags, following = struct.unpack_from(
                "<QIHH", view, at + 16 * each
            )
            parts.append((address, size, flags & 2 != 0))
            if flags & 1 == 0:
                return head, parts
            each = following

    def give(self, head, written):
        """Returns a chain as used, and interrupts the guest if it wants."""
        view, at = self.tables[2]
        index = self._index(2)
        struct.pack_into(
            "<II", view, at + 4 + 8 * (index % self.size), head, written
        )
        struct.pack_into("<H", view, at + 2, (index + 1) & 0xFFFF)
        flags = struct.unpack_from("<H", *self.tables[1])[0]
        if self.call is not None and flags & 1 == 0:
            os.eventfd_write(self.call, 1)


@dataclass
class Connection:
    """One of the guest's, and the socket that it leads to."""

    key: tuple  # (the guest's port, ours)
    file: socket.socket
    state: str = "open"  # or "asked", of the guest
    reads: bool = True
    unsent: bytearray = field(default_factory=bytearray)
    forwarded: int = 0  # bytes of the guest's
    advertised: int = 0
    sent: int = 0  # bytes to the guest
    peer_room: int = 0
    peer_forwarded: int = 0
    ends: bool = False  # when all is written

    def credit(self):
        flight = (self.sent - self.peer_forwarded) & 0xFFFFFFFF
        return max(0, self.peer_room - flight)


class VsockDevice:
    """The device; QEMU gets `args()`. Use as a context manager. QEMU may end,
    and another come: the connections of its guest end with it.

    (cid) is the guest's, (room) what the guest may send on a connection
    before it is forwarded.

    `path` is the socket for clients. `packets` are all that were exchanged, as
    ("guest" or "host", Packet).
    `inject()` sends any packet to the guest. With `holds` set, what the guest
    sends is not forwarded, as with a reader that has stopped.
    """

    def __init__(self, cid=3, room=ROOM):
        self.folder = tempfile.mkdtemp(prefix="vsock.")  # a short path
        self.path, self.cid = f"{self.folder}/v.sock", cid
        self.room = room
        self.backend = f"{self.folder}/vhost.sock"
        self.memory = Memory()
        self.queues = [Queue(self.memory) for _ in range(QUEUES)]
        self.packets, self.problems = [], []
        self.connections = {}
        self.waiting = deque()  # packets for the guest
        self.next_port = FIRST_PORT
        self.holds = False
        self.orders = deque()  # of other threads
        self.selector = selectors.DefaultSelector()
        self.wake = os.eventfd(0, os.EFD_NONBLOCK)
        self.over = False
        self.qemu = None

    # ---- its life

    def args(self, memory=128, device="vhost-user-vsock-pci"):
        """The words for QEMU that make the device; (device) as QEMU names it:
        a machine without PCI has vhost-user-vsock-device."""
        return [
            *(
                "-object",
                f"memory-backend-memfd,id=ram,size={memory}M,share=on",
            ),
            *("-machine", "memory-backend=ram"),
            *("-chardev", f"socket,id=vsock,path={self.backend}"),
            *("-device", f"{device},chardev=vsock"),
        ]

    def __enter__(self):
        self.servers = [
            self._listen(self.backend, self._accept_qemu),
            self._listen(self.path, self._accept_host),
        ]
        self.selector.register(self.wake, selectors.EVENT_READ, self._obey)
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()
        return self

    def __exit__(self, *_):
        self._order(self._stop)
        self.thread.join()
        for server in self.servers:
            server.close()
        for connection in list(self.connections.values()):
            connection.file.close()
        if self.qemu:
            self.qemu.close()
        self.memory.close()
        os.close(self.wake)
        self.selector.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _stop(self):
        self.over = True

    def _listen(self, path, accept):
        server = socket.socket(socket.AF_UNIX)
        server.bind(path)
        server.listen(16)
        self.selector.register(server, selectors.EVENT_READ, accept)
        return server

    def _order(self, what):
        self.orders.append(what)
        os.eventfd_write(self.wake, 1)

    def _obey(self, _):
        os.eventfd_read(self.wake)
        while self.orders:
            self.orders.popleft()()

    def _run(self):
        while not self.over:
            for key, _ in self.selector.select():
                try:
                    key.data(key.fileobj)
                except Exception as problem:  # a test must not hang of it
                    self.problems.append(repr(problem))
            self._pump()

    # ---- for tests

    def inject(self, packet):
        """Sends (packet) to the guest, whatever it is."""
        self._order(lambda: self._send(packet))

    def go_on(self):
        """Forwards again what `holds` has held."""

        def resume():
            self.holds = False
            for connection in list(self.connections.values()):
                self._write(connection)
                self._packet(connection.key, CREDIT_UPDATE)

        self._order(resume)

    def target(self, port=9999):
        """The guest's port, as the command names it."""
        return f"vsock:{self.path}:{port}"

    def connect(self, port):
        """A client's socket, and the answer to CONNECT: b"" is none."""
        client = socket.socket(socket.AF_UNIX)
        client.settimeout(progress.WAIT_S)
        client.connect(self.path)
        client.sendall(b"CONNECT %d\n" % port)
        answer = b""
        while not answer.endswith(b"\n"):
            byte = client.recv(1)
            if not byte:
                break
            answer += byte
        return client, answer

    def count(self, who, op):
        """Packets of (who), "guest" or "host"."""
        return sum(1 for w, p in list(self.packets) if w == who and p.op == op)

    def counts(self):
        return Counter((who, packet.op) for who, packet in list(self.packets))

    def last(self, who, op):
        """The last packet of this kind, or None."""
        found = [p for w, p in list(self.packets) if w == who and p.op == op]
        return found[-1] if found else None

    # ---- QEMU

    def _accept_qemu(self, server):
        self.qemu, _ = server.accept()
        self.selector.register(
            self.qemu, selectors.EVENT_READ, self._serve_qemu
        )

    def _exactly(self, count):
        data = b""
        while len(data) < count:
            piece = self.qemu.recv(count - len(data))
            if not piece:
                raise EOFError
            data += piece
        return data

    def _serve_qemu(self, file):
        data, files, _, _ = socket.recv_fds(file, 12, 16)
        if not data:
            self._lose_qemu()
            return
        data += self._exactly(12 - len(data))
        request, flags, size = struct.unpack("<III", data)
        payload = self._exactly(size)
        answer = self._request(request, payload, files)
        if answer is None and flags & NEED_REPLY:
            answer = struct.pack("<Q", 0)
        if answer is not None:
            file.sendall(struct.pack("<III", request, 5, len(answer)) + answer)

    def _lose_qemu(self):
        self.selector.unregister(self.qemu)
        self.qemu.close()
        self.qemu = None
        for queue in self.queues:
            self._set_kick(queue, None)
            queue.tables = None
        for connection in list(self.connections.values()):
            self._drop(connection)
        self.waiting.clear()

    def _request(self, request, payload, files):
        number = struct.unpack("<Q", payload)[0] if len(payload) == 8 else 0
        if request == GET_FEATURES:
            return struct.pack(
                "<Q", F_STREAM | F_VERSION_1 | F_PROTOCOL_FEATURES
            )
        if request == GET_PROTOCOL_FEATURES:
            return struct.pack("<Q", PROTOCOL_CONFIG | PROTOCOL_REPLY_ACK)
        if request == GET_QUEUE_NUM:
            return struct.pack("<Q", QUEUES)
        if request == GET_CONFIG:
            offset, size, _ = struct.unpack_from("<III", payload)
            config = struct.pack("<Q", self.cid)[offset : offset + size]
            return payload[:12] + config.ljust(len(payload) - 12, b"\0")
        if request == SET_MEM_TABLE:
            self.memory.set(payload, files)
        elif request in (SET_VRING_KICK, SET_VRING_CALL, SET_VRING_ERR):
            self._set_file(request, number, files)
        elif request in (SET_VRING_NUM, SET_VRING_BASE, GET_VRING_BASE):
            return self._set_number(request, *struct.unpack("<II", payload))
        elif request == SET_VRING_ADDR:
            self.queues[payload[0]].set_tables(payload)
        return None

    def _set_number(self, request, index, value):
        queue = self.queues[index]
        if request == SET_VRING_NUM:
            queue.size = value
        elif request == SET_VRING_BASE:
            queue.next = value
        else:  # it stops
            self._set_kick(queue, None)
            queue.tables = None
            return struct.pack("<II", index, queue.next)
        return None

    def _set_kick(self, queue, file):
        if queue.kick is not None:
            self.selector.unregister(queue.kick)
            os.close(queue.kick)
        queue.kick = file
        if file is not None:
            self.selector.register(file, selectors.EVENT_READ, self._kicked)

    def _set_file(self, request, number, files):
        queue = self.queues[number & 0xFF]
        file = files[0] if files else None
        if request == SET_VRING_KICK:
            self._set_kick(queue, file)
        elif request == SET_VRING_CALL:
            if queue.call is not None:
                os.close(queue.call)
            queue.call = file
        elif file is not None:
            os.close(file)

    def _kicked(self, file):
        with suppress(BlockingIOError):
            os.eventfd_read(file)

    # ---- packets

    def _pump(self):
        while chain := self.queues[TX].take():
            head, parts = chain
            data = b""
            for address, size, _ in parts:
                view, at = self.memory.guest(address, size)
                data += view[at : at + size]
            self.queues[TX].give(head, 0)
            packet = Packet.unpack(data)
            self.packets.append(("guest", packet))
            self._take(packet)
        while self.waiting and (chain := self.queues[RX].take()):
            self._fill(chain, self.waiting.popleft().pack())

    def _fill(self, chain, data):
        head, parts = chain
        written = 0
        for address, size, _ in parts:
            piece = data[written : written + size]
            view, at = self.memory.guest(address, len(piece))
            view[at : at + len(piece)] = piece
            written += len(piece)
        self.queues[RX].give(head, written)

    def _send(self, packet):
        self.packets.append(("host", packet))
        self.waiting.append(packet)

    def _packet(self, key, op, data=b"", flags=0):
        connection = self.connections.get(key)
        forwarded = connection.forwarded if connection else 0
        if connection:
            connection.advertised = forwarded
            connection.sent += len(data)
        self._send(
            Packet(
                *((HOST, key[1]), (self.cid, key[0]), op, data, flags),
                room=self.room,
                forwarded=forwarded,
            )
        )

    def _take(self, packet):
        key = (packet.source[1], packet.target[1])
        connection = self.connections.get(key)
        if packet.target[0] != HOST or packet.source[0] != self.cid:
            self.problems.append(f"a packet of or to a stranger: {packet}")
        elif connection is None:
            self._take_unknown(key, packet)
        else:
            connection.peer_room = packet.room
            connection.peer_forwarded = packet.forwarded
            self._take_known(connection, packet)

    def _take_unknown(self, key, packet):
        if packet.op == REQUEST:
            self._call_host(key, packet)
        elif packet.op != RST:
            self._packet(key, RST)

    def _call_host(self, key, packet):
        file = socket.socket(socket.AF_UNIX)
        try:
            file.connect(f"{self.path}_{key[1]}")
        except OSError:
            file.close()
            self._packet(key, RST)
            return
        connection = self._add(key, file)
        connection.peer_room = packet.room
        self._packet(key, RESPONSE)

    def _add(self, key, file, state="open"):
        file.setblocking(False)
        connection = Connection(key, file, state)
        self.connections[key] = connection
        self._watch(connection)
        return connection

    def _watch(self, connection):
        """What its socket is waited for."""
        wanted = 0
        if connection.state == "open" and connection.reads:
            wanted |= selectors.EVENT_READ
        if connection.unsent and not self.holds:
            wanted |= selectors.EVENT_WRITE
        with suppress(KeyError):
            self.selector.unregister(connection.file)
        if wanted:
            self.selector.register(
                connection.file, wanted, lambda _: self._serve(connection)
            )

    def _take_known(self, connection, packet):
        op = packet.op
        if op == RESPONSE and connection.state == "asked":
            connection.state = "open"
            connection.file.sendall(b"OK %d\n" % connection.key[1])
        elif op == RST:
            self._drop(connection)
            return
        elif op == RW:
            connection.unsent += packet.data
            if len(connection.unsent) > self.room:
                self.problems.append("the guest sent beyond its credit")
            self._write(connection)
        elif op == SHUTDOWN:
            connection.ends = connection.ends or packet.flags == 3
            self._write(connection)
        elif op == CREDIT_REQUEST:
            self._packet(connection.key, CREDIT_UPDATE)
        elif op != CREDIT_UPDATE:
            self.problems.append(f"unexpected: {packet}")
        if connection.key in self.connections:
            connection.reads = connection.credit() > 0
            self._watch(connection)

    def _serve(self, connection):
        if connection.unsent:
            self._write(connection)
        if connection.key in self.connections and connection.reads:
            self._read(connection)

    def _read(self, connection):
        try:
            data = connection.file.recv(min(1024, connection.credit()))
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if data:
            self._packet(connection.key, RW, data)
            connection.reads = connection.credit() > 0
            self._watch(connection)
        else:  # the host has closed it; the guest confirms that by a reset
            connection.reads = False
            self._packet(connection.key, SHUTDOWN, flags=3)
            self._watch(connection)

    def _write(self, connection):
        """What the guest has sent goes to the host, as far as it can."""
        try:
            while connection.unsent and not self.holds:
                count = connection.file.send(
                    connection.unsent, socket.MSG_NOSIGNAL
                )
                del connection.unsent[:count]
                connection.forwarded += count
        except BlockingIOError:
            pass
        except OSError:
            connection.forwarded += len(connection.unsent)
            connection.unsent.clear()
        if connection.ends and not connection.unsent:
            self._packet(connection.key, RST)
            self._drop(connection)
            return
        if connection.forwarded - connection.advertised >= UPDATE:
            self._packet(connection.key, CREDIT_UPDATE)
        self._watch(connection)

    def _drop(self, connection):
        with suppress(KeyError):
            self.selector.unregister(connection.file)
        connection.file.close()
        self.connections.pop(connection.key, None)

    # ---- connections of the host's

    def _accept_host(self, server):
        file, _ = server.accept()
        line = bytearray()
        self.selector.register(
            file, selectors.EVENT_READ, lambda f: self._connect(f, line)
        )

    def _connect(self, file, line):
        byte = file.recv(1)
        line += byte
        if byte and byte != b"\n" and len(line) < LINE:
            return
        self.selector.unregister(file)
        word, _, port = bytes(line).partition(b" ")
        if (
            word != b"CONNECT" or not port.strip().isdigit() or not self.qemu
        ):  # no guest, as with a hypervisor that has ended
            file.close()
            return
        key = (int(port), self.next_port)
        self.next_port += 1
        self._add(key, file, "asked")
        self._packet(key, REQUEST)
