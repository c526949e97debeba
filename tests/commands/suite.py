# SPDX-License-Identifier: Apache-2.0
"""The command line of parasite: help, options that contradict each other,
messages, exit codes, what a terminal gets, and how recordings end."""

import os
import re

import endings
import examples
import plain
from harness.command import Command, build_id, text_addresses
from harness.made_events import each_event
from harness.suite import by_turns, check, run

# how recordings end is the recorder's, whatever the guest is
ENDINGS = by_turns("x86_64")
PARTS = ("options", "output", "plain", "examples", *ENDINGS)
COMMANDS = ["record", "attach", "tell", "top", "report", "annotate", "diff"]
COMMANDS += ["script"]
COMMANDS += ["info", "tasks", "loop", "causal", "export", "flame", "timeline"]
COMMANDS += ["open", "serve", "store", "sql", "fleet", "embed", "demangle"]
RATE = re.compile("start rate_mhz=([0-9]+)")
#: than a trace: suite/{attach,symbol_space,serve,store,fleet}
NEED_MORE = ("attach", "embed", "serve", "store", "sql", "fleet")


#: functions that the examples of help texts name
EXAMPLES_NAME = ("leaf_a",)


class Made:
    """A trace over some functions of an image."""

    def __init__(self, s):
        self.s, self.parasite = s, Command(s)
        self.image = s.image("x86_64", "split")
        addresses, self.packets = s.work / "addresses", s.work / "packets"
        lines = self.functions()[:399]
        lines += text_addresses(self.image, EXAMPLES_NAME).splitlines()
        addresses.write_text("\n".join(lines) + "\n")
        self.packets.write_bytes(
            self.parasite.make_stream(
                *(20000, 1, addresses), BUILD_ID=build_id(self.image)
            )
        )
        self.trace = s.work / "x.trace"
        self.parasite.record(self.trace, "-q", "-k", self.image, self.packets)

    def functions(self):
        """Addresses of functions but the profiler's, which are in no share."""
        begin, end = (
            text_addresses(self.image, (f"prof_code_{side}",)).strip()
            for side in ("begin", "end")
        )
        return [
            address
            for address in text_addresses(self.image).splitlines()
            if not begin <= address < end
        ]

    def report(self, *words, **options):
        return self.parasite("report", *words, self.trace, **options)


# ---- options


def help_is_shown(parasite, command):
    text = parasite(command, "--help").out
    check.same(parasite(command, "-h").out, text)
    check.same(parasite("help", command).out, text)
    check.contains(text, f"Usage: parasite {command} ")
    check.contains(text, "For example:\n")
    check.lacks(text, "%%")
    long = [line for line in text.splitlines() if len(line) > 79]
    check.same(long, [])


def test_help(s, parasite):
    for command in COMMANDS:
        with s.test(f"{command} has -h, --help and --version"):
            help_is_shown(parasite, command)
            check.has(parasite(command, "--version").out, "^parasite [0-9]")
    with s.test("so has parasite itself"):
        text = parasite("--help").out
        check.same([parasite("-h").out, parasite("help").out], [text] * 2)
        check.same(re.findall("^  ([a-z]+)  ", text, re.M), COMMANDS)
        check.has(parasite("--version").out, "^parasite [0-9]")


#: options that are refused, and what the message says
REFUSED = (
    ("report", "color=foo", ("--color=foo",), "always, never or auto"),
    ("report", "two traces", ("other.trace",), "one trace at a time"),
    ("report", "-i and another", ("-i", "other.trace"), "one trace at a time"),
    ("info", "two traces", ("other.trace",), "one trace at a time"),
    ("script", "-q and -v", ("-q", "-v"), "contradict"),
    ("report", "two forms", ("--json", "--stdio"), "contradict"),
    ("report", "callers in a tree", ("-g", "--callers"), "not for a tree"),
    ("report", "no number of rows", ("--rows", "x"), "--rows takes a number"),
    ("report", "no span of time", ("--time", "2,1"), "not after the beginning"),
    ("flame", "an unknown ending", ("-o", "x.png"), ".html for a page or .svg"),
    (
        "flame",
        "a picture called page",
        ("--svg", "-o", "x.html"),
        "--svg draws",
    ),
    ("annotate", "an unknown ending", ("-o", "x.txt"), ".html for a page"),
    ("annotate", "JSON called page", ("--json", "-o", "x.html"), "not write"),
    ("annotate", "only lines of a page", ("-l", "-o", "x.html"), "-l is for"),
    ("diff", "one trace twice given", ("-i", "x"), "without -i"),
    ("record", "-g without callers", ("-g", "--depth", "0"), "contradict"),
    ("record", "-t of a running guest", ("-t", "shm"), "guest after --"),
    ("demangle", "-l with names", ("-l",), "-l is for standard input"),
)


