# SPDX-License-Identifier: Apache-2.0
"""Three servers of ClickHouse 18.16 that share the guests, and the ZooKeeper
that their replicated tables need. All are Debian's, unpacked and not
installed."""

import socket
import subprocess
import sys
import time
import urllib.parse
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "store"))
from engines import CONFIG, PASSWORD, USERS, free_port, http, ping  # noqa: E402
from older import AMOUNT, make_version_1, teller  # noqa: E402

SERVERS = 3
NAME = "trio"
ANSWER_S = 5
JARS = "zookeeper", "zookeeper-jute", "slf4j-api", "slf4j-simple"
JARS += "metrics-core", "snappy-java"
ZOO = """tickTime=2000
dataDir={}
clientPort={}
clientPortAddress=127.0.0.1
admin.enableServer=false
4lw.commands.whitelist=srvr
"""
MORE = """<tcp_port>{tcp}</tcp_port>
<interserver_http_port>{inter}</interserver_http_port>
<interserver_http_host>127.0.0.1</interserver_http_host>
<zookeeper><node><host>127.0.0.1</host><port>{zoo}</port></node></zookeeper>
<remote_servers><{name}>{shards}</{name}></remote_servers>
"""
SHARD = """<shard><replica><host>127.0.0.1</host><port>{}</port>
<user>default</user><password>{}</password></replica></shard>
"""


def missing(build):
    """What of it make could not fetch, or None."""
    for folder in ("clickhouse", "zookeeper"):
        if not (build / folder / "unpacked").exists():
            why = build / folder / "missing"
            return why.read_text("utf-8").strip() if why.exists() else folder
    return None


class Server:
    """One of ClickHouse's."""

    def __init__(self, cluster, number, port, more):
        self.cluster, self.number, self.port = cluster, number, port
        self.folder = cluster.folder / f"server-{number}"
        self.folder.mkdir(parents=True)
        self.process = None
        config = CONFIG.format(self.folder, port, more)
        (self.folder / "config.xml").write_text(config, "ascii")
        (self.folder / "users.xml").write_text(USERS.format(PASSWORD), "ascii")

    def start(self):
        root = self.cluster.build / "clickhouse" / "root"
        self.process = self.cluster.fleet.processes.start(
            (
                *("env", f"LD_LIBRARY_PATH={root}/usr/lib/x86_64-linux-gnu"),
                root / "usr/sbin/clickhouse-server",
                f"--config-file={self.folder / 'config.xml'}",
            ),
            self.folder / "out",
        )
        self.cluster.fleet.until(
            lambda: ping(self.port), f"server {self.number}", self.process
        )

    def kill(self):
        self.process.kill()
        self.process.wait()

    def ask(self, sql, database="parasite"):
        """The first value of the answer, as a number; None: there is none."""
        query = urllib.parse.urlencode(
            {"query": sql, "database": database, "password": PASSWORD}
        )
        status, text = http(self.port, f"/?{query}")
        return int(text.split()[0]) if status == 200 else None


