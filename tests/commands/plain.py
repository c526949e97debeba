# SPDX-License-Identifier: Apache-2.0
"""What the user sees beside the numbers: exit codes, -q and -v, colours, spans
of time, and completion."""

import os
import re

from harness.suite import check, run

SAMPLES = 20000
COLOUR = "\033\\[3[12]m"
COMPLETION = """
. host/cli/completion.bash
COMP_WORDS=("$@")
COMP_CWORD=$(($# - 1))
_parasite
printf "%s\\n" "${COMPREPLY[@]}"
"""


def other(made):
    """Another trace."""
    return made.s.work / "q.trace"


# ---- -q, -v and colours


def quiet_is_quiet(made):
    for words in (
        ("record", "-o", other(made)),
        ("report",),
        ("script",),
        ("export", "-f", "folded"),
    ):
        check.same(made.parasite(*words, "-q", made.packets).err, "")
    nothing = made.s.work / "nothing"
    done = made.parasite("report", "-q", nothing, status=1)
    check.contains(done.err, "nothing")


def verbose_says_more(made):
    plain = made.parasite("report", made.trace).err
    more = made.parasite("report", "-v", made.trace).err
    check.has(more, r" packets, \d* stacks")
    check.true(more.count("\n") > plain.count("\n"))


def closing_line_is_printed(made):
    said = made.parasite.record(other(made), made.packets).err
    check.has(
        said, r"^\[ parasite record: wrote [0-9.]* kB, 20,000 samples, 0 l"
    )


def on_terminal(made, words="", before=""):
    words = f"--no-pager report {words} {made.trace}"
    command = f"{before} {made.parasite.path} {words}"
    return run("script", "-qec", command, "/dev/null").out


def colours_follow_the_terminal(made):
    report = made.parasite
    check.has(on_terminal(made), COLOUR)
    check.has(on_terminal(made, before="NO_COLOR="), COLOUR)
    check.lacks(on_terminal(made, before="NO_COLOR=1"), COLOUR)
    check.lacks(on_terminal(made, "--color never"), COLOUR)
    check.lacks(report("report", made.trace).out, COLOUR)
    auto = report("report", "--color=auto", made.trace)
    check.lacks(auto.out, COLOUR)
    always = report("report", "--color=always", made.trace, env={"NO_COLOR": 1})
    check.has(always.out, COLOUR)


# ---- spans of time, and time as the weight


def spans_count(made):
    """The first sample comes a tenth of a millisecond after the start."""
    for span, samples in (
        ("0.5,1", 5000),
        ("0,0.25", 2499),
        (",0.25", 2499),
        ("1.5,", 5001),
        ("1.5", 5001),
        ("5,6", 0),
    ):
        found = made.parasite.report(made.trace, "--time", span)
        check.same(found["samples"], samples, span)


def bad_spans_are_refused(made):
    for span in ("1,0.5", "a,b", "1,2,3", "1,1"):
        made.parasite("report", "--time", span, made.trace, status=2)


def time_weighs(made):
    """Each sample has 0.1 ms, so shares by time are the same."""
    row = r"^ *([0-9.]*%) *([0-9.]*%) .* ([^ ]*)$"
    samples, time = (
        sorted(
            re.findall(
                row,
                made.parasite(
                    *("report", "-q", "--weight", weight),
                    *("--time", "0.5,1", made.trace),
                ).out,
                re.M,
            )
        )
        for weight in ("samples", "time")
    )
    check.true(time)
    check.same(time, samples)
    stacks = made.parasite.folded(
        made.trace, "--weight", "time", "--time", "0.5,1"
    )
    total = sum(weight for _, weight in stacks)
    check.true(total in (5000000, 500000000, 500000), total)


# ---- completion and help


def completed(made, *words):
    """What Tab offers for the last of them."""
    path = f"{made.s.build / 'host'}:{os.environ['PATH']}"
    done = run(
        *("bash", "--norc", "-c", COMPLETION, "bash", "parasite"),
        *words,
        env={"PATH": path},
        status=None,
    )
    return sorted(done.lines())


def completes(made):
    for words, offered in (
        ("re", "record report"),
        ("t", "tell tasks timeline top"),
        ("loop -s w", "wall"),
        ("loop --histogram ", "call delay run wall"),
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
        found = completed(made, *words.split(" "))
        check.same(found, sorted(offered.split()), words)


def commands(made):
    said = made.parasite("--help").out
    return check.true(re.findall(r"^  ([a-z]+)  ", said, re.M))


def every_command_completes_its_options(made):
    for command in commands(made):
        if command != "demangle":
            offered = completed(made, command, "--h")
            check.true("--help" in offered, command)


# ---- exit codes


def usage_is_2(made):
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
        "report --nothing",
        "top -s x y",
        "top --filter ( y",
        "top -n 0 y",
    ):
        made.parasite(*words.split(), status=2)


def bad_data_is_1(made):
    empty, none = made.s.work / "empty", made.s.work / "none"
    empty.write_bytes(b"")
    for words in (
        f"report {empty}",
        f"report {none}",
        f"info {none}",
        f"script {empty}",
        f"export -f folded {empty}",
        f"record -o {other(made)} {none}",
        f"top --stdio -n 1 {empty}",
        f"record -k README.md -o {other(made)} {made.packets}",
        f"tell unix:{none} stop",
        f"top unix:{none}",
        f"record -o {other(made)} {made.parasite.path}",
    ):
        made.parasite(*words.split(), status=1)


def pasted_log_is_read(made):
    """With time stamps in front, carriage returns, and its end torn off."""
    log = made.parasite.make_stream("--text", SAMPLES, 1).decode()
    pasted = "".join(
        f"[{number / 10:8.3f}] {line}\r\n"
        for number, line in enumerate(log.split("\n")[:-1], 1)
    )
    file = made.s.work / "pasted"
    file.write_text(pasted[:-300], newline="")
    made.parasite.record(other(made), f"console:{file}")
    info = made.parasite.info(other(made))
    check.same(info["missing_packets"], 0)
    check.true(info["samples"] > SAMPLES * 9 // 10)


TESTS = (
    quiet_is_quiet,
    verbose_says_more,
    closing_line_is_printed,
    colours_follow_the_terminal,
    spans_count,
    bad_spans_are_refused,
    time_weighs,
    completes,
    every_command_completes_its_options,
    usage_is_2,
    bad_data_is_1,
    pasted_log_is_read,
)