def is_refused(made, command, words, said):
    done = made.parasite(command, *words, made.trace, status=2, cwd=made.s.work)
    check.same(len(done.err.splitlines()), 1, done.err)
    check.contains(done.err, said)
    check.same(done.out, "")


def is_quiet(made, *words):
    done = made.parasite(*words, cwd=made.s.work)
    check.same(done.err, "")
    check.lacks(done.out, "^#")


#: what -q has nothing to say about
QUIET = (
    ("record", "-o", "quiet.trace", "packets"),
    ("report", "x.trace"),
    ("report", "-g", "x.trace"),
    ("report", "--rows", 1, "x.trace"),
    ("annotate", "x.trace"),
    ("diff", "x.trace", "x.trace"),
    ("export", "-C", 9, "-f", "folded", "x.trace"),
    ("flame", "-o", "quiet.html", "x.trace"),
)


def test_options(made):
    s = made.s
    test_help(s, made.parasite)
    for command, what, words, said in REFUSED:
        s.holds(
            f"{command}: {what} is bad usage",
            *(is_refused, made, command, words, said),
        )
    for command, *words in QUIET:
        s.holds(
            f"{command} -q {' '.join(map(str, words))} is quiet",
            *(is_quiet, made, command, "-q", *words),
        )


# ---- output


def nothing_matches(made):
    """An empty selection is no result of these commands."""
    for command in ("report", "script", "annotate", "flame"):
        said = made.parasite(
            command, "-C", 9, made.trace, status=1, cwd=made.s.work
        )
        check.has(said.err, "no samples match$", count=1)
    said = made.parasite("diff", "-C", 9, *[made.trace] * 2, status=1).err
    check.has(said, "no samples match$")
    done = made.parasite("export", "-C", 9, "-f", "folded", made.trace)
    check.contains(done.err, "no samples match; the output is empty")


def rows(text):
    return [line for line in text.splitlines() if line.startswith(" ")]


def forty_rows(made):
    all_rows = rows(made.report("--rows", 0).out)
    check.true(len(all_rows) > 45, len(all_rows))
    text = made.report().out
    check.same(rows(text), all_rows[:40])
    rest = len(all_rows) - 40
    check.has(
        text, f"^# {rest} more functions, together .* % self; --rows 0 shows"
    )
    mark = r"^# \? fewer than 16 samples; in brackets the 95 % interval"
    check.lacks(text, mark)
    check.has(made.report("--time", "0,0.02").out, mark, count=1)
    check.lacks(made.report("--time", "0,0.02", "-q").out, "^#")
    check.same(rows(made.report("--rows", 3).out), all_rows[:3])
    check.lacks(made.report("--rows", 0).out, "more functions")


def limit_shows_all(made):
    """Whoever gives a limit of percent gets all rows above it."""
    text = made.report("--percent-limit", 0).out
    check.same(rows(text), rows(made.report("--rows", 0).out))
    text = made.report("--percent-limit", 99).out
    check.same(rows(text), [])
    check.has(
        text, "more functions, together 100.00 %.*a lower --percent-limit"
    )


def tree_has_lines(made):
    """Each branch hangs on the one above: a line goes up from its corner."""
    text = made.report("-q", "-g", "--percent-limit", 0).out
    drawn = [line[19:] for line in text.splitlines()]
    check.true(any("|- " in line for line in drawn), text)
    for above, line in zip(drawn, drawn[1:]):
        corner = re.match(r"(?:\|  |   )*([|`]- )", line)
        at = corner.start(1) if corner else 0
        check.true(at == 0 or above[at : at + 1] not in ("", "`"), text)
        check.true(at <= len(re.match("[ |`-]*", above)[0]), text)


def ending_chooses(made):
    for name, wanted in (("a.svg", "<svg"), ("a.html", "<!doctype html")):
        made.parasite("flame", "-q", "-o", name, made.trace, cwd=made.s.work)
        text = (made.s.work / name).read_text(encoding="utf-8")
        check.true(text.lower().startswith(wanted), text[:80])
    words = ("annotate", "-q", "-k", made.image, "-o", "a.json", made.trace)
    made.parasite(*words, cwd=made.s.work)
    check.true((made.s.work / "a.json").read_text().startswith("{"))


def rate_is_in_hertz(made):
    """Of a stream of events whose numbers are known."""
    stream, lines = each_event()
    (rate,) = (int(r[1]) for l in lines if (r := RATE.match(l)))
    path = made.s.work / "events"
    path.write_bytes(stream)
    wanted = f"start: {(rate + 5) // 10 / 100:,.2f} Hz\n"
    check.contains(made.parasite("script", path).out, wanted)


