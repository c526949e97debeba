# SPDX-License-Identifier: Apache-2.0
"""Guest cases: images that must end in a panic, and show where."""

from harness.cases import case


ENDS = "^panic: the image ends here$"
CUT = "backtrace incomplete"


def dies(name, words, shows, hides=(), ends=True, **more):
    """A case of tests/guest/panic/panic: (words) say how it dies, (ends)
    whether its panic comes to the end. Its backtrace is whole, unless (shows)
    has why it is not."""
    hides = ["still alive", *hides]
    if not ends:
        hides.append("image ends here")
    elif not any(CUT in line for line in shows):
        hides.append(CUT)
    return case(
        name,
        image="test/panic",
        append=f"prof.start=off {words}",
        exits=101,
        shows=[*shows, ENDS] if ends else shows,
        hides=hides,
        **more,
    )


def without_names(name, words, why):
    """It is said why, and a backtrace has addresses only."""
    return dies(
        name,
        words,
        shows=[
            f"^prof: no names, addresses only: {why}$",
            "^panic: nothing left at ",
            *(f"^  #{i}  0x[0-9a-f]+  [?]$" for i in range(3)),
        ],
        hides=["innermost", "service_main"],
    )


def executes(name, words):
    """A call of what is data."""
    return dies(
        name,
        words,
        qemu="-cpu max",
        shows=[
            "^panic: page fault, execution of data$",
            "^  #0  0x[0-9a-f]+  [?]$",
            "^  #1  0x[0-9a-f]+  service_main [+] 0x",
        ],
    )


