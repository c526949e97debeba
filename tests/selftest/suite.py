# SPDX-License-Identifier: Apache-2.0
"""The harness itself: whatever is wrong with a test must be noticed."""

import contextlib
import io
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

from harness import (
    cases,
    host,
    jobs,
    monitor,
    plan,
    progress,
    qemu,
    runner,
    tap,
)
from harness.suite import (
    WIDTHS,
    Failed,
    GuestError,
    Skip,
    Suite,
    check,
    given_time,
    run,
    soon,
)


def counts(text):
    return tap.parse(text).counts()


@contextlib.contextmanager
def raises(kind, words):
    """The block raises this, and says (words)."""
    try:
        yield
    except kind as failed:
        check.contains(str(failed), words)
    else:
        raise AssertionError("not noticed")


def run_quietly(made):
    """What the Runner (made) prints."""
    with contextlib.redirect_stdout(io.StringIO()) as out:
        made.run()
    return out.getvalue()


def test_tap(s):
    with s.test("a plan that is kept passes"):
        check.same(counts("1..2\nok 1 - a\r\nok 2 - b\n"), (2, 0, 0))
        check.same(counts("ok 1 - a\nok 2 - b\n1..2\n"), (2, 0, 0))
    with s.test("a skipped test has not passed"):
        results = tap.parse("1..2\nok 1 - a # SKIP no disk\nok 2 - b\n")
        check.same(results.counts(), (1, 0, 1))
        check.same(results.skipped, ["a: no disk"])
    with s.test("a test that failed is not skipped"):
        check.same(counts("1..1\nnot ok 1 - a # SKIP no disk\n"), (0, 1, 0))
    for what, text in (
        ("a log without a plan", "ok 1 - a\n"),
        ("a test too few", "1..2\nok 1 - a\n"),
        ("a test too many", "1..1\nok 1 - a\nok 2 - b\n"),
        ("a plan of nothing", "1..0\n"),
        ("a number left out", "1..2\nok 1 - a\nok 3 - c\n"),
        ("an empty log", ""),
    ):
        with s.test(f"{what} fails"):
            check.same(counts(text)[1], 1)
    with s.test("each of several plans is counted"):
        check.same(counts("1..1\nok 1 - a\n1..1\nnot ok 1 - b\n"), (1, 1, 0))
    with s.test("of a long output, what is shown is said of the failure"):
        out = io.StringIO()
        inner = Suite("", s.work, s.build, tap.Writer(out))
        later = "".join(f"ok {i} - later\n# noise\n" for i in range(2, 40))
        inner.tap_of("", f"1..39\n# before\nnot ok 1 - a\n# why\n{later}")
        check.contains(
            out.getvalue(), "# # before\n# not ok 1 - a\n# # why\nok 2"
        )


def ran(entries, *texts, write=False):
    """The Runner of made-up jobs x/0, x/1, ... that print (texts), and what
    it printed."""
    selected = [
        jobs.Job(
            f"x/{i}", (str(i),), lambda t=t: (tap.parse(t), "/dev/null", 0.0)
        )
        for i, t in enumerate(texts)
    ]
    made = runner.Runner(selected, None if write else entries, {}, 2)
    return made, run_quietly(made)


def test_runner(s):
    good, skipped = "1..1\nok 1 - a\n", "1..1\nok 1 - a # SKIP why\n"
    with s.test("tests within the plan pass, skips are counted and listed"):
        made, _ = ran({"x/0": (1, 1), "x/1": (1, 1)}, good, skipped)
        check.same(made.totals, [1, 0, 1])
        check.same(made.skipped, ["x/1: a: why"])
    with s.test("another number of checks than planned fails"):
        made, out = ran({"x/0": (2, 1)}, good)
        check.same(made.totals, [1, 1, 0])
        check.contains(out, "1 checks, while tests/plan.txt has 2")
    with s.test("a test that is not in the plan fails"):
        check.same(ran({}, good)[0].totals, [1, 1, 0])
    with s.test("a test that vanished is found, if it was asked for"):
        entries = {"guest/i386/kernel/heap": (1, 1), "unit32/x_test": (1, 1)}
        check.same(
            runner.vanished(entries, {"unit32/x_test"}, ["*"]),
            ["guest/i386/kernel/heap"],
        )
        check.same(runner.vanished(entries, set(), ["x_*"]), ["unit32/x_test"])
    with s.test("a plan is not written from a test that was cut short"):
        made, _ = ran({}, good, "1..2\nok 1 - a\n", write=True)
        check.same(list(made.done), ["x/0"])
    with s.test("a job that raises is a failure, and the others still run"):
        job = jobs.Job("x/bad", ("bad",), lambda: 1 / 0)
        made = runner.Runner([job], {"x/bad": (0, 1)}, {}, 1)
        run_quietly(made)
        check.same(made.totals, [0, 1, 0])
    with s.test("the longest is run first"):
        selected = [jobs.Job(n, (n,), None) for n in ("a", "b", "c")]
        made = runner.Runner(
            selected, {"a": (1, 5), "b": (1, 9)}, {"c": 7.0}, 1
        )
        check.same([job.name for job in reversed(made.todo)], ["b", "c", "a"])
    test_order(s)


