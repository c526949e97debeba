# SPDX-License-Identifier: Apache-2.0
"""A stream in which tasks, the event loop and an interrupt change counters."""

from .stream import Stream

TASK = 1
GIVEN, TAKEN, REQUESTS = 3, 4, 5  # names


def counters():
    """Two counters with a scale of their own, and one with a negative value;
    an event each 0.1 s."""
    made = Stream(step=1_000_000)
    put = made.event

    def count(name, *values):
        for value in values:
            put("counter_wide", counter=name, value=value)

    def run(number):
        put("switch_wide", task=number)

    for number, line, text in (
        (1, 12, "giver@services/made/client.c"),
        (2, 30, "taker@services/made/client.c"),
    ):
        put("site", number=number, line=line, text=text)
    for number, text in (
        (GIVEN, "bytes #given"),
        (TAKEN, "bytes #taken"),
        (REQUESTS, "<requests>"),
    ):
        put("name", number=number, text=text)
    run(0)
    put("create_wide", object=1, object_kind=TASK, site=1)
    run(1)
    count(GIVEN, 100, 300)
    run(0)
    put("create_wide", object=2, object_kind=TASK, site=2)
    run(2)
    count(TAKEN, 100)
    count(REQUESTS, -2)
    count(TAKEN, 300)
    run(0)
    count(GIVEN, 250)
    put("irq_enter", vector=43)
    count(REQUESTS, 5)
    put("irq_exit", vector=43)
    run(1)
    return made.data()
