# SPDX-License-Identifier: Apache-2.0
"""xen.py BUILD: boots Debian's Xen and a dom0 of Debian's kernel in QEMU's
emulator, starts guests there, samples them by `parasite attach xen:DOMID` and
judges what it says. `make xen` runs it; it is not part of `make test`, for it
downloads what is not ours."""

import gzip
import math
import os
import re
import shutil
import sys
from collections import Counter
from pathlib import Path

from harness import tap
from harness.suite import Failed, Skip, Suite, check, run

CPU_LIMIT_S = 3000
MEMORY = 1024  # MiB, of which dom0 has half
TOOLS = ("xl", "xenstored", "xenconsoled", "xen-init-dom0")
MODULES = ("xen-evtchn", "xen-privcmd", "xen-gntdev", "xen-gntalloc", "xenfs")
PROGRAMS = ("parasite", "plain", "wire", "com1", "emulate.so")
KINDS = {
    "pvh64": ("pvh", "HVM or PVH"),
    "pvh32": ("pvh", "HVM or PVH"),
    "pv64": ("pv", "PV, x86_64"),
    "pv32": ("pv", "PV, i386"),
}
CHAINS = {
    ("begin", "spin", "work", "leaf_a"): 60,
    ("begin", "spin", "work", "leaf_b"): 30,
    ("begin", "spin", "report", "leaf_c"): 10,
}
SPLIT = {"leaf_a": 40, "leaf_b": 30, "leaf_c": 20, "leaf_d": 10}
DEVIATIONS = 5  # that a share may be away from what it should be
BIAS = 0.015  # and this share more: where Xen lets a guest be stopped
LEAST = 200  # samples

ROUNDS = 3  # of each loop, in turns: the fastest counts

# what dom0 does, in the language of dom0.sh
SPIN = """
show {name}.start start {name} {kind} {name}.elf ''
sample {name} {least}
"""
LOOPS = """
show walk /root/plain $id 100 walk
show map /root/plain $id 1000 map
show fast /root/parasite attach -F 100000 -d 2 -k /root/pvh64.elf \\
    -o /root/fast.trace xen:$id
"""
MORE = """
show once /root/parasite attach --once -q -k /root/pvh64.elf xen:$id
xl pause pvh64
show paused /root/parasite attach -F 100 -d 1 -k /root/pvh64.elf \\
    -o /root/paused.trace xen:$id
show paused.once /root/parasite attach --once -q -k /root/pvh64.elf xen:$id
show paused.list xl list pvh64
xl unpause pvh64
(sleep 2; xl destroy pvh64) &
show destroyed /root/parasite attach -F 100 -d 600 -k /root/pvh64.elf \\
    -o /root/destroyed.trace xen:$id
show destroyed.report /root/parasite report -q /root/destroyed.trace
show none /root/parasite attach xen:$id
"""
OURS = """
start split pvh split.elf 'prof.every=0 split.rounds=1000000' wired
for turn in $(seq 600); do
    ! grep -q '^boot: heap' /root/split.com1 || break
    usleep 100000
done
sample split {least}
show split.com1 cat /root/split.com1
"""


def job():
    """What /root/job has."""
    text = ""
    for name, (kind, _) in KINDS.items():
        text += SPIN.format(name=name, kind=kind, least=LEAST)
        text += LOOPS * ROUNDS + MORE if name == "pvh64" else ""
        text += f"xl destroy {name}\n"
    return text + OURS.format(least=2 * LEAST)


def libraries(path, root):
    """What the dynamic program (path) needs."""
    env = {"LD_LIBRARY_PATH": root / "usr/lib/x86_64-linux-gnu"}
    text = run("ldd", path, env=env, status=None).out
    return {Path(name) for name in re.findall(r"=> (/\S+)", text)}


def pack(s, xen):
    """The initramfs of dom0."""
    root, tree = xen / "root", s.work / "dom0"
    shutil.rmtree(tree, ignore_errors=True)
    for folder in (
        *("bin", "lib", "lib64", "proc", "sys", "dev", "modules", "root"),
        *("var/lib/xenstored", "var/run/xen", "var/run/xenstored"),
        *("var/log/xen", "var/lib/xen", "etc/xen", "tmp"),
    ):
        (tree / folder).mkdir(parents=True)
    (tree / "run").symlink_to("var/run")
    (tree / "etc/xen/xl.conf").touch()
    busybox = tree / "bin" / "busybox"
    shutil.copy(root / "bin/busybox", busybox)
    for name in TOOLS:
        shutil.copy(root / "usr/lib/xen-4.17/bin" / name, tree / "bin")
    for name in PROGRAMS:
        shutil.copy(xen / name, tree / "root")
    for name in KINDS:
        shutil.copy(xen / f"{name}.elf", tree / "root")
    shutil.copy(s.build / "x86_64/split/split.elf", tree / "root")
    needed = set()
    for name in TOOLS:
        needed |= libraries(tree / "bin" / name, root)
    needed |= libraries(xen / "parasite", root)
    for path in sorted(needed):
        shutil.copy(path, tree / "lib" / path.name)
    shutil.copy("/lib64/ld-linux-x86-64.so.2", tree / "lib64")
    shutil.copy("/lib/x86_64-linux-gnu/libgcc_s.so.1", tree / "lib")
    for name in MODULES:
        (module,) = (root / "lib/modules").rglob(f"{name}.ko")
        shutil.copy(module, tree / "modules")
    shutil.copy("tests/xen/dom0.sh", tree / "init")
    (tree / "root/job").write_text(job())
    names = "".join(f"{p.relative_to(tree)}\n" for p in tree.rglob("*"))
    packed = s.work / "dom0.img"
    packed.write_bytes(
        run(busybox, "cpio", "-o", "-H", "newc", data=names, cwd=tree).data
    )
    return packed


