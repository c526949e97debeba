# SPDX-License-Identifier: Apache-2.0
"""Kernels of others: each is built by a Makefile and a linker script of its
own, against the library and its headers alone, gets its names by `parasite
embed`, and boots. Its table must have the right names, shares and callers, and
it must not take more than 30 lines of C and 5 of its Makefile. The lines of the
kits are counted as well; a few more are for other CPUs, which join."""

import fcntl
import json
import os
import re
import shutil
from pathlib import Path

from harness import compiled
from harness.command import Command
from harness.suite import FULL, Guest, check, run

KERNELS = (
    *("higher", "tasks", "cxx", "bare", "smp", "oneshot", "nmi", "includeos"),
    *("lk", "unikraft", "xv6"),
)
PARTS = (*KERNELS, "document", "kits")

ICOUNT = 4
COMMON = Path("tests/embed/kernel32.mk")  # which some Makefiles include
GLUE_LINES, RULE_LINES, MORE_LINES = 30, 5, 10
JOIN_LINES = {
    "smp": 2,
    "xv6": 2,
    "lk": 20,
    "unikraft": 31,
}  # more, for other CPUs
KITS = {"xv6", "lk", "includeos", "libpayload", "u-boot", "unikraft"}
WIDTH = dict.fromkeys(("higher", "cxx", "lk", "unikraft"), "x86_64")
# Kernels of the same flags have one library. FULL=1 has those of their pages.
CPUS = {"higher": "", "smp": "-DPROF_CPUS_MAX=2"}
if not FULL:
    CPUS = {"higher": "-DPROF_CPUS_MAX=16", "smp": "-DPROF_CPUS_MAX=64"}
FLAGS = {
    "higher": f"-mcmodel=kernel {CPUS['higher']}".rstrip(),
    "lk": "-mcmodel=kernel -DPROF_CPUS_MAX=16",
    "smp": CPUS["smp"],
    "unikraft": "-DPROF_CPUS_MAX=64 -DPROF_CPU_BY=PROF_CPU_BY_TSC_AUX",
    "xv6": "-DPROF_CPUS_MAX=8 -DPROF_CPU_BY=PROF_CPU_BY_TSC_AUX",
}
# The build's images for several CPUs already have the objects of sources that
# read none of these. For xv6, which has fewer CPUs, it does not matter to ask
# whether there is more than one.
SAME_CODE = {
    "smp": r"(?!)",
    "unikraft": r"\bPROF_CPU_BY",
    "xv6": r"\bPROF_CPU_BY|\bPROF_CPU(?:S_MAX|_KEYS)\b(?! > 1\b)",
}
QEMU = {
    "smp": ("-smp", "2"),
    "lk": ("-smp", "3"),
    "unikraft": ("-smp", "3", "-cpu", "max"),
    "xv6": ("-smp", "3", "-cpu", "max"),
}
# QEMU gives an instruction count to one of several CPUs at a time.
NO_ICOUNT = {"smp", "lk", "unikraft", "xv6"}
TAKE = "shop::Orders::take() const"
REQUEST = (("parse", 60), ("render", 30), ("send", 10))  # work.h
# Per cent of the samples in these, and from where they are called.
SHARES = {
    "higher": {
        f"code_begin;kernel_main;run_until;answer;{name}": share
        for name, share in REQUEST
    },
    "tasks": {
        "task_entry;read_all;read": 10,
        "task_entry;work_all;work": 60,
        "task_entry;write_all;write": 30,
    },
    "cxx": {
        f"code_begin;kernel_main;{TAKE};{name}() const": share
        for name, share in (
            ("shop::Sum<int>::add", 60),
            ("shop::Sum<long>::add", 30),
            ("shop::Orders::close", 10),
        )
    },
    "bare": {
        f"start;kernel_main;answer;{name}": share for name, share in REQUEST
    },
}
SHARES["smp"] = SHARES["oneshot"] = SHARES["nmi"] = SHARES["bare"]
SHARES["lk"] = {
    f"start_physical;kernel_main;cpu_loop;answer;{name}": share
    for name, share in REQUEST
}
SHARES["unikraft"] = {
    f"code_begin;kernel_main;answer;{name}": share for name, share in REQUEST
}
SHARES["xv6"] = {  # whose flags let answer() jump to its last function
    "start;kernel_main;scheduler;answer;parse": 60,
    "start;kernel_main;scheduler;answer;render": 30,
    "start;kernel_main;scheduler;send": 10,
}
SHARES["includeos"] = {
    f"start;kernel_main;answer();{name}()": share for name, share in REQUEST
}
# Functions and stacks that shares are of: all, in all others.
SHARED = {
    "includeos": r"^(?:.*answer\(\);)?(?:parse|render|send)\(\)$",
    "smp": r"^(?:.*answer;)?(?:parse|render|send)$",
    "lk": r"^(?:.*answer;)?(?:parse|render|send)$",
    "unikraft": r"^(?:.*answer;)?(?:parse|render|send)$",
    "xv6": r"^(?:.*;)?(?:parse|render|send)$",
}
IMAGE = {"includeos": "kernel.img", "xv6": "kernel"}  # kernel.elf: all others
APPEND = {  # busy: all others
    "includeos": "prof.hz=4000",
    "oneshot": "prof.tick=lapic",
}
EARLY_MAX = 0.03
STACKS_MIN = 1500  # as many as PROF_POOL_DEFAULT has room for
PATCH_COSTS = 8  # per cent of the time: functions of 190 us have a hook each
OFF_BY = 5  # per cent of all samples
OFF_BY_SMP = 12  # of fewer, on a host that has its own idea of time
ROW = r"^ *(\S+) %(?: +\S+ %)+ +\d+ .. +0x\S+ +(\S.*?)(?:  \(.*)?$"


