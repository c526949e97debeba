# SPDX-License-Identifier: Apache-2.0
"""The examples of --help and of the manual page, pasted into a shell."""

import os
import re
import socket
import threading
import time
from pathlib import Path

from harness.command import build_id, text_addresses
from harness.made_causal import causal
from harness.made_cpus import cpus, image
from harness.made_loop import loop
from harness.made_profile import profile
from harness.suite import check, given_time, run

FLAMEGRAPH = "/usr/share/perl5/Devel/NYTProf/flamegraph.pl"
MANUAL = "docs/man/parasite.1.scd"

#: in place of QEMU: sends the packets where its device would
QEMU = """\
#!/bin/sh
for word; do
    case $word in
    file,id=prof,path=*) cat packets >"${word#*path=}" ;;
    esac
done
"""

#: what is not tried: it needs a guest's RAM or a stub for GDB (suite/attach has
#: both), or does not end by itself
NOT_TRIED = re.compile(r"shm:|gdb:|^parasite open ")


def examples(text):
    """Commands in the lines of (text), those that go on in the next line with
    it."""
    found, rest = [], ""
    for line in text.splitlines():
        line = line.strip()
        if rest or re.match(r"parasite |nm ", line):
            rest += line
            if rest.endswith("\\"):
                rest += "\n"
            else:
                found.append(rest)
                rest = ""
    return found


def of_help(parasite, command):
    text = parasite(command, "--help").out
    return check.true(examples(text.partition("For example:")[2]))


def of_manual():
    text = Path(MANUAL).read_text(encoding="utf-8")
    return examples(text.partition("# EXAMPLES")[2].partition("\n# ")[0])


class Answering:
    """A guest at a socket: it sends packets, and answers each command, the
    first one later than the recordings last."""

    LATE_S = 1.2

    def __init__(self, family, address, packets):
        self.server = socket.socket(family)
        if family == socket.AF_UNIX:
            Path(address).unlink(missing_ok=True)
        self.server.bind(address)
        self.server.listen()
        self.packets = packets
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            try:
                line, _ = self.server.accept()
            except OSError:
                return
            with line:
                self.talk(line)

    def talk(self, line):
        try:
            line.sendall(self.packets)
            late = self.LATE_S
            while data := line.recv(4096):
                for command in data.decode().split("\n"):
                    if command:
                        time.sleep(late)
                        late = 0
                        line.sendall(f"\n#prof! ok {command}\n".encode())
        except OSError:
            pass

    def close(self):
        self.server.close()


class Port(Answering):
    """The profiler's port of a guest: it is asked by HTTP first."""

    def talk(self, line):
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            head += line.recv(1) or b"\r\n\r\n"
        line.sendall(
            b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: parasite\r\n\r\n"
        )
        super().talk(line)


class Vsock(Answering):
    """A virtual machine's socket, as Firecracker has it: asked for a port
    first."""

    def talk(self, line):
        asked = b""
        while not asked.endswith(b"\n"):
            asked += line.recv(1) or b"\n"
        line.sendall(b"OK 1024\n")
        super().talk(line)


#: what the traces of other commands need than samples of the image
STREAMS = (
    (
        re.compile(r"^parasite (tasks|timeline) | --wait "),
        lambda made: run(made.s.build / "host/make_tasks", 20000, 1).data,
    ),
    (re.compile(r"^parasite loop "), lambda _: loop(5)[0]),
    (re.compile(r"^parasite causal "), lambda _: causal(99)),
)
OF_CPUS = re.compile(r" --(irqs-off|latency|blame) ")
#: perf starts objdump for each function that has samples
OF_FEW = re.compile(r"\bperf annotate\b")
FEW = 9
OF_BOTH_SIDES = re.compile(r" inside\.trace outside\.trace ")


def make_both_sides(made, folder):
    """Traces of one guest."""
    for name, words in (("inside", ()), ("outside", ("outside",))):
        trace = folder / f"{name}.trace"
        made.parasite.record(trace, "-q", "-", data=profile(*words))


