/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The samples of each CPU against a count that is not the profiler's, and
 * against what each of them is known to do.
 *
 * CPU 0 has the PIT at 1 kHz, whose handler takes a sample and sends an NMI to
 * all others, whose handler takes one there. Even CPUs execute leaf_a and
 * leaf_b as 70 to 30; odd ones leaf_c and leaf_d as 40 to 60, with interrupts
 * off all the time. All but CPU 0 join while these NMIs come, leave and join
 * again several times, and leave while they do.
 *
 * With halts=1 all CPUs but CPU 0 are halted instead, between these NMIs, so
 * that a host can run 64 of them, and leave and join in turns; there are no
 * shares.
 *
 * A host that is busy runs a CPU late, and NMIs that come meanwhile are one:
 * nothing here depends on how many come. It ends when each CPU has had enough.
 */

#include "../../../../arch/x86/lapic.h"
#include "../../../../services/split/leaf.h"
#include "guest/guest.h"
#include "guest/hook.h"
#include "guest/tap.h"
#include "guest/wraps.h"

#include <arch/cpus.h>
#include <kernel/cpu.h>
#include <kernel/service.h>
#include <prof/cpus.h>
#include <string.h>

#define DIVISOR 1193u
#define RATE_MHZ 1000152u /* what the divisor comes to */
#define SLOW_DIVISOR 23860u
#define SLOW_RATE_MHZ 50008u
#define NMI_VECTOR 2u
#define TO_ALL_OTHERS (3u << 18 | LAPIC_ICR_NMI)
#define CPUS_MAX 64u
#define SAMPLES 600u    /* of all CPUs that do the same */
#define FEW_SAMPLES 12u /* of each that is halted */
#define REJOINS 4u
#define LEFT_TICKS (halts ? 10u : 50u)

static bool halts;

bool service_option(const char *key, const char *value)
{
    halts = strcmp(value, "1") == 0;
    return strcmp(key, "halts") == 0;
}

int __wrap_prof_init(void *memory, size_t bytes,
                     const struct prof_config *config)
{
    static _Alignas(64) unsigned char own_memory[CPUS_MAX << 16];
    struct prof_config own = *config;

    (void)memory;
    (void)bytes;
    own.cpus = cpu_count();
    own.tick = (struct prof_tick){.kind = PROF_TICK_HOOK,
                                  .rate_mhz = halts ? SLOW_RATE_MHZ : RATE_MHZ};
    return __real_prof_init(own_memory, sizeof own_memory, &own);
}

/* Where a CPU is: its samples count, may count, do not. */
enum place { INSIDE, MOVING, OUTSIDE, PLACES };

/* Written by one CPU each. */
static struct {
    volatile uint32_t interrupts; /* since they were counted from 0 */
    volatile uint32_t answered;
    volatile int error; /* of joining */
    volatile bool has_handler, has_joined, has_left;
    volatile uint32_t rejoined;     /* times */
    volatile uint32_t came[PLACES]; /* interrupts, by where it was */
    volatile enum place place;
} cpus[CPUS_MAX] __attribute__((aligned(64)));

/* Written by CPU 0. */
static volatile bool fires, ends;
static volatile uint32_t asked, sent, rejoins[CPUS_MAX];

/* Of each CPU. */
static uint32_t samples_min(void)
{
    return halts ? FEW_SAMPLES : SAMPLES / (cpu_count() / 2);
}

/* ---- interrupts */

HANDLER static void on_tick(uintptr_t *pushed)
{
    if (fires) {
        guest_sample(pushed);
        cpus[0].interrupts++;
        sent++;
        lapic_set(LAPIC_ICR, TO_ALL_OTHERS);
    }
    pushed[PUSHED_NEXT] = hook_next;
}

HANDLER static void on_nmi(uintptr_t *pushed)
{
    unsigned number = cpu_number();

    guest_sample(pushed);
    cpus[number].interrupts++;
    cpus[number].came[cpus[number].place]++;
}

