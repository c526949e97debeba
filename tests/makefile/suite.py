# SPDX-License-Identifier: Apache-2.0
"""What a newcomer types: make help; make run, with values that are wrong, and
with a web site; make record and make causal, of a program of their own; and
make async, with each of its programs. What make and its scripts do is the same
for both widths, so most of it is done at one of them; FULL=1 does all at
both."""

import collections
import os
import re
import shutil
import tempfile
from pathlib import Path

from harness.process import free_port
from harness.suite import (
    WIDTHS,
    background,
    by_turns,
    check,
    given_time,
    run,
)

PARTS = ("words", *WIDTHS, *(f"async-{width}" for width in WIDTHS))
PLAIN = {"MAKEFLAGS": "", "MAKELEVEL": ""}  # not those of the tests' make
TOKEN = "hz-secret"
WRONG = (
    (
        "SERVICE=nosuch",
        "must be one of async coroutines hello http irc lottery lua split "
        "watch",
    ),
    ("SERVICE=docs/man", "no *.c or *.cpp in it"),
    ("ARCH=arm", "must be one of i386 x86_64"),
    ("LOADER=lilo", "must be one of kernel grub"),
    ("ACCEL=xen", "must be one of auto tcg kvm"),
    ("CPUS=0", "must be 1 to 64"),
    ("CPUS=65", "must be 1 to 64"),
)


def refused(word, answer):
    done = run("make", "-n", "run", word, status=2, env=PLAIN)
    check.contains(done.text, f"{word}: {answer}")


def missing(*words):
    done = run("make", "run", *words, status=2, env=PLAIN)
    check.contains(done.text, "there is no file build/none")


def site(s, width):
    """An archive is served, and so is the profile, as make says where."""
    folder, archive, port = s.work / "site", s.work / "site.tar", free_port()
    folder.mkdir(exist_ok=True)
    (folder / "index.html").write_text("a page\n", encoding="ascii")
    run("tar", "-C", folder, "-cf", archive, ".")
    log = s.work / "make.log"
    with background(
        *("make", "run", "SERVICE=http", f"ARCH={width}", "ACCEL=tcg"),
        *(f"MODULE={archive}", f"HTTP_PORT={port}", f"TOKEN={TOKEN}"),
        log=log,
        env=PLAIN,
    ) as make:

        def get(path):
            url = f"http://127.0.0.1:{port}{path}"
            done = run("curl", "-s", "-m", 60, url, status=None)
            return done.out if done.status == 0 else ""

        make.soon(lambda: get("/index.html") == "a page\n", "the page")
        check.has(get("/"), "^/index.html$")
        make.soon(
            lambda: re.search(
                r"^\S.* \d+$", get(f"/profile?seconds=1&token={TOKEN}"), re.M
            ),
            "a profile with samples",
        )
        check.contains(
            log.read_text(encoding="latin-1"),
            f"http://127.0.0.1:{port}/profile?token={TOKEN}",
        )


# ---- a program that is not in services/

OWN = """\
#include <kernel/console.h>
#include <kernel/loop.h>
#include <kernel/service.h>

#define ROUNDS 12000u

__attribute__((noinline)) static void half(void)
{
    for (volatile unsigned i = 0; i < 20000u; i++)
        ;
}

__attribute__((noinline)) void other_half(void)
{
    half();
}

__attribute__((noinline)) void round_done(void)
{
    static volatile unsigned rounds;

    rounds = rounds + 1;
}

bool service_option(const char *key, const char *value)
{
    (void)key;
    (void)value;
    return false;
}

int service_main(void)
{
    static const char words[] = "own: done\\n";

    for (unsigned i = 0; i < ROUNDS; i++) {
        half();
        other_half();
        round_done();
        loop_poll();
    }
    console_write(words, sizeof words - 1);
    return 0;
}
"""


def own_is_recorded(s, width, folder):
    out = s.work / "own.trace"
    shutil.rmtree(out, ignore_errors=True)
    said = run(
        *("make", "record", f"SERVICE={folder}", f"ARCH={width}", "ACCEL=tcg"),
        *(f"OUT={out}", "REPORTS=0"),
        env=PLAIN,
    ).text
    check.contains(said, "own: done")
    check.has(run(s.parasite, "report", "-q", out).out, "% .* half$")