def code_lines(path):
    """Lines of a C file that are neither blank nor comments."""
    text = re.sub(r"/\*.*?\*/|//[^\n]*", "", path.read_text(), flags=re.S)
    return [line for line in text.splitlines() if line.strip()]


def folded(text):
    """The call stacks of a folded report, with their samples."""
    stacks = {}
    for line in text.splitlines():
        found = re.match(r"(\S.*;.*) (\d+)$", line)
        if found:
            stacks[found[1]] = stacks.get(found[1], 0) + int(found[2])
    return stacks


def forget(folder):
    """Deletes what was built: their Makefiles do not know the headers."""
    for ending in ("*.o", "*.d", "*.elf", "*.img"):
        for path in folder.glob(ending):
            path.unlink()


class Kernel:
    """One of the kernels, built in the suite's folder."""

    def __init__(self, s):
        self.s, self.name, self.width = s, s.part, WIDTH.get(s.part, "i386")
        self.sources = Path("tests/embed").resolve() / s.part
        self.image = s.work / IMAGE.get(s.part, "kernel.elf")
        self.off_by = OFF_BY_SMP if self.name in NO_ICOUNT else OFF_BY

    def library(self):
        """Builds the library as this kernel needs it; its folder."""
        flags = FLAGS.get(self.name)
        if not flags:
            return self.s.build / self.width
        words = flags.replace("-D", "").replace("=", "-").split()
        folder = self.s.build / "embed" / "_".join(("library", *words))
        folder.mkdir(parents=True, exist_ok=True)
        library = folder / self.width / "libprof.a"
        with open(folder / ".lock", "w", encoding="ascii") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if self.name in SAME_CODE and not FULL:
                self.take_objects(folder, flags)
            run(
                *("make", "-s", f"BUILD={folder}", f"LIB_CFLAGS={flags}"),
                library,
            )
        return library.parent

    def take_objects(self, folder, flags):
        """Copies those objects of the build that (flags) would not change, if
        they are of the sources as they are. They are newer than what make looks
        at."""
        choice = folder / "lib.choice"
        if not choice.exists() or choice.read_text("ascii") != f"{flags}\n":
            choice.write_text(f"{flags}\n", encoding="ascii")
        objects = Path("obj", "profiler")
        several = self.s.build / "smp" / self.width / objects
        matters = re.compile(SAME_CODE[self.name])
        for deps in several.rglob("*.d"):
            read = compiled.read_for(deps)
            if not read[0].endswith(".c"):
                continue
            made = deps.with_suffix(".o")
            copy = folder / self.width / objects / made.relative_to(several)
            compiled_here = copy.with_suffix(".d")
            newest = max(Path(path).stat().st_mtime for path in read)
            if newest <= made.stat().st_mtime and all(
                not matters.search(compiled.code(path))
                for path in read
                if not path.endswith("/prof/config.h")
            ):
                copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(made, copy)
                compiled_here.unlink(missing_ok=True)
            elif not compiled_here.exists():
                copy.unlink(missing_ok=True)  # taken before

    def build(self):
        """What somebody does who has the library, and only that."""
        s = self.s
        forget(s.work)
        if self.name == "xv6":
            self.build_by_kit()
            return
        run(
            *("make", "-f", self.sources / "Makefile"),
            f"INCLUDE={Path('profiler/include').resolve()}",
            f"LIBRARY={self.library()}",
            f"PARASITE={s.parasite}",
            f"CPUS={CPUS.get(self.name, '')}",
            cwd=s.work,
        )
        check.true(self.image.is_file(), f"no {self.image}")

    def build_by_kit(self):
        """The same as the kit says: its files go beside the kernel's Makefile,
        which its own rules include."""
        s, prof = self.s, self.s.work / "prof"
        self.image.unlink(missing_ok=True)
        shutil.copy(self.sources / "Makefile", s.work)
        for path in Path("kits", self.name).glob("parasite.*"):
            shutil.copy(path, s.work)
        prof.mkdir(exist_ok=True)
        shutil.copy(self.library() / "libprof.a", prof)
        shutil.copytree(
            "profiler/include", prof / "include", dirs_exist_ok=True
        )
        run(
            *("make", "-f", "parasite.mk", f"PROF={prof}"),
            *(f"EMBED={self.sources.parent}", "xv6.img", "fs.img"),
            cwd=s.work,
            env={
                **os.environ,
                "PATH": f"{Path(s.parasite).parent}:{os.environ['PATH']}",
            },
        )
        check.true(self.image.is_file(), f"no {self.image}")

    def glue(self):
        """Its lines of C, and of its Makefile, that are there for the
        profiler."""
        for folder in (self.sources, Path("kits", self.name)):
            for path in folder.rglob("parasite.c*"):
                lines = code_lines(path)
        rules = (self.sources / "Makefile").read_text()
        kit = Path("kits", self.name, "parasite.mk")
        if kit.exists():
            rules += kit.read_text()
        if COMMON.name in rules:
            rules += COMMON.read_text()
        wanted = r"INCLUDE|LIBRARY|PARASITE|parasite|prof"
        return len(lines), sum(
            1
            for line in rules.splitlines()
            if line[:1] != "#" and re.search(wanted, line)
        )

    def boot(self, log, args=None, **options):
        """What it prints, to its end."""
        with Guest(
            self.image,
            self.width,
            self.s.work / f"{log}.log",
            icount=None if self.name in NO_ICOUNT else ICOUNT,
            args=QEMU.get(self.name, ()) if args is None else args,
            **options,
        ) as guest:
            check.same(guest.end(), 0)
            return guest.text()