def test_order(s):
    """Jobs that come after others."""
    order = []

    def one(name, *after):
        def ends():
            order.append(name)
            return tap.parse("1..1\nok 1 - a\n"), "/dev/null", 0.0

        return jobs.Job(name, (name,), ends, after)

    everything = [one("x/last", "x/a", "x/b"), *map(one, ("x/a", "x/b", "x/c"))]
    with s.test("what others come after is run with them"):
        chosen = jobs.select(everything, ["x/l*"])
        check.same([job.name for job in chosen], ["x/last", "x/a", "x/b"])
        chosen = jobs.select(everything, ["x/b"])
        check.same([job.name for job in chosen], ["x/b"])
    with s.test("a job comes after others, though it is the longest"):
        entries = {"x/last": (1, 99)}
        for lanes in (1, 2, 9):
            order.clear()
            made = runner.Runner(everything, entries, {}, lanes)
            run_quietly(made)
            check.same(len(order), 4)
            before = order[: order.index("x/last")]
            check.true({"x/a", "x/b"} <= set(before), order)


def test_guest(s):
    with s.test("a guest that a stranger ends says so"):
        for number in (signal.SIGKILL, signal.SIGTERM):
            with (
                raises(GuestError, "QEMU was ended from outside"),
                s.guest("x86_64", "split", append="prof.every=0") as guest,
            ):
                guest.wait_line("^boot: ")
                os.kill(guest.pid, number)
                soon(lambda: not guest.alive(), "its end")
    with s.test("what QEMU says is shown, if it does not start"):
        with raises(GuestError, "no_such_image"):
            s.guest("x86_64", "no_such_image", monitor=True)
    test_monitor(s)


def test_monitor(s):
    """Monitors that end before they answer: with or without an error at the
    side of who asks."""

    def ends(listener, accepts):
        select.select([listener], [], [])
        if accepts:
            listener.accept()[0].close()
        listener.close()

    for accepts in (True, False):
        name = "accepted" if accepts else "refused"
        with s.test(
            f"QEMU's messages are shown, if its monitor {name} and ended"
        ), tempfile.TemporaryDirectory() as folder, socket.socket(
            socket.AF_UNIX
        ) as listener:
            listener.bind(f"{folder}/monitor")
            listener.listen()
            threading.Thread(
                target=ends, args=(listener, accepts), daemon=True
            ).start()
            made = monitor.Monitor(
                f"{folder}/monitor", lambda: True, lambda: "no image"
            )
            with raises(monitor.MonitorGone, "QEMU has ended: no image"):
                made.command("stop")


def test_plan(s):
    with s.test("the plan is read as it was written"):
        with tempfile.NamedTemporaryFile() as file:
            entries = {"a/b": (3, 1), "c/d": (200, 1000)}
            plan.write(entries, file.name)
            check.same(plan.read(file.name), entries)
    with s.test("both widths are a line where they make as many checks"):
        with tempfile.NamedTemporaryFile() as file:
            entries = {
                **{f"guest/{width}/a": (3, 2) for width in WIDTHS},
                **{f"unit{bits}/i386_b": (1, 1) for bits in (32, 64)},
                **{"suite/c/i386-d": (2, 1), "suite/c/x86_64-d": (3, 1)},
                "suite/e/x86_64": (4, 1),
            }
            plan.write(entries, file.name)
            check.same(plan.read(file.name), entries)
            lines = Path(file.name).read_text(encoding="ascii").splitlines()
            check.same(
                [line.split()[2] for line in lines if line[0] != "#"],
                ["guest/*/a", "suite/c/i386-d", "suite/c/x86_64-d"]
                + ["suite/e/x86_64", "unit*/i386_b"],
            )
    with s.test("an update drops what is no more, and keeps about the time"):
        check.same(
            plan.updated(
                {"a": (1, 20), "b": (2, 2), "c": (3, 3), "d": (1, 99)},
                {"a", "b", "d"},
                {"a": (5, 24.0), "d": (1, 9.0)},
            ),
            {"a": (5, 20), "b": (2, 2), "d": (1, 9)},
        )
    with s.test("every guest case has a name of its own"):
        names = [case.name for table in cases.load().values() for case in table]
        check.true(len(names) > 80)
        check.same(len(names), len(set(names)))