/* ---- what the CPUs do */

/* A round of varying length, so that samples do not keep step with it. It is
 * long beside its four calls, to which an emulator's interrupts that come late,
 * as the host ran something else, are drawn. */
static void work(bool odd, uint32_t *random)
{
    uint32_t units;

    *random = *random * 1664525u + 1013904223u;
    units = 4096 + (*random >> 16 & 4095);
    if (odd) {
        leaf_c(SPLIT_TURNS(units * 4));
        leaf_d(SPLIT_TURNS(units * 6));
    } else {
        leaf_a(SPLIT_TURNS(units * 7));
        leaf_b(SPLIT_TURNS(units * 3));
    }
}

static bool is_asked(unsigned number)
{
    return ends || cpus[number].answered != asked ||
           cpus[number].rejoined < rejoins[number];
}

static void halt(unsigned number)
{
    arch_interrupts_off();
    if (is_asked(number))
        arch_interrupts_on();
    else
        arch_idle();
}

/* CPU 0: whoever is halted looks at what it is asked. */
static void wake_all(void)
{
    for (unsigned i = 1; i < cpu_count() && halts; i++)
        arch_cpu_interrupt(i);
}

static uintptr_t kernel_handler;

static void take_nmis(void *context)
{
    (void)context;
    kernel_handler = guest_handler_of(NMI_VECTOR);
    guest_set_gate(NMI_VECTOR, guest_entry(1, on_nmi));
    arch_interrupts_off();
    prof_cpu_leave(); /* the kernel has had it join */
    arch_interrupts_on();
    cpus[cpu_number()].has_handler = true;
}

/* The kernel stops its CPUs by NMIs, in the end. */
static void give_nmis_back(void *context)
{
    (void)context;
    guest_set_gate(NMI_VECTOR, kernel_handler);
    cpus[cpu_number()].has_handler = false;
}

/* Interrupts off. It may join when the drain has let it go. */
static void rejoin(unsigned number)
{
    int error;

    cpus[number].place = MOVING;
    prof_cpu_leave();
    do {
        cpus[number].place = OUTSIDE;
        arch_pause();
        cpus[number].place = MOVING;
        error = prof_cpu_join(number);
    } while (error == PROF_ESTATE);
    while (error == 0 && !prof_running()) /* the drain has not found it */
        arch_pause();
    cpus[number].place = INSIDE;
    cpus[number].error |= error;
    cpus[number].rejoined++;
}

static void run(void *context)
{
    unsigned number = cpu_number();
    bool odd = number % 2 != 0 && !halts;
    uint32_t random = number;

    (void)context;
    arch_interrupts_off();
    cpus[number].error = prof_cpu_join(number);
    if (!odd)
        arch_interrupts_on();
    cpus[number].has_joined = true;
    while (!ends) {
        if (halts)
            halt(number);
        else
            work(odd, &random);
        cpus[number].answered = asked;
        arch_interrupts_off();
        if (cpus[number].rejoined < rejoins[number])
            rejoin(number);
        if (!odd)
            arch_interrupts_on();
    }
    arch_interrupts_off();
    prof_cpu_leave();
    cpus[number].has_left = true;
    arch_interrupts_on();
}

/* ---- CPU 0 */

static bool call_all(cpu_function *function)
{
    bool called = true;

    for (unsigned i = 1; i < cpu_count(); i++)
        called &= cpu_call(i, function, NULL);
    return called;
}

/* No more interrupts come, and each that has was handled: an NMI that was sent
 * before the question comes before the answer. */
static void cease(void)
{
    fires = false;
    asked++;
    wake_all();
    for (unsigned i = 1; i < cpu_count(); i++)
        while (cpus[i].answered != asked)
            arch_pause();
}