def own_has_a_causal_profile(width, folder):
    """The answer comes last; what the guest has printed is in a file."""
    lines = run(
        *("make", "causal", f"SERVICE={folder}/", f"ARCH={width}"),
        *("PROGRESS=round_done", "TARGET=other_half"),
        env=PLAIN,
    ).lines()
    logs = [re.match("  CAUSAL  .* goes to (.*)", line) for line in lines]
    (log,) = (found[1] for found in logs if found)
    check.contains(Path(log).read_text(encoding="latin-1"), "own: done")
    wrote = [re.match("wrote .*: (.*)", line) for line in lines]
    wrote = [found[1] for found in wrote if found]
    check.same(len(wrote), 4)
    for path in wrote:
        check.true(Path(path).exists(), path)
    check.lacks("\n".join(lines), "own: done")
    said = "\n".join(lines).partition("# % by which")[2]
    found = re.search(r"^ +([\d.]+) .* other_half$", said, re.M)
    check.true(found, lines)
    check.between(float(found[1]), 40, 60)


def failure_is_named(s, width):
    """The end of what was printed, and where the rest is; or why there are no
    experiments."""
    folder = s.work / "broken"
    folder.mkdir(exist_ok=True)
    (folder / "main.c").write_text("#error on purpose\n", encoding="ascii")
    done = run(
        *("make", "causal", f"SERVICE={folder}", f"ARCH={width}"),
        env=PLAIN,
        status=2,
    )
    check.contains(done.err, "on purpose")
    check.has(done.err, "^make causal: .* failed, see .*causal-broken.log$")


def names_have_lines(width):
    """Functions of one name: which is which is said by file and line."""
    folder = "tests/guest/causal/causal_options"
    done = run(
        *("make", "causal", f"SERVICE=./{folder}", f"ARCH={width}"),
        *("PROGRESS=work_done", "TARGET=twice", "APPEND=units=4000"),
        env=PLAIN,
        status=2,
    )
    listed = "^causal:   0x[0-9a-f]+ twice, .*"
    check.has(done.err, listed + f"{folder}/main.c:[0-9]+$", count=1)
    check.has(done.err, listed + f"{folder}/other.c:[0-9]+$", count=1)


# ---- the accelerator

# a machine where KVM works, or fails: every start is noted, and is TCG's
QEMU = """\
#!/bin/sh
case " $* " in *' -accel kvm '*) {kvm} ;; esac
echo "$*" >>{log}
real=$(PATH=${{PATH#*:}} command -v "${{0##*/}}")
for word; do
    shift
    [ "$word" != kvm ] || word=tcg
    set -- "$@" "$word"
done
exec "$real" "$@"
"""


def with_kvm(s, width, kvm):
    """(environment, log) of a host with such a QEMU, and a variable for make:
    a probe of its own."""
    folder = s.work / "accelerator"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    probe, log = folder / "hello.elf", folder / "log"
    shutil.copy(s.image(width, "hello"), probe)
    qemu = folder / f"qemu-system-{width}"
    qemu.write_text(QEMU.format(kvm=kvm, log=log), encoding="ascii")
    qemu.chmod(0o755)
    device = folder / "kvm"
    device.touch()
    path = f"{folder}:{os.environ['PATH']}"
    env = {**PLAIN, "PATH": path, "PARASITE_KVM": str(device)}
    return env, log, f"PROBE={probe}"


RECORDS = (
    ("run", "SERVICE=hello"),
    ("record", "SERVICE=hello"),
    ("async", "DEMO=sleep"),
)


def made(s, width, env, *words):
    out = s.work / "accelerator.trace"
    shutil.rmtree(out, ignore_errors=True)
    words = ("make", *words, f"ARCH={width}", f"OUT={out}", "REPORTS=1")
    return run(*words, env=env).text


MACHINE = r"^(-M \w+ )?"


def accelerator_is_kvm(s, width):
    """Asked once; and not where instructions are counted."""
    env, log, probe = with_kvm(s, width, ":")
    for words in RECORDS:
        said = made(s, width, env, *words, probe)
        check.has(said, "^accelerator: KVM$", count=1)
    started = log.read_text(encoding="ascii")
    check.has(started, rf"{MACHINE}-accel kvm ", count=1 + len(RECORDS))
    check.lacks(started, "-accel tcg ")
    counted = "QEMU_ARGS=-icount shift=0,sleep=on"
    for words in RECORDS:
        log.unlink()
        said = made(s, width, env, *words, probe, counted)
        check.contains(said, "accelerator: TCG, which counts instructions")
        check.has(log.read_text(), rf"{MACHINE}-accel tcg ", count=1)


def accelerator_is_tcg(s, width):
    """Where KVM does not boot the probe, or is not there, as is said."""
    env, log, probe = with_kvm(s, width, "exit 2")
    for words in RECORDS:
        said = made(s, width, env, *words, probe)
        check.contains(said, "accelerator: TCG: KVM failed to boot it")
    started = log.read_text(encoding="ascii")
    check.has(started, rf"{MACHINE}-accel tcg ", count=len(RECORDS))
    env, log, probe = with_kvm(s, width, ":")
    (log.parent / "kvm").unlink()
    said = made(s, width, env, *RECORDS[1], probe)
    check.has(said, r"^accelerator: TCG \(KVM: no access to .*/kvm\)$")


