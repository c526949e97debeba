# SPDX-License-Identifier: Apache-2.0
"""The dashboard for Grafana: its queries, with the macros of the ClickHouse
data source filled in as that does it, give the figures of the rows."""

import json
import re
from pathlib import Path

from harness.suite import check

import made_fleet as made

DASHBOARD = Path("docs/grafana/fleet.json")


def filled(sql):
    """A time range and the services of a selection, as Grafana's plugin
    puts them in."""
    sql = re.sub(
        r"\$__timeFilter\((\w+)\)",
        rf"\1 >= toDateTime({made.BEGIN}) AND "
        rf"\1 <= toDateTime({made.BEGIN + made.BUCKETS * made.BUCKET})",
        sql,
    )
    sql = sql.replace("${service:singlequote}", "'web','mail'")
    check.true("$" not in sql, sql)
    return sql


def its_queries_answer(engine):
    board = json.loads(DASHBOARD.read_text(encoding="utf-8"))
    (_, services) = board["templating"]["list"]
    answer = engine.ask(filled(services["query"]))
    check.same([row["service"] for row in answer], ["mail", "web"])
    found = {
        panel["title"]: engine.ask(filled(panel["targets"][0]["rawSql"]))
        for panel in board["panels"]
    }
    check.same(len(found), len(board["panels"]))
    guests = made.GUESTS + made.MAIL_GUESTS
    check.same(int(found["Guests"][0]["guests"]), guests)
    ticks = made.TICKS * made.BUCKETS
    lost = ticks / 10 / (guests * ticks)
    check.near(float(found["Lost"][0]["lost"]), lost, 1e-9)
    check.same(int(found["Not stored"][0]["not_stored"]), made.LOST_ROWS)
    check.same(int(found["Event loop, p99"][0]["p99"]), 400000)
    times = found["Where the time went"]
    check.same(len(times), made.BUCKETS)
    for row in times:
        parts = ("busy", "idle", "masked", "unresolved", "lost")
        check.near(sum(float(row[part]) for part in parts), 1, 1e-9)
    by_build = found["Guests, by build"]
    check.same(len(by_build), 3 * made.BUCKETS)
    check.same(
        sorted({int(row["guests"]) for row in by_build}),
        sorted({made.OLD_GUESTS, made.MAIL_GUESTS}),
    )
    for row in found["Busy, by build"]:
        check.near(float(row["busy"]), made.BUSY, 0.02)
    check.same(len(found["Event loop, p99 by service"]), 2 * made.BUCKETS)
    functions = found["Hottest functions"]
    check.same(functions[0]["fn"], made.SLOW)
    check.same(len(functions), len(made.LEAVES) + 1)
    (lossy,) = found["Guests that lost most"]
    number = f"{made.guest_number('web', made.LOSES):016x}"
    check.same(lossy["number"], number)


def test_dashboards(s, engine, name):
    what = f"{name}: the dashboard's queries have the rows' figures"
    if engine is None:
        s.skip(what, "the engine cannot be had")
    else:
        s.holds(what, its_queries_answer, engine)
