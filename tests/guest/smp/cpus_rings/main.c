/* SPDX-License-Identifier: Apache-2.0 */

/*
 * All CPUs at 5 kHz, by NMIs of the PIT: no sample finds its vector full, and
 * each NMI that is raised is sampled, ignored or missed. NMIs are counted in
 * the gate, before the profiler's stub.
 *
 * A host runs CPUs as it likes, so nothing here is by the clock. CPU 0 drains
 * when a CPU has had as many NMIs as come at this rate between two drains. The
 * others do not get further ahead than that and a quarter: their NMI waits for
 * CPU 0. On an idle host it does not have to; on a busy one NMIs that come
 * meanwhile are one. That busy host may run QEMU so regularly that its PIT
 * seems to have a floor, and no tick counts as missed while that is suspected:
 * each drain here ends the search first.
 */

#include "guest/entry.h"
#include "guest/guest.h"
#include "guest/tap.h"

#include <arch/cpu.h>
#include <kernel/clock.h>
#include <kernel/console.h>
#include <kernel/cpu.h>
#include <kernel/service.h>
#include <prof/cpus.h>

#define CPUS_MAX 64u
#define SAMPLES 1000u /* of each CPU */
#define TURNS 2000u   /* of a loop: some microseconds */
#define NMI_VECTOR 2u
#define IOAPIC 0xfec00000u
#define IOAPIC_WINDOW 0x10u
#define IOAPIC_LOW 0x14u /* the PIT's entry */
#define IOAPIC_MASKED 0x10000u

/* Written by one CPU each, but for (drained), which CPU 0 writes. */
static struct {
    volatile uint32_t came; /* NMIs */
    volatile uint32_t held; /* of them, as it was too far ahead */
    volatile uint32_t drained;
    volatile uint32_t answered;
    uint64_t before; /* ticks, before they were counted here */
} cpus[CPUS_MAX] __attribute__((aligned(64)));

/* Written by CPU 0. */
static volatile uint32_t asked, ahead;
static volatile bool ends;
static uintptr_t stub;

/* Of the profiler (tick/floor.h). The search begins again only when the timer
 * is programmed. */
void prof_floor_end(void);

/* ---- NMIs */

HANDLER static bool is_too_far(unsigned number)
{
    return cpus[number].came - cpus[number].drained >= ahead;
}

HANDLER static void on_nmi(uintptr_t *pushed)
{
    unsigned number = cpu_number();

    if (number != 0 && is_too_far(number)) {
        cpus[number].held++;
        while (is_too_far(number))
            ;
    }
    cpus[number].came++;
    pushed[PUSHED_NEXT] = stub;
}

static void mask_entry(bool masked)
{
    volatile uint32_t *index = (volatile uint32_t *)(uintptr_t)IOAPIC;
    volatile uint32_t *window =
        (volatile uint32_t *)(uintptr_t)(IOAPIC + IOAPIC_WINDOW);
    bool on = arch_interrupts_save();

    *index = IOAPIC_LOW;
    *window = masked ? *window | IOAPIC_MASKED : *window & ~IOAPIC_MASKED;
    arch_interrupts_restore(on);
}

static void count_nmis(void)
{
    guest_set_gate(NMI_VECTOR, guest_entry(1, on_nmi));
}

static void give_back(void)
{
    guest_set_gate(NMI_VECTOR, stub);
}

/* ---- the other CPUs */

static __attribute__((noinline)) void spin(void)
{
    for (volatile uint32_t i = 0; i < TURNS; i++)
        ;
}

static __attribute__((noinline)) void spin_masked(void)
{
    bool on = arch_interrupts_save();

    spin();
    arch_interrupts_restore(on);
}

static void answer(void)
{
    cpus[cpu_number()].answered = asked;
}

static void run(void *context)
{
    (void)context;
    while (!ends) {
        spin();
        spin_masked();
        answer();
    }
}

static void (*volatile change)(void); /* what each CPU does when it is called */

static void do_change(void *context)
{
    (void)context;
    change();
    answer();
}

static void await_answers(void)
{
    for (unsigned i = 1; i < cpu_count(); i++)
        while (cpus[i].answered != asked)
            arch_pause();
}

static bool call_all(cpu_function *function)
{
    bool sent = true;

    for (unsigned i = 1; i < cpu_count(); i++)
        sent &= cpu_call(i, function, NULL);
    return sent;
}

/* While the entry is masked: when a CPU answers it has handled what was raised
 * before. There is no drain meanwhile, which would find the entry overwritten.
 * False: no memory for the calls. */
static bool change_all(void (*to)(void))
{
    change = to;
    to();
    asked++;
    if (!call_all(do_change))
        return false;
    await_answers();
    return true;
}

/* ---- CPU 0 */

/* Ticks that were due until the last drain, times 10^12. A busy host may make
 * the profiler lower its rate, in a drain. */
static struct {
    uint64_t since_ns, ticks;
} due;

/* NMIs that had been ignored at the last drain, and at the one before. */
static uint32_t duplicates_drained, duplicates_before_that;

static void drain(void)
{
    uint64_t now = clock_ns();

    due.ticks += (now - due.since_ns) * prof_rate_mhz();
    due.since_ns = now;
    duplicates_before_that = duplicates_drained;
    duplicates_drained = guest_stats().tick.nmi_duplicates;
    prof_floor_end();
    prof_drain();
}

