# SPDX-License-Identifier: Apache-2.0
"""Many guests' rows are stored exactly once, whatever is killed, cut off or
sent twice, on both engines; and what is asked of a store. fill.c sends made
rows, whose sums are known."""

import gzip
import json
import os
import re
import resource
import signal
import time
from contextlib import ExitStack
from pathlib import Path

import engines
from engines import PASSWORD, Cluster, Embedded, Old, ask, http
from harness.command import packets_of
from harness.made_profile import profile
from harness.stream import CLOCK_HZ, TSC_HZ, Stream, discarding
from harness.stream import TEXT as STREAM_TEXT
from harness.suite import background, check, run, soon
from older import make_version_1, teller
from proxy import Proxy

PARTS = ("embedded", "server", "both")
ENGINES = {"embedded": Embedded, "server": Old}
GUESTS, STACKS = 3, 4
BEGIN = 1699920000


def samples_of(minute, guest):
    return sum(1 + minute % 7 + guest + 10 * i for i in range(STACKS))


def make_fill(s):
    program = s.work / "fill"
    run(
        *("gcc", "-std=gnu11", "-O1", "-Ihost", "-o", program),
        *("tests/store/fill.c", s.build / "host/libparasite.a"),
        *("-lcurl", "-lz", "-lmicrohttpd", "-lm"),
    )
    return program


def words_of(fill, engine, address=None, **numbers):
    numbers = {"guests": GUESTS, "stacks": STACKS, "flush_s": 9999, **numbers}
    return (
        fill,
        address or engine.address,
        engine.spool,
        *(f"{name}={number}" for name, number in numbers.items()),
    )


def send(fill, engine, status=0, env=None, **numbers):
    return run(
        *words_of(fill, engine, **numbers),
        status=status,
        env={**engine.env, **(env or {})},
        by_lines=True,
    )