def near(got, wanted, what, off_by=OFF_BY):
    check.between(got, wanted - off_by, wanted + off_by, what)


def check_table(kernel, text, stolen=False):
    """The last table: names, shares, and nothing to remark, but for ticks that
    did not come where (stolen)."""
    table = text.rpartition("--- profile")[2].partition("\n---")[0]
    shared = SHARED.get(kernel.name, "")
    rows = {
        name.strip(): float(share)
        for share, name in re.findall(ROW, table, re.M)
        if re.search(shared, name.strip())
    }
    all_of = sum(rows.values())
    for stack, share in SHARES[kernel.name].items():
        name = stack.rpartition(";")[2]
        near(100 * rows.get(name, 0) / all_of, share, name, kernel.off_by)
    check.lacks(table, "no names")
    early = re.search(r"^(\d+) stack walks ended early", table, re.M)
    if early:  # between two stacks
        samples = int(check.has(table, r"(\d+) samples in")[1])
        check.between(int(early[1]), 0, samples * EARLY_MAX)
    if kernel.name not in NO_ICOUNT and not stolen:
        check.lacks(table, r"\d s stolen")


def check_callers(kernel, text):
    """The folded stacks: each function that works has all of its callers."""
    shared = SHARED.get(kernel.name, "")
    stacks = {
        stack: samples
        for stack, samples in folded(text).items()
        if re.search(shared, stack)
    }
    all_of = sum(stacks.values())
    for stack, share in SHARES[kernel.name].items():
        near(100 * stacks.get(stack, 0) / all_of, share, stack, kernel.off_by)


# ---- the kernel with a scheduler: what more it reports, and what that takes