def test_limits(s):
    endless = "prof.every=0 prof.start=off"
    with s.test("a guest that works for ever is ended, and that is said"):
        with s.guest("x86_64", "split", append=endless, cpu_limit=3) as guest:
            check.same(guest.end(), qemu.STOPPED)
            check.contains(guest.why, "3 s of CPU time")
    for what, stops in (("stands still", True), ("idles", False)):
        with s.test(f"a guest that {what} is ended, and that is said"):
            idle = f"{endless} split.idle=95"
            with s.guest("x86_64", "split", append=idle) as guest:
                guest.wait_line("^boot: ")
                if stops:
                    guest.stop()
                guest.watch = progress.Watch(guest.pid, limit=3)
                said = overdue(guest.end)
                check.contains(said, "stalled: no end for 3 s")
                check.same(guest.code, qemu.STOPPED)
    with s.test("a guest that is only slow is not"):
        with s.guest("x86_64", "hello", append=endless) as guest:
            guest.stop()
            run("sleep", 3)
            guest.cont()
            check.same(guest.end(), 0)
    with s.test("a program's children count, and are ended with it"):
        with raises(Failed, "2 s of CPU time"):
            run("sh", "-c", "sh -c 'while :; do :; done' & wait", cpu_limit=2)
        soon(lambda: len(progress.tree(_me())) == 1, "their end")
    with s.test("what never happens is given up in the end, and that is said"):
        begun = time.monotonic()
        said = overdue(progress.until, lambda: False, limit=2, text="rain")
        check.same(said, "rain: nothing came for 2 s")
        check.true(time.monotonic() - begun >= 2)
    with s.test("no wait lasts longer than ten minutes"):
        limits = [progress.Wait().limit, progress.Watch(_me()).limit]
        check.same(limits, [progress.WAIT_S] * 2)
        check.true(progress.WAIT_S < progress.BACKSTOP_S <= 600)
    test_progress(s)
    test_ends(s)


def overdue(function, *words, **options):
    """What the Overdue says that function(...) raises."""
    try:
        function(*words, **options)
    except progress.Overdue as late:
        return str(late)
    raise Failed("it was not ended")


DRIP = "while :; do echo; sleep 0.2; done"


def watched(script, cpu_limit, by_lines, limit):
    """Why a shell with (script) had to be ended; its CPU time."""
    with tempfile.NamedTemporaryFile() as log:
        with subprocess.Popen(["sh", "-c", script], stdout=log) as process:
            outputs = [log.name] if by_lines else ()
            watch = progress.Watch(process.pid, cpu_limit, outputs, limit)
            return progress.wait(process, watch)


LIMITS_S = (10, 60)  # a host may stand still for longer than the first


def output_is_progress(limit):
    slowly = f"for i in 1 2 3 4 5 6 7; do echo; sleep {limit / 5}; done"
    check.same(watched(slowly, 100, True, limit), None)


def waits_are_progress(s, limit):
    made = {}
    waits = f"(run('true'), time.sleep({limit / 10}))"
    for name, script in (
        ("waits", f"[{waits} for _ in range(14)]"),
        ("silent", "time.sleep(10000)"),
    ):
        words = f"from harness.suite import run; import time; {script}"
        log = s.work / f"{name}.log"
        made[name], *_ = jobs.command(
            [sys.executable, "-c", words],
            *(log, 100, {"PYTHONPATH": "tests"}, s.work / "beats"),
            limit=limit,
        )
    for name, results in made.items():
        wrong = "\n".join(results.problems)
        stalled = f"stalled: no output for {limit} s" in wrong
        check.same(stalled, name == "silent", f"{name}: {wrong}")


def test_progress(s):
    with s.test("CPU time is no progress"):
        why = watched("while :; do :; done", 100, True, 3)
        check.same(why, "stalled: no output for 3 s")
    with s.test("output is, where it is what is waited for"):
        given_time(output_is_progress, LIMITS_S)
        check.same(watched(DRIP, 100, False, 3), "stalled: no end for 3 s")
        # without an end it still has an end: that of its CPU time
        why = watched("while :; do echo; done", 2, True, 60)
        check.same(why, "no end after 2 s of CPU time")
    with s.test("a suite's waits are progress, and its silence is none"):
        given_time(lambda limit: waits_are_progress(s, limit), LIMITS_S)
    with s.test("a wait that took too long ends its suite"):
        out = io.StringIO()
        inner = Suite("", s.work, s.build, tap.Writer(out))

        def waits():
            progress.until(lambda: False, limit=1, text="rain")

        said = overdue(inner.holds, "rains", waits)
        check.contains(out.getvalue(), "not ok 1 - rains")
        check.contains(said, "rain")
        # nor is it tried again with more time, or taken for "not yet"
        tries = []
        overdue(given_time, lambda t: tries.append(t) or waits())
        overdue(soon, lambda: tries.append(0) or waits())
        check.same(len(tries), 2)


