# SPDX-License-Identifier: Apache-2.0
"""The shape `strings`: long string instructions."""

from filler import plain
from program import Call, Function, Spin, Written

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
