# SPDX-License-Identifier: Apache-2.0
"""Grafana's dashboard: how it is made, and what a server of Prometheus, with
classic histograms or native ones, answers to each of its queries."""

import json
import math
import re
from pathlib import Path

import prometheus
from harness.site import SECRET, Site, promtool
from harness.suite import check, run, soon

DASHBOARD = Path("docs/grafana/loop.json")
PARTS = "tasks callbacks others loop profiler idle interrupts sampler".split()
PARTS.append("stolen")
# services/http beside the tasks of tests/guest/task/loop_metrics
IMAGE = "test/loop_metrics"
CAUSED = {"cause", "work", "refused", "given up", "hog"}
BUILT_IN = {"__range", "__rate_interval", "__interval"}
LABEL_VALUES = re.compile(r"label_values\((.*), *(\w+)\)")
ALL_TIME = "1h"
PART_OF_TURN = 0.3  # by which rate() and increase() extrapolate


def read():
    return json.loads(DASHBOARD.read_text(encoding="utf-8"))


def targets():
    """(title, target) of each query."""
    return [(p["title"], t) for p in read()["panels"] for t in p["targets"]]


def expressions():
    return [target["expr"] for _, target in targets()]


def variables():
    return read()["templating"]["list"]


def filled_in(text, site=".*"):
    """With what Grafana puts in its variables' place: all is chosen, but one
    (site), of all the time."""
    text = re.sub(r"\$__\w+", ALL_TIME, text)
    text = text.replace("$site", site)
    return re.sub(r"\$\w+", ".*", text)


# ---- the file


def is_laid_out():
    """No two panels have a place or a number in common."""
    panels = read()["panels"]
    check.true(len(panels) > 10)
    check.same(len({panel["id"] for panel in panels}), len(panels))
    taken = set()
    for panel in panels:
        at = panel["gridPos"]
        for x in range(at["x"], at["x"] + at["w"]):
            for y in range(at["y"], at["y"] + at["h"]):
                check.true(x < 24 and (x, y) not in taken, panel["title"])
                taken.add((x, y))


def is_well_formed():
    """The members that Grafana's schema has, of the types it has, and no
    variable that is defined nowhere."""
    board = read()
    for key, kind in (
        *(("title", str), ("uid", str), ("tags", list), ("panels", list)),
        *(("schemaVersion", int), ("version", int), ("refresh", str)),
    ):
        check.true(isinstance(board[key], kind), key)
    check.same(set(board["time"]), {"from", "to"})
    names = {variable["name"] for variable in variables()} | BUILT_IN
    for variable in variables():
        check.true(variable["type"] in ("datasource", "query"), variable)
        if variable["type"] == "query":
            check.same(variable["query"]["query"], variable["definition"])
    for panel in board["panels"]:
        title = panel["title"]
        check.true(panel["type"] in ("stat", "timeseries", "heatmap"), title)
        check.same(panel["datasource"]["uid"], "${datasource}", title)
        check.same(panel["datasource"]["type"], "prometheus", title)
        letters = [target["refId"] for target in panel["targets"]]
        check.same(letters, sorted(set(letters)), title)
        for target in panel["targets"]:
            used = re.findall(r"\$\{?(\w+)", target["expr"])
            check.true(set(used) <= names, (title, used))


def promtool_parses(s):
    rules = [
        {"record": f"x:y:z{number}", "expr": filled_in(text)}
        for number, text in enumerate(expressions())
    ]
    path = s.work / "rules.yml"
    path.write_text(json.dumps({"groups": [{"name": "x", "rules": rules}]}))
    run(promtool(s), "check", "rules", path)


# ---- what is expected of each panel: by letter the answers to its queries


def by(label, answers):
    """{label: value}, and nothing else is said of each."""
    found = {}
    for answer in answers:
        check.same(set(answer["metric"]), {label})
        found[answer["metric"][label]] = float(answer["value"][1])
    check.same(len(found), len(answers))
    return found