MORE = {
    "trace": r"prof_trace|uint32_t trace;|PROF_TRACE",
    "loop": r"prof_loop",
    "causal": r"prof_causal|PROF_PROGRESS|PROF_TARGET|prof_progress|prof_target"
    r"|prof/causal",
}


def more_lines(kernel, wanted):
    """Lines of the kernel for one of MORE."""
    return sum(
        re.search(wanted, line) is not None
        for path in kernel.sources.glob("*.[ch]")
        for line in code_lines(path)
    )


def check_loop(kernel):
    """The table that prof_poll() prints, the second one."""
    text = kernel.boot("loop", append="prof.loop=10")
    table = text.split("--- event loop")[2]
    shares = {
        name: float(share)
        for share, name in re.findall(
            r"^ *(\S+) % .* (reader|worker|writer) \(.*task.c:\d+\)$",
            table,
            re.M,
        )
    }
    tasks = sum(shares.values())
    for name, share in (("reader", 10), ("worker", 60), ("writer", 30)):
        near(100 * shares.get(name, 0) / tasks, share, name)
    idle = check.has(table, r"^loop: .* idle (\S+) %")
    check.between(float(idle[1]), 10, 60, "idle")


def check_trace(s, kernel):
    kernel.boot(
        "trace",
        append="prof.trace=stream prof.out=serial "
        "prof.trace_kb=512 prof.drain=20",
    )
    trace = s.work / "tasks.trace"
    command = Command(s)
    command.record(trace, "-q", f"file:{s.work / 'trace.log'}")
    text = run(s.parasite, "tasks", trace).out
    for name in ("reader", "worker", "writer"):
        check.has(text, rf"\b{name}\b")


def check_causal(kernel, less, *options):
    """The table that prof_poll() prints, shortly before the end. Shares are up
    to (less) smaller than where nothing but the program takes time."""
    text = kernel.boot(
        "causal",
        append=" ".join(("busy prof.causal=on prof.every=2400", *options)),
        cpu_limit=600,
    )
    row = check.has(text, r"^  work +(\S+) +\S+ \+- \S+ +(\S+) \+- ")
    check.between(float(row[1]), 56 - less, 64, "its share")
    check.between(float(row[2]), 26 - less / 2, 36, "its gain at 50 %")


def suite_more(s, kernel):
    for name, wanted in MORE.items():
        lines = more_lines(kernel, wanted)
        s.measured(f"{kernel.name}: {lines} lines for {name}")
        with s.test(f"{name}: it takes at most {MORE_LINES} lines more"):
            check.between(lines, 1, MORE_LINES)
    s.holds("loop: who occupies the scheduler", check_loop, kernel)
    s.holds("trace: what the tasks wait for", check_trace, s, kernel)
    s.holds("causal: what would be gained", check_causal, kernel, 0)
    s.holds(
        "causal: by the names of functions, without a line of the kernel",
        *(check_causal, kernel, PATCH_COSTS, "by_name"),
        *("prof.target=work", "prof.progress=write"),
    )


def check_includeos(kernel, text):
    """What a kernel has that is larger than the others here: see its file."""
    said = check.has(
        (kernel.s.work / "names.txt").read_text(),
        r"^service: (\d+) functions in (\d+) of (\d+) bytes",
    )
    check.true(int(said[1]) > 10_000 and int(said[2]) > 100_000, said[0])
    table = text.rpartition("--- profile")[2].partition("\n---")[0]
    check.has(table, r" at 4\d{3}\.\d+ Hz")
    check.has(table, r"^ +0\.00 % +0 +dropped")
    idle = check.has(table, r"^ +(\S+) % +\d+ +idle")
    check.between(float(idle[1]), 2, 30, "idle")
    check.lacks(table, "OS::halt")
    many = sum("store::ware" in stack for stack in folded(text))
    check.true(many > STACKS_MIN, f"{many} different stacks")