def test_ends(s):
    """Waits that end because nobody is left."""
    with s.test("a wait for a guest ends with it"):
        with s.guest("x86_64", "hello", append="prof.start=off") as guest:
            with raises(GuestError, "line '^never' never came"):
                guest.wait_line("^never")
    for what, alive in (("named", True), ("not named", False)):
        with s.test(f"any wait ends with a guest that is {what}"):
            try:
                progress.AFTERMATH_S, kept = 2, progress.AFTERMATH_S
                with s.guest("x86_64", "hello", append="prof.every=0") as guest:
                    words = [guest.alive] if alive else []
                    with raises(Failed, "rain did not happen"):
                        soon(lambda: False, "rain", *words)
            finally:
                progress.AFTERMATH_S = kept
    with s.test("a wait goes on while one of several guests runs"):
        with s.guest("x86_64", "hello", append="prof.every=0") as first:
            with s.guest("x86_64", "split", "second", append="prof.every=0"):
                soon(lambda: not first.alive(), "the end of the first")
                waits = progress.Wait()
                check.same(waits.is_pointless(), False)
    with s.test("what comes after the end that was asked for is waited for"):
        with s.guest("x86_64", "hello", append="prof.every=0") as guest:
            guest.end()
            check.same(progress.Wait().is_pointless(), False)


def _me():
    return int(Path("/proc/self/stat").read_text().split()[0])


MADE = """\
from harness.suite import Skip

def suite(s):
    with s.test("a"):
        raise Skip("no tap device")
    s.holds("b", lambda: True)
"""


def test_suites(s):
    out = io.StringIO()
    inner = Suite("", s.work, s.build, tap.Writer(out))

    def skips():
        raise Skip("no tap device")

    with s.test("a suite's tests pass, fail and are skipped"):
        inner.holds("true", lambda: True)
        inner.holds("false", lambda: False)
        inner.holds("raises", lambda: [][0])
        inner.holds("skips", skips)
        inner.holds("status", lambda: run("false"))
        inner.holds("wanted status", lambda: run("false", status=1))
        check.same(inner.tap.end(), 1)
        check.same(counts(out.getvalue()), (2, 3, 1))
    with s.test("and so it is when the runner has started it"):
        folder = s.work / "tests" / "made"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "suite.py").write_text(MADE, encoding="ascii")
        words = (sys.executable, "-m", "harness.suite", "made", s.work / "made")
        path = {"PYTHONPATH": str(Path("tests").absolute())}
        done = run(*words, cwd=s.work, env=path)
        check.same(counts(done.out), (1, 0, 1))
    with s.test("what QEMU's end means"):
        check.same(qemu.exit_code(7, ""), 3)
        check.same(
            qemu.exit_code(1, "qemu-system-i386: no image"), qemu.QEMU_FAILED
        )
        check.same(qemu.exit_code(1, "qemu-system-i386: warning: x"), 0)
        check.same(qemu.exit_code(0, ""), qemu.RESET)
        check.same(qemu.exit_code(-9, ""), qemu.STOPPED)
    with s.test("a run in which something failed ends with 1"):
        words = (sys.executable, "-m", "harness", s.work, "no_such_test")
        done = run(*words, status=1, cwd=".")
        check.has(done.out, "^0 passed, 0 failed$")


def test_host(s):
    """Where no 32-bit programs run, what needs them is skipped and says so;
    where they do, a program that cannot be started is a failure."""
    damaged, log = s.work / "damaged", s.work / "damaged.log"
    damaged.write_bytes(b"\x7fELF" + bytes(60))
    damaged.chmod(0o755)
    with s.test("without 32-bit programs, theirs is a skip"):
        with runs_32_bit(False):
            results = jobs.command([damaged], log, 60)[0]
        check.same(results.skipped, [host.NO_32_BIT])
        check.same(plan.problem({"x": (7, 1)}, "x", results), None)
    with s.test("with them it is a failure"):
        with runs_32_bit(True):
            try:
                jobs.command([damaged], log, 60)
            except OSError:
                return
            raise Failed("it was started")


@contextlib.contextmanager
def runs_32_bit(does):
    """As if the kernel did, or did not."""
    was = host.runs_32_bit
    host.runs_32_bit = lambda: does
    try:
        yield
    finally:
        host.runs_32_bit = was


def suite(s):
    test_tap(s)
    test_runner(s)
    test_guest(s)
    test_plan(s)
    test_limits(s)
    test_host(s)
    test_suites(s)