def one(answers):
    (answer,) = answers
    value = float(answer["value"][1])
    check.true(math.isfinite(value) and value >= 0, answer)
    return value


def account(server, panel):
    """Nine parts, which are the whole, as well as extrapolation can be."""
    parts = by("part", panel["A"])
    check.same(set(parts), set(PARTS))
    wall = one(
        server.ask(f"rate(parasite_loop_wall_seconds_total[{ALL_TIME}])")
    )
    check.near(sum(parts.values()), wall, PART_OF_TURN)
    check.true(parts["tasks"] > 0 and parts["idle"] > 0, parts)


def utilisation(_, panel):
    windows = {a["metric"]["window"]: one([a]) for a in panel["A"]}
    check.same(set(windows), {"1s", "10s", "60s"})
    check.between(max(windows.values()), 0, 1)


def busy(_, panel):
    check.same(panel["A"][0]["metric"]["window"], "10s")
    check.between(one(panel["A"]), 0, 1)


def holders(_, panel):
    sites = by("site", panel["A"])
    check.same(len(sites), 10)
    check.true(sites["hog"] > 0)
    check.lacks(" ".join(sites), "idle")


def causes(_, panel):
    sites = by("site", panel["A"])
    check.same(len(sites), 10)
    check.between(sites["hog"], 0, sites["cause"] / (1 - PART_OF_TURN))


def percentiles(*names, least=0.0):
    """A value of each of these tasks, of more than (least) seconds."""

    def are_there(_, panel):
        sites = by("site", panel["A"])
        for name in names:
            check.true(sites[name] > least, f"{name}: {sites[name]}")
            check.true(math.isfinite(sites[name]), sites)

    return are_there


def heatmap(server, panel):
    """Rising buckets, or a native histogram: what the server has. It
    extrapolates the rate of each bucket to the ends of the window on its own:
    one may then seem to hold a little less than the one below it."""
    if panel["A"]:
        check.same(panel["B"], [])
        found = by("le", panel["A"])
        rising = [found[le] for le in sorted(found, key=float)]
        check.same(len(rising), 16)
        for low, high in zip(rising, rising[1:]):
            check.true(low <= high * 1.001, rising)
        check.true(rising[-1] > 0)
        return
    (answer,) = panel["B"]
    check.same(answer["metric"], {})
    check.true(len(answer["histogram"][1]["buckets"]) > 3, answer)


def tasks(_, panel):
    created, pending = by("site", panel["A"]), by("site", panel["B"])
    for name in CAUSED - {"cause"}:
        check.true(created[name] > 0, name)
    check.same(pending["forever"], 1.0)
    check.same(pending["cause"], 1.0)


def ends(_, panel):
    check.same(set(by("site", panel["A"])), {"refused"})
    check.same(set(by("site", panel["B"])), {"given up"})


def cost(_, panel):
    check.between(one(panel["A"]), 1e-9, 1)
    check.same(one(panel["B"]), 0.0)


def positive(_, panel):
    check.true(one(panel["A"]) > 0)


EXPECTED = {
    "Loop busy": busy,
    "Freezes": positive,
    "Longest run": positive,
    "Oldest pending task": positive,
    "Where the time went": account,
    "Utilisation": utilisation,
    "Who holds the loop": holders,
    "Who causes it": causes,
    "Runs, 99th percentile": percentiles("hog", "work"),
    "Delay, 99th percentile": percentiles("work", "refused"),
    # a task of these sleeps for a millisecond
    "Lifetime, 99th percentile": percentiles("work", "refused", least=9e-4),
    "Runs": heatmap,
    "Tasks": tasks,
    "Failed and cancelled": ends,
    "What these statistics cost": cost,
}


# ---- the server's answers


