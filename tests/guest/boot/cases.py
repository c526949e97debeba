# SPDX-License-Identifier: Apache-2.0
"""Guest cases: how an image is loaded, and its command line."""

import re

from harness.cases import case, quiet

MODULE = "".join(f"module line {i:04}\n" for i in range(1, 1001))
LONG = 200 * "x"
INVALID = (
    "prof.hz=0",
    "prof.hz=",
    "prof.hz=fast",
    "prof.hz=many",
    "prof.hz=-5",
    "prof.hz=1000x",
    "prof.hz=99999999999999999999",
    "prof.top=0",
    "prof.top=-1",
    "prof.drain=10001",
    "prof.weight=mass",
    "prof.form=poem",
    "prof.start=maybe",
)


def ignored(word, why):
    return f'^options: "{word}" ignored: {why}$'


CASES = [
    quiet(
        "boots_everywhere",
        "boots.word=through",
        boots="kernel grub",
        modules=[("initrd", MODULE)],
    ),
    case(
        "cpu_without_long_mode_is_refused",
        image="hello",
        append="prof.start=off die=",
        boots="x86_64:kernel x86_64:grub",
        qemu="-cpu qemu32",
        exits=103,
        shows=["^boot: this CPU has no long mode; use the i386 image$"],
        hides=["hello", "still alive"],
    ),
    case(
        "cpu_without_pae_is_refused",
        image="hello",
        append="prof.start=off die=",
        boots="i386:kernel",
        qemu="-cpu pentium",
        exits=103,
        shows=["^boot: this CPU has no PAE; it is needed for paging$"],
        hides=["hello", "still alive"],
    ),
    case(
        "what_the_cpu_lacks_is_said",
        image="hello",
        append="prof.start=off",
        boots="kernel",
        qemu="-cpu qemu64,-nx,-apic",
        exits=0,
        shows=[
            "^boot: no NX: data can be executed$",
            "^boot: no local APIC: timers are the PIT's, and wait for its tick "
            "while it samples$",
            "^boot: no invariant TSC: clocks are wrong where the CPU changes "
            "its frequency$",
        ],
    ),
    case(
        "what_the_cpu_has_is_not_said",
        image="hello",
        append="prof.start=off",
        boots="kernel",
        qemu="-cpu qemu64",
        exits=0,
        shows=["^boot: no invariant TSC: "],
        hides=["no NX", "no local APIC"],
    ),
    case(
        "long_command_line_is_cut",
        image="hello",
        append="prof.start=off" + 160 * " prof.every=0" + " prof.last=1",
        exits=0,
        shows=[
            "^boot: command line longer than 2047 bytes, rest ignored$",
            "^hello from a unikernel$",
        ],
        hides=["prof.last", "^options: ", "^panic", "still alive"],
    ),
    case(
        "too_long_command_line_is_reported",
        image="hello",
        append="prof.start=off" + 400 * " prof.every=0",
        boots="x86_64:kernel",
        exits=103,
        shows=[
            "^boot: the command line is longer than 4095 bytes: QEMU's "
            "loader has overwritten its own data$"
        ],
        hides=["hello", "still alive"],
    ),
    case(
        "too_long_command_line_for_multiboot_is_cut",
        image="hello",
        append="prof.start=off" + 400 * " prof.every=0",
        boots="i386:kernel",
        exits=0,
        shows=["^boot: command line longer than 2047 bytes, rest ignored$"],
        hides=["^options: ", "^panic", "still alive"],
    ),
    quiet(
        "memory_size_only",
        boots="i386:kernel i386:grub x86_64:grub",
        exits=0,
        shows=[
            "^boot: by (multiboot|multiboot2), memory from the "
            "loader's count of upper memory, ",
            r"^1\.\.4$",
            "^ok 4 ",
        ],
        hides=["not ok"],
    ),
    quiet(
        "no_memory_map",
        boots="kernel grub",
        exits=0,
        shows=[
            "^boot: by (multiboot|multiboot2|pvh), memory from the "
            "CMOS, as the loader passed no map, ",
            r"^1\.\.4$",
            "^ok 4 ",
        ],
        hides=["not ok"],
    ),
    case(
        "split_is_the_same_everywhere",
        image="split",
        append=(
            "prof.start=off split.rounds=500 split.idle=120 "
            "split.seconds=x split.weights=4,3,2"
        ),
        boots="kernel grub",
        exits=0,
        shows=[
            '^options: "split.idle=120" ignored',
            '^options: "split.seconds=x" ignored',
            '^options: "split.weights=4,3,2" ignored',
            "^split: 500 rounds, .* sum 07982aee$",
        ],
    ),
    case(
        "too_little_ram_is_reported",
        append="prof.start=off die=",
        qemu="-m 4",
        exits=103,
        shows=["^boot: the image is larger than the RAM$"],
        hides=["hello", "still alive"],
    ),
    quiet(
        "too_many_modules_are_counted",
        image="hello",
        boots="grub i386:kernel",
        modules=[(f"module{i}", f"number {i}\n") for i in range(10)],
        exits=0,
        shows=[
            "^boot: by multiboot2?, memory from .*, 8 modules$",
            "^boot: 2 modules ignored, above [0-9]+ GiB or too many$",
        ],
        hides=["^panic", "still alive"],
    ),
    quiet(
        "two_modules",
        boots="grub i386:kernel",
        modules=[
            ("initrd", "the first of two modules\n"),
            ("initrd2", "and the second, which is longer\n"),
        ],
    ),
    case(
        "wrong_options_change_nothing",
        append=" ".join(
            (
                "prof.every=0",
                *INVALID,
                "prof.nosuch=1 prof.HZ=500 prof. bogus =nothing unknown=1",
                "test.number=abc net.ip=dhcp clock=sundial clock=tsc",
                f"prof.hz={LONG} {LONG} esc\x1b[2J\x07\x7f=1",
                "test.number=42 prof.top=7",
            )
        ),
        boots="kernel grub",
        exits=0,
        shows=[
            *(
                ignored(re.escape(word), "invalid value for this option")
                for word in INVALID
            ),
            ignored(r"prof\.nosuch=1", "unknown option"),
            ignored(r"prof\.HZ=500", "unknown option"),
            ignored(r"prof\.", "not of the form key=value"),
            ignored("bogus", "not of the form key=value"),
            ignored("=nothing", "not of the form key=value"),
            ignored("unknown=1", "unknown option or invalid value"),
            ignored(r"test\.number=abc", "unknown option or invalid value"),
            ignored(
                "net.ip=dhcp",
                "unknown network option, or image without a network",
            ),
            ignored("clock=sundial", "must be cmos or tsc"),
            ignored("prof.hz=x{119}", "longer than 127 characters"),
            ignored("x{127}", "longer than 127 characters"),
            ignored(r"esc\?\[2J\?\?=1", "unknown option or invalid value"),
            "^options: all as they should be$",
        ],
        hides=[
            r"^options: .*(test\.number=42|prof\.top=7|prof\.every|clock=tsc)",
            "^options: wrong",
            "[\x1b\x07\x7f]",
            "^panic",
        ],
    ),
]
