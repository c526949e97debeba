# SPDX-License-Identifier: Apache-2.0
"""The shapes of generated programs: each makes one out of random numbers, and
returns the name of the function that a round calls."""

import itertools

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
    Through,
    Written,
)

# Instructions of many forms and lengths, also such whose numbers look like
# others: the search for callers has to find its way through them.
PLAIN = (
    "add eax, edx",
    "xor edx, {i32}",
    "lea eax, [wa + wd * 4 + {i8}]",
    "movzx edx, al",
    "bswap eax",
    "imul eax, edx, {i8}",
    "imul edx, eax, {i32}",
    "mov eax, [scratch]",
    "mov [scratch + 4], edx",
    "add dword [scratch + 8], {i32}",
    "cmovz eax, edx",
    "setc al",
    "test eax, {i32}",
    "test dl, {u8}",
    "bt eax, 3",
    "shld eax, edx, 5",
    "rol edx, 7",
    "neg eax",
    "not edx",
    "cdq",
    "xchg eax, edx",
    "mov byte [scratch + 12], {u8}",
    "test byte [scratch], {u8}",
    "mov word [scratch + 16], {u16}",
    "nop",
    "mul edx",
    "bsf eax, edx",
    "xadd eax, edx",
    "cmpxchg [scratch + 20], edx",
    "lock inc dword [scratch + 24]",
    "movsx eax, dl",
    "mov eax, {i32}",
    "mov edx, 0xc3c95d5d",
    "mov eax, 0xc35de8c3",
    "sbb eax, eax",
    "cmp word [scratch + 28], {u16}",
    "sar eax, 1",
    "xlatb_",
    "adc al, {u8}",
)


def plain(random, count):
    """(count) instructions that do nothing of note."""

    def one():
        line = random.choice(PLAIN)
        if line == "xlatb_":
            return "db 0x0f, 0x1f, 0x44, 0, 0"  # the long nop, with SIB
        return line.format(
            i8=random.randint(-128, 127),
            i32=random.randint(-(2**31), 2**31 - 1),
            u8=random.randint(0, 255),
            u16=random.randint(0, 65535),
        )

    return Code([one() for _ in range(count)])


def work(random):
    """Between a few instructions and a few thousand."""
    weight = int(random.paretovariate(0.9))
    return [plain(random, random.randint(0, 12)), Spin(min(weight, 40))]


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


BUFFER = 64 * 1024
STRINGS = {
    "movsb": "rep",
    "movsw": "rep",
    "MOVSW_": "rep",
    "stosb": "rep",
    "STOSW_": "rep",
    "lodsb": "rep",
    "LODSW_": "rep",
    "scasb": "repe",
    "SCASW_": "repe",
    "cmpsb": "repe",
    "CMPSW_": "repe",
}


def string_function(random, program, name, lines, count, executes):
    """One string instruction over and over, with its prefix: (count) into wc,
    (executes) times in all. QEMU, with -icount, takes a repetition for an
    instruction, and the look at a wc of 0 for another."""
    before = ["push wfp", "mov wfp, wsp", "push wsi", "push wdi"]
    lines = [
        "mov wdi, buffer_to",
        "mov wsi, buffer_from",
        "xor eax, eax",
        f"mov ecx, {count}",
        *lines,
    ]
    after = ["pop wdi", "pop wsi", "pop wfp", "ret"]
    own = len(before) + len(lines) - 1 + executes + len(after)
    more = plain(random, random.randint(0, 9)).plain
    lines = before + lines + more + after
    return program.add(Written(name, lines, {name: own + len(more)}))


def strings(random, program):
    """Long string instructions with rep, forwards and backwards."""
    program.data += [
        "section .bss",
        "alignb 4096",
        f"buffer_from: resb {BUFFER}",
        f"buffer_to: resb {BUFFER}",
    ]
    callees = []
    for kind, prefix in STRINGS.items():
        count = random.randint(500, BUFFER // 8)
        name = "rep_" + kind.lower().replace("_", "_word")
        callees.append(
            string_function(
                random, program, name, [f"{prefix} {kind}"], count, count + 1
            )
        )
    count = random.randint(500, BUFFER // 8)
    callees.append(
        string_function(
            random,
            program,
            "rep_backwards",
            [
                "std",
                "add wdi, 4095",
                "add wsi, 4095",
                "mov ecx, 4096",
                "rep movsb",
                "cld",
            ],
            count,
            4097,
        )
    )
    # all are equal, so that the first of them is enough
    callees.append(
        string_function(
            random, program, "repne_found", ["repne scasb"], count, 1
        )
    )
    random.shuffle(callees)
    other = program.add(Function("other", "frame", [Spin(60)]))
    return program.add(
        Function("calls_all", "frame", [Call(one) for one in [*callees, other]])
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