def has_grown(server):
    """Two scrapes at least, between which all has happened that happens."""

    def grown(metric, site=""):
        return server.ask(f"increase(parasite_loop_{metric}[{ALL_TIME}]) > 0")

    return all(
        grown(metric)
        for metric in (
            *(
                f'site_tasks_total{{site="{site}"}}'
                for site in CAUSED
                if site != "cause"
            ),
            *("freezes_total", 'site_cancelled_total{site="given up"}'),
            *('site_failed_total{site="refused"}', "statistics_seconds_total"),
        )
    )


def legend_has_labels(target, answers):
    for label in re.findall(r"{{(\w+)}}", target["legendFormat"]):
        for answer in answers:
            check.true(label in answer["metric"], (target["expr"], label))


def panel_has_data(server, panel):
    """Where a scrape has just failed, values are missing until the next."""

    def attempt():
        found = {}
        for target in panel["targets"]:
            answers = server.ask(filled_in(target["expr"]))
            legend_has_labels(target, answers)
            found[target["refId"]] = answers
        enough = any if panel["type"] == "heatmap" else all
        return enough(found.values()) and found

    found = soon(attempt, f"data of {panel['title']}", server.alive)
    EXPECTED[panel["title"]](server, found)


def panels_have_data(server):
    panels = read()["panels"]
    check.same({panel["title"] for panel in panels}, set(EXPECTED))
    for panel in panels:
        panel_has_data(server, panel)


def variables_have_values(server):
    wanted = {
        "job": {prometheus.JOB},
        "instance": {server.target},
        "site": {"forever", "network", "http receive"} | CAUSED,
    }
    for variable in variables():
        if variable["type"] != "query":
            continue
        text = filled_in(variable["definition"])
        match, label = LABEL_VALUES.fullmatch(text).groups()
        found = set(server.values(label, match))
        check.true(wanted.pop(variable["name"]) <= found, (text, found))
    check.same(wanted, {})


def site_is_chosen(server):
    """Each query that groups by site has that one alone."""

    def chosen():
        answers = [
            (answer, text)
            for text in expressions()
            if "$site" in text and "by (site" in text
            for answer in server.ask(filled_in(text, "work"))
        ]
        return len(answers) >= 6 and answers

    for answer, text in soon(chosen, "answers of the site", server.alive):
        check.same(answer["metric"]["site"], "work", text)


def sums_are_exact(server):
    """What the metrics promise, of one scrape: the account is the whole, and
    a total that of all tasks that were caused."""
    name = "parasite_loop_site"
    caused = "|".join(CAUSED)
    for text in (
        "sum(parasite_loop_seconds_total) - "
        "sum(parasite_loop_wall_seconds_total)",
        f'sum({name}_self_seconds_total{{site=~"{caused}"}}) - '
        f'sum({name}_tree_seconds_total{{site="cause"}})',
    ):
        (answer,) = soon(lambda: server.ask(text), text, server.alive)
        check.between(float(answer["value"][1]), -1e-7, 1e-7, text)


def test(s, width):
    s.width = width
    s.holds(is_laid_out)
    s.holds(is_well_formed)
    s.holds(promtool_parses, s)
    site = Site(s)
    with s.guest(
        *(width, IMAGE, "loop_metrics"),
        append=f"prof.every=0 http.token={SECRET} prof.loop=20 "
        "prof.loop_freeze=10 prof.hz=1000",
        forward=[80],
    ) as guest:
        site.reach(guest)
        with prometheus.server(
            site, "classic", every_s=3
        ) as classic, prometheus.server(
            site, "native", "native-histograms", every_s=3
        ) as native:
            for what, server in (("classic", classic), ("native", native)):
                what = f"{width}, {what} histograms:"
                with s.test(f"{what} Prometheus scrapes the guest"):
                    guest.soon(lambda: has_grown(server), "progress")
                s.holds(f"{what} panels have data", panels_have_data, server)
                s.holds(
                    f"{what} variables have values",
                    *(variables_have_values, server),
                )
                s.holds(f"{what} a site is chosen", site_is_chosen, server)
                s.holds(f"{what} sums are exact", sums_are_exact, server)
