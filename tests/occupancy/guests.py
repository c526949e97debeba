# SPDX-License-Identifier: Apache-2.0
"""Loop occupancy of guests: a trace of one, the web server's metrics, and
`parasite top`."""

import json
import re

import prometheus
from dashboard import PARTS
from harness.command import Command
from harness.screen import Screen
from harness.site import SECRET, Site, promtool
from harness.suite import check, given_time, run, soon


SAMPLE = re.compile(r"^(\w+)(?:\{(.*)\})? ([0-9.+eInf]+)$")
LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')


# ---- a trace


def record(s):
    parasite, trace = Command(s), s.work / "async.trace"
    parasite.record(
        *(trace, "-q", "-F", 1000, "-t", "virtio"),
        *parasite.machine(
            s.part,
            "async",
            "prof.loop=10 prof.loop_calls=64 prof.every=200 demo=console",
        ),
    )
    return parasite, trace


def guest_agrees(s):
    """Account, rows and tree are one: else the exit status is 1."""
    parasite, trace = record(s)
    text = parasite("loop", trace).out
    check.has(text, r"^# the parts are [\d,]+ cycles: the whole, to the cycle$")
    found = json.loads(parasite("loop", "-q", "--json", trace).out)
    sites = {site["site"]: site for site in found["sites"]}
    for name in ("write lines", "print lines"):
        check.same(sites[name]["kind"], "tasks")
        check.same(sites[name]["calls"], 1)
        check.same(sites[name]["resolved"], 1)
        check.has(sites[name]["file"], "^services/async/waits.c$")
    both = sum(sites[n]["self_cycles"] for n in ("write lines", "print lines"))
    check.same(sites["write lines"]["total_cycles"], both)
    check.same(found["cycles"]["tasks"], both)
    # each has one call, whose self time is all that the site has
    for name in ("write lines", "print lines"):
        site = sites[name]
        check.same((site["ended"], site["pending"]), (1, 0))
        check.same(site["call_cycles"], site["self_cycles"])
        check.same(site["longest_call_ns"], site["self_ns"])
        check.true(site["longest_ns"] < site["longest_call_ns"])
    # 60 lines, of which a few had to wait for room, each until a sleep of 5 ms
    for name, count in (("send", 60), ("receive", 60), ("sleep", 5)):
        site = sites[name]
        check.same((site["kind"], site["ended"]), ("futures", count))
        check.same((site["pending"], site["self_cycles"]), (0, 0))
    check.true(sites["sleep"]["wall"]["p50_ns"] >= 4900000, sites["sleep"])
    check.true(sites["send"]["longest_call_ns"] >= 4900000, sites["send"])
    check.same(found["calls_refused"], 0)
    nodes = {node["node"]: node for node in found["tree"]}
    (child,) = (n for n in nodes.values() if n["site"] == "print lines")
    check.same(nodes[child["parent"]]["site"], "write lines")
    # histograms have each run, the last round all of them
    for site in sites.values():
        for what in ("run", "delay", "wall", "call"):
            values = sum(count for _, count in site[what]["ranges"])
            check.same(values, site[what]["count"], (site["site"], what))


# ---- metrics


def scrape(site):
    """[(name, {label: value}, value)] of /metrics, and its text."""
    data = site.get("/metrics", "-H", f"Authorization: Bearer {SECRET}")
    found = []
    for line in data.decode().splitlines():
        if not line.startswith("#"):
            name, labels, value = SAMPLE.match(line).groups("")
            found.append((name, dict(LABEL.findall(labels)), float(value)))
    return found, data


def values(found, name, **labels):
    """Of the metric, where it has these labels."""
    wanted = labels.items()
    return [v for n, ls, v in found if n == name and wanted <= ls.items()]


def promtool_accepts(site):
    _, data = scrape(site)
    run(promtool(site.s), "check", "metrics", data=data)


def metrics_add_up(site):
    found, _ = scrape(site)
    parts = [
        values(found, "parasite_loop_seconds_total", part=part)[0]
        for part in PARTS
    ]
    (wall,) = values(found, "parasite_loop_wall_seconds_total")
    check.true(wall > 0)
    check.true(abs(sum(parts) - wall) < 2e-8)  # each is cut to nanoseconds
    sites = values(found, "parasite_loop_site_self_seconds_total")
    check.true(3 <= len(sites) <= 20, sites)
    # which is no site that holds the loop
    name = "parasite_loop_site_self_seconds_total"
    check.same(values(found, name, site="(idle)"), [])
    for utilisation in values(found, "parasite_loop_utilisation_ratio"):
        check.between(utilisation, 0, 1)