def check_everything(kernel):
    """The kit's one call and prof_poll() do what options ask for: tables of the
    loop, with delays from interrupts, and of experiments, and a stream."""
    text = kernel.boot(
        "everything",
        append="prof.hz=4000 prof.loop=8 prof.causal=on prof.target=render "
        "prof.progress=answer prof.trace=stream prof.trace_kb=512 "
        "prof.out=serial",
    )
    check.lacks(text, "^prof: no |^causal: no ")
    table = text.rpartition("--- event loop")[2].partition("\n---")[0]
    rows = dict(
        (name, delay)
        for delay, name in re.findall(
            r"^ *\S+ % +\S+ % .* (\S+ [mu]?s) +\d+ +\d+ +\S+ [mu]?s "
            r"(timers|requests) \(",
            table,
            re.M,
        )
    )
    check.same(sorted(rows), ["requests", "timers"], table)
    check.same(rows["requests"], "0.0 us", table)
    check.true(float(rows["timers"].split()[0]) > 0, table)
    check.has(text, "^--- causal profile")
    check.has(text, r"^  render\S* ")
    trace = kernel.s.work / "everything.trace"
    Command(kernel.s).record(
        trace, "-q", f"file:{kernel.s.work / 'everything.log'}"
    )
    run(kernel.s.parasite, "info", "--check", trace)
    said = run(kernel.s.parasite, "tasks", "--json", trace).out
    (row,) = (r for r in json.loads(said)["sites"] if r["site"] == "timers")
    check.true(row["runs"] > 100 and row["ready_ns"] > 0, row)
    said = run(kernel.s.parasite, "loop", "-q", "--json", trace).out
    (row,) = (r for r in json.loads(said)["sites"] if r["site"] == "timers")
    check.true(row["delay"]["count"] > 100, row)


CPU_ROW = r"^ +(\d) +(\d+)((?: +\S+ %){3}) +(\d+) +(\d+) +(\S.*)$"


def check_smp(kernel, text):
    """What only the second CPU computes was sampled, with its callers, and each
    CPU has a row; their ticks add up. (The kernel has compared them with its
    own count.)"""
    stacks = folded(text)
    computed = sum(
        samples
        for stack, samples in stacks.items()
        if re.search(r";cpu_main(?:;compute)?$", stack)
    )
    table = text.rpartition("--- profile")[2].partition("\n---")[0]
    rows = re.findall(CPU_ROW, table, re.M)
    check.same([row[0] for row in rows], ["0", "1"], table)
    ticks = [int(row[1]) for row in rows]
    whole = check.has(table, r"(\d+) +all ticks since the start")
    check.same(sum(ticks), int(whole[1]), table)
    check.between(computed, ticks[1] * 0.8, ticks[1], "stacks of CPU 1")
    check.same([row[4] for row in rows], ["0", "0"], "dropped")
    check.has(rows[1][5], r"^-?\d+ \+- \d+$|^unknown$")  # a busy host
    only = kernel.boot("second", append="busy prof.cpu=1")
    table = only.rpartition("--- profile")[2].partition("\n---")[0]
    check.has(table, r"^: CPU 1: \d+ samples")
    check.has(table, r"\bcompute$")
    check.lacks(table, r"\b(?:parse|render|send)$")


SMP_DOCUMENT = "docs/embedding/smp.md"


def build_document(kernel):
    """The kernel with what the document has instead of its parasite.c: the
    first CPU's part and the second one's, in a function each. The rest of the
    file stays, what the console is. Its folder."""
    folder, source = kernel.s.work / "document", kernel.sources
    folder.mkdir(exist_ok=True)
    forget(folder)
    text = Path(SMP_DOCUMENT).read_text()
    block = re.search(r"\n\n((?:    .*\n|\n)+)", text)[1]
    first, second = re.fullmatch(
        r" +/\* the first CPU \*/\n(.*) +/\* the second CPU, once \*/\n(.*)",
        *(block, re.S),
    ).groups()
    head = (source / "parasite.c").read_text().partition("int profiler_")[0]
    head = head.replace('"kernel.h"', f'"{source}/kernel.h"')
    (folder / "parasite.c").write_text(
        f"{head}int profiler_start(const char *options)\n{{\n{first}"
        "    (void)options;\n    return 0;\n}\n\n"
        f"int profiler_join(void)\n{{\n{second}    return 0;\n}}\n"
    )
    run(
        *("make", "-f", source / "Makefile"),
        f"INCLUDE={Path('profiler/include').resolve()}",
        f"LIBRARY={kernel.library()}",
        f"PARASITE={kernel.s.parasite}",
        f"CPUS={CPUS.get(kernel.name, '')}",
        cwd=folder,
    )
    return folder


