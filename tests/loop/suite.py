# SPDX-License-Identifier: Apache-2.0
"""The statistics of the event loop against the instructions that QEMU has
executed. Time passes by instructions, so they must be equal.

A plugin notes each reading of the time stamp counter, and which work_NAME()
begins; so the time between readings is that of the task that works there."""

import json
import re
from collections import defaultdict

from harness.command import boot_and_record
from harness.suite import WIDTHS, check, run

PARTS = WIDTHS
PLUGIN = (
    *("gcc", "-std=gnu11", "-O2", "-fPIC", "-shared", "-Wall", "-Wextra"),
    *("-Werror", "-Itests", "-o"),
)
BEGINS = ("run", "begin", "begin_new", "begin_for", "nest", "idle", "profiler")
ENDS = ("pause", "leave", "idle_end")
QUIET = "prof.start=off prof.every=0 prof.loop=20"


def functions(image):
    """Lines of the plugin's map."""
    for line in run("nm", "-S", image).lines():
        row = line.split()
        if len(row) == 4 and re.match(r"prof_loop_put_|work_", row[3]):
            start, size = int(row[0], 16), int(row[1], 16)
            yield f"{start:x} {start + size:x} {row[3]}\n"


def changes(lines):
    """Pairs (count, name). A change that has to rebase first reads the counter
    once more, and that is when it happens."""
    last = None
    for line in lines:
        count, name = line.split()
        count, name = int(count), name.removeprefix("prof_loop_put_")
        if name == "rebase" and last is not None:
            last = (count, last[1])
            continue
        if last is not None:
            yield last
        last = (count, name)
    if last is not None:
        yield last


def replay(lines):
    """{name: [instructions, runs]} of what the plugin has written: the simple
    way to count, with a stack."""
    stack, found = [[None, 0]], defaultdict(lambda: [0, 0])
    since, away, entered, nests = 0, 0, None, []
    for count, name in changes(lines):
        if name.startswith("work_"):
            stack[-1][0] = stack[-1][0] or name.removeprefix("work_")
        elif name == "irq_enter":
            entered = count
        elif name == "irq_exit":
            away += count - entered
        elif name in BEGINS + ENDS:
            stack[-1][1] += count - since - away
            since, away = count, 0
            if name in BEGINS:
                if name == "nest":
                    nests.append(len(stack))
                stack.append([None, 0])
            elif len(stack) > 1:
                owner, own = stack.pop()
                if name == "leave" and nests and len(stack) == nests[-1]:
                    nests.pop()
                    owner = "nested loop"
                found[owner][0] += own
                found[owner][1] += 1
    return found


def exact(s, width):
    """The guest's rows, and what was counted, of one run."""
    plugin, out = s.work / "readings.so", s.work / "readings"
    run(*PLUGIN, plugin, "tests/loop/readings.c")
    image = s.image(width, "test/loop")
    (s.work / "map").write_text("".join(functions(image)), encoding="ascii")
    with s.guest(
        *(width, "test/loop"),
        append=f"{QUIET} do=exact",
        icount=0,
        args=["-plugin", f"{plugin},map={s.work / 'map'},out={out}"],
    ) as guest:
        check.same(guest.end(), 0)
        text = guest.text()
    found = {}
    for row in re.finditer(
        r"^site (\S+) own (\d+) total (\d+) runs (\d+)", text, re.M
    ):
        found[row[1]] = tuple(int(row[i]) for i in (2, 3, 4))
    with open(out, encoding="ascii") as lines:
        return found, replay(lines), text


def frozen(s, width):
    """A task that holds the loop for 250 ms, with a flight recorder that this
    stops: what `script` prints of it."""
    trace, _ = boot_and_record(
        *(s, width, "test/loop", "frozen"),
        "prof.hz=1000 prof.every=0 prof.loop=8 do=hog "
        "prof.trace=flight prof.loop_trigger=on",
    )
    return run(s.parasite, "script", "-q", trace).out


