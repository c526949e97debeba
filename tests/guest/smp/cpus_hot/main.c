/* SPDX-License-Identifier: Apache-2.0 */

/*
 * CPUs that are started while the PIT's NMIs come at 5 kHz. The kernel boots
 * with cpus=1 and leaves the others alone; they are started here, by INIT and
 * the start interrupt, and join at once. Each leaves, halts and is started
 * again several times, while CPU 0 and the other one are sampled.
 *
 * An NMI that came to a CPU without an IDT would reset the machine, and one
 * that came to the kernel's handler would be a panic. How many come meanwhile
 * is up to the host: CPUs are started until there were enough of them.
 */

#include "../../../../kernel/heap.h"
#include "guest/guest.h"
#include "guest/tap.h"
#include "guest/wraps.h"

#include <arch/context.h>
#include <arch/cpu.h>
#include <arch/cpus.h>
#include <kernel/clock.h>
#include <kernel/cpu.h>
#include <kernel/service.h>
#include <malloc.h>
#include <prof/cpus.h>
#include <prof/error.h>

#define CPUS 3u
#define STARTS 3u         /* of each CPU, at least */
#define UNDER_FIRE 20u    /* NMIs of CPU 0 while others started */
#define SAMPLES 40u       /* of a CPU, between its start and its end */
#define TURNS 2000u       /* of a loop: some microseconds */
#define PATIENCE_MS 5000u /* a host may run a CPU as late as that */

int __wrap_prof_init(void *memory, size_t bytes,
                     const struct prof_config *config)
{
    static _Alignas(64) unsigned char own_memory[CPUS << 16];
    struct prof_config own = *config;

    (void)memory;
    (void)bytes;
    own.cpus = CPUS;
    own.kick = NULL; /* the kernel does not know of the others */
    return __real_prof_init(own_memory, sizeof own_memory, &own);
}

/* Written by one CPU each. */
static struct {
    volatile uint32_t joined, left; /* times */
    volatile int error;
} cpus[CPUS] __attribute__((aligned(64)));

/* Written by CPU 0. */
static volatile uint32_t leaves[CPUS]; /* how often a CPU is to leave */

static struct prof_cpu_stats stats_of(unsigned number)
{
    struct prof_cpu_stats stats = {0};

    (void)prof_cpu_stats(number, &stats);
    return stats;
}

static __attribute__((noinline)) void spin(void)
{
    for (volatile uint32_t i = 0; i < TURNS; i++)
        ;
}

/* ---- the others */

/* On its own stack, with interrupts off, as after each start. */
static void run(void)
{
    unsigned number = cpu_number();
    int error;

    do
        error = prof_cpu_join(number);
    while (error == PROF_ESTATE); /* no drain has released it */
    cpus[number].error |= error;
    cpus[number].joined++;
    while (cpus[number].left == leaves[number])
        spin();
    prof_cpu_leave();
    cpus[number].left++;
    for (;;)
        arch_stop();
}

/* ---- CPU 0 */

/* Starts (number). Returns how many NMIs CPU 0 had meanwhile, or a negative
 * number if it does not start. */
static int64_t start(unsigned number)
{
    void *memory = memalign(ARCH_PAGE_BYTES, ARCH_CPU_BYTES);
    uint32_t joined = cpus[number].joined;
    uint64_t ticks = stats_of(0).ticks;

    if (memory == NULL ||
        arch_cpu_start(number, number, memory, heap_page, clock_tsc_hz(),
                       PATIENCE_MS, run) != ARCH_CPU_STARTED)
        return -1;
    while (cpus[number].joined == joined) {
        prof_cpu_answer();
        prof_drain();
    }
    return (int64_t)(stats_of(0).ticks - ticks);
}

/* Until (number) has so many samples more. */
static void sample(unsigned number)
{
    uint64_t before = stats_of(number).ticks;

    while (stats_of(number).ticks - before < SAMPLES) {
        spin();
        prof_drain();
    }
}

static void stop(unsigned number)
{
    leaves[number]++;
    while (cpus[number].left != leaves[number] || stats_of(number).joined)
        prof_drain();
}

static bool is_accounted(unsigned number)
{
    struct prof_cpu_stats stats = stats_of(number);

    tap_note("CPU %u: %u ticks, %u dropped, %u missed", number,
             (unsigned)stats.ticks, (unsigned)stats.dropped,
             (unsigned)stats.missed);
    return stats.attributed + stats.idle + stats.unresolved + stats.user +
               stats.dropped + stats.queued ==
           stats.ticks;
}

int service_main(void)
{
    unsigned starts = 0, failed = 0, number = 1;
    int64_t fire = 0;
    bool accounted = true, errors = false;

    tap_plan(7);
    tap_is_equal(cpu_count(), 1, "the kernel has started no CPU");
    tap_is_equal(prof_start(), 0, "NMIs come");
    sample(0);
    while ((starts < STARTS * (CPUS - 1) || fire < UNDER_FIRE) && !failed) {
        int64_t came = start(number);

        failed += came < 0;
        if (failed)
            break;
        fire += came;
        starts++;
        sample(number);
        number = number % (CPUS - 1) + 1; /* the next one, which runs still */
        if (starts >= CPUS - 1)
            stop(number);
    }
    tap_note("%u starts, %u NMIs of CPU 0 meanwhile", starts, (unsigned)fire);
    tap_is_equal(failed, 0, "CPUs start under fire, again and again");
    for (unsigned i = 0; i < CPUS; i++) {
        accounted &= is_accounted(i);
        errors |= cpus[i].error != 0;
    }
    tap_ok(!errors, "  each joins, and is sampled each time");
    for (unsigned i = 1; i < CPUS; i++)
        if (cpus[i].left != cpus[i].joined)
            stop(i);
    prof_stop();
    prof_drain();
    tap_ok(accounted, "  each sample is in one account of that CPU");
    tap_is_equal(guest_stats().tick.nmi_taken_back, 0,
                 "the entry was not overwritten");
    tap_ok(prof_start() == 0 && prof_running(), "and sampling starts again");
    prof_stop();
    return tap_end();
}