def slashes_are_single(made):
    """Of a folder that was given with one, and of nasm's sources."""
    done = made.parasite("info", f"{made.trace}//")
    check.contains(done.out, "samples")
    (made.trace / "stream").rename(made.s.work / "away")
    done = made.parasite("report", f"{made.trace}/", status=1)
    (made.s.work / "away").rename(made.trace / "stream")
    check.contains(done.err, "x.trace/stream: ")


def legend_has_names(made):
    """The folder that all sources have in common has its own name."""
    source, image = made.s.work / "all/main.c", made.s.work / "one.elf"
    source.parent.mkdir(exist_ok=True)
    source.write_text("int main(void) { return 0; }\n")
    run("gcc", "-g", "-nostdlib", "-no-pie", "-Wl,-e,main", "-o", image, source)
    address = re.search("^([0-9a-f]+) T main$", run("nm", image).out, re.M)[1]
    addresses, packets = made.s.work / "one", made.s.work / "one.packets"
    addresses.write_text(f"{address}\n")
    packets.write_bytes(
        made.parasite.make_stream(100, 1, addresses, BUILD_ID=build_id(image))
    )
    words = ("flame", "-q", "-o", "-", "--svg", "-k", image, packets)
    text = made.parasite(*words).out
    check.contains(text, ">all</text>")
    check.lacks(text, r">\.</text>")


# ---- on a terminal


def on_terminal(made, *words, **env):
    """What the command prints there."""
    settings = (f"{name}={value}" for name, value in env.items())
    words = ("env", "-u", "LESS", *settings, made.parasite.path, *words)
    command = " ".join(f"'{word}'" for word in words)
    done = run("script", "-qec", command, os.devnull, env={"TERM": "xterm"})
    return done.out.replace("\r", "")


def pager_is_used(made):
    """For text, of these commands."""
    paged = {"PAGER": "sed s/^/paged:/"}
    for words in (
        ("report", made.trace),
        ("annotate", "-q", made.trace),
        ("script", "--time", "0,0.1", made.trace),
        ("diff", made.trace, made.trace),
    ):
        text = on_terminal(made, *words, **paged)
        check.same(re.findall("^(?!paged:).+", text, re.M), [], words)
    text = on_terminal(made, "report", "--json", made.trace, **paged)
    check.contains(text, "paged:")


def trace_is_anywhere(made):
    """Before the functions or after them; it is what there is."""
    words = ("annotate", "-q", "-k", made.image)
    (name,) = EXAMPLES_NAME
    wanted = made.parasite(*words, name, made.trace).out
    check.has(wanted, re.escape(name))
    check.same(made.parasite(*words, made.trace, name).out, wanted)
    check.same(made.parasite(*words, "-i", made.trace, name).out, wanted)
    made.parasite(*words, made.trace, name, made.trace, status=2)


def pager_can_be_off(made):
    wanted = made.report("--color=always").out
    for words, env in (
        (("--no-pager", "report"), {"PAGER": "false"}),
        (("report",), {"PAGER": "cat"}),
        (("report",), {"PAGER": ""}),
        (("report",), {"PATH": "/nowhere"}),
    ):
        check.same(on_terminal(made, *words, made.trace, **env), wanted)
    check.same(made.report("--color=always").out, wanted)


def less_is_default(made):
    """With the options that git gives it, unless the user has others."""
    less = made.s.work / "less"
    less.write_text('#!/bin/sh\necho "LESS is $LESS"\ncat >/dev/null\n')
    less.chmod(0o755)
    path = f"{made.s.work}:{os.environ['PATH']}"
    text = on_terminal(made, "report", made.trace, PATH=path)
    check.same(text, "LESS is FRX\n")


def unknown_terminals_are_reported(made):
    command = f"'{made.parasite.path}' top '{made.s.work}/none.sock'"
    words = ("script", "-qec", command, os.devnull)
    run(*words, env={"TERM": "none"}, status=1)


def test_output(made):
    for function in (
        nothing_matches,
        forty_rows,
        limit_shows_all,
        tree_has_lines,
        ending_chooses,
        rate_is_in_hertz,
        slashes_are_single,
        legend_has_names,
        trace_is_anywhere,
        pager_is_used,
        pager_can_be_off,
        less_is_default,
        unknown_terminals_are_reported,
    ):
        made.s.holds(function, made)


def suite(s):
    if s.part in ENDINGS:
        endings.test(s)
        return
    made = Made(s)
    if s.part == "options":
        test_options(made)
    elif s.part == "output":
        test_output(made)
    elif s.part == "plain":
        for function in plain.TESTS:
            s.holds(function, made)
    else:
        examples.test(made, [c for c in COMMANDS if c not in NEED_MORE])