class Cluster:
    """For (fleet) of field.py. Its processes end with it."""

    def __init__(self, fleet):
        self.fleet, self.build = fleet, fleet.build.resolve()
        self.folder = fleet.folder.resolve() / "cluster"
        self.zoo, self.zookeeper = free_port(), None
        tcp = [free_port() for _ in range(SERVERS)]
        shards = "".join(SHARD.format(port, PASSWORD) for port in tcp)
        self.servers = [
            Server(
                self,
                number,
                free_port(),
                MORE.format(
                    tcp=port,
                    inter=free_port(),
                    zoo=self.zoo,
                    name=NAME,
                    shards=shards,
                ),
            )
            for number, port in enumerate(tcp)
        ]
        hosts = ",".join(f"127.0.0.1:{one.port}" for one in self.servers)
        self.address = f"http://default@{hosts}/parasite?cluster={NAME}"
        self.env = {"PARASITE_STORE_PASSWORD": PASSWORD}

    def start(self):
        self.make_zookeeper()
        self.start_zookeeper()
        for server in self.servers:
            server.start()

    def make_tables(self):
        """`serve` would do so with its first batch."""
        none = self.folder / "none"
        none.mkdir(exist_ok=True)
        program = self.build / "host" / "fill_store"
        subprocess.run(
            [program, self.address, self.folder / "filled", none], check=True
        )

    def make_older(self):
        """Its tables have version 1 afterwards, replicated as they are."""
        self.make_tables()
        for server in self.servers:
            make_version_1(teller(server.port), NAME, server.number)
        print(f"tables of version 1 are at {SERVERS} servers", flush=True)

    def not_newer(self):
        """What `serve` has not brought up to date of them, or None."""
        for server in self.servers:
            found = [
                server.ask("SELECT max(version) FROM parasite_schema"),
                server.ask(
                    "SELECT count() FROM system.columns WHERE database = "
                    "'parasite' AND table LIKE 'losses%' AND name = 'entry'"
                ),
                server.ask(
                    "SELECT count() FROM system.tables WHERE database = "
                    "'parasite' AND name = 'losses_local' "
                    "AND engine = 'ReplicatedSummingMergeTree'"
                ),
                server.ask(
                    "SELECT sum(amount) FROM losses_local WHERE why = 'before'"
                ),
                server.ask("SELECT sum(amount) FROM losses WHERE entry = 0"),
            ]
            if found != [2, 2, 1, AMOUNT, SERVERS * AMOUNT]:
                return f"server {server.number} has old tables: {found}"
        return None

    def make_zookeeper(self):
        folder = self.folder / "zookeeper"
        folder.mkdir()
        (folder / "zoo.cfg").write_text(
            ZOO.format(folder / "data", self.zoo), "ascii"
        )

    def start_zookeeper(self):
        """It has what it had before."""
        root = self.build / "zookeeper" / "root" / "usr"
        folder = self.folder / "zookeeper"
        jars = ":".join(f"{root}/share/java/{jar}.jar" for jar in JARS)
        java = next(root.glob("lib/jvm/java-*-openjdk-*/bin/java"))
        self.zookeeper = self.fleet.processes.start(
            (
                *(java, "-XX:-UsePerfData", "-Xmx256m", "-cp", jars),
                "org.apache.zookeeper.server.quorum.QuorumPeerMain",
                folder / "zoo.cfg",
            ),
            folder / "log",
        )
        self.fleet.until(self.zookeeper_answers, "ZooKeeper", self.zookeeper)

    def kill_zookeeper(self):
        self.zookeeper.kill()
        self.zookeeper.wait()

    def zookeeper_answers(self):
        """One that has just opened its port may never answer a request."""
        try:
            address = "127.0.0.1", self.zoo
            with socket.create_connection(address, ANSWER_S) as file:
                file.sendall(b"srvr")
                return b"Mode: " in file.makefile("rb").read()
        except OSError:
            return False


class Outage:
    """One of the servers is killed as soon as it has rows, and is started again
    when all guests have done their work. ZooKeeper is killed at the same time,
    and is back when batches wait for all servers: their sessions have expired
    then, if that took longer than half a minute."""

    def __init__(self, cluster):
        self.cluster, self.fleet = cluster, cluster.fleet
        *self.others, self.victim = cluster.servers

    def begin(self):
        rows = self.fleet.until(
            lambda: self.victim.ask("SELECT sum(ticks) FROM accounts_local"),
            f"ticks at server {self.victim.number}",
            self.fleet.serve,
        )
        self.victim.kill()
        print(
            f"server {self.victim.number} is killed: it has {rows} ticks",
            flush=True,
        )
        self.lose_zookeeper()

    def lose_zookeeper(self):
        """Servers then take no rows, and answer queries."""
        before = [self.ticks(server) for server in self.others]
        self.cluster.kill_zookeeper()
        began = time.monotonic()
        print("ZooKeeper is killed", flush=True)
        self.fleet.until(
            lambda: all(map(self.waiting, self.others)),
            "batches for all servers",
            self.fleet.serve,
        )
        numbers = " and ".join(str(server.number) for server in self.others)
        print(f"batches wait for servers {numbers}, which answer queries:")
        for server, ticks in zip(self.others, before):
            print(f"    {ticks} ticks before, {self.ticks(server)} now")
        self.cluster.start_zookeeper()
        print(
            f"ZooKeeper is back after {time.monotonic() - began:.0f} s",
            flush=True,
        )

    def ticks(self, server):
        return self.fleet.until(
            lambda: server.ask("SELECT sum(ticks) FROM accounts_local"),
            f"ticks at server {server.number}",
            server.process,
        )

    def waiting(self, server):
        """Batches that only this server can take."""
        return [
            path
            for path in self.fleet.batches()
            if path.name.split(".")[1] == str(server.number)
        ]

    def end(self):
        """Meanwhile a query is an error, and not the sum of the others."""
        waiting = self.fleet.until(
            lambda: self.waiting(self.victim),
            "a batch for the dead server",
            self.fleet.serve,
        )
        answer = self.fleet.refused(
            "sql", self.fleet.store, "SELECT sum(ticks) FROM accounts"
        )
        print(f"{len(waiting)} batches wait for it; a query is refused:")
        print(f"    {answer}")
        self.victim.start()
        print(f"server {self.victim.number} is back", flush=True)