#define WAIT_FOR_ALL(condition)                                                \
    for (unsigned i = 1; i < cpu_count(); i++)                                 \
        while (!(condition)) {                                                 \
            prof_drain();                                                      \
            loop_poll();                                                       \
        }

static struct prof_cpu_stats stats_of(unsigned number)
{
    struct prof_cpu_stats stats = {0};

    (void)prof_cpu_stats(number, &stats);
    return stats;
}

static void start(void)
{
    bool on, right = true;

    right &= call_all(take_nmis);
    WAIT_FOR_ALL(cpus[i].has_handler)
    prof_drain(); /* lets them go */
    on = arch_interrupts_save();
    hook_timer(on_tick, guest_handler());
    guest_set_pit(halts ? SLOW_DIVISOR : DIVISOR);
    fires = true;
    tap_is_equal(prof_start(), 0, "sampling begins, and others join after it");
    arch_interrupts_restore(on);
    right &= call_all(run);
    WAIT_FOR_ALL(cpus[i].has_joined)
    WAIT_FOR_ALL(stats_of(i).joined)
    for (unsigned i = 1; i < cpu_count(); i++)
        right &= cpus[i].error == 0;
    tap_ok(right, "all have joined while interrupts came");
}

static void begin_anew(void)
{
    cease();
    prof_drain();
    prof_reset();
    for (unsigned i = 0; i < cpu_count(); i++) {
        cpus[i].interrupts = 0;
        for (enum place place = 0; place < PLACES; place++)
            cpus[i].came[place] = 0;
    }
    sent = 0;
    fires = true;
}

static void sample(void)
{
    uint32_t random = 0;

    begin_anew();
    for (unsigned i = 0; i < cpu_count(); i++)
        while (cpus[i].interrupts < samples_min()) {
            work(false, &random);
            loop_poll();
        }
    cease();
    prof_drain();
}

/* ---- what must hold */

static bool is_accounted(const struct prof_cpu_stats *stats)
{
    return stats->attributed + stats->idle + stats->unresolved + stats->user +
               stats->dropped + stats->queued ==
           stats->ticks;
}

static void test_counts(void)
{
    bool counted = true, accounted = true, drained = true, busy = true,
         near = true;
    uint64_t ticks = 0;
    struct prof_stats all = guest_stats();

    for (unsigned i = 0; i < cpu_count(); i++) {
        struct prof_cpu_stats stats = stats_of(i);

        tap_note("CPU %u: %u of %u, %u dropped, TSC %d +- %u", i,
                 (unsigned)stats.ticks, (unsigned)sent, (unsigned)stats.dropped,
                 (int)stats.tsc_offset, (unsigned)stats.tsc_error);
        ticks += stats.ticks;
        counted &= stats.ticks == cpus[i].interrupts && stats.ticks <= sent;
        accounted &= is_accounted(&stats);
        drained &= stats.queued == 0;
        busy &= i == 0 || (stats.idle != 0) == halts;
        near &= (stats.tsc_offset < 0 ? -stats.tsc_offset : stats.tsc_offset) <=
                (int64_t)stats.tsc_error;
    }
    tap_ok(counted, "each CPU's interrupts are counted, to the last one");
    tap_ok(accounted, "  each in one account of that CPU");
    tap_ok(drained, "  and none is left in a vector");
    tap_ok(busy, "who is halted is idle, who works is not");
    tap_ok(near, "all have one time stamp counter, within what is stated");
    tap_is_equal((int64_t)all.ticks, (int64_t)ticks, "the sum is that of all");
}

static uint64_t samples_of(split_leaf *leaf)
{
    return guest_row((uintptr_t)leaf).samples;
}

/* Their share is within five standard deviations, of 600 samples two points
 * each at most. */
static void test_share(uint64_t of, uint64_t other, int64_t percent,
                       const char *what)
{
    uint64_t both = of + other;

    tap_is_between(both == 0 ? 0 : (int64_t)(of * 100 / both), percent - 10,
                   percent + 10, what);
}