static void drain_if_due(uint32_t ticks)
{
    bool is_due = false;

    for (unsigned i = 0; i < cpu_count(); i++)
        is_due |= cpus[i].came - cpus[i].drained >= ticks;
    if (is_due) {
        uint32_t came[CPUS_MAX];

        for (unsigned i = 0; i < cpu_count(); i++)
            came[i] = cpus[i].came;
        drain();
        for (unsigned i = 0; i < cpu_count(); i++)
            cpus[i].drained = came[i];
    }
}

/* NMIs between two drains. */
static uint32_t ticks_per_drain(void)
{
    return (uint32_t)((uint64_t)prof_drain_ms() * prof_rate_mhz() / 1000000);
}

static bool have_enough(void)
{
    for (unsigned i = 0; i < cpu_count(); i++)
        if (cpus[i].came < SAMPLES)
            return false;
    return true;
}

/* Ticks that were due since the last drain, at most. */
static int64_t due_since_drain(void)
{
    uint64_t last = (clock_ns() - due.since_ns) * prof_rate_mhz();

    return (int64_t)(last / (1000ull * 1000 * 1000 * 1000)) + 1;
}

/* Ticks from the last drain to the end, at most. While the host does not run
 * CPU 0, it misses some of them; that would show in another drain only. */
static int64_t undrained;

/* No more NMIs come, and the last ones were handled; no drain, as above. */
static void cease(void)
{
    drain();
    mask_entry(true);
    undrained = due_since_drain();
    ahead = UINT32_MAX;
    asked++;
    await_answers();
}

/* ---- what must hold */

static struct prof_cpu_stats stats_of(unsigned number)
{
    struct prof_cpu_stats stats = {0};

    (void)prof_cpu_stats(number, &stats);
    return stats;
}

static uint64_t kept(const struct prof_cpu_stats *stats)
{
    return stats->attributed + stats->idle + stats->unresolved + stats->user +
           stats->queued;
}

/* At most. */
static int64_t ticks_due(void)
{
    return (int64_t)(due.ticks / (1000ull * 1000 * 1000 * 1000)) +
           due_since_drain();
}

/* The gates are those of count_nmis() from now on. */
static bool begin_counting(void)
{
    bool changed;

    mask_entry(true);
    changed = change_all(count_nmis);
    for (unsigned i = 0; i < cpu_count(); i++)
        cpus[i].before = stats_of(i).ticks;
    return changed;
}

/* The next sample shows what NMIs were ignored after this one: none does for
 * the last. */
static int64_t unknown(void)
{
    return guest_stats().tick.nmi_duplicates - duplicates_before_that;
}

/* Whether a CPU has had or missed what was raised. What the first one has not
 * noticed yet may have come to it. */
static bool is_all_raised(const struct prof_cpu_stats *stats, int64_t raised)
{
    int64_t more = (int64_t)(stats->ticks + stats->missed) - raised;

    return more >= 0 && more <= undrained;
}

static void test_counts(uint32_t duplicates_before)
{
    struct prof_cpu_stats first = stats_of(0);
    int64_t raised = (int64_t)(first.ticks + first.missed), most = 0, extra = 0;
    int64_t at_most = ticks_due();
    bool lost = false, added = true, merged = true;

    for (unsigned i = 0; i < cpu_count(); i++) {
        struct prof_cpu_stats stats = stats_of(i);
        int64_t came = cpus[i].came;

        tap_note("CPU %u: %u raised = %u kept + %u dropped + %u merged; %u "
                 "came, %u of them held; at most %u undrained",
                 i, (unsigned)raised, (unsigned)kept(&stats),
                 (unsigned)stats.dropped, (unsigned)stats.missed,
                 (unsigned)came, (unsigned)cpus[i].held, (unsigned)undrained);
        lost |= stats.dropped != 0;
        added &= kept(&stats) + stats.dropped == stats.ticks;
        merged &= is_all_raised(&stats, raised) &&
                  came <= raised + unknown() + undrained;
        extra += came - (int64_t)(stats.ticks - cpus[i].before);
        most = came > most ? came : most;
    }
    tap_ok(!lost, "no CPU has dropped a sample");
    tap_is_equal((int64_t)guest_stats().overflowed, 0,
                 "  or found its vector full");
    tap_ok(added, "each CPU's ticks are kept or dropped");
    tap_ok(merged, "  and with those that were merged all that were raised");
    tap_is_equal(extra, guest_stats().tick.nmi_duplicates - duplicates_before,
                 "  all that came: but for those right after a sample");
    tap_is_between(raised, most - unknown() - undrained,
                   at_most + at_most / 100 + 3,
                   "no more were raised than were due");
}

int service_main(void)
{
    uint32_t before, ticks;

    due.since_ns = clock_ns();
    tap_plan(10);
    tap_is_equal(prof_start(), 0, "NMIs are taken");
    stub = guest_handler_of(NMI_VECTOR);
    ticks = ticks_per_drain();
    ahead = ticks + ticks / 4;
    tap_ok(begin_counting(), "all CPUs count what comes");
    before = guest_stats().tick.nmi_duplicates;
    (void)call_all(run);
    mask_entry(false);
    tap_is_between(ticks, 100, 1000, "so many come between two drains");
    while (!have_enough()) {
        spin();
        drain_if_due(ticks);
    }
    cease();
    test_counts(before);
    ends = true;
    (void)change_all(give_back);
    mask_entry(false);
    prof_stop();
    tap_is_equal(guest_stats().tick.nmi_taken_back, 0,
                 "nobody else has written the entry");
    return tap_end();
}