def few_functions(made):
    """A stream over some functions of the image."""
    addresses = made.s.work / "few"
    lines = text_addresses(made.image).splitlines()[:FEW]
    addresses.write_text("\n".join(lines) + "\n", encoding="ascii")
    return made.parasite.make_stream(
        *(2000, 1, addresses), BUILD_ID=build_id(made.image)
    )


def make_traces(made, folder, command):
    """Those that the command names."""
    if OF_BOTH_SIDES.search(command):
        make_both_sides(made, folder)
        return
    words, data = ("-k", made.image, made.packets), None
    if OF_CPUS.search(command):
        of_cpus = made.s.work / "cpus"
        of_cpus.mkdir(exist_ok=True)
        words, data = ("-k", image(of_cpus), "-"), cpus()
    if OF_FEW.search(command):
        data = few_functions(made)
        words = ("-k", made.image, "-")
    for commands, make in STREAMS:
        if commands.search(command):
            words, data = ("-",), make(made)
    for name in re.findall(r"\b(\w+\.trace)\b", command):
        made.parasite.record(folder / name, "-q", *words, data=data)


def work_folder(made):
    """With everything that the examples name."""
    s, folder = made.s, made.s.work / "examples"
    folder.mkdir(exist_ok=True)
    (folder / "packets").write_bytes(made.packets.read_bytes())
    (folder / "console.log").write_bytes(made.packets.read_bytes())
    programs = s.work / "programs"
    programs.mkdir(exist_ok=True)
    qemu = programs / "qemu-system-x86_64"
    qemu.write_text(QEMU)
    qemu.chmod(0o755)
    for link, path in (
        (folder / "image.elf", made.image),
        (programs / "parasite", made.parasite.path),
        (programs / "flamegraph.pl", FLAMEGRAPH),
    ):
        link.unlink(missing_ok=True)
        link.symlink_to(path)
    return folder, programs


def works(command, folder, env, ports):
    """In a shell; recordings are as short as the host allows."""
    seconds = (1, 4, 16) if " -d 10 " in command else (1,)
    given_time(lambda t: works_in(t, command, folder, env, ports), seconds)


def works_in(seconds, command, folder, env, ports):
    """Recordings take (seconds), and top ends."""
    for text, other in (
        (r" -d 10 ", f" -d {seconds} "),
        (r"^parasite top ", "parasite top -n 1 "),
        (r"--delay [0-9]+", "--delay 0.2"),
        (r"localhost:5555", f"localhost:{ports[0]}"),
        (r"localhost:9999", f"localhost:{ports[1]}"),
    ):
        command = re.sub(text, other, command)
    run("bash", "-c", f"set -o pipefail; {command}", cwd=folder, env=env)


def all_work(made, found, *where):
    check.true(found)
    for command in found:
        if not NOT_TRIED.search(command):
            make_traces(made, where[0], command)  # some are recorded over
            works(command, *where)


def test(made, commands):
    folder, programs = work_folder(made)
    env = {"PATH": f"{programs}:{os.environ['PATH']}", "HOME": folder}
    packets = made.packets.read_bytes()
    inside = os.open(folder, os.O_PATH)  # a socket's path must be short
    guests = [
        Answering(socket.AF_UNIX, f"/proc/self/fd/{inside}/{name}", packets)
        for name in ("stream.sock", "console.sock")
    ]
    guests.append(
        Vsock(socket.AF_UNIX, f"/proc/self/fd/{inside}/v.sock", packets)
    )
    guests += [
        kind(socket.AF_INET, ("localhost", 0), packets)
        for kind in (Answering, Port)
    ]
    ports = [guest.server.getsockname()[1] for guest in guests[-2:]]
    for name in commands:
        with made.s.test(f"the examples of {name} work"):
            all_work(made, of_help(made.parasite, name), folder, env, ports)
    with made.s.test("and those of the manual page"):
        all_work(made, of_manual(), folder, env, ports)
    for guest in guests:
        guest.close()