static void test_shares(void)
{
    uint64_t a = samples_of(leaf_a), b = samples_of(leaf_b);
    uint64_t c = samples_of(leaf_c), d = samples_of(leaf_d);
    uint64_t odd = 0;

    for (unsigned i = 1; i < cpu_count(); i += 2)
        odd += stats_of(i).attributed;
    tap_note("a %u, b %u, c %u, d %u, odd CPUs %u", (unsigned)a, (unsigned)b,
             (unsigned)c, (unsigned)d, (unsigned)odd);
    test_share(a, b, 70, "CPUs with interrupts on: their functions' shares");
    test_share(c, d, 40, "CPUs with interrupts off: theirs");
    tap_ok(c + d <= odd && (c + d) * 10 >= odd * 9,
           "  which have all that these CPUs sampled, but for calls of them");
}

/* Those that came while it left or joined are in its account or are not. */
static void test_rejoining(void)
{
    bool counted = true, accounted = true;
    uint32_t all[PLACES] = {0};

    begin_anew();
    for (unsigned i = 1; i < cpu_count(); i++) {
        rejoins[i] = halts ? 1 : REJOINS;
        while (halts && cpus[i].rejoined == 0) {
            prof_drain();
            loop_poll();
        }
    }
    WAIT_FOR_ALL(cpus[i].rejoined == rejoins[i] && stats_of(i).joined)
    for (unsigned i = 1; i < cpu_count(); i++) {
        uint32_t had = cpus[i].came[INSIDE];

        while (cpus[i].came[INSIDE] == had)
            loop_poll();
    }
    cease();
    prof_drain();
    for (unsigned i = 1; i < cpu_count(); i++) {
        struct prof_cpu_stats stats = stats_of(i);

        counted &= cpus[i].error == 0 && stats.ticks >= cpus[i].came[INSIDE] &&
                   stats.ticks <= cpus[i].came[INSIDE] + cpus[i].came[MOVING];
        accounted &= is_accounted(&stats);
        for (enum place place = 0; place < PLACES; place++)
            all[place] += cpus[i].came[place];
    }
    tap_note("%u interrupts inside, %u while CPUs moved, %u outside",
             (unsigned)all[INSIDE], (unsigned)all[MOVING],
             (unsigned)all[OUTSIDE]);
    tap_ok(counted,
           "CPUs leave and join again: interrupts between are counted");
    tap_ok(accounted, "  each in one account of that CPU");
}

/* A CPU that has left has the same interrupts as before, and no samples. */
static void test_leaving(void)
{
    uint32_t before[CPUS_MAX], begin;
    bool same = true, interrupted = true;

    fires = true;
    ends = true;
    wake_all();
    WAIT_FOR_ALL(cpus[i].has_left)
    WAIT_FOR_ALL(!stats_of(i).joined)
    begin = sent;
    for (unsigned i = 1; i < cpu_count(); i++)
        before[i] = (uint32_t)stats_of(i).ticks;
    for (unsigned i = 1; i < cpu_count(); i++) {
        uint32_t had = cpus[i].interrupts;

        while (sent - begin < LEFT_TICKS || cpus[i].interrupts == had)
            loop_poll();
    }
    fires = false;
    prof_stop();
    prof_drain();
    for (unsigned i = 1; i < cpu_count(); i++) {
        interrupted &= cpus[i].interrupts > before[i];
        same &= stats_of(i).ticks == before[i];
    }
    tap_ok(interrupted && same, "who has left is interrupted, and not sampled");
    (void)call_all(give_nmis_back);
    WAIT_FOR_ALL(!cpus[i].has_handler)
}

int service_main(void)
{
    tap_plan(halts ? 11 : 14);
    start();
    sample();
    test_counts();
    if (!halts)
        test_shares();
    test_rejoining();
    test_leaving();
    return tap_end();
}