def experiments_stay_with_tcg():
    """They count instructions."""
    words = ("make", "-n", "causal", "SERVICE=lottery")
    check.has(run(*words, env=PLAIN).out, r"\bACCEL=tcg\b.*")
    check.contains(run(*words, env=PLAIN).out, "-icount shift=")


def web_server_has_a_causal_profile(s, width):
    """Under the load that make brings, with what is its unit of work: the
    clients are in the image."""
    text = run(
        *("make", "causal", "SERVICE=http", f"ARCH={width}", "SESSIONS=400"),
        env=PLAIN,
    ).out
    check.has(text, r"^# [1-9]\d* experiments$")
    check.has(text, "^http_answer:$")
    log = s.build / width / "causal-http.log"
    check.contains(log.read_text(encoding="latin-1"), " 400 sessions, 0 failed")


def clients_outside_count_no_instructions(s, width):
    """They live in the host's time, and so does the guest."""
    words = (
        *("make", "causal", "SERVICE=http", f"ARCH={width}", "LOAD=wrk"),
        *(f"HTTP_PORT={free_port()}", "CLIENTS=4"),
    )
    check.lacks(run(words[0], "-n", *words[1:], env=PLAIN).out, "-icount shift")

    log = s.build / width / "causal-http.log"

    def in_time(seconds):
        """wrk prints its figures every five seconds."""
        text = run(*words, f"SECONDS={seconds:.0f}", env=PLAIN).out
        check.has(text, r"^# [1-9]\d* experiments$")
        check.has(text, "^http_answer:$")
        check.has(log.read_text(encoding="latin-1"), r" [1-9]\d* requests in ")

    given_time(in_time, (12, 36, 108))


def progress_is_asked_for(width):
    """Where nothing says what is called for each unit of work."""
    done = run(
        *("make", "causal", "SERVICE=hello", f"ARCH={width}"),
        env=PLAIN,
        status=2,
    )
    check.contains(done.err, "PROGRESS=function")


def mine(s, width, *words):
    """A test that is the turn of (width)."""
    if s.part in by_turns(width):
        s.holds(*words)


def test_own(s, width):
    """Its folder is anywhere."""
    with tempfile.TemporaryDirectory(prefix="own.") as folder:
        folder = Path(folder) / "own"
        folder.mkdir()
        (folder / "main.c").write_text(OWN, encoding="ascii")
        mine(s, "i386", own_is_recorded, s, width, folder)
        mine(s, "x86_64", own_has_a_causal_profile, width, folder)
    for made in (f"obj{folder}", f"elsewhere{folder}"):
        shutil.rmtree((s.build / width / made).parent, ignore_errors=True)
    s.holds(failure_is_named, s, width)
    s.holds(names_have_lines, width)
    mine(s, "x86_64", web_server_has_a_causal_profile, s, width)
    mine(s, "i386", clients_outside_count_no_instructions, s, width)
    s.holds(progress_is_asked_for, width)


def rate_of(*words):
    """The prof.hz= that counts, the last one, with the one that record's -F
    puts after the words of -append."""
    text = run("make", "-n", "record", *words, env=PLAIN).out
    rates = re.findall(r"\bprof\.hz=(\d+)", text)
    return (re.findall(r" record -F (\d+) ", text) or rates)[-1]


def append_takes_precedence():
    check.same(rate_of("SERVICE=lua"), "1000")
    check.same(rate_of("SERVICE=lua", "HZ=500"), "500")
    check.same(rate_of("SERVICE=lua", "APPEND=prof.hz=4000"), "4000")
    check.same(
        rate_of("SERVICE=lua", "HZ=500", "APPEND=prof.top=3 prof.hz=4000"),
        "4000",
    )


# ---- make help, and what is written into docs/


def help_is_whole():
    """Every target and variable that has words is there, once, in a group,
    without what make would have to work out."""
    text = run("make", "help", env=PLAIN).out
    check.lacks(text, r"\$\(")
    found = re.findall(r"^  make (\S+) +\S", text, re.M)
    found += re.findall(r"^    ([A-Z_]+) +\S", text, re.M)
    again = [n for n, count in collections.Counter(found).items() if count > 1]
    check.same(again, [])
    rules = [
        "Makefile",
        *Path().glob("*/rules.mk"),
        *Path().glob("*/*/rules.mk"),
    ]
    wanted = set()
    for path in rules:
        wanted.update(
            re.findall(
                r"^#: .*\n([a-z-]+(?=:)|[A-Z_]+(?= \?=))",
                Path(path).read_text(encoding="utf-8"),
                re.M,
            )
        )
    check.same(set(found), wanted)
    heads = re.findall(r"^\S.*$", text, re.M)
    check.true(len(heads) >= 5, heads)