def check_document(kernel):
    """It comes to its end, which it does if each CPU's ticks are those that it
    has counted; and its tables have both CPUs."""
    image = build_document(kernel) / "kernel.elf"
    with Guest(
        *(image, kernel.width, kernel.s.work / "document.log"),
        args=QEMU[kernel.name],
    ) as guest:
        check.same(guest.end(), 0)
        text = guest.text()
    table = text.rpartition("--- profile")[2].partition("\n---")[0]
    rows = re.findall(CPU_ROW, table, re.M)
    check.same([row[0] for row in rows], ["0", "1"], table)
    check.same([row[4] for row in rows], ["0", "0"], "dropped")
    check.has(text, r";cpu_main(?:;compute)? \d+$")


def check_joined(text, computing):
    """By the kit alone each CPU has joined and is sampled, with its callers:
    (computing) has those of CPU 0 and 1; CPU 2, which halts, is idle; the ticks
    add up, and nothing is remarked. (The kernel has found the accounts of each
    CPU to add up.) Returns the table, and the ticks of each."""
    table, ticks = check_sampled(text, computing)
    idle = check.has(table, r"^ +\S+ % +(\d+) +idle$")
    check.between(int(idle[1]), ticks[2] * 0.95, sum(ticks[1:]), "idle")
    return table, ticks


def check_sampled(text, computing):
    """The same of three CPUs, of which (computing) has the first."""
    table = text.rpartition("--- profile")[2].partition("\n---")[0]
    rows = re.findall(CPU_ROW, table, re.M)
    check.same([row[0] for row in rows], ["0", "1", "2"], table)
    check.same([row[4] for row in rows], ["0", "0", "0"], "dropped")
    ticks = [int(row[1]) for row in rows]
    whole = check.has(table, r"(\d+) +all ticks since the start")
    check.same(sum(ticks), int(whole[1]), table)
    stacks = folded(text)
    # CPU 0 drains: a host that runs it only now and then finds it there
    drains = sum(map(int, re.findall(r"^\[profiler\] (\d+)", text, re.M)))
    for cpu, stack in enumerate(computing):
        samples = sum(n for name, n in stacks.items() if re.search(stack, name))
        least = ticks[cpu] * 0.8 - (drains if cpu == 0 else 0)
        check.between(samples, least, ticks[cpu], f"CPU {cpu}")
    check.lacks(text, "^prof: ")
    return table, ticks


def check_xv6(text):
    """By NMIs, though all have one TSS selector. CPU 1 computes with interrupts
    off; it and CPU 2 take and free a lock all the time. (The kernel has got no
    NMI.)"""
    table, ticks = check_sampled(text, (r";kernel_main;scheduler\b",))
    stacks = folded(text)
    others = sum(
        samples
        for stack, samples in stacks.items()
        if stack.startswith("cpu_entry;scheduler")
    )
    check.between(others, 0.8 * sum(ticks[1:]), sum(ticks[1:]), "CPUs 1 and 2")
    computed = stacks.get("cpu_entry;scheduler;compute", 0)
    check.between(computed, 1, ticks[1], "CPU 1")
    off = int(check.has(table, IRQS_OFF)[1])
    check.between(off, 0.9 * computed, sum(ticks), "interrupts off")


def check_lk(kernel, text):
    """By NMIs, of which nearly all of CPU 1's find interrupts off."""
    table, ticks = check_joined(
        text,
        (
            r"^(?:.*;kernel_main;cpu_loop;answer|begin_thread;app;parasite)\b",
            r"^cpu_entry;cpu_loop(?:;compute)?$",
        ),
    )
    off = int(check.has(table, IRQS_OFF)[1])
    check.between(off, ticks[1] * 0.8, sum(ticks[:2]), "interrupts off")


def check_unikraft(kernel, text):
    """By each one's own timer, though all have one TSS selector. (The kernel
    has found the PIT as it was.)"""
    check_joined(text, (r";kernel_main\b", r"^cpu_entry(?:;compute)?$"))


NO_PIT = ("-M", "microvm,pit=off,pic=off,rtc=off")


