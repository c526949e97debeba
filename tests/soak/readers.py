# SPDX-License-Identifier: Apache-2.0
"""`parasite` as a user would run it beside a guest: record, commands, and what
reads a trace."""

import json
import os
import shutil
import subprocess

from harness import progress
from harness.proc import Failed, run
from machine import GIVE_UP_S, rss


class Tools:
    """The command (parasite), with a limit on everything it does."""

    def __init__(self, parasite):
        self.parasite = parasite

    def run(self, *words):
        """Exit status and output; status None if it did not end."""
        try:
            done = run(self.parasite, *words, status=None)
        except Failed as failed:
            return None, str(failed)
        return done.status, done.text

    def command(self, machine, line):
        """Status and output; None if it was not answered in time."""
        since, wait = len(machine.statistics), progress.Wait()
        process = subprocess.Popen(
            [
                self.parasite,
                "tell",
                "-w",
                str(GIVE_UP_S),
                f"unix:{machine.relay.client_path}",
                line,
            ],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        while True:
            try:
                said, _ = process.communicate(timeout=0.2)
                return process.returncode, said.decode("utf-8", "replace")
            except subprocess.TimeoutExpired:
                if machine.late(since) or wait.lasts() > wait.limit:
                    process.kill()
                    return None, process.communicate()[0].decode()

    def trace(self, source, folder, image):
        """Makes a trace of the bytes in (source); None, or what is wrong."""
        shutil.rmtree(folder, ignore_errors=True)
        status, said = self.run(
            "record", "-q", "-k", image, "-o", folder, f"file:{source}"
        )
        return None if status == 0 else f"parasite record: {said[-300:]}"

    def info(self, folder):
        """What `parasite info` says, as a dictionary; None for nothing."""
        status, said = self.run("info", "--json", folder)
        return json.loads(said) if status == 0 else None

    def problems(self, folder, thrown_away):
        """What is wrong with a trace, as a list of lines. Packets may be
        missing where the relay has (thrown away) some."""
        found = []
        info = self.info(folder)
        if info is None:
            return [f"parasite info cannot read {folder}"]
        for name in ("missing_packets", "unread_packets"):
            may_be = thrown_away and name == "missing_packets"
            if info[name] != 0 and not may_be:
                found.append(f"{info[name]} {name}")
        status, said = self.run("report", "--stdio", folder)
        if status != 0:
            found.append(f"parasite report: {said[-300:]}")
        done = run("babeltrace2", "--output-format=dummy", folder, status=None)
        if done.status != 0:
            found.append(f"babeltrace2: {done.err[-300:]}")
        return found


class Recorder:
    """`parasite record` of a guest that runs, and how much memory it takes."""

    def __init__(self, tools, path, folder, image, seconds=None):
        self.folder = folder
        self.sizes = []
        shutil.rmtree(folder, ignore_errors=True)
        words = [tools.parasite, "record", "-q", "-k", image, "-o", folder]
        if seconds is not None:
            words += ["-d", str(seconds)]
        self.log = open(folder + ".log", "w", encoding="utf-8")
        self.process = subprocess.Popen(
            words + [f"unix:{path}"],
            stdin=subprocess.DEVNULL,
            stdout=self.log,
            stderr=self.log,
        )

    def look(self):
        """Notes how large the process and its trace are, in bytes."""
        size = rss(self.process.pid)
        if size != 0 and os.path.isdir(self.folder):
            written = sum(
                entry.stat().st_size for entry in os.scandir(self.folder)
            )
            self.sizes.append((size, written))

    def kill(self):
        self.process.kill()
        self.process.wait()

    def wait(self):
        """Its exit status, None if it does not end by itself."""
        used = progress.cpu_seconds(self.process.pid)
        watch = progress.Watch(self.process.pid, used + progress.CPU_LIMIT_S)
        why = progress.wait(self.process, watch)
        self.log.close()
        return None if why else self.process.returncode
