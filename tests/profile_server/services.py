# SPDX-License-Identifier: Apache-2.0
"""Services that do not use the network, the port when it cannot be, and that of
the web server."""

from harness.command import Command
from harness.process import PROFILER
from harness.suite import check, given_time
from port import APPEND, TOKEN, Port

ENDLESS = "while true do local t = {} for i = 1, 1000 do t[i] = i end end\n"


def is_profiled(port, function, seconds):
    path = f"/profile?seconds={seconds}&hz=500&token={TOKEN}"
    check.has(port.get(path), rf"^\S.*\b{function}\b.* \d+$")


def is_traced(s, port, seconds):
    """Tasks are recorded, by a command."""
    trace = port.record(
        *("tasks", "-q", "-d", seconds, "--send", "trace on"),
    )
    port.tell("trace off")
    said = port.command("tasks", trace).out
    check.has(said, r"services/lottery/main\.c:\d+")
    check.lacks(said, "virtio-net request")


def says(s, width, name, service, append, *lines, modules=(), **options):
    with s.guest(
        *(width, service, name), append=append, modules=modules, **options
    ) as guest:
        for line in lines:
            guest.wait_line(line)


def test_services(s, width):
    script = s.work / "endless.lua"
    script.write_text(ENDLESS)
    with s.guest(
        width, "lua", "lua", append=APPEND, modules=[script], forward=[PROFILER]
    ) as guest:
        port = Port(s, guest)
        with s.test("a script that never ends is profiled"):
            given_time(lambda t: is_profiled(port, "luaV_execute", t))
        with s.test("it takes commands"):
            check.has(port.tell("report").out, " luaV_execute$")
    with s.guest(
        *(width, "lottery", "lottery"),
        append=f"{APPEND} tickets=1000000 prof.trace_kb=4096",
        forward=[PROFILER],
    ) as guest:
        port = Port(s, guest)
        with s.test("tasks are profiled"):
            given_time(lambda t: is_profiled(port, "draw_number", t))
        with s.test("tasks are recorded"):
            given_time(lambda t: is_traced(s, port, t))
    with s.test("without a token nothing is served"):
        line = r"^prof: prof.port=9999: .* not served: give prof.token="
        says(
            *(s, width, "none", "irc", "prof.port=9999", line),
            forward=[PROFILER],
        )
    with s.test("everybody may be let in"):
        append = "prof.port=9999 prof.token=none prof.every=0"
        with s.guest(
            width, "irc", "open", append=append, forward=[PROFILER]
        ) as guest:
            guest.wait_line("^prof: port 9999, for everybody$")
            url = f"http://127.0.0.1:{guest.port(PROFILER)}"
            said = Command(s)("tell", url, "start").out
            check.has(said, "^ok start")
    with s.test("a port that the service has is the service's"):
        append = "prof.port=6667 prof.token=x"
        line = r"^prof: prof.port=6667: .* not served: the port is in use$"
        says(
            *(s, width, "taken", "irc", append, "^irc: port 6667$", line),
            forward=[PROFILER],
        )
    with s.test("without a network nothing is served, and the service runs"):
        says(
            *(s, width, "alone", "lua", "prof.port=9999 prof.token=x"),
            "^net: no virtio network device$",
            "^prof: prof.port=9999: .* not served: no network$",
            modules=["services/lua/scripts/parser.lua"],
        )
    with s.test("an image without it says so"):
        says(
            *(s, width, "hello", "hello", "prof.port=9999"),
            '^options: "prof.port=9999" ignored: .* without the profiler.s',
        )
    with s.test("wrong values are reported"):
        long = "t" * 65
        words = f"prof.port=0 prof.port=65536 prof.port=x prof.token={long}"
        says(
            *(s, width, "wrong", "irc", f"{words} prof.token="),
            '^options: "prof.port=0" ignored: invalid value',
            '^options: "prof.port=65536" ignored',
            '^options: "prof.port=x" ignored',
            f'^options: "prof.token={long}" ignored',
            '^options: "prof.token=" ignored',
            forward=[PROFILER],
        )
    with s.guest(
        *(width, "http", "http"),
        append=f"http.token={TOKEN} prof.every=0 prof.port=9999 "
        f"prof.token={TOKEN}",
        forward=[80, PROFILER],
    ) as guest:
        port = Port(s, guest)
        with s.test("the web server has the port, too"):
            check.has(port.tell("start").out, "^ok start")
        port.url = f"http://127.0.0.1:{guest.port(80)}"
        with s.test("and the same on its own"):
            check.has(port.tell("stop").out, "^ok stop")
            port.answers(405, "/", "-X", "POST")
            port.answers(403, "/stream?token=x")