def check_timers(kernel, text):
    """By the local APIC's timer, as configured; by the PIT of a PC, without a
    word; and where there is no PIT, as it says. Each time the kernel has found
    its own deadlines to be exact."""
    by_lapic = "^prof: sampling by the local APIC's timer: "
    check.has(text, f"{by_lapic}as prof.tick says$")
    check.lacks(kernel.boot("pit", append="busy"), "^prof: ")
    bare = kernel.boot("no_pit", args=NO_PIT, append="busy")
    check.has(bare, f"{by_lapic}there is no PIT$")
    check_table(kernel, bare)
    check_callers(kernel, bare)
    both = kernel.boot("no_pit_asked", args=NO_PIT, append="prof.tick=pit")
    check.has(both, f"{by_lapic}there is no PIT$")


IRQS_OFF = r"^interrupts were off at (\d+) of these, (\S+) % of the time$"


def check_nmis(kernel, text):
    """Who has the PIT and the I/O APIC. Each time the kernel has found that it
    had its own ticks, and its entry as it was."""

    def boots(name, words, line):
        said = kernel.boot(name, append=words)
        check.same(re.findall("^prof: .*$", said, re.M), [line] if line else [])
        check_table(kernel, said, stolen=name == "late")
        check_callers(kernel, said)
        return said

    def is_off_always(said):
        table = said.rpartition("--- profile")[2]
        off = check.has(table, IRQS_OFF)
        whole = check.has(table, r"(\d+) +all ticks since the start")
        queued = re.search(r"(\d+) +queued for the next drain", table)
        ticks = int(whole[1]) - (int(queued[1]) if queued else 0)
        check.same(int(off[1]), ticks, table)
        return table

    check.lacks(text, "^prof: ")
    is_off_always(text)
    late = boots(
        "late",
        "late prof.weight=count",  # one sample has the time of all missed
        "prof: the I/O APIC's entry of the PIT was overwritten by other code; "
        "it is an NMI again",
    )
    check.has(is_off_always(late), r"^1 times the PIT was made an NMI again$")
    uses = "prof: sampling by the local APIC's timer: the kernel uses the PIT"
    for by in ("pic", "ioapic"):
        check.lacks(boots(by, f"pit={by}", None), IRQS_OFF)
        boots(f"{by}_asked", f"pit={by} prof.tick=nmi", uses)


BEGIN = """#include <prof/begin.h>
extern const struct prof_config config;
int begin(void);
int begin(void) { return prof_begin(&config); }
"""


def check_begin(s):
    """<prof/begin.h> as C and as C++, and with little of the profiler: its pool
    is for what is there."""
    config = Path(s.work, "little.h")
    config.write_text(
        "".join(
            f"#define PROF_WITH_{part} 0\n"
            for part in "CALLERS STREAM LOOP CAUSAL OPTIONS".split()
        )
    )
    bss = {}
    for name, more in (
        ("whole.c", ()),
        ("whole.cpp", ("-std=c++17",)),
        ("little.c", (f'-DPROF_CONFIG_HEADER="{config}"',)),
        (
            "none.c",
            (f'-DPROF_CONFIG_HEADER="{config}"', "-DPROF_WITH_BUILTIN=0"),
        ),
        ("heap.c", ("-DPROF_BEGIN_POOL=0",)),
    ):
        source = Path(s.work, name)
        source.write_text(BEGIN)
        flags = "-m32 -O2 -ffreestanding -mgeneral-regs-only -Wall -Wextra"
        run(
            *("gcc", *flags.split(), "-Werror", "-Iprofiler/include", *more),
            *("-c", "-o", source.with_suffix(".o"), source),
        )
        sizes = run("size", source.with_suffix(".o")).lines()[1].split()
        bss[name] = int(sizes[2])
    check.same(bss["whole.c"], bss["whole.cpp"])
    check.true(bss["whole.c"] > bss["little.c"] + 1024 * 1024, bss)
    check.true(bss["little.c"] > bss["none.c"], bss)
    check.same(bss["none.c"], bss["heap.c"])


def suite_kits(s):
    """The glue of kernels that are not here: it is counted, and no more."""
    for name in sorted(KITS):
        (glue,) = Path("kits", name).rglob("parasite.c*")
        lines = len(code_lines(glue))
        most = GLUE_LINES + JOIN_LINES.get(name, 0)
        s.measured(f"kits/{name}: {lines} lines of C")
        with s.test(f"{name}: it takes at most {most} lines of C"):
            check.between(lines, 1, most)
    s.holds("what kits call compiles with any choice", check_begin, s)
    with s.test("there is no other kit"):
        folders = {
            path.name for path in Path("kits").iterdir() if path.is_dir()
        }
        check.same(folders, KITS)


