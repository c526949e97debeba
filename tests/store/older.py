# SPDX-License-Identifier: Apache-2.0
"""Tables of version 1, made of those of version 2."""

from engines import PASSWORD, http
from harness.suite import check

LOSSES = """CREATE TABLE {} (day Date, bucket DateTime,
service String, build FixedString(20), guest UInt64, host String, what String,
why String, lost_rows UInt64, amount UInt64)
ENGINE = {}(lost_rows, amount)) PARTITION BY day
ORDER BY (service, bucket, build, guest, host, what, why)
SETTINGS index_granularity = 1024"""
AMOUNT = 70
LOSS = f"""INSERT INTO {{}} SELECT toDate('2023-11-14') AS day,
toDateTime(1699920000) AS bucket, 'made' AS service,
toFixedString('a build', 20) AS build, toUInt64(1) AS guest,
'collector' AS host, 'samples' AS what, 'before' AS why,
toUInt64(7) AS lost_rows, toUInt64({AMOUNT}) AS amount"""


def teller(port):
    """Runs a statement, whatever the version of the tables."""

    def tell(sql):
        headers = {"X-ClickHouse-User": "default", "X-ClickHouse-Key": PASSWORD}
        path = "/?database=parasite"
        check.same(http(port, path, sql.encode(), headers), (200, ""))

    return tell


def make_version_1(tell, cluster=None, shard=None):
    """Of a store of version 2, of one server or one of (cluster): losses have
    no numbers. One is there. With the number of its (shard) the table is
    replicated."""
    table = "losses_local" if cluster else "losses"
    engine = "SummingMergeTree("
    if shard is not None:
        place = f"/clickhouse/tables/shard{shard}/parasite/{table}"
        engine = f"Replicated{engine}'{place}', 'first', "
    tell(f"DROP TABLE {table}")
    tell(LOSSES.format(table, engine))
    tell(LOSS.format(table))
    if cluster:
        tell("DROP TABLE losses")
        tell(
            f"CREATE TABLE losses AS {table} "
            f"ENGINE = Distributed({cluster}, parasite, {table})"
        )
    tell("DROP TABLE parasite_schema")
    tell(
        "CREATE TABLE parasite_schema (version UInt32, at DateTime) "
        "ENGINE = MergeTree() ORDER BY version "
        "SETTINGS index_granularity = 8192"
    )
    tell("INSERT INTO parasite_schema VALUES (1, now())")
