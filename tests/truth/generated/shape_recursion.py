# SPDX-License-Identifier: Apache-2.0
"""The shape `recursion`: functions that call themselves and one another."""

from filler import plain
from program import Call, Function, Spin, Written


def linear(program, name, names, depth, extra):
    """Functions that call one another in a ring, so deep: (names) of one is a
    function that calls itself. Takes the depth in wa."""
    charge = dict.fromkeys(names, 0)
    for number, (one, padding) in enumerate(zip(names, extra)):
        following = names[(number + 1) % len(names)]
        lines = [
            "push wfp",
            "mov wfp, wsp",
            "push wa",
            *padding.plain,
            "mov eax, [wfp - WORD]",
            "dec eax",
            "jz .l1",
            f"call {following}",
            ".l1:",
            *padding.plain,
            "leave",
            "ret",
        ]
        program.add(Written(one, lines, {}))
        steps = len(range(number, depth, len(names)))
        last = (depth - 1) % len(names) == number
        charge[one] = steps * (len(lines) - 1) - last
    starting = [f"mov eax, {depth}", f"call {names[0]}"]
    lines = ["push wfp", "mov wfp, wsp", *starting, "pop wfp", "ret"]
    return program.add(Written(name, lines, {name: len(lines), **charge}))


def fibonacci(program, argument, padding):
    """The one that calls itself twice."""
    lines = [
        "push wfp",
        "mov wfp, wsp",
        "push wa",
        "push wa",
        *padding.plain,
        "mov eax, [wfp - WORD]",
        "cmp eax, 2",
        "jb .l1",
        "dec eax",
        "call fibonacci",
        "mov eax, [wfp - WORD]",
        "sub eax, 2",
        "call fibonacci",
        ".l1:",
        "leave",
        "ret",
    ]
    program.add(Written("fibonacci", lines, {}))
    short = len(lines) - 1 - 5

    def count(number):
        if number < 2:
            return short
        return short + 5 + count(number - 1) + count(number - 2)

    calling = [
        "push wfp",
        "mov wfp, wsp",
        f"mov eax, {argument}",
        "call fibonacci",
        "pop wfp",
        "ret",
    ]
    return program.add(
        Written(
            "calls_fibonacci",
            calling,
            {"calls_fibonacci": len(calling), "fibonacci": count(argument)},
        )
    )


def recursion(random, program):
    """Functions that call themselves, and others that call one another."""

    def padding():
        return plain(random, random.randint(2, 12))

    callees = [
        linear(
            program,
            "calls_itself",
            ["itself"],
            random.randint(40, 60),
            [padding()],
        ),
        linear(
            program,
            "calls_even_odd",
            ["even", "odd"],
            random.randint(40, 60),
            [padding(), padding()],
        ),
        linear(
            program,
            "calls_ring",
            ["ring_a", "ring_b", "ring_c"],
            random.randint(40, 60),
            [padding() for _ in range(3)],
        ),
        fibonacci(program, random.randint(9, 11), padding()),
    ]
    other = program.add(Function("other", "frame", [Spin(20)]))
    return program.add(
        Function("calls_all", "frame", [Call(one) for one in [*callees, other]])
    )
