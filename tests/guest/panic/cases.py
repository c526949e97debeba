# SPDX-License-Identifier: Apache-2.0
"""Guest cases: images that must end in a panic, and show where."""

from harness.cases import case

ENDS = "^panic: the image ends here$"
CUT = "backtrace incomplete"
ANY = "0x[0-9a-f]+"


def frames(names):
    """The lines of a backtrace, "?" for a function that is not known."""
    return [
        f"^  #{number:<3}{ANY}  {'[?]$' if name == '?' else name + ' [+] 0x'}"
        for number, name in enumerate(names)
    ]


def dies(name, way, says, calls=(), cut=None, more=(), hides=(), **other):
    """A case of tests/guest/panic/panic, which dies in the (way) of die=: its
    panic (says) what, and shows the frames of (calls), in full or up to where
    it is (cut) and why; besides (more) lines."""
    shows = [f"^panic: {says}", *frames(calls), *more, ENDS]
    hides = ["still alive", *hides]
    if cut is None:
        hides.append(CUT)
    else:
        shows.append(f"^  {CUT}: {cut}")
        hides.append(f"  #{len(calls)} ")
    words = way if "=" in way or not way else f"die={way}"
    return case(
        name,
        image="test/panic",
        append=f"prof.start=off {words}".rstrip(),
        exits=101,
        shows=shows,
        hides=hides,
        **other,
    )


def ends_early(name, way, shows, exits=101):
    """Its panic does not come to the end."""
    return case(
        name,
        image="test/panic",
        append=f"prof.start=off die={way}",
        exits=exits,
        shows=shows,
        hides=["image ends here", "still alive"],
    )


def without_names(name, what, why):
    """It is said why, and a backtrace has addresses only."""
    return dies(
        name,
        f"names={what}",
        "nothing left at ",
        "???",
        more=[f"^prof: no names, addresses only: {why}$"],
        hides=["innermost", "service_main"],
    )


def executes(what):
    """A call of what is data."""
    says, calls = "page fault, execution of data$", ["?", "service_main"]
    name = f"{what}_execution_panics"
    return dies(name, f"{what}_call", says, calls, qemu="-cpu max")


def wild(where, cut, calls=("out_of_luck", "call_with_fp")):
    """The frame pointer leads nowhere."""
    name = f"wild_fp_{where}"
    return dies(name, f"fp_{where}", "out of luck at ", calls, cut)


OUTSIDE = r"frame pointer outside all stacks \(0x"
NOTHING_LEFT = "nothing left at tests/guest/panic/panic/main.c:[0-9]+$"
NULL = "page fault, null pointer dereference$"
READ_ONLY = "page fault, write to read-only data$"
PANICS = ("innermost", "middle", "outermost")
KERNEL = ("service_main", "kernel_main", "arch_start")

