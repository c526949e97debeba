# SPDX-License-Identifier: Apache-2.0
"""Lines of source and inlined functions as targets: the host finds their code,
and the guest learns their shares from samples. In a program that is bound by
the CPU, one that is half as long gains half of its share."""

import json
import re
from pathlib import Path

from harness.command import Command
from harness.suite import by_turns, check, run

IMAGE = "test/causal_lines"
FOLDER = f"tests/guest/causal/{Path(IMAGE).name}"
SOURCE = Path(FOLDER) / "main.c"
WORDS = "prof.causal=on prof.progress=work_done prof.every=0 prof.hz=2000"
# shares of what the comments call so
TRUTH = {
    "the hot line": 0.5,
    "the other line": 0.2,
    "what calls it": 0.7,
    "the second copy": 0.075,
}
INLINED = ("inlined", 0.3)
UNITS = 90000
FEW_UNITS = 45000  # at i386, unless FULL=1: gains are there, and not judged


def line_of(comment):
    """ "causal_lines/main.c:42", of the line with this comment at its end."""
    lines = SOURCE.read_text(encoding="utf-8").splitlines()
    (found,) = [
        number
        for number, line in enumerate(lines, 1)
        if line.endswith(f"/* {comment} */")
    ]
    return f"{SOURCE.parent.name}/{SOURCE.name}:{found}"


def targets():
    """{name: share}"""
    found = {line_of(comment): share for comment, share in TRUTH.items()}
    return {**found, INLINED[0]: INLINED[1]}


def record(s, names, units):
    parasite, trace = Command(s), s.work / "lines.trace"
    words = " ".join(f"prof.target={name}" for name in names)
    words += f" units={units}"
    done = parasite.record(
        *(trace, "-t", "virtio"),
        *parasite.machine(
            *(s.part, IMAGE, f"{WORDS} {words}", "-serial", "stdio"),
            icount=0,
        ),
    )
    return trace, done.text.replace("\r", "")


def said_what_they_are(console):
    for name in targets():
        check.has(console, rf"target {re.escape(name)}: .*learnt from samples$")
    check.has(console, r"target inlined: 2 inlined copies, \d+ bytes of code ")
    check.lacks(console, "^options: |^causal: .*@|experiments abandoned")


def shares_and_gains_are_true(s, trace, console):
    found = json.loads(run(s.parasite, "causal", "-j", trace).out)
    (point,) = found["points"]
    curves = {curve["target"]: curve for curve in point["curves"]}
    check.same(set(curves), set(targets()))
    for name, share in targets().items():
        curve = curves[name]
        check.between(curve["share"], share - 0.03, share + 0.03)
        check.same(curve["accrual"], "by shares of handlers")
        for value in curve["values"]:
            truth = share * value["speedup"]
            check.between(value["interval"], 0.0005, 0.1)
            check.between(
                value["gain"],
                truth - 1.5 * value["interval"] - 0.01,
                truth + 1.5 * value["interval"] + 0.01,
            )
        check.has(console, rf"^{re.escape(name)} is measured by its share of ")


def coz_has_lines(s, trace):
    """Its viewer shows lines of source, which these are."""
    coz = s.work / "lines.coz"
    run(s.parasite, "causal", "-q", "--coz", coz, trace)
    selected = set(re.findall(r"selected=(\S+)", coz.read_text("ascii")))
    check.same(selected, set(targets()))


def refused(s, *words, status=1):
    return run(s.parasite, "causal", *words, status=status).err


def errors_are_clear(s):
    """For the host."""
    image = s.image(s.part, IMAGE)
    hot = line_of("the hot line")
    number = int(hot.rpartition(":")[2])
    main = f"{SOURCE.parent.name}/{SOURCE.name}"
    check.has(
        refused(s, "-k", image, "-T", "no_such.c:42"),
        r"no_such\.c: \S+ has no code of such a file$",
    )
    check.has(
        refused(s, "-k", image, "-T", f"main.c:{number}"),
        r"main\.c: 2 files are called so, name more of the path: "
        rf"kernel/main\.c, {SOURCE}$",
    )
    check.has(
        refused(s, "-k", image, "-T", f"{main}:{number - 1}"),
        rf"{SOURCE}: no code at line {number - 1}; the nearest lines that have "
        rf"are \d+ and {number}$",
    )
    check.has(
        refused(s, "-k", image, "-T", f"{main}:99999"),
        rf"{SOURCE}: no code at line 99999; the nearest line that has is \d+$",
    )
    check.has(refused(s, "-T", hot), "give it with -k$")
    stripped = s.work / "stripped.elf"
    run("strip", "-g", "-o", stripped, image)
    check.has(
        refused(s, "-k", stripped, "-T", hot),
        "has no debug information, which says where a line is: compile it ",
    )