def stored(engine, table="samples", column="samples"):
    """Sums by (minute, guest)."""
    rows = engine.ask(
        f"SELECT toUnixTimestamp(bucket) AS at, guest, sum({column}) AS n "
        f"FROM {table} GROUP BY at, guest"
    )
    return {((r["at"] - BEGIN) // 60, r["guest"]): r["n"] for r in rows}


def expected(minutes):
    return {
        (minute, guest): samples_of(minute, guest)
        for minute in minutes
        for guest in range(1, GUESTS + 1)
    }


def check_sums(engine, minutes):
    """Each guest's of each minute: samples, and the account that says so."""
    wanted = expected(minutes)
    check.same(stored(engine), wanted)
    check.same(stored(engine, "accounts", "attributed"), wanted)
    ticks = {key: sum + 5 for key, sum in wanted.items()}
    check.same(stored(engine, "accounts", "ticks"), ticks)
    counts = {key: 1 + key[1] for key in wanted}
    check.same(stored(engine, "loop", "count"), counts)
    check.same(stored(engine, "waits", "count"), dict.fromkeys(wanted, 2))
    (stacks,) = engine.ask("SELECT uniq(build, stack) AS n FROM stacks")
    check.same(stacks["n"], STACKS)
    (guests,) = engine.ask("SELECT uniq(guest) AS n FROM guests")
    check.same(guests["n"], GUESTS)


# ---- on each engine


def what_is_sent_is_stored(make, fill):
    with make("plain") as engine:
        done = send(fill, engine, minutes=4)
        check.has(done.out, r"^empty: 18 sent, 0 in the spool, 0 retries")
        check_sums(engine, range(4))
        names = engine.ask(
            "SELECT names[2] AS leaf, hex(build) AS build FROM stacks LIMIT 1"
        )
        check.same(names[0]["leaf"], "leaf\n\n'")
        check.same(names[0]["build"][:18], b"a build\n\n".hex().upper())


def a_store_that_is_killed_has_all(make, fill):
    with make("killed") as engine:
        words = words_of(fill, engine, minutes=60, pause_ms=10)
        log = engine.s.work / "killed.log"
        with background(*words, log=log, env=engine.env) as sender:
            for minute in (5, 20, 35):
                line = f"minute {minute}\n"
                sender.soon(lambda: line in sender.text(), line)
                engine.kill()
                engine.restart()
            sender.end()
        check.has(sender.text(), "^empty: 242 sent")
        check_sums(engine, range(60))


def a_collector_that_is_killed_sends_the_rest_later(make, fill):
    with make("collector") as engine:
        words = words_of(fill, engine, minutes=10**6, pause_ms=5)
        log = engine.s.work / "collector.log"
        with background(*words, log=log, env=engine.env) as sender:
            sender.soon(lambda: "minute 30\n" in sender.text(), "minute 30")
            sender.signal(signal.SIGKILL)
            sender.end(status=-signal.SIGKILL)
        said = len(re.findall("^minute", sender.text(), re.M))
        send(fill, engine, minutes=0)
        found = stored(engine)
        # one more may have been on its way into the spool, wholly or not at all
        minutes = {minute for minute, _ in found}
        check.contains((said, said + 1), len(minutes))
        check.same(found, expected(minutes))
        accounts = stored(engine, "accounts", "attributed")
        for key, sum in expected(range(said)).items():
            check.same(accounts[key], sum)
        check.true(set(accounts) <= set(expected(range(said + 1))), "accounts")


def spoilt(engine, fill, spoil, minutes, **more):
    """Sends through a proxy; returns what it did."""
    port = engine.serve()
    with Proxy(("127.0.0.1", port), spoil) as proxy:
        address = f"http://127.0.0.1:{proxy.port}/parasite"
        done = send(
            fill, engine, address=address, minutes=minutes, losses=1, **more
        )
        check.has(done.out, "^empty: ")
    check_sums(engine, range(minutes))
    # losses of one guest and minute, in several batches
    (lost,) = engine.ask(
        "SELECT sum(lost_rows) AS n, sum(amount) AS amount FROM losses"
    )
    check.same(lost, {"n": minutes, "amount": sum(range(1, minutes + 1))})
    return proxy.done, done.out


def lost_answers_double_nothing(make, fill):
    with make("lost") as engine:
        done, said = spoilt(
            engine, fill, lambda n: "pass" if n % 3 == 0 else "lose", 4
        )
        check.true(done["lose"] > 5, "answers were lost")
        retries = int(re.search(r"(\d+) retries", said)[1])
        check.true(retries >= done["lose"], "retries")


def cut_requests_store_nothing(make, fill):
    with make("cut") as engine:
        done, _ = spoilt(
            engine, fill, lambda n: "pass" if n % 2 == 0 else "cut", 4
        )
        check.true(done["cut"] > 5, "requests were cut off")


def answers_that_are_late_double_nothing(make, fill):
    """They come when the client has given up, and sends the batch again."""
    with make("late") as engine:
        done, said = spoilt(
            *(engine, fill, lambda n: "pass" if n % 3 else "late", 2),
            answer_s=1,
        )
        check.true(done["late"] > 2, "answers were late")
        retries = int(re.search(r"(\d+) retries", said)[1])
        check.true(retries >= done["late"], "retries")


def a_store_that_is_away_gets_all_later(make, fill):
    """After an hour of them."""
    with make("away") as engine:
        port = engine.serve()
        engine.kill()
        address = f"http://127.0.0.1:{port}/parasite"
        done = send(
            fill, engine, address=address, wait=1, minutes=60, flush_s=0
        )
        check.has(done.out, r"^empty: 0 sent, 242 in the spool")
        done = send(
            fill, engine, 1, address=address, wait=1, minutes=0, flush_s=1
        )
        check.has(done.out, "^not empty: .*127.0.0.1:.*connect")
        engine.restart()
        done = send(fill, engine, address=address, minutes=0)
        check.has(done.out, r"^empty: 242 sent, .* 0 lost with 0 rows")
        check_sums(engine, range(60))


def a_full_spool_is_a_loss_in_the_store(make, fill):
    with make("full") as engine:
        port = engine.serve()
        engine.kill()
        done = send(
            *(fill, engine),
            address=f"http://127.0.0.1:{port}/parasite",
            **{"wait": 1, "minutes": 40, "flush_s": 0, "spool_kb": 4},
        )
        refused = re.search(r"^refused by the spool: (\d+)", done.out, re.M)
        check.true(int(refused[1]) > 20, "batches were refused")
        engine.restart()
        send(
            *(fill, engine),
            address=f"http://127.0.0.1:{port}/parasite",
            minutes=0,
        )
        check_losses(engine, 40, "spool full")


def check_losses(engine, minutes, why):
    """What is lost is not stored, and both together are all there was."""
    for table, column in (("samples", "samples"), ("accounts", "ticks")):
        sums = stored(engine, table, column)
        lost = engine.ask(
            "SELECT toUnixTimestamp(bucket) AS at, guest, why, host, "
            "sum(amount) AS n FROM losses "
            f"WHERE what = '{table}' GROUP BY at, guest, why, host"
        )
        check.true(lost != [], "there are losses")
        for row in lost:
            check.same(row["why"], why)
            check.same(row["host"], "collector")
            key = ((row["at"] - BEGIN) // 60, row["guest"])
            check.true(key not in sums, "lost, and not stored")
            sums[key] = row["n"]
        more = 5 if table == "accounts" else 0
        check.same(
            sums, {k: n + more for k, n in expected(range(minutes)).items()}
        )


def a_damaged_batch_is_a_loss(make, fill):
    with make("damaged") as engine:
        port = engine.serve()
        engine.kill()
        address = f"http://127.0.0.1:{port}/parasite"
        send(fill, engine, address=address, wait=1, minutes=2, flush_s=0)
        batch = sorted(engine.spool.glob("*.samples.*"))[0]
        amount = int(batch.name.split(".")[4])
        batch.write_bytes(batch.read_bytes()[:-9])
        (engine.spool / "part").write_bytes(b"half")
        engine.restart()
        done = send(fill, engine, address=address, minutes=0)
        check.has(done.err, "a batch of samples with 12 rows is lost: damaged")
        check.same(stored(engine), expected([1]))
        (lost,) = engine.ask(
            "SELECT what, why, lost_rows AS n, amount FROM losses"
        )
        check.same(lost["amount"], amount)
        check.same(amount, sum(expected([0]).values()))
        check.same(lost["why"], "damaged in the spool")
        check.true((engine.spool / "refused" / batch.name).exists(), "kept")
        check.same(list(engine.spool.glob("*.gz")), [])


def a_newer_schema_is_refused(make, fill):
    with make("newer") as engine:
        send(fill, engine, minutes=1)
        engine.change("INSERT INTO parasite_schema VALUES (99, now())")
        done = send(fill, engine, 1, minutes=1)
        check.has(done.err, "have version 99, and this .* knows 2 at most")
        done = run(
            *(engine.s.parasite, "sql", engine.address, "SELECT 1"),
            status=1,
            env=engine.env,
        )
        check.has(done.err, "use a newer parasite$")


def losses_by_reason(engine):
    rows = engine.ask("SELECT why, sum(amount) AS n FROM losses GROUP BY why")
    return {row["why"]: row["n"] for row in rows}


def an_older_schema_is_brought_up_to_date(make, fill):
    """Losses without numbers, of version 1: they are read as they are, and stay
    when others are sent; those of an older spool are put aside and counted."""
    with make("older") as engine:
        tell = teller(engine.serve())
        send(fill, engine, minutes=1)
        make_version_1(tell)
        check.same(losses_by_reason(engine), {"before": 70})
        old = "0000000000000001-00000000000000ff.0.losses.3.30.gz"
        (engine.spool / old).write_bytes(gzip.compress(b"old rows"))
        done = send(fill, engine, first=1, minutes=2, losses=1)
        check.has(done.err, "of losses with 3 rows is lost: of an earlier ver")
        check.true((engine.spool / "refused" / old).exists(), "kept")
        check.same(
            losses_by_reason(engine),
            {"before": 70, "made": 2 + 3, "of an earlier version's tables": 30},
        )
        (version,) = engine.ask("SELECT max(version) AS n FROM parasite_schema")
        check.same(version["n"], 2)
        # a merge leaves rows with other numbers apart
        tell("OPTIMIZE TABLE losses PARTITION '2023-11-14' FINAL")
        made = "SELECT count() AS n FROM losses WHERE why = 'made'"
        check.same(engine.ask(made), [{"n": 2}])


def tables_that_are_missing_are_made(make, fill):
    with make("half") as engine:
        send(fill, engine, minutes=1)
        engine.change("DROP TABLE waits")
        engine.change("DROP TABLE parasite_schema")
        done = run(
            *(engine.s.parasite, "sql", engine.address, "SELECT 1"),
            status=1,
            env=engine.env,
        )
        check.has(done.err, "there are no tables of parasite in 'parasite'")
        send(fill, engine, minutes=1, first=1)
        check.same(stored(engine), expected(range(2)))
        check.same(len(stored(engine, "waits", "count")), GUESTS)


def a_wrong_password_keeps_the_batches(make, fill):
    with make("password") as engine:
        port = engine.serve(PARASITE_STORE_PASSWORD=PASSWORD)
        address = f"http://127.0.0.1:{port}/parasite"
        wrong = {"PARASITE_STORE_PASSWORD": "not it"}
        done = send(fill, engine, 1, address=address, env=wrong)
        check.has(done.err, "wrong user or password")
        check.lacks(done.text, "not it")
        done = send(
            *(fill, engine, 1),
            address=address,
            env=wrong,
            **{"wait": 1, "minutes": 2, "flush_s": 1},
        )
        check.has(done.out, "^not empty: .*10 in the.*wrong user or password")
        right = {"PARASITE_STORE_PASSWORD": PASSWORD}
        send(fill, engine, address=address, env=right, minutes=0)
        check_sums(engine, range(2))


def one_process_uses_a_spool(make, fill):
    with make("spool") as engine:
        words = words_of(fill, engine, minutes=1000, pause_ms=1000)
        log = engine.s.work / "spool.log"
        with background(*words, log=log, env=engine.env) as sender:
            sender.soon(lambda: "minute 0\n" in sender.text(), "minute 0")
            done = send(fill, engine, 1)
            check.has(done.err, "another process uses this spool")


def a_query_only_reads(make, fill):
    """Unless it is asked for: then it changes the store."""
    with make("reads") as engine:
        send(fill, engine, minutes=1)
        words = (engine.s.parasite, "sql", engine.address)
        for sql in (
            "INSERT INTO parasite_schema VALUES (1, now())",
            "ALTER TABLE samples DROP PARTITION '2023-11-14'",
            "DROP TABLE samples",
            "CREATE TABLE more (a UInt8) ENGINE = Memory",
            "SET readonly = 0",
        ):
            done = run(*words, sql, env=engine.env, status=1)
            check.has(done.err, "(?i)read-?only")
        check_sums(engine, range(1))
        # settings of a query are its own
        (row,) = engine.ask(
            "SELECT sum(samples) AS n FROM samples SETTINGS max_threads = 1"
        )
        check.same(row["n"], sum(expected([0]).values()))
        engine.change("ALTER TABLE samples DROP PARTITION '2023-11-14'")
        check.same(stored(engine), {})


def prune(engine, keep):
    """What is said of dropped days, by table and day."""
    done = run(
        *(engine.s.parasite, "store", "prune", engine.address),
        *("--keep", keep, "--json"),
        env=engine.env,
    )
    return {(r["table"], r["day"]): r["rows"] for r in json.loads(done.out)}


def old_days_are_dropped(make, fill):
    with make("prune") as engine:
        now = int(time.time())
        today = (now - BEGIN) // 60
        send(fill, engine, minutes=2)
        send(fill, engine, minutes=1, first=1440)
        send(fill, engine, minutes=1, first=today)
        # from the noon of the second day on: of which all is kept
        hours = (now - BEGIN - 36 * 3600) // 3600
        dropped = prune(engine, f"{hours}h")
        check.same({day for _, day in dropped}, {"2023-11-14"})
        check.same(
            {table for table, _ in dropped},
            {"samples", "accounts", "loop", "waits"},
        )
        check.true(dropped["samples", "2023-11-14"] >= GUESTS * STACKS, dropped)
        check_sums(engine, [1440, today])
        check.same({day for _, day in prune(engine, "30d")}, {"2023-11-15"})
        check_sums(engine, [today])
        check.same(prune(engine, "30d"), {})
        words = (engine.s.parasite, "store", "prune", engine.address)
        for more in (), ("--keep", "23h"), ("--keep", "x"):
            run(*words, *more, env=engine.env, status=2)


ON_EACH = (
    what_is_sent_is_stored,
    a_store_that_is_killed_has_all,
    a_collector_that_is_killed_sends_the_rest_later,
    lost_answers_double_nothing,
    cut_requests_store_nothing,
    answers_that_are_late_double_nothing,
    a_store_that_is_away_gets_all_later,
    a_full_spool_is_a_loss_in_the_store,
    a_damaged_batch_is_a_loss,
    a_newer_schema_is_refused,
    an_older_schema_is_brought_up_to_date,
    tables_that_are_missing_are_made,
    a_wrong_password_keeps_the_batches,
    one_process_uses_a_spool,
    a_query_only_reads,
    old_days_are_dropped,
)


# ---- the embedded store alone


def what_is_counted_as_lost_is_not_kept(make, fill):
    """The spool's folder cannot be written through when a batch is in it."""
    with make("fsync") as engine:
        library = engine.s.work / "failing_fsync.so"
        run(
            *("gcc", "-std=gnu11", "-O1", "-shared", "-fPIC", "-o", library),
            "tests/store/failing_fsync.c",
        )
        sign = engine.s.work / "fsync.fails"
        sign.touch()
        env = {"LD_PRELOAD": str(library), "FAILING_FSYNC": str(sign)}
        words = words_of(fill, engine, minutes=30, pause_ms=50)
        log = engine.s.work / "fsync.log"
        with background(*words, log=log, env=engine.env | env) as sender:
            sender.soon(lambda: "minute 3\n" in sender.text(), "minute 3")
            sign.unlink()
            sender.end()
        refused = re.search(
            r"^refused by the spool: (\d+)", sender.text(), re.M
        )
        # four minutes of four tables, at least
        check.true(int(refused[1]) >= 16, "batches were refused")
        send(fill, engine, minutes=0)
        check_losses(engine, 30, "spool cannot be written")


def a_full_disk_loses_nothing(make, fill):
    """RLIMIT_FSIZE stands for it: no file of the store may grow beyond."""
    with make("disk") as engine:
        engine.serve()
        send(fill, engine, minutes=1)
        owner, files = engine.owner(), resource.RLIMIT_FSIZE
        before = resource.prlimit(owner, files)
        resource.prlimit(owner, files, (700, before[1]))
        words = words_of(fill, engine, minutes=2, first=1)
        log = engine.s.work / "disk.log"
        with background(*words, log=log, env=engine.env) as sender:
            full = re.compile("^retry .*the disk is full", re.M)
            sender.soon(lambda: full.search(sender.text()), "a full disk")
            resource.prlimit(owner, files, before)
            sender.end()
        check.has(sender.text(), "^empty: .* 0 lost with 0 rows")
        check_sums(engine, range(3))
        check.same(engine.ask("SELECT * FROM losses"), [])


def doubled_requests_double_nothing(make, fill):
    with make("double") as engine:
        done, _ = spoilt(engine, fill, lambda n: "double", 4)
        check.true(done["double"] > 10, "requests came twice")


def requests_that_are_late_double_nothing(make, fill):
    """They come when the same batch has been sent again and is stored."""
    with make("held") as engine:
        done, _ = spoilt(
            *(engine, fill, lambda n: "pass" if n % 3 else "hold", 2),
            answer_s=1,
        )
        check.true(done["hold"] > 2, "requests were held up")


ENDLESS = "SELECT sleepEachRow(1) AS a FROM numbers(1000000)"


def inserts_do_not_wait_for_queries(make, fill):
    """Of which there are more than requests that may change something."""
    with make("queries") as engine, ExitStack() as queries:
        port = engine.serve()
        send(fill, engine, minutes=1)
        words = (engine.s.parasite, "sql", engine.address)
        for i in range(3):
            queries.enter_context(
                background(
                    *(*words, f"{ENDLESS} SETTINGS max_block_size = 1"),
                    log=engine.s.work / f"query{i}.log",
                    env=engine.env,
                )
            )
        running = (
            "/?query=SELECT+count()+FROM+system.processes+WHERE+"
            "query+LIKE+'SELECT+sleepEachRow%25'"
        )
        knows = {"X-ClickHouse-Key": PASSWORD}
        soon(
            lambda: int(http(port, running, None, knows)[1]) >= 2,
            "the queries",
        )
        send(fill, engine, minutes=2, first=1, flush_s=60)
        check_sums(engine, range(3))


def its_http_is_that_of_clickhouse(make):
    with make("http") as engine:
        engine.folder.mkdir(parents=True)
        port = engine.serve()

        def http(port, path, data=None, headers=None):
            headers = {"X-ClickHouse-Key": PASSWORD, **(headers or {})}
            return engines.http(port, path, data, headers)

        def post(sql, path="/?database=d", **more):
            return http(port, path, sql.encode(), **more)

        check.same(http(port, "/"), (200, "Ok.\n"))
        check.same(http(port, "/nothing")[0], 404)
        check.same(post("CREATE DATABASE d", "/"), (200, ""))
        table = "CREATE TABLE t (a UInt8, s String) ENGINE = MergeTree ORDER BY"
        check.same(post(f"{table} a"), (200, ""))
        insert = "/?database=d&query=INSERT+INTO+t+FORMAT+"
        rows = b"\x0a\x02\x0a\x0a\x0b\x00"
        for data, coding in (rows, ""), (gzip.compress(rows), "gzip"):
            headers = {"Content-Encoding": coding} if coding else {}
            check.same(
                http(port, f"{insert}RowBinary", data, headers), (200, "")
            )
        check.same(post("(5, 'x')", f"{insert}Values"), (200, ""))
        check.same(post("6\ty\n", f"{insert}TabSeparated"), (200, ""))
        status, text = post("SELECT a, s FROM t ORDER BY a FORMAT JSONEachRow")
        check.same(status, 200)
        check.same(
            [json.loads(line)["s"] for line in text.splitlines()],
            ["x", "y", "\n\n", "\n\n", "", ""],
        )
        cut = gzip.compress(rows)[:-3]
        headers = {"Content-Encoding": "gzip"}
        check.same(http(port, f"{insert}RowBinary", cut, headers)[0], 400)
        check.same(http(port, f"{insert}RowBinary", rows[:-1])[0], 500)
        # nor does one request change what others mean
        for sql in (
            *("USE system", "SET limit = 1", "-- USE\nUSE system"),
            *("SELECT 1; SET limit = 1", "/* */ SET limit = 1"),
            "CREATE TEMPORARY TABLE t (a UInt8)",
        ):
            for _ in range(3):
                post(sql)
            check.same(post("SELECT count() FROM t"), (200, "6\n"))
            check.same(post("SELECT a FROM t")[1].count("\n"), 6)
        read = "/?database=d&query=SELECT+a+FROM+t"
        for _ in range(5):
            http(port, "/?query=SET+limit+%3D+1")
            check.same(http(port, read)[1].count("\n"), 6)
        # a GET changes nothing
        drop = "/?database=d&query=DROP+TABLE+t"
        check.has(http(port, drop)[1], r"^Code: 164\.")
        check.same(
            http(port, "/?database=d&query=SELECT+count()+FROM+t")[1], "6\n"
        )
        check.has(post("SELECT 1", "/?max_x=1")[1], "^Code: 115.*max_x")
        check.same(post("SELECT * FROM nothing")[0], 404)
        engine.kill(signal.SIGTERM)


def its_port_answers_to_who_may_ask(make):
    """Not to pages, by whatever name, and to nobody without the password."""
    with make("port") as engine:
        words = (engine.s.parasite, "store", "--path", engine.folder)
        for password in None, "":
            env = {**engine.env, "PARASITE_STORE_PASSWORD": password}
            env = {name: word for name, word in env.items() if word is not None}
            done = run(*words, "--port", 8123, env=env, status=2)
            check.has(done.err, "set a password, PARASITE_STORE_PASSWORD")
        engine.folder.mkdir(parents=True)
        port = engine.serve()
        make_it = "/?query=CREATE+DATABASE+made"
        knows = {"X-ClickHouse-Key": PASSWORD}
        for headers, status in (
            ({}, 401),
            ({"X-ClickHouse-Key": ""}, 401),
            ({"X-ClickHouse-Key": PASSWORD[:-1]}, 401),
            ({"X-ClickHouse-Key": PASSWORD + "x"}, 401),
            ({**knows, "Host": "example.org"}, 403),
            ({**knows, "Origin": "http://example.org"}, 403),
            ({**knows, "Origin": "null"}, 403),
            ({**knows, "Sec-Fetch-Site": "cross-site"}, 403),
            ({**knows, "Sec-Fetch-Site": "same-site"}, 403),
        ):
            check.same(http(port, make_it, b"", headers)[0], status)
            # and of a body nothing is kept: this is no gzip
            coded = {**headers, "Content-Encoding": "gzip"}
            check.same(http(port, make_it, b"x" * 9999, coded)[0], status)
        check.same(http(port, "/ping")[0], 200)
        headers = {**knows, "Sec-Fetch-Site": "none"}
        check.same(
            http(port, "/?query=EXISTS+DATABASE+made", None, headers),
            (200, "0\n"),
        )
        large = gzip.compress(bytes(257 << 20), 1)
        coded = {**knows, "Content-Encoding": "gzip"}
        check.same(http(port, "/?query=SELECT+1", large, coded)[0], 413)


def it_has_one_owner_and_ends_when_told(make):
    with make("owner") as engine:
        engine.folder.mkdir(parents=True)
        engine.serve()
        words = (engine.s.parasite, "store", "--path", engine.folder)
        done = run(*words, env=engine.env, status=1)
        check.has(done.err, f"process {engine.owner()} has this store open")
        engine.process.signal(signal.SIGTERM)
        engine.process.end()


def it_ends_when_it_is_idle(make):
    with make("idle") as engine:
        words = (engine.s.parasite, "store", "--path", engine.folder)
        run(*words, "--idle", 1, env=engine.env)


def its_folder_may_have_a_long_name(make, fill):
    name = "/".join("x" * 60 for _ in range(3))
    with make(name) as engine:
        send(fill, engine, minutes=1)
        check_sums(engine, range(1))


def a_folder_that_is_not_there_is_waited_for(make, fill):
    """One with a long name, under the name of a folder that comes later: what
    is sent goes to no port, and files are closed."""
    with make("later/" + "/".join("x" * 60 for _ in range(3))) as engine:
        engine.spool = engine.s.work / "later-spool"
        engine.folder.parent.rmdir()
        words = words_of(fill, engine, wait=1)
        log = engine.s.work / "later.log"
        broken = {**engine.env, "PARASITE_CHDB": "/nothing.so"}
        with background(*words, log=log, env=broken) as sender:
            sender.soon(
                lambda: re.search("^retry .*No such file", sender.text(), re.M),
                "a retry",
            )
            engine.folder.mkdir(parents=True)
            tries = "did not start: .*/nothing.so"
            sender.soon(
                lambda: len(re.findall(tries, sender.text())) >= 4,
                "four more",
            )
            links = Path(f"/proc/{sender.pid}/fd").iterdir()
            check.true(
                [link_of(link) for link in links].count(str(engine.folder)) < 2,
                "its folder is closed",
            )
            sender.signal(signal.SIGKILL)
            sender.end(status=-signal.SIGKILL)
        done = send(fill, engine, minutes=0)
        check.has(done.out, "^empty: 6 sent")
        check_sums(engine, range(1))


def link_of(link):
    try:
        return os.readlink(link)
    except OSError:  # closed meanwhile
        return ""


def a_missing_library_is_said(make, fill):
    with make("missing") as engine:
        for library, why in ("/nothing.so", "/nothing.so: "), (
            "/bin/true",
            "/bin/true",
        ):
            env = {**engine.env, "PARASITE_CHDB": library}
            words = (engine.s.parasite, "store", "--path", engine.folder)
            done = run(*words, env=env, status=1)
            check.has(done.err, f"^parasite store: {why}")
        done = send(fill, engine, 1, env={"PARASITE_CHDB": "/nothing.so"})
        check.has(done.err, "the embedded store did not start: .*/nothing.so")
        words = (engine.s.parasite, "serve", "--listen", "tcp:127.0.0.1:0")
        words += ("--store", engine.folder, "--spool", engine.spool)
        env = {**engine.env, "PARASITE_CHDB": "/nothing.so"}
        log = engine.s.work / "missing.log"
        with background(*words, log=log, env=env) as serve:
            said = re.compile("batches wait in the spool: .*/nothing.so")
            serve.soon(lambda: said.search(serve.text()), "what is wrong")
            serve.signal(signal.SIGTERM)
            serve.end()
        check.same(len(said.findall(serve.text())), 1)


def a_trace_is_asked_in_sql(make):
    with make("trace") as engine:
        trace = engine.s.work / "made.stream"
        trace.write_bytes(profile())
        report = run(engine.s.parasite, "report", trace).out
        found = re.search(r"^# ([\d,]+) samples", report, re.M)
        (row,) = ask(
            *(engine.s, trace),
            "SELECT (SELECT sum(samples) FROM samples) AS n, "
            "sum(attributed) AS attributed, sum(ticks) AS ticks, "
            "sum(idle) + sum(dropped) + sum(missed) AS rest FROM accounts",
            env={**engine.env, "TMPDIR": engine.s.work},
        )
        check.true(row["n"] > 0, "there are samples")
        check.same(row["n"], row["attributed"])
        check.same(row["ticks"], row["attributed"] + row["rest"])
        check.true(
            row["n"] <= int(found[1].replace(",", "")) <= row["ticks"],
            "those of the report",
        )
        check.same(list(engine.s.work.glob("parasite-sql-*")), [])


def traced():
    """A trace of two CPUs with a loop each, a task that waits, samples that the
    guest discarded, and a packet that never came."""
    stream = Stream(step=CLOCK_HZ // 100, boot=9)
    put = stream.event
    stream.begins()
    stream.node(1, 0, STREAM_TEXT + 16)
    put("site", number=5, line=7, text="worker@w.c")
    put("name", number=6, text="sleep")
    put("create_wide", object=1, object_kind=1, site=5)
    for _ in range(3):
        put("switch_wide", task=1)
        put("suspend_wide", why=6)
        stream.sample(1)
        put("wake_wide", object=1)
    put("loop_site", site=3, site_kind=1, line=7, text="first@f.c")
    for count in (10, 25, 4):  # it began anew before the last
        put("loop_bucket", site=3, low=32 << 22, measure=1, count=count)
    stream.flush()
    stream.sample(1)
    stream.flush()  # what never came
    stream.sample(1)
    stream.on_cpu(1, 0)
    put("loop_site", site=3, site_kind=1, line=8, text="second@f.c")
    put("loop_bucket", site=3, low=32 << 22, measure=1, count=7)
    put("start", rate_mhz=1_000_000, depth=64)
    stream.sample(1)
    packets = packets_of(stream.data())
    packets[-1] = discarding(packets[-1], 11)
    del packets[1]
    return b"".join(packets)


def a_trace_has_all_tables(make):
    with make("tables") as engine:
        trace = engine.s.work / "tables.stream"
        trace.write_bytes(traced())

        def tell(sql):
            env = {**engine.env, "TMPDIR": engine.s.work}
            return ask(engine.s, trace, sql, env=env)

        name = "SELECT {} FROM {} AS l ALL INNER JOIN (SELECT stack AS site, "
        name += "names[1] AS place FROM stacks) AS r USING (site) ORDER BY 1"
        check.same(
            tell(name.format("cpu, place, measure, low, count", "loop")),
            [
                {
                    "cpu": cpu,
                    "place": place,
                    "measure": "delay",
                    "low": (32 << 22) * 10**9 // TSC_HZ,
                    "count": count,
                }
                for cpu, place, count in (
                    (0, "first@f.c", 29),
                    (1, "second@f.c", 7),
                )
            ],
        )
        check.same(
            tell(name.format("place, why, count, ns", "waits")),
            [
                {
                    "place": "worker@w.c",
                    "why": "sleep",
                    "count": 3,
                    "ns": 60_000_000,
                }
            ],
        )
        check.same(
            tell("SELECT what, why, lost_rows AS n FROM losses"),
            [{"what": "packets", "why": "packets missing", "n": 1}],
        )
        check.same(
            tell("SELECT cpu, dropped FROM accounts ORDER BY cpu"),
            [{"cpu": 0, "dropped": 0}, {"cpu": 1, "dropped": 11}],
        )


def sql_prints_a_table_or_says_what_is_wrong(make, fill):
    with make("sql") as engine:
        send(fill, engine, minutes=1)
        words = (engine.s.parasite, "sql", engine.address)
        done = run(
            *words,
            "SELECT * FROM (SELECT 'a' AS x, 5 AS n UNION ALL "
            "SELECT 'bcd', 1000) ORDER BY n",
            env=engine.env,
        )
        check.same(done.lines(), ["x       n", "a       5", "bcd  1000"])
        done = run(*words, "SELECT nothing", env=engine.env, status=1)
        check.has(done.err, "^parasite sql: .*nothing")
        done = run(*words[:2], "SELECT 1", env=engine.env, status=2)
        check.has(done.err, "set PARASITE_STORE")
        done = run(
            *words[:2],
            "SELECT 1 AS x",
            env={**engine.env, "PARASITE_STORE": engine.address},
        )
        check.same(done.lines(), ["x", "1"])


EMBEDDED = (
    (what_is_counted_as_lost_is_not_kept, True),
    (a_full_disk_loses_nothing, True),
    (doubled_requests_double_nothing, True),
    (requests_that_are_late_double_nothing, True),
    (inserts_do_not_wait_for_queries, True),
    (its_http_is_that_of_clickhouse, False),
    (its_port_answers_to_who_may_ask, False),
    (it_has_one_owner_and_ends_when_told, False),
    (it_ends_when_it_is_idle, False),
    (its_folder_may_have_a_long_name, True),
    (a_folder_that_is_not_there_is_waited_for, True),
    (a_missing_library_is_said, True),
    (a_trace_is_asked_in_sql, False),
    (a_trace_has_all_tables, False),
    (sql_prints_a_table_or_says_what_is_wrong, True),
)


# ---- servers alone


def a_user_may_read_only(s, fill):
    """One to whom the server gives no more, which refuses to be told so."""
    with Old(s, "reader") as engine:
        send(fill, engine, minutes=1)
        engine.address = engine.address.replace("//", "//reader@")
        check_sums(engine, range(1))
        done = run(
            *(s.parasite, "sql", "--write", engine.address),
            "DROP TABLE samples",
            env=engine.env,
            status=1,
        )
        check.has(done.err, "readonly")


def servers_share_the_guests(s, fill):
    with Cluster(s, "cluster") as both:
        send(fill, both, minutes=3)
        check_sums(both, range(3))
        for server in both.servers:
            (row,) = server.ask("SELECT count() AS n FROM samples_local")
            check.true(0 < row["n"] < 3 * GUESTS * STACKS, "a part of the rows")
        both.servers[1].kill()
        done = send(fill, both, 1, wait=1, minutes=2, first=3, flush_s=5)
        check.has(done.out, "^not empty: ")
        both.servers[1].restart()
        send(fill, both, minutes=0)
        check_sums(both, range(5))
        # an older schema is brought up to date on each of them
        for server in both.servers:
            make_version_1(teller(server.port), cluster="pair")
        check.same(losses_by_reason(both), {"before": 140})
        send(fill, both, minutes=1, first=5, losses=1)
        check.same(losses_by_reason(both), {"before": 140, "made": 6})
        (row,) = both.ask("SELECT count() AS n FROM losses WHERE entry > 0")
        check.same(row["n"], 1)
        done = run(
            *(s.parasite, "store", "prune", both.address, "--keep", "30d"),
            env=both.env,
        )
        # each server has dropped its own part
        check.same(len(re.findall("^samples +2023-11-14 ", done.out, re.M)), 2)
        check.same(stored(both), {})


# ---- both together

QUESTIONS = (
    "SELECT toUnixTimestamp(bucket) AS at, service, guest, cpu, kind, stack, "
    "sum(samples) AS n, sum(weight) AS w FROM samples GROUP BY bucket, service,"
    " guest, cpu, kind, stack ORDER BY at, guest, cpu, stack",
    "SELECT fn, sum(w) AS total, sum(w * (fn = leaf)) AS self FROM ("
    "SELECT arrayJoin(arrayDistinct(path)) AS fn, path[-1] AS leaf, w FROM ("
    "SELECT build, stack, sum(weight) AS w FROM samples WHERE service = 'made' "
    "AND kind = 'time' GROUP BY build, stack) AS l ALL INNER JOIN (SELECT "
    "build, stack, argMax(names, named) AS path FROM stacks WHERE build GLOBAL "
    "IN (SELECT build FROM accounts WHERE service = 'made') GROUP BY build, "
    "stack) AS r USING (build, stack)) GROUP BY fn ORDER BY self DESC, fn",
    "SELECT service, quantileExactWeighted(0.99)(low, count) AS p99 FROM loop "
    "WHERE measure = 'delay' GROUP BY service",
    "SELECT guest, sum(ticks) AS t, sum(attributed) AS a, sum(dropped) AS d "
    "FROM accounts GROUP BY guest ORDER BY guest",
    "SELECT guest, host, target, labels[1] AS label, mhz FROM guests "
    "ORDER BY guest",
)


def both_give_the_same_figures(s, fill):
    with Embedded(s, "same-new") as new, Old(s, "same-old") as old:
        for engine in new, old:
            send(fill, engine, minutes=5)
        for sql in QUESTIONS:
            answer = new.ask(sql)
            check.true(answer != [], "an answer")
            check.same(old.ask(sql), answer)


def copy(s, one, other, *words, status=0):
    return run(
        *(s.parasite, "store", "copy", *words, one.address, other.address),
        env={**one.env, **other.env},
        status=status,
    )


def copies_have_the_same_sums(s, fill):
    with Embedded(s, "copy-new") as new, Old(s, "copy-old") as old:
        send(fill, new, minutes=3)
        send(fill, new, minutes=1, first=1440)  # of the next day
        done = copy(s, new, old)
        check.has(done.out, "^samples +48 rows$")
        check.has(done.out, "^stacks +")
        check_sums(old, [0, 1, 2, 1440])
        done = copy(s, new, old)
        check.has(done.out, "^samples +2023-11-14 is there already$")
        check.has(done.out, "^samples +0 rows$")
        check_sums(old, [0, 1, 2, 1440])
        said = json.loads(copy(s, new, old, "--json").out)
        check.same(said["from"], str(new.address))
        check.same(said["to"], old.address)
        tables = {row.pop("table"): row for row in said["tables"]}
        check.same(len(tables), 7)
        days = ["2023-11-14", "2023-11-15"]
        check.same(tables["samples"], {"rows": 0, "there": days})
        check.true(tables["guests"]["rows"] >= GUESTS, tables)
        with Embedded(s, "copy-back") as back:
            copy(s, old, back)
            check_sums(back, [0, 1, 2, 1440])


def a_day_is_copied_in_slices(s, fill):
    """The embedded engine has an answer in memory, and a day is too much."""
    sums = "SELECT count() AS n, sum(samples) AS samples FROM samples"
    with Embedded(s, "slices-from") as new, Embedded(s, "slices-to") as other:
        port = new.serve()
        send(fill, new, minutes=5, guests=1, stacks=60000)
        with Proxy(("127.0.0.1", port), lambda _: "pass") as proxy:
            new.address = f"http://127.0.0.1:{proxy.port}/parasite"
            copy(s, new, other)
        slices = [
            text
            for text in proxy.asked
            if b"stack, samples" in text and b"BETWEEN" in text
        ]
        check.same(len(slices), 3)  # of two minutes, two, and one
        check.same(other.ask(sums), new.ask(sums))


def a_copy_that_was_interrupted_goes_on(s, fill):
    """As if it had ended in the second day of accounts, and then in a day that
    was complete."""
    with Embedded(s, "copy-from") as new, Old(s, "copy-part") as old:
        send(fill, new, minutes=2)
        send(fill, new, minutes=2, first=1440)
        copy(s, new, old)
        old.change("ALTER TABLE accounts DROP PARTITION '2023-11-15'")
        old.change("ALTER TABLE loop DROP PARTITION '2023-11-15'")
        send(fill, old, minutes=1, first=1441, guests=1)
        done = copy(s, new, old, status=1)
        check.has(done.err, "has other rows of samples of 2023-11-15")
        for table in "samples", "accounts", "loop", "waits":
            [drop] = re.findall('"(ALTER .*)" and copy again', done.err)
            old.change(drop)
            done = copy(s, new, old, status=0 if table == "waits" else 1)
        check_sums(old, [0, 1, 1440, 1441])
        check.same(old.ask("SELECT * FROM losses"), [])


def a_copy_of_nothing_is_refused(s):
    with Embedded(s, "copy-none") as new, Old(s, "copy-to") as old:
        done = copy(s, new, old, status=1)
        check.has(done.err, "there is no such store")
        done = copy(s, old, new, status=1)
        check.has(done.err, "there are no tables of parasite")


def suite(s):
    fill = make_fill(s)
    if s.part == "both":
        s.holds(both_give_the_same_figures, s, fill)
        s.holds(copies_have_the_same_sums, s, fill)
        s.holds(a_day_is_copied_in_slices, s, fill)
        s.holds(a_copy_that_was_interrupted_goes_on, s, fill)
        s.holds(a_copy_of_nothing_is_refused, s)
        return

    def make(name):
        return ENGINES[s.part](s, name)

    for test in ON_EACH:
        s.holds(test, make, fill)
    if s.part == "server":
        s.holds(servers_share_the_guests, s, fill)
        s.holds(a_user_may_read_only, s, fill)
    if s.part == "embedded":
        for test, has_fill in EMBEDDED:
            s.holds(test, make, *((fill,) if has_fill else ()))