CASES = [
    dies(
        "abort_panics",
        "die=abort",
        shows=[
            r"^panic: abort\(\) was called at ",
            "^  #[0-9]  0x[0-9a-f]+  abort [+] 0x",
        ],
    ),
    executes("data_execution_panics", "die=data_call"),
    dies(
        "divide_error_panics",
        "die=divide",
        shows=[
            "^panic: divide error$",
            "^  #0  0x[0-9a-f]+  divide_by_zero [+] 0x",
            "^  #1  0x[0-9a-f]+  service_main [+]",
        ],
    ),
    dies(
        "double_fault_panics",
        "die=stack_lost",
        boots="kernel grub",
        shows=[
            "^panic: double fault$",
            "^  pc 0x[0-9a-f]+  sp 0x(8000000000000000|00000008)  fp 0x",
            "^  #0  0x[0-9a-f]+  lose_stack [+] 0x",
            "^  #1  0x[0-9a-f]+  service_main [+] 0x",
        ],
    ),
    case(
        "fault_in_fault_ends",
        image="test/panic",
        append="prof.start=off die=fault_in_fault",
        exits=102,
        shows=[
            "^panic: invalid opcode$",
            "^  pc 0x[0-9a-f]+  sp ",
            "^  si 0x[0-9a-f]+  di ",
            "^arch: page fault while an exception was being "
            "reported: pc 0x[0-9a-f]+ sp 0x[0-9a-f]+ address 0x0*8$",
        ],
        hides=["image ends here", "still alive"],
    ),
    dies(
        "fault_in_panic_ends",
        "die=fault_in_panic",
        shows=[
            "^panic: the first panic at ",
            "^panic: another panic while panicking: invalid opcode$",
        ],
        ends=False,
    ),
    executes("heap_execution_panics", "die=heap_call"),
    dies(
        "null_call_panics",
        "die=null_call",
        shows=[
            "^panic: page fault, null pointer dereference$",
            "^  pc 0x0+  ",
            "^  #0  0x0+  [?]$",
            "^  #1  0x[0-9a-f]+  service_main [+] 0x",
        ],
    ),
    dies(
        "null_write_panics",
        "die=null_write",
        shows=[
            "^panic: page fault, null pointer dereference$",
            "  c2 0x0*8  ",
            "^  #0  0x[0-9a-f]+  write_null [+] 0x",
            "^  #[12]  0x[0-9a-f]+  kernel_main [+] 0x",
        ],
    ),
    case(
        "panic",
        append="prof.start=off",
        boots="kernel grub",
        exits=101,
        shows=[
            "^panic: nothing left at " "tests/guest/panic/panic/main.c:[0-9]+$",
            "^  #0  0x[0-9a-f]+  innermost [+] 0x",
            "^  #1  0x[0-9a-f]+  middle [+] 0x",
            "^  #2  0x[0-9a-f]+  outermost [+] 0x",
            "^  #3  0x[0-9a-f]+  service_main [+] 0x",
            "^  #4  0x[0-9a-f]+  kernel_main [+] 0x",
            "^  #5  0x[0-9a-f]+  arch_start [+] 0x",
            "^panic: the image ends here$",
        ],
        hides=["backtrace incomplete", "  #6 ", "still alive"],
    ),
    dies(
        "panic_in_panic_ends",
        "die=panic_in_panic",
        shows=[
            "^panic: the first panic at ",
            "^panic: another panic while panicking: the second panic$",
        ],
        ends=False,
    ),
    case(
        "panic_sends_what_is_left",
        append="prof.out=serial prof.every=0 die=null",
        icount=2,
        exits=101,
        shows=[
            "^ends with 3[0-9][0-9] ticks$",
            "^panic: page fault",
            "^panic: the image ends here$",
            r"^#prof [0-9]+\.1/[0-9]+ ",
        ],
        hides=["memory was asked for", "another panic"],
    ),
    without_names(
        "panic_with_names_cut",
        "names=cut",
        "the symbol table is truncated",
    ),
    without_names(
        "panic_with_names_damaged",
        "names=damaged",
        r"the symbol table is damaged \(wrong checksum\)",
    ),
    dies(
        "panic_without_heap",
        "die=without_heap",
        boots="kernel grub",
        shows=[
            "^panic: nothing left at " "tests/guest/panic/panic/main.c:[0-9]+$",
            "^  #0  0x[0-9a-f]+  innermost [+] 0x",
            "^  #1  0x[0-9a-f]+  middle [+] 0x",
            "^  #2  0x[0-9a-f]+  outermost [+] 0x",
            "^  #3  0x[0-9a-f]+  panic_without_heap [+] 0x",
            "^  #4  0x[0-9a-f]+  service_main [+] 0x",
            "^  #5  0x[0-9a-f]+  kernel_main [+] 0x",
            "^  #6  0x[0-9a-f]+  arch_start [+] 0x",
        ],
        hides=["not all memory was taken", "  #7 "],
    ),
    without_names(
        "panic_without_names",
        "names=none",
        "the image contains no symbol table",
    ),
    dies(
        "rodata_write_panics",
        "die=rodata_write",
        shows=[
            "^panic: page fault, write to read-only data$",
            "^  #0  0x[0-9a-f]+  write_rodata [+] 0x",
        ],
    ),
    dies(
        "smashed_return_panics",
        "die=stack_smashed_return",
        qemu="-cpu max",
        shows=[
            "^panic: (page fault, execution of data|general "
            "protection fault)$",
            "^  pc 0x(a5)+  ",
            "^  #0  0x(a5)+  [?]$",
            "^  backtrace incomplete: frame pointer not aligned "
            r"\(0x(a5)+\)$",
        ],
        hides=["  #1 "],
    ),
    dies(
        "smashed_stack_panics",
        "die=stack_smashed",
        shows=[
            "^panic: the stack is smashed at ",
            "^  #0  0x[0-9a-f]+  smash_stack_and_panic [+] 0x",
            "^  backtrace incomplete: return address outside the " r"code \(0x",
        ],
        hides=["  #1 "],
    ),
    executes("stack_execution_panics", "die=stack_call"),
    dies(
        "stack_guard_panics",
        "die=guard_read",
        shows=[
            "^panic: page fault, stack overflow$",
            "^  #0  0x[0-9a-f]+  read_guard [+] 0x",
            "^  #1  0x[0-9a-f]+  service_main [+] 0x",
        ],
    ),
    dies(
        "stack_overflow_panics",
        "die=stack_overflow",
        shows=[
            "^panic: (page|double) fault, stack overflow$",
            "^  #0  0x[0-9a-f]+  dig_deeper [+] 0x",
            "^  #1  0x[0-9a-f]+  dig_deeper [+] 0x",
            "^  #63 0x[0-9a-f]+  dig_deeper [+] 0x",
            r"^  backtrace incomplete: too many frames \(0x",
        ],
        hides=["  #64"],
    ),
    dies(
        "symbols_write_panics",
        "die=symbols_write",
        shows=[
            "^panic: page fault, write to read-only data$",
            "^  #0  0x[0-9a-f]+  write_symbols [+] 0x",
        ],
    ),
    dies(
        "text_write_panics",
        "die=text_write",
        shows=[
            "^panic: page fault, write to code$",
            "^  #0  0x[0-9a-f]+  write_text [+] 0x",
        ],
    ),
    dies(
        "wild_fp_at_stack_end",
        "die=fp_at_stack_end",
        shows=[
            "^panic: out of luck at ",
            "^  #0  0x[0-9a-f]+  out_of_luck [+] 0x",
            "^  #1  0x[0-9a-f]+  call_with_fp [+] 0x",
            "^  backtrace incomplete: frame pointer outside "
            r"all stacks \(0x",
        ],
        hides=["  #2 "],
    ),
    dies(
        "wild_fp_in_fault",
        "die=fp_in_fault",
        shows=[
            "^panic: invalid opcode$",
            "  fp 0x0*8  ",
            "^  #0  0x[0-9a-f]+  invalid_opcode [+] 0x0$",
            "^  backtrace incomplete: frame pointer outside "
            r"all stacks \(0x0*8\)$",
        ],
        hides=["  #1 "],
    ),
    dies(
        "wild_fp_in_heap",
        "die=fp_in_heap",
        shows=[
            "^panic: out of luck at ",
            "^  #0  0x[0-9a-f]+  out_of_luck [+] 0x",
            "^  #1  0x[0-9a-f]+  call_with_fp [+] 0x",
            "^  backtrace incomplete: frame pointer outside "
            r"all stacks \(0x",
        ],
        hides=["  #2 "],
    ),
    dies(
        "wild_fp_to_itself",
        "die=fp_to_itself",
        shows=[
            "^panic: out of luck at ",
            "^  #0  0x[0-9a-f]+  out_of_luck [+] 0x",
            "^  #1  0x[0-9a-f]+  call_with_fp [+] 0x",
            "^  #2  0x[0-9a-f]+  fp_to_itself [+] 0x",
            r"^  backtrace incomplete: frame pointer not increasing \(0x",
        ],
        hides=["  #3 "],
    ),
    dies(
        "wild_fp_unaligned",
        "die=fp_unaligned",
        shows=[
            "^panic: out of luck at ",
            "^  #0  0x[0-9a-f]+  out_of_luck [+] 0x",
            "^  #1  0x[0-9a-f]+  call_with_fp [+] 0x",
            r"^  backtrace incomplete: frame pointer not aligned \(0x",
        ],
        hides=["  #2 "],
    ),
    dies(
        "wild_fp_unmapped",
        "die=fp_unmapped",
        shows=[
            "^panic: out of luck at ",
            "^  #0  0x[0-9a-f]+  out_of_luck [+] 0x",
            "^  #1  0x[0-9a-f]+  call_with_fp [+] 0x",
            "^  backtrace incomplete: frame pointer outside "
            r"all stacks \(0x",
        ],
        hides=["  #2 "],
    ),
]
