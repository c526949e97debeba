# SPDX-License-Identifier: Apache-2.0
"""Guest cases: causal profiling."""

from harness.cases import case, quiet

CLOSED = r"peers wait for our answers \(closed loop\)"
OPEN = r"requests come by themselves \(open loop\)"
PARTLY = r"connections come by themselves, then peers wait for answers"


def probed(name, work, visits, kind, port=""):
    """What clients do is found out: those of a program of causal_net."""
    where = ", port 80" if port else ""
    text = rf"network{where}: {kind}; probed: \d+ % if held$"
    return case(
        name,
        image="test/causal_net",
        append=(
            "prof.start=off prof.every=0 prof.drain=10000 "
            f"net.ip=10.0.2.15/24 net.peer=probe{port} "
            f"causal.work={work} causal.visits={visits}"
        ),
        icount=0,
        shows=[f"^net: {text}", f"^assumed: {text}", rf"^\d+ of \d+: {text}"],
    )


def asks(name, words, shows, hides=()):
    """Options ask a program of causal_options for experiments."""
    return case(
        name,
        image="test/causal_options",
        append=f"prof.every=0 {words}",
        icount=0,
        exits=0,
        shows=shows,
        hides=hides,
    )


def learns(name, words, shows, hides=()):
    """With targets by samples."""
    on = "do=learnt prof.causal=on prof.progress=work_done"
    return asks(name, f"{on} {words}", shows, hides)


