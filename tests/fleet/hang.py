# SPDX-License-Identifier: Apache-2.0
"""A cluster whose ZooKeeper hangs until the servers' sessions are over, and
goes on; then one that is killed while rows are sent, and started again. Rows
with known sums (tests/store/fill.c) are sent meanwhile, by the client and the
spool that `serve` has: they wait, and are stored once, if need be after the
servers are started again."""

import re
import signal
import time

DATABASE = "hang"
MINUTES = 60  # of each run
FIRST = 3  # of them are stored, or on their way, when ZooKeeper stops
GUESTS, STACKS = 9, 3  # of the minutes' guests each server has three


def samples(minute, guest, stack):
    """As fill.c makes them."""
    return 1 + minute % 7 + guest + 10 * stack


def sum_of(minutes):
    return sum(
        samples(minute, guest, stack)
        for minute in minutes
        for guest in range(1, GUESTS + 1)
        for stack in range(STACKS)
    )


class Hang:
    """For (cluster) of field.py, when all its servers are there."""

    def __init__(self, cluster):
        self.cluster, self.fleet = cluster, cluster.fleet
        self.address = cluster.address.replace("/parasite?", f"/{DATABASE}?")
        self.log = self.fleet.folder / "hang.log"
        self.spool = self.fleet.folder / "hang"
        self.log.write_bytes(b"")

    def each(self, sql):
        """The answers of all servers to it."""
        return [server.ask(sql, DATABASE) for server in self.cluster.servers]

    def stored(self):
        """Samples at each server."""
        return self.each("SELECT sum(samples) FROM samples_local")

    def are_read_only(self):
        return self.each(
            "SELECT min(is_readonly) FROM system.replicas "
            f"WHERE database = '{DATABASE}'"
        ) == [1] * len(self.cluster.servers)

    def text(self):
        return self.log.read_text(encoding="utf-8")

    def send(self, first):
        """Begins to send minutes, ten a second."""
        program = self.cluster.build / "host" / "fill"
        return self.fleet.processes.start(
            (
                *(program, self.address, self.spool, f"first={first}"),
                *(f"minutes={MINUTES}", "pause_ms=100", "flush_s=600"),
                *(f"guests={GUESTS}", f"stacks={STACKS}"),
            ),
            self.log,
        )

    def wait(self, process, ready, what):
        return self.fleet.until(ready, f"{what}; see {self.log}", process)

    def lose(self, first, stop, back):
        """ZooKeeper is gone by (stop) as the minutes from (first) on are sent,
        until all of these are in the spool and no server takes rows; (back)
        brings it."""
        until, log_begin = first + MINUTES, len(self.text())
        process = self.send(first)
        begun = f"minute {first + FIRST}\n"
        self.wait(process, lambda: begun in self.text(), "some minutes")
        if first == 0:
            self.wait(process, lambda: all(self.stored()), "rows everywhere")
        began = time.monotonic()
        stop()
        last = f"minute {until - 1}\n"
        self.wait(process, lambda: last in self.text(), "all minutes")
        self.wait(process, self.are_read_only, "read-only tables")
        lost = time.monotonic() - began
        now = self.stored()
        if None in now or not sum(now) < sum_of(range(until)):
            return f"while it was gone servers had {now}"
        print(
            f"    after {lost:.0f} s all tables are read-only; servers answer "
            f"queries: {sum(now)} of {sum_of(range(until))} samples",
            flush=True,
        )
        back()
        began = time.monotonic()
        if process.wait() != 0:
            return f"the spool was not emptied; see {self.log}"
        took = time.monotonic() - began
        ended = self.text().splitlines()[-1]
        print(f"    {took:.0f} s after it is back: {ended}")
        if not re.match(r"empty: .* 0 lost with 0 rows;", ended):
            return "something was lost"
        retries = re.findall(r"retry \d+: (.*)", self.text()[log_begin:])
        for problem in sorted(set(retries)):
            print(f"    waited: {problem[:160]}")
        return self.verify_sums(range(until))

    def verify_sums(self, minutes):
        """Why sums are wrong, or None. A server that was in the middle of a
        batch ("Unknown status") keeps a part that ZooKeeper does not know, and
        has its rows twice when the batch comes again, until it is started
        again. Nothing else may be wrong: no server has too little."""
        if wrong := self.wrong_sums(minutes):
            if self.lacks_any(minutes):
                return wrong
            print(f"    {wrong}, with an unknown part", flush=True)
            self.open_again()
            if wrong := self.wrong_sums(minutes):
                return wrong
        print(
            f"    {sum_of(minutes)} samples were sent, and are stored once",
            flush=True,
        )
        return None

    def open_again(self):
        for server in self.cluster.servers:
            server.kill()
            server.start()

    def sums(self, minutes):
        """[(query, what each server should answer, what they answer)]"""
        queries = {
            "SELECT sum(samples) FROM samples": sum_of(minutes),
            "SELECT sum(ticks) FROM accounts": sum_of(minutes)
            + 5 * GUESTS * len(minutes),
            "SELECT sum(count) FROM waits": 2 * GUESTS * len(minutes),
            "SELECT count() FROM losses": 0,
        }
        return [
            (sql, number, self.each(sql)) for sql, number in queries.items()
        ]

    def wrong_sums(self, minutes):
        """What the store has that was not sent, or the other way round."""
        for sql, number, found in self.sums(minutes):
            if found != [number] * len(found):
                return f"{sql}: {found} of {number}"
        return None

    def lacks_any(self, minutes):
        """Whether a server has too little or does not answer, or something was
        lost: no batch that counts twice explains that."""
        return any(
            None in found
            or min(found) < number
            or (number == 0 and max(found) > 0)
            for _, number, found in self.sums(minutes)
        )

    def run(self):
        """Why it is wrong, or None."""
        zookeeper = self.cluster.zookeeper
        print("ZooKeeper hangs while rows are sent")
        wrong = self.lose(
            0,
            lambda: zookeeper.send_signal(signal.SIGSTOP),
            lambda: zookeeper.send_signal(signal.SIGCONT),
        )
        if wrong:
            return wrong
        print("ZooKeeper is killed while rows are sent, and started again")
        return self.lose(
            MINUTES,
            self.cluster.kill_zookeeper,
            self.cluster.start_zookeeper,
        )
