# SPDX-License-Identifier: Apache-2.0
"""A stub for GDB that answers as no good stub does."""

import os
import socket
import struct
import tempfile
import threading
import time

STACK, CODE = 0x8000, 0x100000
CALLERS = 12
BYTES = 4096  # of memory, from STACK up


def packet(payload):
    data = payload.encode("latin-1") if isinstance(payload, str) else payload
    return b"$" + data + b"#%02x" % (sum(data) & 255)


def stack_bytes(begin=0):
    """Frames of CALLERS callers, (begin) bytes above STACK."""
    words = [0] * (begin // 8)
    for i in range(CALLERS):
        last = i == CALLERS - 1
        above = STACK + begin + 32 * (i + 1)
        words += [0 if last else above, CODE + 16 * (i + 1)]
        words += [0x2A7D2324, 0]  # bytes that need an escape
    return struct.pack(f"<{len(words)}Q", *words).ljust(BYTES, b"\0")


def registers(address=CODE, stack=STACK, frame=None):
    """What "g" answers: x86_64, as GDB expects without a description."""
    words = [0] * 16
    words[6], words[7] = stack if frame is None else frame, stack
    data = struct.pack("<17Q7I", *words, address, 2, 8, 8, 8, 8, 8, 8)
    return data.hex()


class Stub:
    """Serves one connection at a socket; target is what attach connects to.
    Use as a context manager. Subclasses change answer() and stopped()."""

    is_qemu = True
    lead = b""  # before every packet
    answers = {}  # by what packets begin with: texts, or function(self, words)

    def __init__(self):
        self.folder = tempfile.TemporaryDirectory(prefix="stub.")
        self.path = os.path.join(self.folder.name, "gdb")
        self.target = f"gdb:unix:{self.path}"
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.bind(self.path)
        self.socket.listen(1)
        self.peer, self.stops, self.running = None, 0, False
        self.detached = False
        self.memory = stack_bytes()
        self.thread = threading.Thread(target=self._serve, daemon=True)
        self.thread.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()
        if self.peer:
            self.close()
        self.thread.join(10)
        self.folder.cleanup()

    def close(self):
        try:
            self.peer.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass

    def send(self, payload):
        self.peer.sendall(self.lead + packet(payload))

    # ---- what may be changed

    def answer(self, words):
        """The answer to a packet, None for none at all."""
        for begin, answer in self.answers.items():
            if words.startswith(begin):
                return answer(self, words) if callable(answer) else answer
        known = {
            "qSupported": "PacketSize=1000" + self.features(),
            "QStartNoAckMode": "OK",
            "qfThreadInfo": "m01",
            "qsThreadInfo": "l",
            "vCont?": "vCont;c;C;s;S",
            "g": registers(),
            "D": "OK",
        }
        if words[:1] == "m":
            return self.read(*(int(w, 16) for w in words[1:].split(",")))
        if words[:1] == "H":
            return "OK"
        if words == "qqemu.sstepbits":
            return "ENABLE=1,NOIRQ=2,NOTIMER=4" if self.is_qemu else ""
        return known.get(words.split(":")[0], "")

    def features(self):
        return "" if self.is_qemu else ";QStartNoAckMode+"

    def read(self, address, count):
        if not STACK <= address + count <= STACK + len(self.memory):
            return "E14"
        start = max(address, STACK) - STACK
        if address < STACK:
            return (
                "00" * (STACK - address)
                + self.memory[: address + count - STACK].hex()
            )
        return self.memory[start : start + count].hex()

    def stopped(self):
        """The guest was stopped: what is said of it."""
        self.send("T02thread:01;")

    # ---- the protocol

    def _serve(self):
        try:
            self.peer, _ = self.socket.accept()
            if self.is_qemu:
                self.send("T02thread:01;")
            waiting = b""
            while data := self.peer.recv(4096):
                waiting = self._take(waiting + data)
        except OSError:
            pass

    def _take(self, data):
        while data:
            if data[:1] == b"$":
                end = data.find(b"#")
                if end < 0 or len(data) < end + 3:
                    break
                self._packet(data[1:end].decode("latin-1"))
                data = data[end + 3 :]
                continue
            if data[:1] == b"\x03" and self.running:
                self.running = False
                self.stops += 1
                self.stopped()
            data = data[1:]
        return data

    def _packet(self, words):
        if words in ("c", "vCont;c"):
            self.running = True
            return
        if words == "D":
            self.running = self.detached = True
        if not self.is_qemu:
            self.peer.sendall(b"+")
        answer = self.answer(words)
        if answer is not None:
            self.send(answer)


class Other(Stub):
    """No QEMU: several round trips."""

    is_qemu = False


class Binary(Stub):
    """Memory as bytes, and two CPUs."""

    is_qemu = False
    answers = {"qfThreadInfo": "m01,02", "m": "E01"}

    def features(self):
        return ";binary-upload+"

    def answer(self, words):
        if words[:1] == "x":
            digits = self.read(*(int(w, 16) for w in words[1:].split(",")))
            if digits[:1] == "E":
                return digits
            return b"b" + b"".join(
                bytes([0x7D, byte ^ 0x20]) if byte in b"$#}*" else bytes([byte])
                for byte in bytes.fromhex(digits)
            )
        return super().answer(words)


class Top(Stub):
    """Its stack ends where its memory does; reads beyond fail as a whole."""

    begin = BYTES - 32 * CALLERS
    failed = 0
    answers = {"g": registers(stack=STACK + begin)}

    def __init__(self):
        super().__init__()
        self.memory = stack_bytes(self.begin)

    def read(self, address, count):
        found = super().read(address, count)
        self.failed += found == "E14"
        return found


class Unknown(Stub):
    """All of its memory can be read, and an image is looked for in it."""

    reads = most = total = 0

    def read(self, address, count):
        self.reads += 1
        self.total += 1
        self.most = max(self.most, self.reads)
        return "00" * count

    def stopped(self):
        self.reads = 0
        super().stopped()


class Garbage(Stub):
    """Bytes that are no packets, and news that nobody asked for."""

    lead = b"\x00\xff++--}*junk" + b"%Stop:T05#2a"


class Slow(Stub):
    def late(self, _):
        time.sleep(0.02)
        return registers()

    answers = {"g": late}


class After(Stub):
    """Behaves for (good) stops."""

    good = 20

    def bad(self):
        return self.stops > self.good


class Stalls(After):
    def answer(self, words):
        return None if self.bad() else super().answer(words)


class Leaves(After):
    def answer(self, words):
        if self.bad():
            self.close()
            return None
        return super().answer(words)


class Exits(After):
    def stopped(self):
        if self.bad():
            self.send("W00")
        else:
            super().stopped()


class Lies(After):
    """Registers that are none."""

    def answer(self, words):
        if words == "g" and self.bad():
            return ("E01", "zz", "00", "OK")[self.stops % 4]
        return super().answer(words)


class Damages(After):
    """Wrong checksums."""

    def send(self, payload):
        if self.bad() and self.running is False and len(payload) > 100:
            self.peer.sendall(packet(payload)[:-2] + b"zz")
        else:
            super().send(payload)


class Tears(Stub):
    """Every third stop says in the middle that it has stopped again, and then
    has another address."""

    def answer(self, words):
        if self.stops % 3 == 2 and words[:1] in "gm":
            if words[:1] == "m":
                self.send("T05thread:01;")
            else:
                return registers(0xDEAD00)
        return super().answer(words)


class Floods(After):
    """Says without end that it has stopped."""

    def stopped(self):
        super().stopped()
        for _ in range(5000 * self.bad()):
            self.send("T05thread:01;")


class OneCpu(Stub):
    """Has two CPUs, and shows the first one only."""

    is_qemu = False
    answers = {"qfThreadInfo": "m01,02", "Hg01": "OK", "Hg": "E22"}


class OneQemuCpu(OneCpu):
    is_qemu = True


class KnowsNoChoice(OneCpu):
    answers = {**OneCpu.answers, "Hg": ""}


class OnlyCpu(OneCpu):
    """There is nothing to choose."""

    answers = {"Hg": ""}


# ---- stubs that never come to an end, until whoever asks has gone


class Endless(Stub):
    """Answers a part of the (slow) question, and then of no other."""

    slow = "qSupported"
    pause = 0.02  # so that it is not simply a flood

    def __init__(self):
        self.begun, self.gone = threading.Event(), threading.Event()
        super().__init__()

    def _packet(self, words):
        if not words.startswith(self.slow):
            super()._packet(words)
            return
        for _ in iter(int, 1):
            self.piece()
            self.begun.set()
            time.sleep(self.pause)

    def piece(self):
        self.send("O41")

    def _serve(self):
        super()._serve()
        self.gone.set()


class DripsNews(Endless):
    """Output of the guest, again and again."""


class DripsBytes(Endless):
    """An answer that does not end, a byte at a time."""

    def piece(self):
        self.peer.sendall(b"a" if self.begun.is_set() else b"$")


class DripsInStop(DripsBytes):
    """The same while the guest is stopped."""

    slow = "g"
    is_qemu = True


class DripsXml(Endless):
    """A description that comes by a byte in each packet."""

    is_qemu = False
    slow = None

    def features(self):
        return ";qXfer:features:read+"

    def _packet(self, words):
        Stub._packet(self, words)

    def answer(self, words):
        if words[:5] == "qXfer":
            self.begun.set()
            time.sleep(self.pause)
            return "m "
        return super().answer(words)


class NeverReads(Endless):
    """Takes the connection, and nothing from it."""

    def _serve(self):
        self.peer, _ = self.socket.accept()
        self.begun.set()
        time.sleep(1)
        while not self.gone.wait(0.1):
            if self.socket.fileno() < 0:
                break

    def __exit__(self, *words):
        self.gone.set()
        super().__exit__(*words)


class FloodsNews(Endless):
    """The same as fast as it can."""

    pause = 0

    def piece(self):
        self.peer.sendall(packet("O41") * 1000)


# ---- shared RAM


def description():
    """The registers that pages are found by, as XML."""
    names = ("rip", "rsp", "rbp", "cs", "eflags", "cr0", "cr3", "cr4", "efer")
    return "<target>%s</target>" % "".join(
        f'<reg name="{name}" bitsize="64"/>' for name in names
    )


class Ram(Stub):
    """A guest of 64 bits whose stack is above 4 GiB, in a sparse file of RAM
    that is split at (split)."""

    is_qemu = False
    split, size = 0x80000000, 5 << 30

    def __init__(self):
        super().__init__()
        self.reads = 0
        self.ram = os.path.join(self.folder.name, "ram")
        with open(self.ram, "wb") as out:
            out.truncate(self.size)
            for at, entry in ((0x1000, 0x2003), (0x2000, (1 << 32) | 0x83)):
                out.seek(at)
                out.write(struct.pack("<Q", entry))
            # a stack at each place where that page may be, and one is right
            for split in (0x80000000, 0xB0000000, 0xC0000000, 0xE0000000):
                out.seek(split + STACK)
                stack = bytearray(self.memory)
                if split != self.split:
                    stack[8:10] = b"\xef\xbe"
                out.write(stack)
            out.seek(self.split + STACK)
            out.write(self.memory)

    def features(self):
        return ";qXfer:features:read+"

    def answer(self, words):
        if words.startswith("qXfer:features:read:target.xml:0,"):
            return "l" + description()
        if words == "g":
            values = (CODE, STACK, STACK, 8, 0x202)
            values += (0x80000001, 0x1000, 0x20, 0x500)
            return struct.pack("<9Q", *values).hex()
        self.reads += words[:1] == "m"
        return super().answer(words)


class Pc(Ram):
    split = 0xC0000000


class Elsewhere(Ram):
    """As no machine of QEMU has it."""

    split = 0x40000000


class Cut(Ram):
    """Its file becomes shorter while the guest is stopped."""

    def answer(self, words):
        if words == "g" and self.stops == 20:
            os.truncate(self.ram, 0)
        return super().answer(words)


def zeros(_, words):
    """Memory that can be read everywhere."""
    return "00" * int(words.split(",")[1], 16)


class Wild(Stub):
    """Registers near the end of all addresses."""

    def near(self, _):
        return registers(2**64 - 1, 2**64 - 4 - self.stops % 16)

    answers = {"g": near, "m": zeros}


class Around(Stub):
    """A frame whose end is beyond the last address, and the stack's."""

    def code(self, words):
        count = int(words.split(",")[1], 16)
        return (struct.pack("<Q", CODE) * (count // 8 + 1))[:count].hex()

    answers = {"g": registers(stack=0, frame=2**64 - 8), "m": code}


class Inside(Stub):
    """Stands in a function that sets up a frame pointer, behind that."""

    code = b"\x55\x48\x89\xe5".ljust(256, b"\x90")
    answers = {"g": registers(CODE + 8)}

    def read(self, address, count):
        if CODE <= address and address + count <= CODE + len(self.code):
            return self.code[address - CODE :][:count].hex()
        return super().read(address, count)
