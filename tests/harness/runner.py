# SPDX-License-Identifier: Apache-2.0
"""Runs jobs in lanes, the longest first, compares each with the plan, and
prints the results."""

import json
import os
import threading
import time
import traceback
from pathlib import Path

from . import jobs, plan, tap

SLOWEST = 10


class Runner:
    """(selected) are jobs.Job; (entries) is the plan, None if it will be
    written."""

    def __init__(self, selected, entries, durations, lanes):
        self.entries = entries
        self.durations = durations  # of the last run, {name: seconds}
        self.lanes = lanes
        self.lock = threading.Condition()
        self.todo = sorted(selected, key=self._expected)
        self.running = set()  # names
        self.totals = [0, 0, 0]
        self.skipped = []
        self.failures = []
        self.done = {}  # {name: (checks, seconds)}, for the plan
        self.took = {}  # {name: seconds}
        self.used = {}  # {name: CPU seconds}

    def _expected(self, job):
        """Its expected seconds; the last one of the list starts first."""
        planned = (self.entries or {}).get(job.name, (0, 0))[1]
        return self.durations.get(job.name, planned)

    def run(self):
        threads = [
            threading.Thread(target=self._lane, daemon=True)
            for _ in range(self.lanes)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def _next(self):
        """The longest job that need not wait for another one, or None."""
        while self.todo:
            waiting = {job.name for job in self.todo} | self.running
            for job in reversed(self.todo):
                if not waiting.intersection(job.after):
                    self.todo.remove(job)
                    self.running.add(job.name)
                    return job
            self.lock.wait()
        return None

    def _lane(self):
        while True:
            with self.lock:
                job = self._next()
                if job is None:
                    return
            begun = time.monotonic()
            try:
                results, log, cpu = job.run()
            except Exception:  # an error of the harness, or of a guest
                results, log, cpu = tap.Results(), os.devnull, 0.0
                results.problem(traceback.format_exc())
            with self.lock:
                self._report(job, results, log, time.monotonic() - begun, cpu)
                self.running.remove(job.name)
                self.lock.notify_all()

    def _report(self, job, results, log, seconds, cpu):
        if self.entries is not None:
            wrong = plan.problem(self.entries, job.name, results)
            if wrong:
                results.problem(wrong)
        counts = results.counts()
        self.took[job.name], self.used[job.name] = seconds, cpu
        if not results.problems:  # otherwise not all of its checks were made
            self.done[job.name] = (results.done, seconds)
        for i in range(3):
            self.totals[i] += counts[i]
        self.skipped += [f"{job.name}: {what}" for what in results.skipped]
        passed, failed, skipped = counts
        took = f"{seconds:.1f} s, {cpu:.1f} s of CPU"
        if not failed:
            more = f", {skipped} skipped" if skipped else ""
            print(f"ok      {job.name} ({passed}{more}; {took})", flush=True)
            for line in _lines(log):
                if line.startswith("# measured: "):
                    print(f"        {line[12:]}", flush=True)
            return
        self.failures.append(job.name)
        print(
            f"FAILED  {job.name} ({failed} of {sum(counts)}; {took}), "
            f"{log}:",
            flush=True,
        )
        for line in _lines(log)[-40:] + [f"# {p}" for p in results.problems]:
            print(f"        {line}", flush=True)


def _lines(log):
    try:
        text = Path(log).read_text(encoding="latin-1")
    except OSError:
        return []
    return text.replace("\r", "").splitlines()


def vanished(entries, existing, patterns):
    """Tests in the plan that do not exist."""
    gone = [name for name in entries if name not in existing]
    return [
        name
        for name in gone
        if jobs.Job(name, jobs.words_of(name), None).fits(patterns)
    ]


def main(build, patterns, lanes, write_plan, without_plan=False):
    """Runs the selected jobs; returns 0 if all passed."""
    begun = time.monotonic()
    everything = jobs.everything(build)
    existing = {job.name for job in everything}
    selected = jobs.select(everything, patterns)
    entries = None if without_plan else plan.read()
    record = Path(build, "test-durations.json")
    durations = json.loads(record.read_text()) if record.exists() else {}
    runner = Runner(selected, None if write_plan else entries, durations, lanes)
    runner.run()
    if write_plan:
        plan.write(plan.updated(entries, existing, runner.done))
    elif not without_plan:
        for name in vanished(entries, existing, patterns):
            print(f"FAILED  {name}: it is in {plan.PATH}, but does not exist")
            runner.failures.append(name)
            runner.totals[1] += 1
    took = runner.took
    durations.update({name: round(s, 1) for name, s in took.items()})
    record.write_text(json.dumps(durations, indent=0, sort_keys=True))
    return _summary(runner, time.monotonic() - begun)


def _summary(runner, seconds):
    took, used = runner.took, runner.used
    print("\nslowest, and their CPU time:")
    for name in sorted(took, key=took.get, reverse=True)[:SLOWEST]:
        print(f"  {took[name]:7.1f} s {used[name]:7.1f} s  {name}")
    if runner.skipped:
        print("skipped:")
        for what in runner.skipped:
            print(f"  {what}")
    if runner.failures:
        print("failed:")
        for name in runner.failures:
            print(f"  {name}")
    print(
        f"took {int(seconds) // 60} min {int(seconds) % 60} s, "
        f"{sum(used.values()):.0f} s of CPU"
    )
    passed, failed, skipped = runner.totals
    print(
        f"{passed} passed, {failed} failed"
        + (f", {skipped} skipped" if skipped else ""),
        flush=True,
    )
    return 1 if failed or not passed else 0
