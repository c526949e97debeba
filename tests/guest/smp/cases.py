# SPDX-License-Identifier: Apache-2.0
"""Guest cases: images for several CPUs."""

from harness.cases import case, quiet

ENDS = "^panic: the image ends here$"
TORN = r"a line of CPU(?! \d+, \d+: the quick [a-z ]+ lazy dog\.$)"


def counted(name, cpus, count=None, **more):
    """The image that counts its CPUs, and has each of them do everything;
    (count) of (cpus) are to run."""
    count = count or cpus
    words = more.pop("words", "")
    lines = more.pop("more", [])
    never = more.pop("never", [])
    return quiet(
        name,
        f"cpus.expect={count} {words}".rstrip(),
        image="test/cpus",
        cpus=cpus,
        shows=[
            f"^boot: {count} CPUs?$",
            "a line of CPU 0, 49: the quick",
            *lines,
        ],
        hides=[TORN, *never],
        **more,
    )


def dies(name, way, shows, exits=101, hides=(), words=""):
    return quiet(
        name,
        f"die={way} {words}".rstrip(),
        image="test/cpus_die",
        cpus=4,
        exits=exits,
        shows=shows,
        hides=hides,
    )


CASES = [
    counted("cpus_1", 1),
    counted("cpus_2", 2, boots="kernel grub"),
    counted("cpus_4", 4),
    counted("cpus_4_q35", 4, qemu="-M q35"),
    counted("cpus_4_tick", 4, words="alarm=tick"),
    counted("cpus_4_microvm", 4, qemu="-M microvm"),
    counted(
        "cpus_4_seen",
        4,
        # a host that is busy makes runs long, and a report of one that lasts
        # interrupts the line that it writes
        words="prof.start=on prof.loop=8 prof.loop_freeze=60000 "
        "prof.trace=flight",
        more=[r" 20 +\S+ .s +\S+ .s .* fire \(tests/guest/smp/cpus/main\.c:"],
        never=["^prof: no"],
    ),
    counted(
        "cpus_4_nmi",
        4,
        words="prof.start=on prof.tick=nmi",
        more=["^prof: sampling by NMIs of the PIT: as prof.tick says$"],
        never=["^prof: no"],
    ),
    counted(
        "cpus_9_nmi",
        9,
        words="prof.start=on prof.tick=nmi prof.hz=100",
        more=["^prof: sampling by NMIs of the PIT: as prof.tick says$"],
        never=["^prof: no"],
    ),
    counted(
        "cpus_4_lapic",
        4,
        words="prof.start=on prof.tick=lapic",
        more=["^prof: sampling by the local APIC's timer: as prof.tick says$"],
        never=["^prof: no"],
    ),
    # prof.tick=auto: NMIs, and without them each CPU's own timer
    *(
        counted(
            f"cpus_{cpus}_auto{name}",
            cpus,
            words=f"prof.start=on prof.tick=auto {words}".rstrip(),
            qemu=qemu,
            more=[f"^prof: sampling by {line}$"],
            never=["^prof: no"],
        )
        for cpus, name, words, qemu, line in (
            (1, "", "", "", "NMIs of the PIT: it is there, and periodic"),
            (4, "", "", "", "NMIs of the PIT: it is there, and periodic"),
            (
                *(4, "_beside_a_tick", "alarm=tick", ""),
                "the local APIC's timer: the kernel uses the PIT",
            ),
            (
                *(4, "_without_pit", "", "-M microvm,pit=off,pic=off,rtc=off"),
                "the local APIC's timer: there is no PIT",
            ),
        )
    ),
    counted(
        "cpus_2_causal",
        2,
        words="prof.start=on prof.causal=on prof.target=memset "
        "prof.progress=cpu_send",
        more=[
            "^causal: no experiments: several CPUs run, and a virtual clock is "
            r"about one of them: leave one \(docs/causal\.md#several-cpus\)$"
        ],
        never=["have begun", "no target"],
    ),
    counted(
        "cpus_1_causal",
        2,
        count=1,
        words="cpus=1 cpus.in_experiments=1 prof.start=on prof.causal=on "
        "prof.target=memset prof.progress=cpu_send",
        more=["^causal: experiments have begun"],
    ),
    quiet("causal_cpus", cpus=2),
    counted("cpus_limited", 4, count=3, words="cpus=3"),
    counted("cpus_absent", 2, qemu="-smp 2,maxcpus=4"),
    case(
        "cpus_option_is_checked",
        image="test/cpus",
        append="prof.start=off prof.every=0 cpus.expect=2 cpus=0 cpus=65",
        cpus=2,
        shows=[
            '^options: "cpus=0" ignored: must be 1 to 64$',
            '^options: "cpus=65" ignored: must be 1 to 64$',
        ],
    ),
    quiet(
        "cpus_lost",
        cpus=4,
        shows=[
            "^boot: the CPU with local APIC 1 did not start$",
            "^boot: 3 CPUs$",
        ],
    ),
    quiet(
        "cpus_stuck",
        cpus=4,
        shows=[
            "^boot: the CPU with local APIC 2 stopped while it started: no "
            "more are started$",
            "^boot: 2 CPUs$",
        ],
    ),
    quiet(
        "cpus_listed",
        cpus=3,
        shows=[
            "^boot: the CPU with local APIC 257 is left out: no interrupt can "
            "be sent to it, as the firmware has not turned on x2APIC mode$",
            "^boot: 3 CPUs$",
        ],
        hides=[r"257[\s\S]*257"],
    ),
    *(
        quiet(f"cpus_sampled_{cpus}", image="test/cpus_sampled", cpus=cpus)
        for cpus in (2, 4, 8)
    ),
    quiet("cpus_sampled_64", "halts=1", image="test/cpus_sampled", cpus=64),
    *(  # a slow rate: each NMI makes a host run all of these CPUs
        quiet(
            f"cpus_nmi_{cpus}",
            "prof.tick=nmi prof.hz=20 prof.jitter=0",
            image="test/cpus_nmi",
            cpus=cpus,
            shows=["^prof: sampling by NMIs of the PIT: as prof.tick says$"],
            hides=["^prof: no"],
        )
        for cpus in (9, 64)
    ),
    *(
        quiet(
            f"cpu_promises_{cpus}{name}",
            words,
            image="test/cpu_promises",
            cpus=cpus,
            shows=[
                r"^promise: misused \([0-9]+\), made at .*/main\.c:[0-9]+, "
                "was used on another CPU$"
            ],
            hides=["^prof: no"],
        )
        for cpus, name, words in (
            (2, "", ""),
            (4, "", ""),
            (4, "_nmi", "prof.start=on prof.tick=nmi"),
        )
    ),
    *(
        quiet(
            f"cpus_loop_{cpus}{name}",
            f"prof.loop=12 {words}".rstrip(),
            image="test/cpus_loop",
            cpus=cpus,
            shows=[
                f"^--- event loop of CPU {cpus - 1}.*: busy .* of all ---$",
                r"\bworker \(tests/guest/smp/cpus_loop/main\.c:\d+\)$",
                f"^loop of CPU {cpus - 1}: held for .* by message, at$",
            ],
            hides=["missing -?[1-9]", "no memory"],
        )
        for cpus, name, words in (
            (2, "", ""),
            (4, "", "prof.loop_calls=64"),
            (4, "_nmi", "prof.start=on prof.tick=nmi"),
            (4, "_lapic", "prof.start=on prof.tick=lapic"),
        )
    ),
    *(
        quiet(
            f"cpus_rings_{cpus}",
            "prof.tick=nmi prof.hz=5000 prof.jitter=0",
            image="test/cpus_rings",
            cpus=cpus,
            shows=["^prof: sampling by NMIs of the PIT: as prof.tick says$"],
            hides=["^prof: no", "^not ok"],
        )
        for cpus in (2, 4)
    ),
    quiet(
        "cpus_hot",
        "cpus=1 prof.tick=nmi prof.hz=5000",
        cpus=3,
        shows=["^boot: 1 CPU$"],
        hides=["^prof: no", "^not ok"],
    ),
    quiet(
        "cpus_lapic",
        "prof.tick=lapic",
        cpus=3,
        shows=["^prof: sampling by the local APIC's timer: as prof.tick says$"],
        hides=["^not ok"],
    ),
    quiet(
        "cpus_lapic_own",
        "lapic.own=1 alarm=tick",
        image="test/cpus_lapic",
        cpus=3,
        hides=["^not ok"],
    ),
    dies("cpu_exits", "exit", ["^boot: 4 CPUs$"], exits=42, hides=["panic"]),
    dies(
        "cpu_faults",
        "fault",
        [
            "^panic: page fault, null pointer dereference$",
            "^  on CPU 3$",
            "^  #0  0x[0-9a-f]+  write_null [+] 0x",
            "^  #1  0x[0-9a-f]+  run_call [+] 0x",
            "^  #[0-9]+ +0x[0-9a-f]+  loop_run [+] 0x",
            ENDS,
        ],
        hides=["backtrace incomplete", "another panic", "did not stop"],
    ),
    dies(
        "cpu_faults_under_nmis",  # whose gate the profiler has
        "fault",
        [
            "^prof: sampling by NMIs of the PIT: as prof.tick says$",
            "^panic: page fault, null pointer dereference$",
            "^  on CPU 3$",
            ENDS,
        ],
        hides=["another panic", "did not stop"],
        words="prof.start=on prof.tick=nmi",
    ),
    dies(
        "cpu_overflows",
        "overflow",
        [
            "^panic: (page|double) fault, stack overflow$",
            "^  on CPU 3$",
            "^  #0  0x[0-9a-f]+  overflow [+] 0x",
            ENDS,
        ],
    ),
    dies(
        "cpu_faults_in_a_task",
        "task",
        [
            "^panic: page fault, null pointer dereference$",
            "^  on CPU 3$",
            "^  in task doomed$",
            "^  #0  0x[0-9a-f]+  write_null [+] 0x",
            "^  #1  0x[0-9a-f]+  task_main [+] 0x",
            ENDS,
        ],
        hides=["backtrace incomplete", "another panic", "did not stop"],
    ),
    dies(
        "cpu_panics_while_another_prints",  # which holds the console
        "console",
        [
            "^panic: planned at tests/guest/smp/cpus_die/main",
            "^  on CPU 3$",
            ENDS,
        ],
        hides=["never seen", "another panic", "did not stop"],
    ),
    dies(
        "cpus_panic_together",
        "together",
        ["^panic: all at once at ", ENDS],
        hides=["another panic", "while an exception", "did not stop"],
    ),
]
