# SPDX-License-Identifier: Apache-2.0
"""linux.py BUILD OUT: boots Debian's Linux kernel, with one process that keeps
it busy, and samples it from outside: the trace goes to OUT. `make linux` runs
it; it is not part of `make test`, for it fetches what is not ours. The package
is unpacked into BUILD, and nothing is installed."""

import lzma
import os
import re
import struct
import subprocess
import sys
from pathlib import Path

from harness import tap
from harness.command import Command
from harness.suite import Guest, Skip, Suite, check, run, soon

META = "linux-image-amd64"
SECONDS = 20
# where the kernel is entered: by a call of the process, or by an event
ENTRIES = re.compile(
    r"do_syscall_64|entry_|asm_|sysvec_|exc_page_fault|ret_from_fork|common_"
)


def words_of(*command):
    """The words that (command) prints; none if it fails."""
    try:
        done = subprocess.run(command, capture_output=True, text=True)
    except OSError:
        return []
    return done.stdout.split() if done.returncode == 0 else []


def fetch(folder):
    """The kernel from Debian's package; skipped where there is none."""
    found = sorted(folder.glob("boot/vmlinuz-*"))
    if not found:
        names = [w for w in words_of("apt-cache", "depends", META)]
        names = [n for n in names if re.match(r"linux-image-\d", n)]
        if not names:
            raise Skip(f"apt knows no package {META}")
        folder.mkdir(parents=True, exist_ok=True)
        done = subprocess.run(
            ["apt-get", "download", names[0]], cwd=folder, capture_output=True
        )
        packages = sorted(folder.glob("*.deb"))
        if done.returncode != 0 or not packages:
            raise Skip(f"the package {names[0]} cannot be downloaded")
        run("dpkg-deb", "-x", packages[-1], folder)
        found = sorted(folder.glob("boot/vmlinuz-*"))
    check.true(found, "a kernel in the package")
    return found[-1]


def entry(number, name, mode, data=b"", device=(0, 0)):
    """A file in an archive, as cpio's newc has it."""
    fields = (number, mode, 0, 0, 1, 0, len(data), 0, 0, *device)
    fields += (len(name) + 1, 0)
    head = b"070701" + b"".join(b"%08x" % field for field in fields)
    head += name.encode() + b"\0"
    return b"".join(p + b"\0" * (-len(p) % 4) for p in (head, data))


def initramfs(s):
    init, made = s.work / "init", s.work / "initramfs"
    run(
        *("gcc", "-O2", "-static", "-nostdlib", "-ffreestanding", "-no-pie"),
        *("-fno-pie", "-fno-stack-protector", "-o", init),
        "tests/linux/init.c",
    )
    made.write_bytes(
        entry(1, "proc", 0o40755)
        + entry(2, "dev", 0o40755)
        + entry(3, "dev/console", 0o20600, device=(5, 1))
        + entry(4, "init", 0o100755, init.read_bytes())
        + entry(5, "TRAILER!!!", 0)
    )
    return made


def unpack(s, kernel):
    """The ELF image in (kernel), whose header says where it is."""
    data, made = kernel.read_bytes(), s.work / "vmlinux"
    begin = (data[0x1F1] + 1) * 512 + struct.unpack_from("<I", data, 0x248)[0]
    try:
        made.write_bytes(lzma.LZMADecompressor().decompress(data[begin:]))
    except lzma.LZMAError as error:
        raise Skip("the kernel is not packed by xz") from error
    return made


class Linux:
    def __init__(self, s, out):
        self.s, self.parasite = s, Command(s)
        self.out = Path(out)
        self.kernel = self.guest = None
        self.symbols = s.work / "kallsyms"

    def boot(self):
        """It has listed its functions."""
        listed = self.s.work / "listed"
        listed.unlink(missing_ok=True)
        self.guest = Guest(
            *(self.kernel, "x86_64", self.s.work / "log"),
            append="console=ttyS0 panic=-1",
            memory=256,
            channels={"stub": "unix"},
            args=[
                *("-initrd", initramfs(self.s), "-gdb", "chardev:stub"),
                *("-debugcon", f"file:{listed}"),
            ],
        )
        soon(lambda: listed.read_bytes().endswith(b"\nend\n"), "the symbols")
        lines = listed.read_text().splitlines()[:-1]
        check.true(len(lines) > 20000, len(lines))
        self.symbols.write_text("\n".join(lines) + "\n")

    def attach(self, *words, **options):
        target = f"gdb:{self.guest.address('stub')}"
        return self.parasite("attach", *words, target, **options)

    def sample(self):
        self.s.note(
            self.attach(
                *("-F", 1000, "-d", SECONDS, "-k", self.symbols),
                *("-o", self.out),
            ).err
        )
        check.true(self.parasite.info(self.out)["samples"] > 1000)

    def functions(self):
        """Nearly all samples are in functions of the kernel."""
        stacks = self.parasite.folded(self.out)
        total = sum(n for _, n in stacks)
        named = sum(n for names, n in stacks if names[-1][:2] != "0x")
        check.between(named / total, 0.95, 1, total)
        leaves = {names[-1] for names, _ in stacks}
        check.contains(leaves, "copy_user_generic_string")

    def callers(self):
        """Their outermost callers are where the kernel is entered."""
        whole = right = 0
        for names, samples in self.parasite.folded(self.out):
            if names[-1][:2] == "0x":
                continue
            whole += samples
            right += samples * bool(ENTRIES.match(names[0]))
        self.s.measured(f"{right / whole:.1%} of callers reach an entry")
        check.true(right > 0.9 * whole, f"{right} of {whole}")

    def moved(self):
        """The kernel has moved itself; its image has no symbols."""
        image = unpack(self.s, self.kernel)
        said = self.attach(
            *("-F", 200, "-d", 5, "-k", image, "-o", self.s.work / "m.trace")
        ).err
        check.has(said, r"vmlinux: 0x[0-9a-f]+00000 bytes .* its build-id")

    def once(self):
        said = self.attach("--once", "-k", self.symbols).out
        check.has(said, "^CPU 0: (running|halted), 64-bit")

    def flame(self):
        picture = self.out.parent / f"{self.out.stem}.svg"
        self.parasite("flame", "--svg", "-o", picture, self.out)
        check.has(picture.read_text(), "do_syscall_64")


def main():
    build, out = Path(sys.argv[1]).resolve(), sys.argv[2]
    os.makedirs(build / "linux", exist_ok=True)
    writer = tap.Writer()
    s = Suite("", build / "linux", build, writer)
    linux = Linux(s, out)
    with s.test("there is a Linux kernel"):
        linux.kernel = fetch(build / "linux" / "package")
    if linux.kernel is not None:
        for what, test in (
            ("it boots, and lists its functions", linux.boot),
            ("it is sampled from outside", linux.sample),
            ("its functions have names", linux.functions),
            ("its callers are found by a scan", linux.callers),
            ("where it has moved itself is found by its build-id", linux.moved),
            ("--once prints its stack", linux.once),
            ("its flame graph is drawn", linux.flame),
        ):
            s.holds(what, test)
    if linux.guest is not None:
        linux.guest.kill()
    return writer.end()


if __name__ == "__main__":
    sys.exit(main())
