# SPDX-License-Identifier: Apache-2.0
"""Streams of objects on several CPUs: one in which everything that happens is
known, and random ones."""

import random

from .stream import CLOCK_HZ, Stream

TASK, PROMISE, CALLBACK = 1, 2, 14
MS = CLOCK_HZ // 1000
SENDER, ANSWER, MESSAGE, WANDERER, WAITER = range(1, 6)  # objects, and names
IDLE, SLEEP = 6, 7  # names
CPUS = (0, 1, 3)  # that record; nothing is known of CPU 2


def lanes():
    """A task of CPU 0 sends a message to CPU 1, whose interrupt ends that CPU's
    idleness; the message resolves a promise of CPU 0, and holds up a task that
    the interrupt woke. CPU 3 has a task that later runs on CPU 0. CPU 1 has a
    pause, CPU 3 lost events."""
    made = Stream(step=0)
    put = made.event

    def at(ms, name, **fields):
        made.time = int(ms * MS)
        put(name, **fields)

    def run(ms, task):
        at(ms, "switch_wide", task=task)

    def rest(ms):
        run(ms, 0)
        at(ms + 0.5, "suspend_wide", why=IDLE)

    made.on_cpu(0, 0)
    for number, text in (
        (SENDER, "sender@services/made/lanes.c"),
        (ANSWER, "answer@services/made/lanes.c"),
        (MESSAGE, "message@services/made/lanes.c"),
        (WANDERER, "wanderer@services/made/lanes.c"),
        (WAITER, "waiter@services/made/lanes.c"),
        (IDLE, "idle"),
        (SLEEP, "sleep"),
    ):
        put("site", number=number, line=number, text=text)
    run(0, 0)
    at(1, "create_wide", object=SENDER, object_kind=TASK, site=SENDER)
    at(2, "create_wide", object=ANSWER, object_kind=PROMISE, site=ANSWER)
    run(5, SENDER)
    at(10, "create_wide", object=MESSAGE, object_kind=CALLBACK, site=MESSAGE)
    at(19, "suspend_wide", why=SLEEP)
    rest(19)
    at(30, "irq_enter", vector=48)
    at(31, "irq_exit", vector=48)
    run(32, 0)
    at(33, "read_wide", source=ANSWER)
    run(50, WANDERER)
    at(55, "suspend_wide", why=SLEEP)
    rest(55)
    run(60, 0)
    made.on_cpu(1, 0)
    run(1, 0)
    at(2, "create_wide", object=WAITER, object_kind=TASK, site=WAITER)
    rest(3)
    at(11, "irq_enter", vector=50)
    at(11.5, "wake_wide", object=WAITER, by=0)
    at(11.6, "irq_exit", vector=50)
    run(12, 0)
    run(13, MESSAGE)
    at(20, "resolve_wide", object=ANSWER)
    at(20.5, "resolve_wide", object=MESSAGE)
    run(21, 0)
    run(22, WAITER)
    at(23, "suspend_wide", why=SLEEP)
    run(23, 0)
    at(29, "pause", why=SLEEP, clocks=4 * MS)
    at(30, "suspend_wide", why=IDLE)
    run(59, 0)
    made.on_cpu(3, 0)
    run(4, 0)
    at(7, "create_wide", object=WANDERER, object_kind=TASK, site=WANDERER)
    run(8, WANDERER)
    at(14, "suspend_wide", why=SLEEP)
    rest(14)
    at(40, "lost", events=3)
    rest(44)
    run(58, 0)
    return made.data()


class _Wild:
    """Makes events of objects of all kinds and CPUs, each CPU's later than its
    last one."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.made = Stream(step=0)
        self.times = dict.fromkeys(CPUS, 0)
        self.known = []  # objects that have not ended

    def put(self, cpu, name, **fields):
        self.times[cpu] += self.random.randint(1, MS)
        if self.made.cpu != cpu:
            self.made.on_cpu(cpu, self.times[cpu])
        self.made.time = self.times[cpu]
        self.made.event(name, **fields)

    def step(self, number):
        cpu = self.random.choice(CPUS)
        what = self.random.randint(0, 5)
        if what == 0 or not self.known:
            kind = self.random.choice((TASK, PROMISE, CALLBACK))
            self.put(
                *(cpu, "create_wide"),
                **{"object": number, "object_kind": kind, "site": 0},
            )
            self.known.append(number)
        elif what == 1:
            gone = self.known.pop(self.random.randrange(len(self.known)))
            self.put(cpu, "resolve_wide", object=gone)
        elif what == 2:
            self.put(cpu, "switch_wide", task=0)
        elif what == 3:
            vector = self.random.choice((48, 50))
            self.put(cpu, "irq_enter", vector=vector)
            self.put(cpu, "irq_exit", vector=vector)
        else:
            self.put(cpu, "switch_wide", task=self.random.choice(self.known))


def wild(seed, steps=400):
    """A stream of so many random events."""
    wanted = _Wild(seed)
    for cpu in CPUS:
        wanted.put(cpu, "switch_wide", task=0)
    for number in range(1, steps):
        wanted.step(number)
    return wanted.made.data()