def freezes_are_events(s, width):
    """The freeze with its stack, and both long runs; the recorder stopped at
    the tick that found the first, 100 to 110 ms after its begin."""
    text = frozen(s, width)
    frozen_at = re.findall(
        r"^hog \d+ [0-9.]+ \[\d+\] loop_freeze: 10\d\.\d+ ms\n"
        r"\t(?:burn|guest_spin|arch_tsc)\n((?:\t\w+\n)+)$",
        text,
        re.M,
    )
    check.same(len(frozen_at), 1)
    check.same(frozen_at[0].split()[:3], ["middle", "hog", "task_main"])
    runs = re.findall(r"^hog \d+ .* loop_held: (\d+)[.]\d+ ms$", text, re.M)
    check.same(runs, ["249", "249"])
    times = re.findall(r"^\S.* ([0-9.]+) \[\d+\] irq_", text, re.M)
    check.between(float(times[-1]), 0.1, 0.112)


def cpus_have_loops(s, width):
    """The guest test cpus_loop, which knows its counts, from outside: each of
    four CPUs by itself, and their sum."""
    trace, _ = boot_and_record(
        *(s, width, "test/cpus_loop", "cpus"),
        "prof.hz=500 prof.every=0 prof.loop=12 prof.tick=lapic",
        **{"cpus": 4, "icount": None},
    )
    found = json.loads(run(s.parasite, "loop", "-q", "--json", trace).out)
    check.same([one["cpu"] for one in found["cpus"]], [0, 1, 2, 3])
    for one in found["cpus"]:
        [worker] = [r for r in one["sites"] if r["site"] == "worker"]
        check.same(worker["calls"], 3 + one["cpu"])
        check.same(worker["runs"], 21 * (3 + one["cpu"]))
        check.same(sum(n for _, n in worker["run"]["ranges"]), worker["runs"])
        odd = [row["calls"] for row in one["sites"] if row["site"] == "odd"]
        check.same(odd, [1] * (one["cpu"] % 2))
    stacks = [f["stack"] for f in found["cpus"][3]["freezes"]]
    check.true(any("hog" in stack for stack in stacks), "a freeze of CPU 3")
    [worker] = [r for r in found["sites"] if r["site"] == "worker"]
    check.same((worker["calls"], worker["runs"]), (18, 21 * 18))
    for part, cycles in found["cycles"].items():
        check.same(cycles, sum(c["cycles"][part] for c in found["cpus"]), part)
    names = {row["node"]: row["site"] for row in found["tree"]}
    parents = {
        names[row["parent"]] for row in found["tree"] if row["site"] == "worker"
    }
    check.same(parents, {"boss"})


def suite(s):
    width = s.part
    rows, counted, text = {}, {}, ""
    with s.test("a guest runs under the plugin"):
        rows, counted, text = exact(s, width)
    for name in ("parent", "child", "grandchild", "ticker"):
        with s.test(f"the time of {name} is what was executed"):
            check.true(counted[name][1] > 100, "runs")
            check.same(rows[name][0], counted[name][0])
            check.same(rows[name][2], counted[name][1])
    with s.test("the total of a site is that of its descendants"):
        tasks = [rows[name][0] for name in ("parent", "child", "grandchild")]
        check.same(rows["parent"][1], sum(tasks))
        check.same(rows["child"][1], sum(tasks[1:]))
    with s.test("a nested loop is not the task that runs it"):
        check.same(counted["nested loop"][1], 15)
        check.true(counted["nested loop"][0] > 0, "it took no time")
        check.same(rows["parent"][0], counted["parent"][0])
    with s.test("the account adds up to the cycle"):
        check.has(text, "^account 0$")
    with s.test("nothing is allocated after the boot"):
        check.has(text, "^allocations [1-9][0-9]* at boot, 0 since$")
    with s.test("the account has what the statistics cost"):
        runs = sum(row[2] for row in rows.values())
        cost = int(re.search(r"^cost (\d+)", text, re.M)[1])
        # the time of a run and its pause is that of 40 to 150 instructions
        check.between(cost / runs, 20, 200)
    s.holds(freezes_are_events, s, width)
    s.holds(cpus_have_loops, s, width)