def guest_refuses(s):
    """What the host did not look at."""
    code = f"{code_of(s):x}+4"
    words = {
        "main.c:42": "main.c:42: where a line is, the host knows",
        "a@": "a@: ranges of code are BEGIN.BYTES in hexadecimal",
        "b@12": "b@12: ranges of code are ",
        f"c@{code},": "c@.*,: ranges of code are ",
        f"d@{code}x": "d@.*: ranges of code are ",
        "e@1+4": "e@1.4: ranges of code are ",
        f"f@{code},{code[:-1]}0": "f@.*: ranges of code are ",
        "g@12345678912345678+4": "g@.*: ranges of code are ",
    }
    append = " ".join(f"prof.target={word}" for word in words)
    text = guest_says(s, f"{append} prof.progress=p@{code}")
    for said in words.values():
        check.has(text, rf"^causal: {said}")
    check.has(text, "^causal: p@.*: a line or an inlined function can only be ")
    check.has(text, "^causal: no target: what prof.target= names was refused$")
    text = guest_says(s, f"prof.target=a@{code} prof.accrue=entry")
    check.has(text, "^causal: a@.*: a line or an inlined .* learnt from samp")


def too_many_are_refused(s):
    """Ranges that do not touch, in as many words as have room."""
    words, first = [], code_of(s)
    for i in range(10):
        ranges = [f"{first + 8 * (8 * i + j):x}+4" for j in range(8)]
        words.append(f"prof.target=a@{','.join(ranges)}")
    text = guest_says(s, " ".join(words))
    check.has(text, "^causal: a@.*: ranges of code are .*, at most 64$")
    text = guest_says(s, " ".join(words[:8]))
    check.lacks(text, "^causal: a@")


def commands_name_lines(s):
    """While a guest runs."""
    hot, image = line_of("the hot line"), s.image(s.part, IMAGE)
    with s.guest(
        s.part,
        IMAGE,
        append="prof.progress=work_done prof.every=0 units=2000000000",
        serial="chardev:console",
        channels={"console": "tcp"},
        icount=0,
    ) as guest:
        console = guest.address("console")

        def tell(*words, status=0):
            return run(s.parasite, "tell", *words, status=status)

        done = tell(
            *("-k", image, console, "causal", "target", hot, "causal"), "start"
        )
        check.has(done.out, rf"^ok causal target {hot}@[0-9a-f]+\+[0-9a-f]+$")
        check.has(done.out, "^ok causal start$")
        check.has(done.err, rf"target {hot}: \d+ bytes of code in 1 place, ")
        done = tell(console, "causal target mixed", status=1)
        check.has(done.text, "experiments are running")
        done = tell(console, "causal stop", "causal target", hot, status=1)
        check.has(done.err, "only the image says which .*: give it with -k$")
        done = tell(console, "causal", "stop", "causal", "report")
        check.has(done.out, rf"^  {hot} ")
        guest.interrupt()


def code_of(s):
    """An address of code that is not the profiler's, with more of it after."""
    text = run("nm", s.image(s.part, IMAGE)).out
    return int(re.search(r"^([0-9a-f]+) T loop_run$", text, re.M)[1], 16)


def guest_says(s, words):
    with s.guest(
        s.part,
        IMAGE,
        append=f"{WORDS} units=1000 {words}",
        icount=0,
    ) as guest:
        check.same(guest.end(), 0)
        return guest.text().replace("\r", "")


def test_lines(s):
    trace, console = None, ""
    judged = s.part in by_turns("x86_64")
    with s.test("lines and inlined functions become targets"):
        trace, console = record(s, targets(), UNITS if judged else FEW_UNITS)
        said_what_they_are(console)
    if judged:
        s.holds(
            "their gains are true", shares_and_gains_are_true, s, trace, console
        )
    s.holds(coz_has_lines, s, trace)
    s.holds(errors_are_clear, s)
    s.holds(guest_refuses, s)
    s.holds(too_many_are_refused, s)
    s.holds(commands_name_lines, s)
