# SPDX-License-Identifier: Apache-2.0
"""What the command's user sees beside the numbers: exit codes, -q and -v,
colours, spans of time, completion, and how recordings end."""

import os
import re
import signal

from harness import progress
from harness.command import Command, event_counts
from harness.suite import WIDTHS, background, check, run, soon

PARTS = ("plain", *WIDTHS)
SAMPLES = 20000
COLOUR = "\033\\[3[12]m"
COMPLETION = """
. host/cli/completion.bash
COMP_WORDS=("$@")
COMP_CWORD=$(($# - 1))
_parasite
printf "%s\\n" "${COMPREPLY[@]}"
"""


class Plain:
    """One trace, of samples a tenth of a millisecond apart, and what is said
    of it."""

    def __init__(self, s):
        self.suite, self.work, self.parasite = s, s.work, Command(s)
        self.packets, self.trace = s.work / "packets", s.work / "x.trace"
        self.other = s.work / "q.trace"
        self.packets.write_bytes(self.parasite.make_stream(SAMPLES, 1))
        self.parasite.record(self.trace, "-q", self.packets)

    # ---- -q, -v and colours

    def quiet_is_quiet(self):
        for words in (
            ("record", "-o", self.other),
            ("report",),
            ("script",),
            ("export", "-f", "folded"),
        ):
            check.same(self.parasite(*words, "-q", self.packets).err, "")
        nothing = self.work / "nothing"
        done = self.parasite("report", "-q", nothing, status=1)
        check.contains(done.err, "nothing")

    def verbose_says_more(self):
        plain = self.parasite("report", self.trace).err
        more = self.parasite("report", "-v", self.trace).err
        check.has(more, r" packets, \d* stacks")
        check.true(more.count("\n") > plain.count("\n"))

    def closing_line_is_printed(self):
        said = self.parasite.record(self.other, self.packets).err
        check.has(
            said, r"^\[ parasite record: wrote [0-9.]* kB, 20,000 samples, 0 l"
        )

    def on_terminal(self, words="", before=""):
        words = f"--no-pager report {words} {self.trace}"
        command = f"{before} {self.parasite.path} {words}"
        return run("script", "-qec", command, "/dev/null").out

    def colours_follow_the_terminal(self):
        report = self.parasite
        check.has(self.on_terminal(), COLOUR)
        check.has(self.on_terminal(before="NO_COLOR="), COLOUR)
        check.lacks(self.on_terminal(before="NO_COLOR=1"), COLOUR)
        check.lacks(self.on_terminal("--color never"), COLOUR)
        check.lacks(report("report", self.trace).out, COLOUR)
        auto = report("report", "--color=auto", self.trace)
        check.lacks(auto.out, COLOUR)
        always = report(
            "report", "--color=always", self.trace, env={"NO_COLOR": 1}
        )
        check.has(always.out, COLOUR)

    # ---- spans of time, and time as the weight

    def spans_count(self):
        """The first sample comes a tenth of a millisecond after the start."""
        for span, samples in (
            ("0.5,1", 5000),
            ("0,0.25", 2499),
            (",0.25", 2499),
            ("1.5,", 5001),
            ("1.5", 5001),
            ("5,6", 0),
        ):
            found = self.parasite.report(self.trace, "--time", span)
            check.same(found["samples"], samples, span)

    def bad_spans_are_refused(self):
        for span in ("1,0.5", "a,b", "1,2,3", "1,1"):
            self.parasite("report", "--time", span, self.trace, status=2)

    def time_weighs(self):
        """Each sample has 0.1 ms, so shares by time are the same."""
        row = r"^ *([0-9.]*%) *([0-9.]*%) .* ([^ ]*)$"
        samples, time = (
            sorted(
                re.findall(
                    row,
                    self.parasite(
                        *("report", "-q", "--weight", weight),
                        *("--time", "0.5,1", self.trace),
                    ).out,
                    re.M,
                )
            )
            for weight in ("samples", "time")
        )
        check.true(time)
        check.same(time, samples)
        stacks = self.parasite.folded(
            self.trace, "--weight", "time", "--time", "0.5,1"
        )
        total = sum(weight for _, weight in stacks)
        check.true(total in (5000000, 500000000, 500000), total)

    # ---- completion and help

    def completed(self, *words):
        """What Tab offers for the last of them."""
        path = f"{self.suite.build / 'host'}:{os.environ['PATH']}"
        done = run(
            *("bash", "--norc", "-c", COMPLETION, "bash", "parasite"),
            *words,
            env={"PATH": path},
            status=None,
        )
        return sorted(done.lines())

    def completes(self):
        for words, offered in (
            ("re", "record report"),
            ("t", "tell tasks timeline top"),
            ("loop -s w", "wall"),
            ("loop --histogram ", "delay run wall"),
            ("record -t vi", "virtio"),
            ("top -s ", "name self total"),
            ("top --loop -s p", "pending"),
            ("tell unix:x loop ", "report reset"),
            ("report --color a", "always auto"),
            ("top --weight ", "samples time"),
            ("tell unix:x st", "stacks start stop"),
            ("tell unix:x stacks ", "off on"),
            ("tell --wa", "--wait"),
            ("report --perc", "--percent-limit"),
            ("export -f pp", "pprof"),
            ("report READ", "README.md"),
        ):
            found = self.completed(*words.split(" "))
            check.same(found, sorted(offered.split()), words)

    def commands(self):
        said = self.parasite("--help").out
        return check.true(re.findall(r"^  ([a-z]+)  ", said, re.M))

    def every_command_completes_its_options(self):
        for command in self.commands():
            if command != "demangle":
                offered = self.completed(command, "--h")
                check.true("--help" in offered, command)

    def helps_have_examples(self):
        for command in self.commands():
            text = self.parasite(command, "--help").text
            check.has(
                text, rf"^ +(parasite {command}|.*\| *parasite {command})"
            )
            check.true("%%" not in text, command)

    # ---- exit codes

    def usage_is_2(self):
        for words in (
            "",
            "nothing",
            "record",
            "record --nothing",
            "report -C x",
            "report -s x",
            "report --weight x",
            "report -I (",
            "tell",
            "top",
            "record -F 0 x",
            "record -d -1 x",
            "record --depth 128 x",
            "record -t x -- y",
            "record a b",
            "record a -- b",
            "export -f x",
        ):
            self.parasite(*words.split(), status=2)

    def bad_data_is_1(self):
        empty, none = self.work / "empty", self.work / "none"
        empty.write_bytes(b"")
        for words in (
            f"report {empty}",
            f"report {none}",
            f"info {none}",
            f"script {empty}",
            f"export -f folded {empty}",
            f"record -o {self.other} {none}",
            f"top --stdio -n 1 {empty}",
            f"record -k README.md -o {self.other} {self.packets}",
            f"tell unix:{none} stop",
        ):
            self.parasite(*words.split(), status=1)

    def pasted_log_is_read(self):
        """With time stamps in front, carriage returns, and its end torn off."""
        log = self.parasite.make_stream("--text", SAMPLES, 1).decode()
        pasted = "".join(
            f"[{number / 10:8.3f}] {line}\r\n"
            for number, line in enumerate(log.split("\n")[:-1], 1)
        )
        file = self.work / "pasted"
        file.write_text(pasted[:-300], newline="")
        self.parasite.record(self.other, f"console:{file}")
        info = self.parasite.info(self.other)
        check.same(info["missing_packets"], 0)
        check.true(info["samples"] > SAMPLES * 9 // 10)


def test_plain(s):
    plain = Plain(s)
    for what, function in (
        ("-q prints nothing but errors", plain.quiet_is_quiet),
        ("-v says more", plain.verbose_says_more),
        ("record closes with one line", plain.closing_line_is_printed),
        (
            "colours are for terminals, and NO_COLOR is honoured",
            plain.colours_follow_the_terminal,
        ),
        ("spans of time are cut out", plain.spans_count),
        ("what is no span is bad usage", plain.bad_spans_are_refused),
        (
            "time weighs as samples do where they are as far apart",
            plain.time_weighs,
        ),
        ("bash completes commands, options and values", plain.completes),
        (
            "each command completes its options",
            plain.every_command_completes_its_options,
        ),
        ("each --help has an example", plain.helps_have_examples),
        ("bad usage is 2", plain.usage_is_2),
        ("bad data is 1", plain.bad_data_is_1),
        ("a pasted log is read", plain.pasted_log_is_read),
    ):
        s.holds(what, function)
    with s.test("help is 0"):
        plain.parasite("--help")


# ---- how a recording of a guest ends

ENDLESS = "while true do local t = {} for i = 1, 99 do t[i] = i end end\n"


def recording(s, width):
    """A recorder and its guest, which runs for ever, in a group of
    processes of their own, as on a terminal."""
    parasite, trace = Command(s), s.work / "guest.trace"
    script, pid = s.work / "script.lua", s.work / "pid"
    script.write_text(ENDLESS)
    run("rm", "-rf", trace, pid)
    machine = parasite.machine(
        width, "lua", "prof.every=0", "-pidfile", pid, modules=[script]
    )
    return background(
        *(parasite.path, "record", "-q", "-F", 1000, "-o", trace),
        *machine,
        log=s.work / "recorder.log",
    )


def works(s, recorder):
    """Waits until the guest has worked for a while; its process."""
    file = s.work / "pid"
    soon(
        lambda: file.exists() and file.read_text().strip(),
        "the guest's process",
        recorder.alive,
    )
    pid = int(file.read_text())
    soon(
        lambda: progress.cpu_seconds(pid) >= 3,
        "three seconds of the guest's work",
        recorder.alive,
    )
    return pid


def ended_whole(s):
    check.true(event_counts(s.work / "guest.trace")["sample"] > 100)


def interrupt_ends_whole(s, width):
    """Ctrl-C reaches recorder and guest alike."""
    with recording(s, width) as recorder:
        works(s, recorder)
        recorder.signal_group(signal.SIGINT)
        recorder.end(0)
    ended_whole(s)


def killed_guest_ends_whole(s, width):
    with recording(s, width) as recorder:
        os.kill(works(s, recorder), signal.SIGKILL)
        recorder.end(126)
    ended_whole(s)


def suite(s):
    if s.part == "plain":
        test_plain(s)
        return
    s.holds(
        f"{s.part}: Ctrl-C leaves a whole trace",
        interrupt_ends_whole,
        s,
        s.part,
    )
    s.holds(
        f"{s.part}: so does a guest that is killed",
        killed_guest_ends_whole,
        s,
        s.part,
    )
