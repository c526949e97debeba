# SPDX-License-Identifier: Apache-2.0
"""The shapes of generated programs: each makes one out of random numbers, and
returns the name of the function that a round calls."""

from filler import plain, work

from program import (
    FRAMED,
    KEEPING,
    LEAVES,
    Call,
    Code,
    Function,
    Odd,
    Repeat,
    Spin,
)
from shape_pointers import pointers
from shape_recursion import recursion
from shape_strings import strings


def tree(random, program):
    """A random tree of calls, with shares from a thousandth of a per cent to
    a third."""
    children = [[] for _ in range(70)]
    for number in range(1, len(children)):
        # Out of two that come to mind the later one: a deeper tree.
        parent = max(random.randrange(number), random.randrange(number))
        children[parent].append(number)

    def make(number, repeated):
        items = work(random)
        name = f"node_{number:03}"
        if not children[number]:
            kind = random.choice(LEAVES + FRAMED)
            return program.add(Function(name, kind, items))
        kind = random.choice(FRAMED)
        repeats = kind in KEEPING and number > 3 and not repeated
        calls = [
            Call(make(child, repeated or repeats)) for child in children[number]
        ]
        if repeats:
            calls = [Repeat(random.randint(2, 4), calls)]
        if random.random() < 0.3:
            calls.append(Odd([plain(random, 5), *work(random)]))
        for call in calls:
            items.insert(random.randint(0, len(items)), call)
        return program.add(Function(name, kind, items))

    return make(0, False)


def chain(random, program, length):
    """Each calls the next, and works before and after that."""
    following = None
    for number in reversed(range(length)):
        items = [
            plain(random, random.randint(0, 6)),
            Spin(random.randint(1, 3)),
        ]
        if following is not None:
            items.insert(random.randint(0, 2), Call(following))
        following = program.add(
            Function(f"level_{number:03}", random.choice(FRAMED), items)
        )
    return following


def deep(random, program):
    """A hundred callers."""
    return chain(random, program, 101)


def shallow(random, program):
    """One function that calls very many, none of which calls another."""
    leaves = [
        program.add(
            Function(
                f"leaf_{number:03}",
                random.choice(LEAVES + FRAMED),
                work(random),
            )
        )
        for number in range(150)
    ]
    random.shuffle(leaves)
    return program.add(
        Function("calls_all", "frame", [Call(leaf) for leaf in leaves])
    )


def tiny(random, program):
    """Thousands of functions of a few instructions."""
    leaves = []
    for number in range(2500):
        kind = random.choice(LEAVES + FRAMED)
        leaves.append(
            program.add(
                Function(
                    f"tiny_{number:04}",
                    kind,
                    [plain(random, random.randint(0, 9))],
                )
            )
        )
    random.shuffle(leaves)
    groups = [leaves[at : at + 100] for at in range(0, len(leaves), 100)]
    callers = [
        program.add(
            Function(
                f"caller_{number:02}",
                random.choice(FRAMED),
                [Call(leaf) for leaf in group],
            )
        )
        for number, group in enumerate(groups)
    ]
    return program.add(
        Function("calls_all", "frame", [Call(caller) for caller in callers])
    )


def single(random, program):
    """Functions of one instruction, called in turns: some return, and some
    jump to one that does."""
    returning = [
        program.add(Function(f"ret_{number:02}", "bare", []))
        for number in range(40)
    ]
    jumping = [
        program.add(
            Function(
                f"jump_{number:02}", "bare", [], tail=random.choice(returning)
            )
        )
        for number in range(40)
    ]
    calls = [Call(one) for one in returning + jumping]
    random.shuffle(calls)
    turns = Repeat(20, calls)
    other = program.add(Function("other", "frame", [Spin(20)]))
    return program.add(
        Function("in_turns", "kept", [turns, Call(other), Repeat(12, calls)])
    )


def masked(random, program):
    """Interrupts off in the midst of a function, around a call, and around
    most of what is done there; half of the rest is done with them on."""

    def spin():
        return Spin(random.randint(4, 12))

    inner = program.add(Function("worker_masked", "frame", [spin()]))
    off, on = Code(["cli"]), Code(["sti", "nop"])
    open_too = program.add(
        Function("works_both_ways", "frame", [spin(), off, spin(), on, spin()])
    )
    around = program.add(
        Function(
            "masks_a_call", "frame", [off, Call(inner), on, plain(random, 9)]
        )
    )
    saved = program.add(
        Function(
            "masks_by_popf",
            "frame-leave",
            [Code(["PUSHF_", "cli"]), spin(), Code(["POPF_"]), spin()],
        )
    )
    rest = [
        program.add(Function(f"open_{number}", random.choice(FRAMED), [spin()]))
        for number in range(6)
    ]
    callees = [open_too, around, saved, *rest]
    random.shuffle(callees)
    return program.add(
        Function("calls_all", "frame", [Call(one) for one in callees])
    )


SHAPES = {
    shape.__name__: shape
    for shape in (
        tree,
        deep,
        shallow,
        tiny,
        single,
        strings,
        recursion,
        pointers,
        masked,
    )
}