# who measures, for each target
MEASURES = {
    "bench": "bench/run.sh",
    "growth": "bench/growth/run.sh",
    "truth": "tests/truth/suite.py",
}


def docs_are_left_alone(target):
    """What measures writes below build/."""
    check.lacks(run("make", "-n", target, env=PLAIN).out, r"\bdocs/(?!man/)")
    text = Path(MEASURES[target]).read_text(encoding="utf-8")
    check.lacks(text, r"\bdocs/|[\"']docs[\"']")


def docs_are_renewed(s):
    """By what there is, and only by that."""
    docs, build = s.work / "docs", s.work / "measured"
    for folder in (docs, build):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
    words = ("tools/build/renew-docs.sh", build, docs)
    check.has(run(*words, status=1).out, "^make growth: not run")
    page = Path("docs/measurements.md").read_text(encoding="utf-8")
    (docs / "measurements.md").write_text(page, encoding="utf-8")
    (build / "bench").mkdir()
    (build / "bench/growth.html").write_text("curves\n", encoding="ascii")
    head = '{"head": {"parts": []}}\n'
    (build / "bench/results.jsonl").write_text(head, encoding="ascii")
    said = run(*words).out
    check.has(said, "^make growth: .* has its figures$")
    check.has(said, "^make bench: .* stays as it is$")
    check.same((docs / "growth.html").read_text(encoding="ascii"), "curves\n")
    check.same((docs / "measurements.md").read_text(encoding="utf-8"), page)


def test_words(s):
    s.holds(help_is_whole)
    s.holds(append_takes_precedence)
    s.holds(experiments_stay_with_tcg)
    for target in MEASURES:
        s.holds(
            f"make {target} writes no document", docs_are_left_alone, target
        )
    s.holds(docs_are_renewed, s)


# ---- make async

FEW = ("sleep", "disk", "tcp")  # for i386; suite/async has all of its programs


def make_async(width, demo, *words, **options):
    return run(
        *("make", "async", f"ARCH={width}", f"DEMO={demo}", "ACCEL=tcg"),
        *words,
        env=PLAIN,
        **options,
    ).text


def programs(s, width):
    """Those that make async DEMO=list names; sink waits for another guest."""
    out = s.work / "list.trace"
    said = make_async(width, "list", f"OUT={out}")
    check.true(not out.exists(), "it was recorded")
    found = re.findall(r"^async:   (\S+) +\S", said.replace("\r", ""), re.M)
    check.true(len(found) > 10, said)
    return [demo for demo in found if demo != "sink"]


def recorded(s, width, demo):
    """It is run, recorded, checked and summed up."""
    out = s.work / f"{demo}.trace"
    said = make_async(width, demo, f"OUT={out}").replace("\r", "")
    check.has(said, rf"^async: {demo}: resolved with \d+ after \d+ us$")
    check.has(said, r"^checked [\d,]+ events of .*: 0 problems")
    check.has(said, "^#  count   open failed .*kind +site$")
    check.has(said, r"^ +\d+ .* \(services/async/\w+\.c:\d+\)$")
    check.has(run(s.parasite, "script", "-q", out).out, r" hello:| create: ")
    check.true((out / "metadata").exists(), "a trace")


def suite_async(s):
    width = s.part.removeprefix("async-")
    all_of_them = programs(s, width)
    few = [demo for demo in all_of_them if demo in FEW]
    for demo in all_of_them if width in by_turns("x86_64") else few:
        s.holds(f"make async DEMO={demo}", recorded, s, width, demo)


def suite(s):
    if s.part.startswith("async-"):
        suite_async(s)
        return
    if s.part in WIDTHS:
        s.holds(site, s, s.part)
        test_own(s, s.part)
        mine(s, "x86_64", accelerator_is_kvm, s, s.part)
        mine(s, "i386", accelerator_is_tcg, s, s.part)
        return
    test_words(s)
    for word, answer in WRONG:
        s.holds(f"{word} lists what there is", refused, word, answer)
    s.holds(
        "a missing module is named",
        missing,
        "SERVICE=http",
        "MODULE=build/none",
    )
    s.holds(
        "so is a missing script", missing, "SERVICE=lua", "SCRIPT=build/none"
    )