def boot(s, xen):
    """What the console says: {NAME: text} of what dom0.sh shows."""
    packed = pack(s, xen)
    # QEMU's loader takes no compressed image
    (hypervisor,) = (xen / "root/boot").glob("xen-*-amd64.gz")
    image = s.work / "xen"
    image.write_bytes(gzip.decompress(hypervisor.read_bytes()))
    (kernel,) = (xen / "root/boot").glob("vmlinuz-*")
    log = s.work / "console"
    try:
        run(
            *("qemu-system-x86_64", "-accel", "tcg", "-m", MEMORY),
            *("-cpu", "qemu64,+svm,+npt", "-smp", 1, "-kernel", image),
            *("-initrd", f"{kernel} console=hvc0 panic=1 quiet,{packed}"),
            *("-append", "console=com1 com1=115200,8n1 dom0_mem=512M noreboot"),
            *("-display", "none", "-monitor", "none", "-no-reboot"),
            *("-serial", f"file:{log}", "-nic", "none"),
            cpu_limit=CPU_LIMIT_S,
            limit=4 * CPU_LIMIT_S,
        )
    finally:
        text = log.read_text(errors="replace") if log.exists() else ""
    text = text.replace("\r", "")
    check.has(text, "done")
    shown = {}
    for name, part in re.findall(
        r"-- begin (\S+)\n(.*?)-- end \1\n", text, re.S
    ):
        shown[name] = shown.get(name, "") + part
    return shown


def folded(text):
    """{stack: samples} of what export -f folded says."""
    stacks = Counter()
    for line in text.splitlines():
        match = re.fullmatch(r"(\S+) (\d+)", line)
        if match and not match[1].startswith("["):
            stacks[tuple(match[1].split(";"))] += int(match[2])
    return stacks


def check_share(name, is_, of, wanted):
    """That (is_ / of) is (wanted) percent, as far as chance lets it."""
    part = wanted / 100
    bound = DEVIATIONS * math.sqrt(part * (1 - part) / of) + BIAS
    low, high = (100 * (part + way * bound) for way in (-1, 1))
    check.between(100 * is_ / of, low, high, name)


def check_spin(s, shown, name):
    if "not supported by xen kernel" in shown[f"{name}.start"]:
        raise Skip("this Xen has no PV guests of 32 bits")
    stacks = folded(shown[f"{name}.folded"])
    total = sum(stacks.values())
    s.measured(f"{name}: {dict(stacks)}")
    check.true(total >= LEAST // 2, f"{total} samples")
    right = 0
    for chain, share in CHAINS.items():
        check_share(chain[-1], stacks[chain], total, share)
        right += stacks[chain]
    check.same(right, total)
    check.has(shown[f"{name}.attach"], KINDS[name][1])


def rate(text):
    """The highest of the rates, samples a second, that attach or plain say."""
    found = re.findall(r"(?:rate: |: )([\d.]+)(?: Hz of| samples/s)", text)
    if len(found) != ROUNDS:
        raise Failed(f"{len(found)} rates: {text}")
    return max(float(number) for number in found)


def check_rates(s, shown):
    ours, walk, map_ = (rate(shown[name]) for name in ("fast", "walk", "map"))
    for pauses in re.findall(r"pause per sample: .*us", shown["fast"]):
        s.measured(pauses)
    s.measured(
        f"samples/s: {ours:.0f}; a plain loop of calls {walk:.0f}, with RAM "
        f"mapped once {map_:.0f}"
    )
    check.true(ours >= 2 * walk, f"{ours} to {walk}")
    check.true(ours >= 2 * map_, f"{ours} to {map_}")


def check_paused(shown):
    check.has(shown["paused"], "somebody else held the guest")
    check.has(shown["paused.once"], "leaf_")
    check.has(shown["paused.list"], r"--p---")


def check_destroyed(shown):
    check.has(shown["destroyed"], "the guest has ended")
    check.has(shown["destroyed.report"], "leaf_a")
    check.has(shown["none"], "there is no such domain")


def check_ours(s, shown):
    leaves = Counter()
    callers = Counter()
    for stack, count in folded(shown["split.folded"]).items():
        if stack[-1] in SPLIT:
            leaves[stack[-1]] += count
            callers[stack[:3]] += count
    total = sum(leaves.values())
    s.measured(f"split: {dict(leaves)}")
    check.true(total >= LEAST // 2, f"{total} samples")
    for leaf, share in SPLIT.items():
        check_share(leaf, leaves[leaf], total, share)
    chain = ("arch_start", "kernel_main", "service_main")
    check.same(callers[chain], total)
    check.has(shown["split.attach"], "HVM or PVH")
    check.has(shown["split.com1"], "^boot: by pvh")


def main():
    build = Path(sys.argv[1]).resolve()
    os.makedirs(build / "xen" / "work", exist_ok=True)
    s = Suite("", build / "xen" / "work", build, tap.Writer())
    shown = {}
    with s.test("xen: it boots, and its guests are sampled"):
        shown = boot(s, build / "xen")
    for name in KINDS:
        s.holds(f"{name}: shares and callers", check_spin, s, shown, name)
    with s.test("pvh64: --once prints a stack"):
        check.has(shown["once"], "^CPU 0: running, 64-bit")
        check.has(shown["once"], "  spin")
    s.holds("twice the rate of a plain loop", check_rates, s, shown)
    s.holds("what is paused stays so", check_paused, shown)
    s.holds("a guest that is destroyed ends it", check_destroyed, shown)
    s.holds("split: shares and callers of our image", check_ours, s, shown)
    return s.tap.end()


if __name__ == "__main__":
    sys.exit(main())
