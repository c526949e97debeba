# SPDX-License-Identifier: Apache-2.0
"""Several CPUs, of which is known what they do at once: the guest test
cpus_truth, sampled by NMIs of the PIT while the host runs its CPUs as it likes.

What holds on every host:

- Phases exclude each other. Samples that are said to be of one tick must not be
  of two phases, nor of two holders of the lock.
- A phase is in no more ticks than it lasted. Of the time that was joined, what
  is not of the other phases is of this one.
- Leaves have their shares, with interrupts off or on.
- `report --latency` and `--blame` say what their definitions (docs/cpus.md)
  make of the same samples, which are joined here once more.
- The ticks that CPU 0 has taken or missed are no more than were due, and no
  fewer than QEMU has sent. No CPU has taken more than these.

How many ticks can be joined is up to the host. What is said of joined ticks
holds for few of them as well, and is judged as soon as there is one, with the
share that was joined. Only whether a CPU that is late would be seen needs many,
and is skipped where there are few.
"""

import collections
import math
import re
import shutil
from dataclasses import dataclass

import chance
from harness.command import Command
from harness.suite import Skip, check

HZ = 100
SKEW_US = 2000
CLOCK_US = 10  # clocks of a stream in one
GRACE = 2 * CLOCK_US * 1_000_000 // HZ
ENOUGH = 30  # ticks that are joined
TRIES = 5
# Two samples of a tick may be of both sides of a border between phases.
BORDERS, SOME = 0.05, 3
IDLE, BETWEEN, LOCK = "[idle]", "between", "lock_take"
HELD = "hold", "bystander"
PHASES = {"serial": "serial", "parallel": "parallel"}
PHASES |= dict.fromkeys((LOCK, *HELD), "lock")
# (what is executed there, per cent of one leaf, that leaf, the other one)
SHARES = (
    ("serial", 0.7, "leaf_a", "leaf_b"),
    ("parallel", 0.4, "leaf_c", "leaf_d"),
    ("hold", 0.7, "leaf_a", "leaf_b"),
    ("bystander", 0.4, "leaf_c", "leaf_d"),
)
SAMPLE = re.compile(r"^.* (\d+)\.(\d{7}) \[(\d+)\] sample: (\d+) ns$")
NMI = re.compile(r"dest_mode 1 delivery_mode 4 ")
RUN = re.compile(r"^truth: (\d+) rounds in (\d+) us", re.M)
PHASE = re.compile(r"^truth: (\w+) (\d+) us, and (\d+) us until", re.M)
CPU = re.compile(
    r"^truth: CPU (\d+): (\d+) ticks, (\d+) missed, (\d+) dropped, "
    r"(\d+) queued",
    re.M,
)


def state_of(stack):
    """What a CPU does, whose functions are (stack)."""
    for name in (*HELD, LOCK, "serial", "parallel"):
        if name in stack:
            return name
    return IDLE if IDLE in stack else BETWEEN


@dataclass
class Sample:
    time: int  # clocks of the stream
    clocks: int  # that it accounts for
    state: str
    leaf: str


