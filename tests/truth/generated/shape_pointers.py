# SPDX-License-Identifier: Apache-2.0
"""The shape `pointers`: indirect calls, and jumps instead of calls."""

import itertools

from filler import plain, work
from program import FRAMED, LEAVES, Call, Code, Function, Repeat, Through


def long_jumps(random, program, ends):
    """Functions that do some work and jump to one of (ends)."""
    jumps = []
    for number in range(12):
        kind = random.choice(LEAVES + FRAMED)
        at = random.randrange(len(ends))
        how = random.choice((ends[at], f"[ends + {at} * WORD]"))
        jumps.append(
            program.add(
                Function(
                    f"jumps_{number:02}",
                    kind,
                    [plain(random, random.randint(1, 9)), *work(random)],
                    tail=how,
                    to=ends[at],
                )
            )
        )
    return jumps


def short_jumps(random, program):
    """Functions so short that the jump itself is often sampled."""
    jumps = []
    last = program.add(Function("last", "bare", []))
    program.table("last_of_all", [last])
    for number, (kind, how) in enumerate(
        itertools.product(LEAVES + FRAMED, (last, "[last_of_all]", "wa"))
    ):
        to_wa = [Code([f"mov wa, {last}"])] if how == "wa" else []
        jumps.append(
            program.add(
                Function(
                    f"bounces_{number:02}",
                    kind,
                    [plain(random, random.randint(0, 2)), *to_wa],
                    tail=how,
                    to=last,
                )
            )
        )
    return jumps


def pointers(random, program):
    """Calls through tables and registers; jumps to other functions instead of
    calls, out of functions with a frame and without one."""
    ends = [
        program.add(
            Function(f"end_{number}", random.choice(FRAMED), work(random))
        )
        for number in range(6)
    ]
    program.table("ends", ends)
    jumps = long_jumps(random, program, ends)
    jumps += short_jumps(random, program)
    program.table("jumps", jumps)
    through = program.add(
        Function("calls_through_table", "kept", [Through("jumps", jumps)])
    )
    bounces = program.add(
        Function(
            "calls_bounces",
            "kept-sub",
            [Repeat(40, [Call(one) for one in jumps[12:]])],
        )
    )
    by_register = []
    for number, one in enumerate(ends):
        by_register += [
            Code([f"lea wa, [{one}]" if number % 2 else f"mov wa, {one}"]),
            Call(one, "wa"),
        ]
    register = program.add(
        Function("calls_by_register", "kept-sub", by_register)
    )
    return program.add(
        Function(
            "calls_all", "frame", [Call(through), Call(bounces), Call(register)]
        )
    )