CASES = [
    # causal_experiments is run and recorded by suite/causal
    asks(
        "causal_options",
        "prof.causal=auto prof.progress=work_done",
        [
            r"^causal: hot_work is a target$",
            r"^causal: experiments have begun$",
            r"^--- causal profile: \d+ experiments$",
            r"^work_done:$",
            # 41 % of the time, at 50 % faster
            r"^  hot_work .* (39|4[0-2])\.\d\d \+- ",
            r"^not tried: loop_run: .* % of the time, it waits for work$",
            r"^not tried: work: (9\d|100)\.\d\d % .*, it has nearly all ",
            r"^not tried: \d+ more functions?: .*less than 0\.5 % each$",
        ],
        # but loop_once_at(), which the work calls, is near the least share
        [r"loop_(poll|run|wait) is a target", "service_main is a target"],
    ),
    # what the start calls, and nothing else, has the first samples
    asks(
        "causal_chosen_again",
        "prof.causal=auto prof.progress=work_done warm=700",
        [
            r"^causal: no target: no hot function can be a target yet$",
            r"^causal: hot_work is a target$",
            r"^causal: experiments have begun$",
            r"^  hot_work .* (39|4[0-2])\.\d\d \+- ",
        ],
    ),
    # it would go on for hours
    asks(
        "causal_until",
        "prof.causal=auto prof.progress=work_done prof.causal_until=2% "
        "units=2000000000",
        [
            r"^causal: experiments have ended: no interval is wider than ",
            r"^--- causal profile: \d+ experiments$",
            r"^  hot_work +(79|80)\.\d\d( +\S+ \+- [01]\.\d\d){3} ",
            r"^one work_done takes 6[78]\.\d us before experiments, "
            r"6[78]\.\d at normal speed in them, 6[78]\.\d after them$",
        ],
        [
            "units done",
            r"causal profile.*[\s\S]*causal profile",
            "experiments change the program",
        ],
    ),
    # it computes some 4 % more while they run
    asks(
        "causal_changed",
        "prof.causal=on prof.progress=work_done prof.target=cold_work "
        "prof.causal_for=1s units=2000000000 more=3000",
        [
            r"^one work_done takes 6[78]\.\d us before experiments, "
            r"7[0-2]\.\d at normal speed in them, 6[78]\.\d after them$",
            r"^warning: experiments change the program: at normal speed it is "
            r"[45]\.\d\d \+- 0\.\d\d % slower than before, and "
            r"[45]\.\d\d \+- 0\.\d\d % slower than after; gains are ",
        ],
    ),
    asks(
        "causal_for",
        "prof.causal=on prof.progress=work_done prof.target=hot_work "
        "prof.causal_for=1s units=2000000000",
        [
            r"^causal: experiments have ended: they took as long as ",
            r"^--- causal profile: \d+ experiments$",
            r"^  hot_work +(79|80)\.\d\d ",
        ],
        ["units done"],
    ),
    asks(
        "causal_refused",
        "prof.causal=on prof.progress=work_done prof.target=no_such "
        "prof.target=prof_drain prof.target=prof_patch_entries "
        "prof.target=end_visit prof.progress=prof_patch_returns units=4000",
        [
            r"^causal: no_such: no function of this name",
            r"^causal: prof_drain: the function is the profiler's own$",
            # the hooks, and what they call
            r"^causal: prof_patch_entries: the function is the profiler's own$",
            r"^causal: end_visit: the function is the profiler's own$",
            r"^causal: prof_patch_returns: the function is the profiler's own$",
            r"^causal: no target: what prof.target= names was refused$",
            r"^causal: no experiments: a target or a progress point is missing",
        ],
        ["causal profile", "no progress point"],
    ),
    asks(
        "causal_refused_point",
        "prof.causal=on prof.progress=no_such prof.target=hot_work "
        "units=4000",
        [
            r"^causal: no_such: no function of this name",
            r"^causal: no progress point: what prof.progress= names was ",
            r"^causal: no experiments: a target or a progress point is missing",
        ],
        ["causal profile", "no target"],
    ),
    asks(
        "causal_nothing_named",
        "prof.causal=on units=4000",
        [
            r"^causal: no target: prof.target= names one, prof.causal=auto ",
            r"^causal: no progress point: prof.progress= names one$",
            r"^causal: no experiments: a target or a progress point is missing",
        ],
        ["causal profile"],
    ),
    case(
        "causal_net",
        append=(
            "prof.start=off prof.every=0 prof.drain=10000 "
            "net.ip=10.0.2.15/24 causal.visits=1500 net.peer=open:81"
        ),
        icount=0,
        shows=[
            r"^assumed: network: peers wait for our answers \(closed loop\)$",
            r"^assumed: network, port 81: requests come by themselves ",
        ],
    ),
    probed("causal_probe_closed", 0, 9000, CLOSED),
    probed("causal_probe_again", 2, 9000, CLOSED),
    probed("causal_probe_open", 3, 9000, OPEN, ":80"),
    probed("causal_probe_partly", 4, 14000, PARTLY),
    learns(
        "causal_learnt",
        "prof.target=jumps_back prof.target=often prof.target=rest "
        "prof.hz=4000",
        [
            r"^jumps_back is measured by its share of handlers: \d+ of \d+ ",
            r"^often is measured by its share of handlers: \d+ of \d+ ",
            r"^targets are measured from enter to leave$",
            # 38, 29 and 29 % of the time, the half of it at 50 % faster
            r"^  jumps_back +3[5-9]\.\d\d( +\S+ \+- \S+)"
            r" +(1[7-9]|20)\.\d\d \+- \d\.",
            r"^  often +(2[7-9]|3[0-2])\.\d\d( +\S+ \+- \S+)"
            r" +1[2-6]\.\d\d \+- \d\.",
            r"^  rest +2\d\.\d\d( +\S+ \+- \S+) +1[3-5]\.\d\d \+- \d\.",
        ],
        ["rest is measured"],
    ),
    # chosen by itself, on trial first: nothing begins again
    asks(
        "causal_learnt_auto",
        "do=learnt prof.causal=auto prof.progress=work_done prof.hz=4000 "
        "prof.causal_until=4% units=2000000000",
        [
            r"^causal: experiments have ended: no interval is wider than ",
            r"^often is measured by its share of handlers: \d+ of \d+ ",
            r"^jumps_back is measured by its share of handlers: \d+ of \d+ ",
            r"^  rest +2\d\.\d\d( +\S+ \+- \S+) +1[3-5]\.\d\d \+- ",
            r"^  often +(2[7-9]|3[0-2])\.\d\d( +\S+ \+- \S+)"
            r" +1[2-6]\.\d\d \+- ",
            r"^  calls_it +3[5-9]\.\d\d( +\S+ \+- \S+)"
            r" +(1[7-9]|20)\.\d\d \+- ",
        ],
        ["rest is measured"],
    ),
    learns(
        "causal_learnt_callers",
        "prof.target=calls_it prof.accrue=smooth prof.hz=4000",
        [
            r"^calls_it is measured by its share of handlers: \d+ of \d+ ",
            # 38 and 29 %, give or take 4.5 standard errors of 17,000 samples.
            # rest had 24 and 26 % when how long the profiler looked at a sample
            # depended on where it was: the program has one rhythm
            r"^ +(2[789]|30)\.\d\d % .* rest$",
            r"^  calls_it +(3[6-9]|40)\.\d\d( +\S+ \+- \S+)"
            r" +(1[7-9]|20)\.\d\d \+- \d\.",
        ],
        ["from enter to leave"],
    ),
    learns(
        "causal_learnt_not",
        "prof.target=jumps_back prof.accrue=entry units=4000",
        [
            r"^causal: jumps_back: the function (jumps|is too short) to ",
            r"^causal: no target: what prof.target= names was refused$",
            r"^causal: no experiments: a target or a progress point is missing",
        ],
    ),
    learns(
        "causal_learnt_without_samples",
        "prof.target=jumps_back prof.start=off units=20000",
        [
            r"^jumps_back is measured by its share of handlers: 0 of 0 ",
            r"^  jumps_back .* too few samples$",
        ],
    ),
    # 500 us for a device, 300 for a lock, 200 for a task's sleep, 100 for a
    # timer, and some 40 of computing, which takes a fifth of that
    case(
        "causal_waits",
        append="prof.every=0 prof.causal=on prof.target=compute "
        "prof.progress=unit_done units=2400",
        icount=0,
        exits=0,
        shows=[
            r"^  compute .* 4[2-6] % waiting for the tape, "
            r"2[4-8] % waiting for lock ledger, "
            r"1[5-9] % waiting for timer worker",
        ],
    ),
    quiet("causal_interrupted", icount=0),
    quiet(
        "causal_patch",
        "prof.drain=10000",
        icount=0,
        shows=[r"; at least ([2-9]|1[01]) ms stolen$"],
    ),
    quiet(
        "causal_smooth",
        "prof.depth=0 prof.hz=20000 causal.visits=1200",
        icount=0,
    ),
    # of a batching worker, which shows what is not left out of virtual time
    case(
        "causal_smooth_worker",
        image="test/causal_smooth",
        append=(
            "prof.start=off prof.every=0 prof.depth=0 prof.hz=20000 "
            "causal.visits=4000 causal.speedups=3 "
            "causal.first=20 causal.last=21"
        ),
        icount=0,
    ),
    quiet("causal_truth", "prof.drain=10000 causal.visits=800", icount=0),
]
