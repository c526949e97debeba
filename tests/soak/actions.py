# SPDX-License-Identifier: Apache-2.0
"""What happens to a guest, chosen by a seed.

Cards are drawn from a deck that is shuffled again when it is used up: so
everything happens, and as often as its place in the deck says. A card is one
action or some that belong together; an action is a tuple of words. The same
seed gives the same actions; how many of them there is time for is the host's
to say.
"""

import math
import random

RATE_MIN, RATE_MAX = 100, 20000  # the guest lowers what is above 10,000
DEPTHS = (0, 1, 4, 16, 64, 127)
LOADS = ("spin", "alloc", "deep", "masked", "hold", "hog")
NONSENSE = (
    "",
    "fly",
    "rate",
    "rate 0",
    "rate -1",
    "rate 4294967297",
    "rate 1e3",
    "depth",
    "depth 128",
    "depth x",
    "start now",
    "stop stop",
    "stacks",
    "stacks maybe",
    "reset 1",
    "report all",
    "hello world",
    "RATE 99",
    "rate 99 99",
    "\t",
    "#prof!ok rate 99",
    "x" * 47,
    "x" * 48,
    "x" * 500,
)
# what may stand in a line of garbage: all bytes but line ends
BYTES = bytes(set(range(256)) - {10, 13})


def rate(dice):
    """Evenly spread over the decades."""
    low, high = math.log(RATE_MIN), math.log(RATE_MAX)
    return round(math.exp(dice.uniform(low, high)))


def load(dice):
    """Two kinds of work, none, or any; for IRC, how many clients a second."""
    kinds = dice.sample(LOADS, dice.choice((0, 1, 2, 2, 3)))
    clients = dice.choice((0, 20, 100, 400))
    return [("load", " ".join(sorted(kinds)), clients)]


def command(*lines):
    return [("command", line) for line in lines]


def overflow(dice):
    """A high rate while nobody reads, and work that lets nobody drain."""
    kinds = dice.choice(("deep hold", "deep spin"))
    return (
        [("load", kinds, 100)]
        + command("rate 10000", "depth 64")
        + [("hold", dice.randint(8, 16))]
    )


def refusal(dice):
    """No memory, for code and stacks that were not seen before as well."""
    other = dice.choice(("deep", "deep masked", "spin"))
    return (
        command("rate 2000", "depth 16", "reset")
        + [("load", f"{other} hog", 20), ("wait", 2)]
        + command("depth 64")
    )


def garbage(dice):
    size = dice.randint(1, 400)
    return [("garbage", bytes(dice.choice(BYTES) for _ in range(size)))]


CARDS = (
    (6, lambda dice: command(f"rate {rate(dice)}")),
    (3, lambda dice: command(f"depth {dice.choice(DEPTHS)}")),
    (2, lambda dice: command("stacks off", "stacks on")),
    (2, lambda dice: command("stop") + load(dice) + command("start")),
    (1, lambda dice: command("start")),
    (2, lambda dice: command("reset")),
    (3, lambda dice: command("report")),
    (1, lambda dice: command("hello")),
    (1, lambda dice: command(*["stop", "start"] * dice.randint(3, 8))),
    (1, lambda dice: command(*[f"rate {rate(dice)}" for _ in range(8)])),
    (3, lambda dice: [("wrong", dice.choice(NONSENSE))]),
    (1, garbage),
    (7, load),
    (1, overflow),
    (1, refusal),
    (1, lambda dice: [("late", 3)]),
    (1, lambda dice: [("kill", 2)]),
)


def actions(seed):
    """Actions without end."""
    dice = random.Random(seed)
    while True:
        deck = [card for count, card in CARDS for _ in range(count)]
        dice.shuffle(deck)
        for card in deck:
            yield from card(dice)
            yield ("pause", dice.random())
