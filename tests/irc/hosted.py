# SPDX-License-Identifier: Apache-2.0
"""What needs no guest: the server over a network of memory (fake_net.h), and
loadgen."""

import json
import os
import sys
from pathlib import Path

from harness.suite import FULL, Skip, background, check, given_time, run, soon

SANITIZERS = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all")
NEED_KERNEL = ("main.cpp", "virtio_net.cpp")
FUZZ_CPU_S = 1500
RUNS = int(os.environ.get("RUNS", 100000 if FULL else 15000))  # of the fuzzer


def server_sources():
    return [
        path
        for path in sorted(Path("services/irc").glob("*.cpp"))
        if path.name not in NEED_KERNEL
    ]


def test_host(s):
    for bits in (32, 64):
        test = s.work / f"server_test.{bits}"
        run(
            *("g++", f"-m{bits}", "-std=gnu++17", "-g", "-O0", "-Wall"),
            *("-Wextra", "-fno-exceptions", *SANITIZERS, "-Ikernel/include"),
            *("-Iprofiler/include", "-Wl,--wrap=gettimeofday,--wrap=malloc"),
            *("-o", test, "tests/irc/server_test.cpp", "tests/irc/limits.cpp"),
            *("tests/irc/fake_net.cpp", *server_sources()),
        )
        s.tap_of(f"{bits}: ", run(test, status=None).text)
        latency = s.work / f"latency_test.{bits}"
        run(
            *("gcc", f"-m{bits}", "-Wall", "-Wextra", *SANITIZERS),
            *("-o", latency, "tests/irc/latency_test.c"),
            *("tools/loadgen/latency.c", "-lm"),
        )
        s.tap_of(f"{bits}: ", run(latency, status=None).text)


# ---- each piece is who sends it and what it is, how many bytes, and these

SEED = (
    b"\x04\x16NICK a\nUSER u 0 * :A\n"
    b"\x24\x0dJOIN #a,#b k\n\x00\x12MODE #a +kl-o k 3 b\n"
    b"\x00\x0ePRIVMSG #a :x\n\x20\x0cTOPIC #a :t\n"
    b"\x00\x0aKICK #a b\n\x20\x08PART #a\n\x00\x05QUIT\n"
)


def test_fuzz(s):
    with s.test("no client ends the server or leaves something behind"):
        for name in ("corpus", "seeds"):
            (s.work / name).mkdir(exist_ok=True)
        (s.work / "seeds" / "talk").write_bytes(SEED)
        fuzzer = s.work / "irc_fuzz"
        run(
            *("clang++-14", "-std=gnu++17", "-g", "-O1", "-fno-exceptions"),
            *("-Ikernel/include", "-Iprofiler/include"),
            "-fsanitize=fuzzer,address,undefined",
            *("-fno-sanitize-recover=all", "-Wl,--wrap=gettimeofday"),
            *("-o", fuzzer, "tests/fuzz/irc_fuzz.cpp"),
            *("tests/irc/fake_net.cpp", *server_sources()),
        )
        run(
            *(fuzzer, "-seed=1", f"-runs={RUNS}"),
            *("-max_len=4096", f"-artifact_prefix={s.work}/"),
            *(s.work / "corpus", s.work / "seeds"),
            cpu_limit=FUZZ_CPU_S,
            by_lines=True,
        )


# ---- loadgen, against a server that stands still for a third of the time


def figures(s, seconds, *words):
    """Of a load by (words)."""
    port = s.work / "port"
    port.unlink(missing_ok=True)
    with background(
        *(sys.executable, "tests/irc/stalling_server.py", port),
        *(seconds / 3, seconds / 3),
        log=s.work / "server.log",
    ) as server:
        server.soon(
            lambda: port.exists() and port.read_text(encoding="ascii").strip(),
            "the server's port",
        )
        address = f"127.0.0.1:{port.read_text(encoding='ascii').strip()}"
        out = run(
            *(s.build / "host" / "loadgen", "-q", "--json"),
            *("-d", seconds, *words, address),
        ).out
    s.note(out.strip())
    return json.loads(out)


def latencies(s, seconds, *words):
    """{"corrected" | "served": {percentile: ms}} of a load by (words)."""
    found = figures(s, seconds, *words)
    return {name: found[f"{name}_ms"] for name in ("corrected", "served")}


def open_load(s, seconds):
    """Of all sessions a tenth was due when two thirds of the stall were still
    to come, and one when it began."""
    ms = latencies(s, seconds, "-r", 200)["corrected"]
    check.true(ms["90"] >= 100 * seconds, ms)
    check.true(ms["100"] >= 300 * seconds, ms)


def closed_load(s, seconds):
    """A slow host has too few sessions in a short time."""
    ms = latencies(s, seconds, "-c", 4)
    check.true(ms["corrected"]["90"] >= 100 * seconds, ms)
    check.true(ms["served"]["90"] < ms["corrected"]["90"], ms)


def cpu_time(s, seconds):
    """Of the load itself, and of a program that does nothing."""
    words = "-c", 4, "--cpu-time"
    own = figures(s, seconds, *words, "/proc/self/schedstat")
    check.true(own["cpu_us_per_session"] > 0)
    with background("sleep", 1000000, log=s.work / "sleep.log") as sleeper:
        file = f"/proc/{sleeper.process.pid}/schedstat"
        # once it sleeps
        soon(lambda: Path(f"{file[:-9]}stat").read_text().split()[2] == "S")
        idle = figures(s, seconds, *words, file)
    check.same(idle["cpu_us_per_session"], 0)


def test_story(s):
    """`make story`, so short that its figures mean nothing."""
    with s.test("the story compares four settings by CPU time per session"):
        said = run(
            *("tools/loadgen/story.py", s.build, "x86_64"),
            env={
                "ROUNDS": 3,
                "SESSIONS": 30,
                "CLIENTS": 4,
                "WARM": 60,
                "OUT": s.work,
            },
        ).out
        s.note(said)
        for kick in ("each", "batch"):
            for clock in ("cmos", "tsc"):
                setting = f"^net.kick={kick} clock={clock}"
                check.has(said, rf"{setting}: [\d.]+ us of CPU time")
                check.has(said, rf"{setting} +[\d.]+ +\d+-\d+ +[\d.]+ +[\d.]+-")


def test_loadgen(s):
    loadgen = s.build / "host" / "loadgen"
    with s.test("an open load suffers a stall whenever it was due"):
        given_time(lambda seconds: open_load(s, seconds))
    with s.test("a closed load is corrected by what the stall kept away"):
        given_time(lambda seconds: closed_load(s, seconds))
    with s.test("the CPU time of another thread is in the figures"):
        if not Path("/proc/self/schedstat").exists():
            raise Skip("this system counts no CPU time (schedstat)")
        given_time(lambda seconds: cpu_time(s, seconds))
    with s.test("load goes to this machine only"):
        done = run(loadgen, "192.0.2.1:6667", status=2)
        check.contains(done.text, "is another machine")
    with s.test("sessions that fail are counted"):
        done = run(loadgen, "-q", "-n", 3, "127.0.0.1:1", status=1)
        check.contains(done.text, "3 could not connect")