CASES = [
    dies(
        "abort_panics",
        "abort",
        r"abort\(\) was called at ",
        more=[f"^  #[0-9]  {ANY}  abort [+] 0x"],
    ),
    executes("data"),
    dies(
        "divide_error_panics",
        "divide",
        "divide error$",
        ["divide_by_zero", "service_main"],
    ),
    dies(
        "double_fault_panics",
        "stack_lost",
        "double fault$",
        ["lose_stack", "service_main"],
        more=[f"^  pc {ANY}  sp 0x(8000000000000000|00000008)  fp 0x"],
        boots="kernel grub",
    ),
    ends_early(
        "fault_in_fault_ends",
        "fault_in_fault",
        [
            "^panic: invalid opcode$",
            f"^  pc {ANY}  sp ",
            f"^  si {ANY}  di ",
            "^arch: page fault while an exception was being reported: "
            f"pc {ANY} sp {ANY} address 0x0*8$",
        ],
        exits=102,
    ),
    ends_early(
        "fault_in_panic_ends",
        "fault_in_panic",
        [
            "^panic: the first panic at ",
            "^panic: another panic while panicking: invalid opcode$",
        ],
    ),
    executes("heap"),
    dies(
        "null_call_panics",
        "null_call",
        NULL,
        ["?", "service_main"],
        more=["^  pc 0x0+  ", "^  #0  0x0+  [?]$"],
    ),
    dies(
        "null_write_panics",
        "null_write",
        NULL,
        ["write_null"],
        more=["  c2 0x0*8  ", f"^  #[12]  {ANY}  kernel_main [+] 0x"],
    ),
    dies(
        "panic",
        "",
        NOTHING_LEFT,
        [*PANICS, *KERNEL],
        hides=["  #6 "],
        boots="kernel grub",
    ),
    ends_early(
        "panic_in_panic_ends",
        "panic_in_panic",
        [
            "^panic: the first panic at ",
            "^panic: another panic while panicking: the second panic$",
        ],
    ),
    case(
        "panic_sends_what_is_left",
        append="prof.out=serial prof.every=0 die=null",
        icount=2,
        exits=101,
        shows=[
            "^ends with 3[0-9][0-9] ticks$",
            "^panic: page fault",
            ENDS,
            r"^#prof [0-9]+\.1/[0-9]+ ",
        ],
        hides=["memory was asked for", "another panic"],
    ),
    without_names(
        "panic_with_names_cut", "cut", "the symbol table is truncated"
    ),
    without_names(
        "panic_with_names_damaged",
        "damaged",
        r"the symbol table is damaged \(wrong checksum\)",
    ),
    dies(
        "panic_without_heap",
        "without_heap",
        NOTHING_LEFT,
        [*PANICS, "panic_without_heap", *KERNEL],
        hides=["not all memory was taken", "  #7 "],
        boots="kernel grub",
    ),
    without_names(
        "panic_without_names", "none", "the image contains no symbol table"
    ),
    dies(
        "panic_with_names_of_loader",
        "names=none",
        NOTHING_LEFT,
        [*PANICS, *KERNEL],
        more=["^prof: names of [1-9][0-9]+ functions from the loader's symb"],
        boots="grub",
    ),
    dies("rodata_write_panics", "rodata_write", READ_ONLY, ["write_rodata"]),
    dies(
        "smashed_return_panics",
        "stack_smashed_return",
        "(page fault, execution of data|general protection fault)$",
        "?",
        r"frame pointer not aligned \(0x(a5)+\)$",
        more=["^  pc 0x(a5)+  ", "^  #0  0x(a5)+  [?]$"],
        qemu="-cpu max",
    ),
    dies(
        "smashed_stack_panics",
        "stack_smashed",
        "the stack is smashed at ",
        ["smash_stack_and_panic"],
        r"return address outside the code \(0x",
    ),
    executes("stack"),
    dies(
        "stack_guard_panics",
        "guard_read",
        "page fault, stack overflow$",
        ["read_guard", "service_main"],
    ),
    dies(
        "stack_overflow_panics",
        "stack_overflow",
        "(page|double) fault, stack overflow$",
        64 * ["dig_deeper"],
        r"too many frames \(0x",
    ),
    dies("symbols_write_panics", "symbols_write", READ_ONLY, ["write_symbols"]),
    dies(
        "text_write_panics",
        "text_write",
        "page fault, write to code$",
        ["write_text"],
    ),
    wild("at_stack_end", OUTSIDE),
    dies(
        "wild_fp_in_fault",
        "fp_in_fault",
        "invalid opcode$",
        ["invalid_opcode"],
        OUTSIDE + r"0*8\)$",
        more=["  fp 0x0*8  ", f"^  #0  {ANY}  invalid_opcode [+] 0x0$"],
    ),
    wild("in_heap", OUTSIDE),
    wild(
        "to_itself",
        r"frame pointer not increasing \(0x",
        ("out_of_luck", "call_with_fp", "fp_to_itself"),
    ),
    wild("unaligned", r"frame pointer not aligned \(0x"),
    wild("unmapped", OUTSIDE),
]
