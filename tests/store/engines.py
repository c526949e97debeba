# SPDX-License-Identifier: Apache-2.0
"""The two engines of a store: the embedded one, and a server of ClickHouse
18.16, which is Debian's, unpacked and not installed."""

import fcntl
import json
import os
import shutil
import signal
import urllib.error
import urllib.request

from harness.proc import Background
from harness.process import free_port
from harness.suite import Skip, run, soon

PASSWORD = "a wrong one would be refused"


def engine_in(s, folder, present):
    """(present) below the build's (folder), which make has fetched, if it
    could."""
    there = s.build / folder / present
    if not there.exists():
        why = s.build / folder / "missing"
        raise Skip(
            why.read_text(encoding="utf-8").strip()
            if why.exists()
            else f"no {folder}: 'make store-engines' fetches it"
        )
    return there


def ask(s, address, sql, env=None):
    """The answer's rows, as dictionaries."""
    done = run(s.parasite, "sql", "--json", address, sql, env=env)
    return json.loads(done.out)


def change(s, address, sql, env=None):
    run(s.parasite, "sql", "--write", address, sql, env=env)


class Embedded:
    """A store in a folder, which the commands start by themselves."""

    name = "embedded"
    deduplicates = True

    def __init__(self, s, name):
        # what an earlier run has left
        shutil.rmtree(s.work / name, ignore_errors=True)
        self.s, self.folder = s, s.work / name / "store"
        self.spool = s.work / name / "spool"
        self.address = self.folder
        library = engine_in(s, "chdb", "libchdb.so")
        self.env = {
            "PATH": f"{s.build / 'host'}:{os.environ['PATH']}",
            "PARASITE_CHDB": str(library),
            "PARASITE_STORE_PASSWORD": PASSWORD,
        }
        self.port, self.process = None, None
        (s.work / name).mkdir(parents=True, exist_ok=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.kill()

    def serve(self, **env):
        """At a port, too; returns it."""
        self.port = self.port or free_port()
        self.process = Background(
            (self.s.parasite, "store", "--path", self.folder, "--port")
            + (self.port,),
            self.s.work / f"store-{self.port}.log",
            env={**self.env, **env},
        )
        soon(lambda: ping(self.port), "a store at a port", self.process.alive)
        return self.port

    def owner(self):
        try:
            return int((self.folder / "lock").read_text(encoding="ascii"))
        except (OSError, ValueError):
            return None

    def kill(self, number=signal.SIGKILL):
        """Ends its process, if there is one, which it waits for."""
        owner = self.owner()
        if owner is None:
            return
        with open(self.folder / "lock", "rb") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return  # nobody has it
            except BlockingIOError:
                pass
            os.kill(owner, number)
            fcntl.flock(lock, fcntl.LOCK_EX)
        if self.process:
            self.process.kill()
            self.process = None

    def restart(self):
        """Commands do it."""
        if self.port:
            self.serve()

    def ask(self, sql):
        return ask(self.s, self.address, sql, env=self.env)

    def change(self, sql):
        change(self.s, self.address, sql, env=self.env)


CONFIG = """<yandex>
<logger><level>warning</level><log>{0}/log</log><errorlog>{0}/errors</errorlog>
</logger><http_port>{1}</http_port>{2}<listen_host>127.0.0.1</listen_host>
<path>{0}/data/</path><tmp_path>{0}/tmp/</tmp_path>
<users_config>{0}/users.xml</users_config>
<default_profile>default</default_profile>
<default_database>default</default_database>
<mark_cache_size>67108864</mark_cache_size></yandex>
"""
USERS = """<yandex><profiles><default>
<max_memory_usage>1000000000</max_memory_usage></default>
<reads><readonly>1</readonly></reads></profiles>
<quotas><default></default></quotas><users><default>
<password>{0}</password><networks><ip>127.0.0.1</ip></networks>
<profile>default</profile><quota>default</quota></default>
<reader><password>{0}</password><networks><ip>127.0.0.1</ip></networks>
<profile>reads</profile><quota>default</quota></reader></users></yandex>
"""


class Old:
    """A server of ClickHouse 18.16 without ZooKeeper; (more) is added to its
    configuration."""

    name = "18.16"
    deduplicates = False

    def __init__(self, s, name, more=""):
        shutil.rmtree(s.work / name, ignore_errors=True)
        self.s, self.folder = s, s.work / name / "server"
        self.spool = s.work / name / "spool"
        engine_in(s, "clickhouse", "unpacked")
        self.root = s.build / "clickhouse" / "root"
        self.folder.mkdir(parents=True, exist_ok=True)
        self.port, self.process = free_port(), None
        self.address = f"http://127.0.0.1:{self.port}/parasite"
        self.env = {
            "PATH": f"{s.build / 'host'}:{os.environ['PATH']}",
            "PARASITE_STORE_PASSWORD": PASSWORD,
        }
        self.config = self.folder / "config.xml"
        self.config.write_text(
            CONFIG.format(self.folder, self.port, more), encoding="ascii"
        )
        (self.folder / "users.xml").write_text(
            USERS.format(PASSWORD), encoding="ascii"
        )

    def __enter__(self):
        self.restart()
        return self

    def __exit__(self, *_):
        self.kill()

    def serve(self, **_):
        return self.port

    def restart(self):
        if self.process:
            return
        libraries = self.root / "usr/lib/x86_64-linux-gnu"
        self.process = Background(
            (
                self.root / "usr/sbin/clickhouse-server",
                f"--config-file={self.config}",
            ),
            self.folder / "out",
            env={"LD_LIBRARY_PATH": str(libraries)},
        )
        soon(lambda: ping(self.port), "ClickHouse's server", self.process.alive)

    def kill(self, number=signal.SIGKILL):
        if self.process:
            self.process.signal(number)
            self.process.kill()
            self.process = None

    def ask(self, sql):
        return ask(self.s, self.address, sql, env=self.env)

    def change(self, sql):
        change(self.s, self.address, sql, env=self.env)


class Cluster:
    """Two of them, that share the guests."""

    def __init__(self, s, name):
        ports = [free_port() for _ in range(2)]
        shards = "".join(
            "<shard><replica><host>127.0.0.1</host>"
            f"<port>{port}</port><user>default</user>"
            f"<password>{PASSWORD}</password></replica></shard>"
            for port in ports
        )
        servers = f"<remote_servers><pair>{shards}</pair></remote_servers>"
        self.servers = [
            Old(s, f"{name}-{i}", f"<tcp_port>{port}</tcp_port>{servers}")
            for i, port in enumerate(ports)
        ]
        self.s, self.env = s, self.servers[0].env
        self.spool = s.work / name
        shutil.rmtree(self.spool, ignore_errors=True)
        hosts = ",".join(f"127.0.0.1:{one.port}" for one in self.servers)
        self.address = f"http://{hosts}/parasite?cluster=pair"

    def __enter__(self):
        for server in self.servers:
            server.restart()
        return self

    def __exit__(self, *_):
        for server in self.servers:
            server.kill()

    def ask(self, sql):
        return ask(self.s, self.address, sql, env=self.env)

    def change(self, sql):
        change(self.s, self.address, sql, env=self.env)


def http(port, path, data=None, headers=None):
    """Status and text of an answer."""
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}{path}", data=data, headers=headers or {}
    )
    try:
        with urllib.request.urlopen(request) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def ping(port):
    try:
        return http(port, "/ping")[0] == 200
    except OSError:
        return False