def histograms_are_whole(site):
    """Each has rising buckets, the last of which is its count."""
    found, _ = scrape(site)
    name = "parasite_loop_run_seconds"
    counts = [(ls, v) for n, ls, v in found if n == f"{name}_count"]
    check.true(len(counts) > 2, counts)
    for labels, count in counts:
        rising = values(found, f"{name}_bucket", **labels)
        check.same(len(rising), 16)
        check.same(rising, sorted(rising))
        check.same(rising[-1], count)
        check.same(len(values(found, f"{name}_sum", **labels)), 1)


def reset_begins_anew(site, guest):
    def wall():
        return values(scrape(site)[0], "parasite_loop_wall_seconds_total")[0]

    parasite = Command(site.s)

    def reset():
        """Seen before as much time is over again; if not, there is more the
        next time."""
        before = wall()
        said = parasite("tell", guest.address("stream"), "loop", "reset").out
        check.contains(said, "ok loop reset")
        return wall() < before

    guest.soon(reset, "less time than before")
    metrics_add_up(site)


# ---- a server of Prometheus


def prometheus_stores_native_histograms(site):
    """It asks for the protocol buffer format then, and gives an error where a
    histogram's buckets are not its count."""
    with prometheus.server(site, "server", "native-histograms") as server:
        name = 'parasite_loop_run_seconds{site="network"}'

        def only(query):
            """The only result; there is none after a scrape that failed."""
            return soon(lambda: server.ask(query), query, server.alive)

        (found,) = only(name)
        buckets = found["histogram"][1]["buckets"]
        check.true(len(buckets) > 3, buckets)
        for _, low, high, _ in buckets:
            if float(low) > 0:
                check.near(float(high) / float(low), 2 ** (1 / 8), 1e-6)
        count = int(found["histogram"][1]["count"])
        check.same(sum(int(one[3]) for one in buckets), count)
        (idle,) = only('parasite_loop_seconds_total{part="idle"}')
        check.true(float(idle["value"][1]) > 0)
        check.same(len(only("parasite_loop_utilisation_ratio")), 3)


# ---- top


def top_shows_sites(s, guest):
    parasite = Command(s)

    def shows(seconds):
        words = ("top", "--loop", "--delay", seconds, "-n", 2)
        text = parasite(*words, guest.address("stream")).out
        table = text.rpartition("Site\n")[2]
        check.has(table, r"^ *[\d.]+% +[\d.]+% .*  \(event loop\)$")

    given_time(shows)


def keys_sort_sites(s, guest):
    """In a terminal."""
    screen, parasite = Screen(s.work), Command(s)
    words = ("top", "--loop", "--delay", 0.5, guest.address("stream"))
    screen.opens(110, 20, (parasite.path, *words))
    try:
        screen.shows(r"% busy .* tasks .* recent$")
        screen.shows(r"^ *[\d.]+% .* \(event loop\)")
        for key, column in (
            ("t", "Total"),
            ("l", "Longest ms"),
            ("d", "Delay ms"),
            ("c", "Calls/s"),
            ("e", "Pending"),
            ("n", "Site"),
            ("s", "Self"),
        ):
            screen.keys(key)
            screen.shows(rf"\*{column}")
        screen.keys("w")
        screen.shows("since the reset$")
        screen.keys("?")
        screen.shows("by longest run")
        screen.keys("x", "/", "network", "Enter")
        screen.shows("only /network/")
        screen.lacks("event loop\\)")
        screen.resize(60, 12)
        screen.lacks("Longest")
        screen.shows("network$")
        screen.keys("q")
        check.same(screen.code(), 0)
    finally:
        screen.close()


def test(s):
    s.width = s.part
    s.holds(guest_agrees, s)
    site = Site(s)
    with site.guest(
        "http",
        f"http.token={SECRET} prof.loop=20 prof.out=uart2",
        modules=[site.archive],
        channels={"stream": "tcp"},
        args=["-serial", "chardev:stream"],
    ) as guest:
        site.reach(guest)
        for function in (
            promtool_accepts,
            metrics_add_up,
            histograms_are_whole,
            prometheus_stores_native_histograms,
        ):
            s.holds(function, site)
        s.holds(top_shows_sites, s, guest)
        s.holds(keys_sort_sites, s, guest)
        s.holds(reset_begins_anew, site, guest)