def samples_of(text):
    """{CPU: its samples}, of `parasite script`."""
    found, stacks = collections.defaultdict(list), []
    for line in text.splitlines():
        head = SAMPLE.match(line)
        if head:
            sample = Sample(int(head[1] + head[2]), int(head[4]) // 100, "", "")
            found[int(head[3])].append(sample)
            stacks.append((sample, []))
        elif line.startswith("\t") and stacks:
            stacks[-1][1].append(line.split()[0])
    for sample, stack in stacks:
        sample.state, sample.leaf = state_of(stack), stack[0] if stack else ""
    return found


def joined(cpus):
    """Lists of one sample of each CPU, all within SKEW_US. Nothing is waited
    for of a CPU whose first one is more than GRACE later, or whose last one is
    so much earlier."""
    bound, ticks = SKEW_US * CLOCK_US, []
    left = {cpu: collections.deque(found) for cpu, found in cpus.items()}
    while any(left.values()):
        begin = min(found[0].time for found in left.values() if found)
        tick, whole = [], True
        for cpu, found in left.items():
            if found and found[0].time - begin <= bound:
                tick.append(found.popleft())
                # with two of a CPU, the next begins another tick
                whole &= not found or found[0].time - begin > bound
            elif len(found) == len(cpus[cpu]):
                whole &= found[0].time > begin + GRACE
            else:
                whole &= cpus[cpu][-1].time + GRACE < begin
        if whole:
            ticks.append(tick)
    return ticks


def is_possible(tick):
    """Whether there is a moment at which these could be done at once."""
    states = collections.Counter(sample.state for sample in tick)
    phases = {PHASES[state] for state in states if state in PHASES}
    alone = all(states[name] <= 1 for name in ("serial", *HELD))
    return len(phases) <= 1 and alone


def by_latency(ticks):
    """{what is done: the time of it, by the definition of --latency}"""
    found = collections.Counter()
    for tick in ticks:
        clocks = min(sample.clocks for sample in tick)
        busy = [sample for sample in tick if sample.state != IDLE] or tick
        for sample in busy:
            found[sample.state] += clocks / len(busy)
    return found


def by_blame(ticks):
    """The same for --blame lock_take."""
    found = collections.Counter()
    for tick in ticks:
        clocks = min(sample.clocks for sample in tick)
        waiting = [sample for sample in tick if sample.state == LOCK]
        others = [sample for sample in tick if sample.state != LOCK]
        busy = [sample for sample in others if sample.state != IDLE]
        for sample in busy or others or waiting:
            share = len(busy or others or waiting)
            found[sample.state] += clocks * len(waiting) / share
    return found


def be_possible(ticks):
    wrong = [tick for tick in ticks if not is_possible(tick)]
    for tick in wrong[:10]:
        print(*((sample.time, sample.state) for sample in tick))
    most = BORDERS * len(ticks) + SOME
    check.between(len(wrong), 0, most, f"impossible ticks of {len(ticks)}")


class Run:
    """cpus_truth on so many CPUs, until enough of its ticks can be joined."""

    def __init__(self, s, width, cpus):
        self.s, self.width, self.cpus = s, width, cpus
        self.parasite = Command(s)
        self.image = s.image(width, "test/cpus_truth", cpus)
        self.name = f"{width}-{cpus}"
        self.trace = s.work / f"{self.name}.trace"
        self.log = s.work / f"{self.name}.irqs"
        self.ticks = []

    def boot(self):
        self._boot(16)

    def boot_and_join(self):
        rounds = 16
        for _ in range(TRIES):
            self._boot(rounds)
            self.ticks = joined(self.samples)
            due = max(map(len, self.samples.values()))
            self.s.note(
                f"{self.name}: {self.whole()} ticks joined in {rounds} rounds, "
                f"{100 * self.whole() / due:.0f} % of them"
            )
            if self.whole() >= ENOUGH:
                return
            rounds *= 2

    def whole(self):
        """How many ticks are of all CPUs."""
        return sum(len(tick) == self.cpus for tick in self.ticks)

    def of_joined(self, test, enough=1):
        """The same test, skipped where too few ticks are joined."""

        def judged():
            if self.whole() < enough:
                ticks = f"{self.whole()} ticks"
                raise Skip(f"the host ran all CPUs at once in {ticks} only")
            test()

        return judged

    def _boot(self, rounds):
        packets = self.s.work / f"{self.name}.packets"
        with self.s.guest(
            *(self.width, "test/cpus_truth", self.name, self.cpus),
            append="prof.start=off prof.every=0 prof.tick=nmi prof.jitter=0 "
            f"prof.hz={HZ} prof.out=e9 truth.rounds={rounds}",
            stream=packets,
            args=["-trace", "apic_deliver_irq", "-D", self.log],
        ) as guest:
            check.same(guest.end(), 0)
            self.text = guest.text()
        shutil.rmtree(self.trace, ignore_errors=True)
        words = (self.trace, "-q", f"file:{packets}", "-k", self.image)
        self.parasite.record(*words)
        script = self.parasite("script", "-q", self.trace).out
        self.samples = samples_of(script)
        check.same(sorted(self.samples), list(range(self.cpus)))

    def weighed(self, *words):
        """{what is done: its time in clocks, as the command says}"""
        words = ("--profiler", "--skew", SKEW_US, "--weight", "time", *words)
        found = collections.Counter()
        for stack, ns in self.parasite.folded(self.trace, *words):
            found[state_of(stack)] += ns / 100
        return found

    # ---- what must hold

    def agrees(self, what, mine, *words):
        """But for a clock of each sample, as the command rounds."""
        said = self.weighed(*words)
        slack = len(self.ticks) * self.cpus
        for state in {*mine, *said}:
            here, there = mine[state] / 1e4, said[state] / 1e4
            self.s.note(
                f"{self.name} {what}, {state}: {here:.1f} ms here, "
                f"{there:.1f} ms by the command"
            )
            check.between(said[state] - mine[state], -slack, slack, state)

    def latency(self):
        self.agrees("latency", by_latency(self.ticks), "--latency")

    def blame(self):
        found = by_blame(self.ticks)
        self.agrees("blame", found, "--blame", LOCK)
        if sum(found.values()):
            holder = found["hold"] / sum(found.values())
            self.s.measured(f"{self.name}: {100 * holder:.1f} % of the blame")
        else:
            self.s.note(f"{self.name}: no tick with a CPU in {LOCK} is joined")

    def possible(self):
        be_possible(self.ticks)

    def doubt(self):
        """Had one CPU's samples been those of some time ago, it would be seen:
        by one of several such times, as phases come again."""
        last = max(self.samples)
        for late in range(HZ // 10, HZ // 2, HZ // 20):
            cpus = dict(self.samples)
            cpus[last] = [
                Sample(sample.time, sample.clocks, before.state, before.leaf)
                for sample, before in zip(cpus[last][late:], cpus[last])
            ]
            try:
                be_possible(joined(cpus))
            except AssertionError:
                return
        raise Skip("the joined ticks are of too few phases")

    def lasts(self):
        """Each phase's time by latency, against how long it was."""
        rounds, whole = map(int, RUN.search(self.text).groups())
        said = collections.Counter()
        for state, clocks in self.weighed("--latency").items():
            said[PHASES.get(state, BETWEEN)] += clocks / CLOCK_US
        rest = whole - sum(said.values())
        # A sample accounts for the period before it: an error of up to one at
        # each end, as often above as below.
        slack = 5 * (1e6 / HZ) * math.sqrt(rounds / 6)
        for name, planned, lasted in PHASE.findall(self.text):
            true = f"{int(planned) / 1e6:.2f} to {int(lasted) / 1e6:.2f}"
            self.s.measured(
                f"{self.name}: {name} lasted {true} s, "
                f"{said[name] / 1e6:.2f} s by --latency, {rest / 1e6:.2f} s "
                f"of {whole / 1e6:.2f} s not joined"
            )
            least, most = int(planned) - rest - slack, int(lasted) + slack
            if least <= 0 and most >= whole - rest:
                self.s.note(f"{self.name}: {name} holds however long it was")
            check.between(said[name], least, most, name)

    def shares(self):
        every = [one for found in self.samples.values() for one in found]
        for state, share, leaf, other in SHARES:
            found = collections.Counter(
                one.leaf for one in every if one.state == state
            )
            both = found[leaf] + found[other]
            if both == 0:
                check.true(state == "bystander" and self.cpus == 2, state)
                continue
            least, most = chance.binomial_band(both, share, chance.FALSE_ALARM)
            self.s.note(
                f"{self.name}: {leaf} in {state}: {found[leaf]} of {both}, "
                f"accepted {least} to {most}"
            )
            check.between(found[leaf], least, most, f"{leaf} in {state}")

    def interrupts_off(self):
        """Every sample of a leaf whose CPU has interrupts off says so, and
        none of the others."""

        def leaves(*words):
            found = collections.Counter()
            words = ("--profiler", *words)
            for stack, count in self.parasite.folded(self.trace, *words):
                if stack[-1].startswith("leaf_"):
                    found[state_of(stack)] += count
            return found

        true = leaves()
        held = {state: true[state] for state in HELD if true[state]}
        check.true(held["hold"] > 0)
        check.same(dict(leaves("--irqs-off")), held)

    def counted(self):
        """Ticks of each CPU, against what was due, and what QEMU has sent."""
        _, whole = map(int, RUN.search(self.text).groups())
        sent = sum(map(bool, map(NMI.search, open(self.log, encoding="ascii"))))
        found = [tuple(map(int, row)) for row in CPU.findall(self.text)]
        check.same(len(found), self.cpus)
        # What the others have missed is defined by what was due on CPU 0.
        _, ticks, missed, _, _ = found[0]
        by_clock, slack = whole * HZ / 1e6, 3 + whole * HZ / 1e8
        self.s.note(
            f"{self.name}: {by_clock:.1f} due, {ticks + missed} by CPU 0, "
            f"{sent} sent, {found}"
        )
        due = ticks + missed
        check.between(due, sent - slack, by_clock + slack, "due")
        check.between(sent, 0, by_clock + slack, "NMIs sent")
        for cpu, ticks, _, dropped, queued in found:
            kept = len(self.samples[cpu])
            check.between(ticks, kept, sent, f"CPU {cpu}")
            check.same(kept + dropped + queued, ticks)
            # one that the host stops in its last tick writes it after the drain
            check.between(queued, 0, 1, f"CPU {cpu}: queued")


def _tests(s, run, *tests):
    for claim, test in tests:
        s.holds(f"{run.width}, {run.cpus} CPUs: {claim}", test)


def many(s, width, cpus):
    """More CPUs than a host runs at the same time: what each one does."""
    run = Run(s, width, cpus)
    _tests(
        s,
        run,
        ("do what is known", run.boot),
        ("leaves have their shares", run.shares),
        ("interrupts are off where they are off", run.interrupts_off),
        ("each tick is taken or missed, by each CPU", run.counted),
    )


def some(s, width, cpus):
    """And what they do at once."""
    run = Run(s, width, cpus)
    _tests(
        s,
        run,
        ("do what is known", run.boot_and_join),
        ("what was done at once could be", run.of_joined(run.possible)),
        (
            "and with one CPU late it could not",
            run.of_joined(run.doubt, ENOUGH),
        ),
        (
            "by latency, phases are as long as they were",
            run.of_joined(run.lasts),
        ),
        ("latency is what it is defined to be", run.of_joined(run.latency)),
        ("so is blame", run.of_joined(run.blame)),
        ("leaves have their shares", run.shares),
        ("interrupts are off where they are off", run.interrupts_off),
        ("each tick is taken or missed, by each CPU", run.counted),
    )