# ---- the example of the document

DOCUMENT = "docs/embedding.md"
CONFIG = "profiler/include/prof/config.h"
FILES = ("parasite.c", "Makefile", "kernel.c", "start.asm", "kernel.ld")


def extract(s):
    """Writes the files of the document's example: each is the first indented
    block after the first line that has its name."""
    text = Path(DOCUMENT).read_text()
    forget(s.work)
    for name in FILES:
        place = text.index(f"`{name}`")
        found = re.compile(r"\n\n((?:    .*\n|\n)+)").search(text, place)
        lines = [line[4:] for line in found[1].rstrip().splitlines()]
        (s.work / name).write_text("\n".join(lines) + "\n")
    shutil.copy("tests/embed/memory.c", s.work)


def check_parts():
    """The document lists all that may be left out."""
    parts = r"^ *#(?: *)define (PROF_WITH_\w+) "
    check.same(
        sorted(set(re.findall(parts, Path(DOCUMENT).read_text(), re.M))),
        sorted(set(re.findall(parts, Path(CONFIG).read_text(), re.M))),
    )


def suite_document(s):
    text = ""
    s.holds("it lists every part that may be left out", check_parts)
    s.holds("the example can be taken from the document", extract, s)
    lines = len(code_lines(s.work / "parasite.c"))
    s.measured(f"the document's example: {lines} lines of C")
    with s.test(f"it takes at most {GLUE_LINES} lines of C"):
        check.between(lines, 1, GLUE_LINES)
    with s.test("it builds"):
        run(
            *("make", f"INCLUDE={Path('profiler/include').resolve()}"),
            *(f"LIBRARY={s.build / 'i386'}", f"PARASITE={s.parasite}"),
            cwd=s.work,
        )
    with s.test("it boots, and prints its table"):
        with Guest(
            *(s.work / "kernel.elf", "i386", s.work / "boot.log"),
            icount=ICOUNT,
        ) as guest:
            guest.wait_line("^--- profile", 3)
            text = guest.text()
    with s.test("its table has names and callers"):
        check.has(text, r"^ *(9\d|100)\.\d\d % .* add$")
        for name, share in (("work_long", 75), ("work_short", 25)):
            row = check.has(text, rf"^ *(\S+) % +{name}$")
            near(float(row[1]), share, name)


def suite(s):
    if s.part == "document":
        suite_document(s)
        return
    if s.part not in KERNELS:
        suite_kits(s)
        return
    kernel = Kernel(s)
    lines, rules = kernel.glue()
    s.measured(f"{s.part}: {lines} lines of C, {rules} of the Makefile")
    most = GLUE_LINES + JOIN_LINES.get(s.part, 0)
    with s.test(f"{s.part}: it takes at most {most} lines of C"):
        check.between(lines, 1, most)
    with s.test(f"{s.part}: it takes at most {RULE_LINES} lines of rules"):
        check.between(rules, 1, RULE_LINES)
    s.holds(f"{s.part}: it builds with its own rules", kernel.build)
    text = ""
    with s.test(f"{s.part}: it boots, and comes to its end"):
        text = kernel.boot("boot", append=APPEND.get(s.part, "busy"))
    s.holds(f"{s.part}: names and shares", check_table, kernel, text)
    s.holds(f"{s.part}: complete callers", check_callers, kernel, text)
    if s.part == "smp":
        s.holds(
            "smp: the second CPU is in its account", check_smp, kernel, text
        )
        s.holds("smp: so does what the document has", check_document, kernel)
    if s.part == "xv6":
        s.holds("xv6: every CPU is in its account", check_xv6, text)
    if s.part == "lk":
        s.holds("lk: every CPU is in its account", check_lk, kernel, text)
    if s.part == "unikraft":
        s.holds(
            "unikraft: every CPU is in its account",
            *(check_unikraft, kernel, text),
        )
    if s.part == "oneshot":
        s.holds("oneshot: the timer that there is", check_timers, kernel, text)
    if s.part == "nmi":
        s.holds("nmi: whoever has the PIT", check_nmis, kernel, text)
    if s.part == "includeos":
        s.holds(
            "includeos: names, idle, memory, options",
            *(check_includeos, kernel, text),
        )
        s.holds("includeos: all that options ask for", check_everything, kernel)
    if s.part == "tasks":
        suite_more(s, kernel)
