# SPDX-License-Identifier: Apache-2.0
"""Guest cases: the profiler inside a guest."""

from dataclasses import replace

from harness.cases import case, quiet

CASES = [
    *(
        quiet(
            f"clock_is_measured_{attempt}",
            f"prof.jitter=0 try={attempt}",
            image="test/clock_is_measured",
            icount=2,
        )
        for attempt in ("no_clock", "wrong_clock", "no_rate", "wrong_rate")
    ),
    *(
        quiet(
            f"gate_of_{timer}",
            f"timer={timer}",
            image="test/gate_of_any_timer",
            icount=2,
        )
        for timer in ("apic", "oneshot", "tickless", "rtc", "hpet", "ioapic")
    ),
    quiet("pit_input_by_acpi"),
    quiet(
        "lapic_is_shared",
        "prof.tick=lapic prof.hz=1000 prof.depth=0 prof.tick_drains=off",
        icount=1,
        shows=[
            "^prof: sampling by the local APIC's timer: as prof.tick says$",
            "^prof: the local APIC's timer was armed by other code; the",
        ],
        hides=["^not ok"],
    ),
    quiet(
        "lapic_of_our_own",
        "alarm=tick",
        icount=2,
        hides=["^not ok", "^prof: sampling by"],
    ),
    *(
        quiet(
            f"{name}_by_lapic",
            f"prof.tick=lapic {more}",
            image=f"test/{name}",
            icount=icount,
        )
        for name, more, icount in (
            ("lock_step_is_broken", "prof.depth=0", 5),
            ("registers_survive", "prof.depth=0", 4),
            ("ticks_are_accounted", "prof.tick_drains=off", 0),
        )
    ),
    case(
        "idle_share_by_lapic",
        image="test/idle_share",
        append="prof.every=0 prof.hz=1000 prof.tick=lapic",
        icount=4,
    ),
    # A drain in the tick takes 40,000 instructions, with interrupts off: at 16
    # ns each that is three periods, whose ticks are missed by any timer. It
    # comes where a slice of the loop is longer than twice prof_drain_ms().
    case(
        "shares_are_true_by_lapic",
        image="split",
        append="prof.hz=5000 prof.reports=1 prof.tick=lapic "
        "prof.tick_drains=off",
        icount=4,
        exits=0,
        shows=[
            "^prof: sampling by the local APIC's timer: as prof.tick says$",
            r"^ +(39|4[01])\.\d\d % .*  leaf_a$",
            r"^ +(29|3[01])\.\d\d % .*  leaf_b$",
            r"^ +(19|2[01])\.\d\d % .*  leaf_c$",
            r"^ +(9|10)\.\d\d % .*  leaf_d$",
        ],
        hides=["stolen", "missed"],
    ),
    quiet(
        "nmi_source",
        "prof.tick=nmi prof.hz=1000 prof.depth=8",
        icount=2,
        shows=["^prof: sampling by NMIs of the PIT: as prof.tick says$"],
        hides=["^not ok"],
    ),
    *(
        quiet(
            f"nmi_troubles_{what}",
            f"prof.tick=nmi try={what} {more}",
            image="test/nmi_troubles",
            icount=icount,
            shows=shows,
            hides=["^not ok"],
        )
        for what, more, icount, shows in (
            (
                "silent",
                "prof.hz=1000 prof.depth=0",
                2,
                ["^prof: sampling by the local APIC's timer: no NMIs come$"],
            ),
            (
                "once",
                "prof.hz=1000 prof.depth=0",
                2,
                [
                    "^prof: sampling by the local APIC's timer: the kernel "
                    "uses the PIT in one-shot mode$"
                ],
            ),
            (
                "slow",
                "prof.hz=5000 prof.depth=127",
                8,
                ["^prof: a sample takes longer than the period, and NMIs "],
            ),
        )
    ),
    *(
        quiet(
            f"{name}_by_nmi",
            f"prof.tick=nmi {more}",
            image=f"test/{name}",
            icount=icount,
        )
        for name, more, icount in (
            ("registers_survive", "prof.depth=0", 4),
            ("ticks_are_accounted", "", 0),
        )
    ),
    case(
        "idle_share_by_nmi",
        image="test/idle_share",
        append="prof.every=0 prof.hz=1000 prof.tick=nmi",
        icount=4,
    ),
    case(
        "shares_are_true_by_nmi",
        image="split",
        append="prof.hz=5000 prof.reports=1 prof.tick=nmi",
        icount=4,
        exits=0,
        shows=[
            "^prof: sampling by NMIs of the PIT: as prof.tick says$",
            r"^ +(39|4[01])\.\d\d % .*  leaf_a$",
            r"^ +(29|3[01])\.\d\d % .*  leaf_b$",
            r"^ +(19|2[01])\.\d\d % .*  leaf_c$",
            r"^ +(9|10)\.\d\d % .*  leaf_d$",
            r"^interrupts were off at \d of these, 0\.0\d % of the time$",
        ],
        hides=["stolen", "missed", "ignored"],
    ),
    *(
        case(
            f"no_nmi_{why}",
            image="split",
            append=f"prof.reports=1 prof.tick=nmi {more}".rstrip(),
            qemu=qemu,
            icount=4,
            exits=0,
            shows=[f"^prof: sampling by the {line}$", "^ +[0-9.]+ % .*leaf_a$"],
        )
        for why, more, qemu, line in (
            (
                "without_lapic",
                "",
                "-cpu max,-apic",
                "PIT: the kernel uses the PIT",
            ),
            (
                "beside_a_tick",
                "alarm=tick",
                "",
                "local APIC's timer: the kernel uses the PIT",
            ),
        )
    ),
    case(
        "no_lapic_to_sample_by",
        image="split",
        append="prof.reports=1 prof.tick=lapic",
        qemu="-cpu max,-apic",
        icount=4,
        exits=0,
        shows=[
            "^prof: sampling by the PIT: the CPU has no local APIC, or it is "
            "off$",
            "^ +[0-9.]+ % .*  leaf_a$",
        ],
    ),
    case(
        "tick_is_chosen",
        image="split",
        append="prof.reports=1 prof.tick=auto",
        icount=4,
        exits=0,
        shows=["^prof: sampling by the PIT: it is there, and periodic$"],
    ),
    *(
        case(
            f"drains_by_default_{what}",
            image="test/drains_by_default",
            append=f"prof.every=0 do={what} {more}".rstrip(),
            icount=2,
        )
        for what, more in {
            "spin": "prof.start=off",
            "fast": "prof.start=off prof.jitter=0",
            "heap": "prof.start=off",
            "console": "prof.start=off",
            "stream": "prof.start=off prof.out=shm",
            "gate": "prof.start=off",
            "hook": "prof.start=off",
            "loop": "prof.start=off prof.loop=4 prof.jitter=0",
            "off": "prof.hz=10000 prof.tick_drains=off prof.jitter=0",
        }.items()
    ),
    *(
        quiet(
            f"tick_drains_{attempt}",
            f"try={attempt}",
            image="test/tick_drains",
            icount=2,
        )
        for attempt in ("pit", "hook", "deep", "none")
    ),
    *(
        case(
            f"begin_does_all_{out}",
            image="test/begin_does_all",
            append=f"prof.start=off prof.every=1000 out={out}",
            icount=4,
        )
        for out in ("own", "shm")
    ),
    *(
        quiet(
            f"own_time_is_apart_{form}",
            f"{option}",
            image="test/own_time_is_apart",
            icount=2,
            exits=0,
            shows=[own, "^ok 5 ", r"\bwork\b"],
            hides=["^not ok", r"\bprof_\w"],
        )
        for form, option, own in (
            ("table", "", "^ +[1-9][0-9]+    in the profiler, and in no"),
            ("tree", "prof.report=tree", "in the profiler, and in no share$"),
            ("folded", "prof.report=folded", r"^\[profiler\] [1-9][0-9]+$"),
            ("classic", "prof.form=classic", r"\*\*\* Listing [1-9]"),
        )
    ),
    *(
        quiet(
            f"own_time_is_apart_unnamed_{form}",
            f"names=none {option}".rstrip(),
            image="test/own_time_is_apart",
            icount=2,
            exits=0,
            shows=["^prof: no names, addresses only: ", own, "^ok 5 "],
            hides=["^not ok", r"\bprof_\w"],
        )
        for form, option, own in (
            ("table", "", "^ +[1-9][0-9]+    in the profiler, and in no"),
            ("classic", "prof.form=classic", r"\*\*\* Listing [1-9]"),
        )
    ),
    quiet("call_tree_is_true", icount=2),
    quiet("frames_end_at_zero", boots="kernel grub", icount=2),
    quiet("hook_ticks_are_sampled", "prof.hz=5000", icount=5),
    case("idle_share", append="prof.every=0 prof.hz=1000", icount=4),
    quiet("interrupt_cost", "prof.depth=0", icount=0),
    case(
        "interrupts_off_a_second",
        append="prof.every=0 prof.hz=1000 prof.jitter=0",
        icount=4,
    ),
    quiet("lock_step_is_broken", "prof.depth=0", icount=5),
    quiet(
        "many_addresses",
        "prof.hz=1000 prof.depth=0 prof.jitter=0",
        icount=4,
        qemu="-m 256",
    ),
    quiet("masked_and_exits", "prof.vmm=kick", icount=4),
    quiet("memory_refused", "prof.hz=1 prof.depth=0", icount=4),
    case(
        "names_are_readable",
        append="prof.every=0",
        icount=3,
        exits=0,
        shows=[
            "^ +[0-9.]+ % +[0-9.]+ % +[0-9]+ +0x[0-9a-f]+  "
            r"VirtioNet::transmit\(std::shared_ptr<net::Packet>\)$",
            "^ +[0-9.]+ % +[0-9.]+ % +[0-9]+ +0x[0-9a-f]+  "
            "irc::server::Server::join$",
            "^ +[0-9.]+ % +[0-9.]+ % +[0-9]+ +0x[0-9a-f]+  "
            "<irc::server::Server>::broadcast$",
            "^ +[0-9.]+ % +[0-9.]+ % +[0-9]+ +0x[0-9a-f]+  "
            "Irc.Server.broadcast_1042$",
        ],
        hides=["_ZN", "_RN"],
    ),
    case(
        "names_in_panic",
        image="test/names_are_readable",
        append="prof.every=0 die=yes",
        icount=3,
        exits=101,
        shows=[
            "^panic: out of memory at",
            "^  #0  0x[0-9a-f]+  Irc.Server.broadcast_1042 [+] 0x",
            "^  #1  0x[0-9a-f]+  <irc::server::Server>::broadcast [+] 0x",
            "^  #2  0x[0-9a-f]+  irc::server::Server::join [+] 0x",
            "^  #3  0x[0-9a-f]+  "
            r"VirtioNet::transmit\(std::shared_ptr<net::Packet>\) "
            "[+] 0x",
            "^  #4  0x[0-9a-f]+  service_main [+] 0x",
            "^panic: the image ends here$",
        ],
    ),
    quiet(
        "names_by_loader",
        boots="grub",
        icount=2,
        exits=101,
        shows=[
            "^prof: names of [1-9][0-9]+ functions from the loader's symbol "
            "table$",
            r"^ +[0-9.]+ % +[0-9.]+ % +[1-9][0-9]+ +0x[0-9a-f]+  work$",
            "^panic: out of luck at ",
            "^  #0  0x[0-9a-f]+  fail [+] 0x",
            "^  #1  0x[0-9a-f]+  service_main [+] 0x",
            "^ok 8 ",
        ],
        hides=["^not ok", "addresses only", "^  #[0-9]+ .*[?]$"],
    ),
    quiet(
        "names_by_loader_that_has_none",
        image="test/names_by_loader",
        icount=2,
        exits=101,
        shows=[
            "^prof: no names, addresses only: the image contains no symbol "
            "table$",
            "^no names: the image contains no symbol table$",
            r"^ +[0-9.]+ % +[0-9.]+ % +[1-9][0-9]+ +0x[0-9a-f]+  0x[0-9a-f]+$",
            "^panic: out of luck at ",
            "^  #0  0x[0-9a-f]+  [?]$",
        ],
        hides=["the loader's symbol table", "  work$", "service_main"],
    ),
    quiet("nmi_ticks_are_sampled", icount=4),
    quiet("poll_does_all", icount=2),
    quiet("port_sizes", icount=0),
    quiet("registers_survive", "prof.depth=0", icount=4),
    quiet("skid_is_none", "prof.depth=0", icount=3),
    quiet("stacks_are_found", icount=2),
    quiet("stacks_are_true", "prof.depth=127"),
    quiet("start_stop", "prof.depth=0 prof.jitter=0", icount=4),
    quiet("symbols", "prof.hz=1000", boots="kernel grub"),
    quiet("ticks_are_accounted", "prof.tick_drains=off", icount=0),
    case(
        "pit_in_one_shot",
        append="prof.every=0 prof.hz=1000 prof.jitter=0",
        icount=4,
        shows=["^1 times sampling stopped, because the kernel uses the PIT"],
    ),
    case(
        "tick_work_is_missed",
        image="test/timer_work",
        append="prof.every=0 prof.hz=1000 prof.loop=4 us=300",
        icount=4,
        shows=[
            r"^samples show 0\.[0-9]+ % outside of idle, the loop's account "
            r"[34]\.[0-9]+ % in tasks and callbacks: work that timers start is "
            r"under-sampled; see docs/loop\.md$"
        ],
    ),
    case(
        "tick_work_is_sampled",
        image="test/timer_work",
        append="prof.every=0 prof.hz=1000 prof.loop=4 us=6000",
        icount=4,
        shows=["^--- event loop: busy "],
        hides=["^samples show "],
    ),
    case(
        "timer_work_is_sampled",
        image="test/timer_work",
        append="prof.every=0 prof.hz=1000 prof.loop=4 us=300 timer=1",
        icount=4,
        shows=[
            "^--- event loop: busy ",
            r"^ +(2\.[5-9]|3\.[0-5])\d % .*  work$",
        ],
        hides=["^samples show "],
    ),
    case(
        "busy_is_sampled",
        image="split",
        append="prof.every=0 prof.hz=1000 prof.loop=4 split.rounds=600",
        icount=4,
        exits=0,
        shows=["^--- event loop: busy "],
        hides=["^samples show "],
    ),
    quiet("timer_share_is_true", "prof.hz=1000", icount=0),
    case(
        "timer_taken_over_is_reclaimed",
        append="prof.every=0 prof.hz=1000 prof.jitter=0",
        icount=4,
    ),
    quiet(
        "timer_with_a_floor",
        "prof.hz=20000 alarm=tick",
        icount=0,
    ),
    quiet(
        "user_mode",
        "prof.hz=1 prof.jitter=0",
        icount=0,
        shows=[
            r"^ +[0-9.]+ % +[0-9.]+ % +300 .*  \[user mode: sh\]$",
            r"^ +[0-9.]+ % +[0-9.]+ % +200 .*  \[user mode: space 5\]$",
            r"^ +[0-9.]+ % +[0-9.]+ % +100 .*  \[user mode\]$",
            "^ *[0-9.]+ % +600    user mode$",
        ],
    ),
    quiet("work_after_a_tick", "prof.depth=0", icount=4),
]

# What they look at is a kernel that has a tick by the PIT, beside which the
# profiler samples; ours has none by itself.
TICKING = (
    "clock_is_measured",
    "drains_by_default",
    "frames_end_at_zero",
    "gate_of_any_timer",
    "hook_ticks_are_sampled",
    "interrupt_cost",
    "interrupts_off_a_second",
    "lock_step_is_broken",
    "memory_refused",
    "pit_in_one_shot",
    "start_stop",
    "tick_drains",
    "timer_taken_over_is_reclaimed",
    "user_mode",
    "work_after_a_tick",
)


def _ticking(case_):
    ticking = case_.image.removeprefix("test/") in TICKING or (
        case_.name.startswith("tick_work")
    )
    append = f"{case_.append} alarm=tick" if ticking else case_.append
    return replace(case_, append=append)


CASES = [_ticking(each) for each in CASES]
