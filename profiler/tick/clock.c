/* SPDX-License-Identifier: Apache-2.0 */

/* The time base in force, the rate, and the ticks that were missed. */

#include "tick/clock.h"

#include "base/cpu.h"

#include <prof/config.h>
#include <prof/tick.h>

struct prof_timebase prof_clocks[PROF_CPUS_MAX];
struct prof_clock_common prof_clock;

/* Missed ticks at the last reset. */
static int64_t missed_before[PROF_CPUS_MAX];

#if PROF_CPUS_MAX > 1
/* Of other CPUs with a common timer, of which the first one knows how many
 * ticks it has raised: what it is ahead by says what they have missed. */
static struct behind {
    int64_t missed;  /* up to the last time that it was let go */
    uint32_t before; /* how far the first was ahead when it joined */
    uint32_t left;   /* and when it left; written by that CPU */
    bool taken;      /* it has joined, and was not let go */
} behinds[PROF_CPUS_MAX];

static struct behind *behind_of(const struct prof_cpu *cpu)
{
    return &behinds[prof_cpu_number(cpu)];
}
#endif

void prof_clock_open(uint64_t tsc)
{
    PROF_FOR_EACH_CPU (cpu) {
        *prof_clock_of(cpu) =
            (struct prof_timebase){.last_tsc = tsc, .resume_tsc = tsc};
        missed_before[prof_cpu_number(cpu)] = 0;
#if PROF_CPUS_MAX > 1
        *behind_of(cpu) = (struct behind){0};
#endif
    }
}

#if PROF_CPUS_MAX > 1
/* As the first CPU's clock is set. */
static void set_another(struct prof_cpu *cpu, uint64_t tsc)
{
    const struct prof_timebase *first = prof_clock_of(PROF_CPU_FIRST);
    struct prof_timebase *clock = prof_clock_of(cpu);
    int64_t missed = clock->missed;

    prof_timebase_set(clock, tsc, first->period, first->divisor);
    clock->missed = missed;
    clock->irregular =
        prof_clock.common || prof_clock.apart || first->irregular;
}

/* By how many ticks the first CPU is ahead of (cpu), with those that were
 * raised and did not get to it: modulo 2^32, and from any number on. */
static uint32_t ahead_of(const struct prof_cpu *cpu)
{
    const struct prof_cpu *first = PROF_CPU_FIRST;

    return __atomic_load_n(&first->ticks, __ATOMIC_RELAXED) +
           (uint32_t)prof_clock_of(first)->missed -
           __atomic_load_n(&cpu->ticks, __ATOMIC_RELAXED);
}

/* The same; once it has left, what it was then, as no tick since is its own. */
static uint32_t last_ahead_of(const struct prof_cpu *cpu)
{
    return prof_cpu_has_joined(cpu) ? ahead_of(cpu) : behind_of(cpu)->left;
}

static int64_t missed_by(const struct prof_cpu *cpu)
{
    const struct behind *behind = behind_of(cpu);

    if (!prof_clock.common || !behind->taken)
        return behind->missed;
    return behind->missed + (int32_t)(last_ahead_of(cpu) - behind->before);
}

void prof_clock_join(struct prof_cpu *cpu, uint64_t tsc)
{
    struct behind *behind = behind_of(cpu);

    set_another(cpu, tsc);
    behind->before = last_ahead_of(cpu);
    behind->taken = true;
}

void prof_clock_leave(const struct prof_cpu *cpu)
{
    behind_of(cpu)->left = ahead_of(cpu);
}

void prof_clock_let_go(const struct prof_cpu *cpu)
{
    behind_of(cpu)->missed = missed_by(cpu);
    behind_of(cpu)->taken = false;
}
#else
static inline int64_t missed_by(const struct prof_cpu *cpu)
{
    (void)cpu;
    return 0;
}
#endif

/* The others' go on from their last samples, at the new rate. */
static void set_others(void)
{
#if PROF_CPUS_MAX > 1
    PROF_FOR_EACH_CPU (cpu) {
        const struct prof_timebase *clock = prof_clock_of(cpu);
        uint64_t last = clock->last_tsc, resume = clock->resume_tsc;
        bool interrupted = clock->interrupted;

        if (cpu == PROF_CPU_FIRST)
            continue;
        set_another(cpu, prof_cpu_tsc_at(cpu, prof_tsc()));
        prof_clock_of(cpu)->last_tsc = last;
        prof_clock_of(cpu)->resume_tsc = resume;
        prof_clock_of(cpu)->interrupted = interrupted;
    }
#endif
}

void prof_clock_set(uint64_t period, uint32_t counts, uint32_t rate_mhz)
{
    struct prof_cpu *cpu = PROF_CPU_FIRST;
    struct prof_timebase *clock = prof_clock_of(cpu);
    int64_t missed = clock->missed;
    int64_t before = missed_before[prof_cpu_number(cpu)];
    uint64_t last = clock->last_tsc, resume = clock->resume_tsc;
    bool irregular = PROF_WITH_BUILTIN && clock->irregular;
    bool interrupted = PROF_WITH_NMI && clock->interrupted;

    prof_timebase_set(clock, prof_tsc(), period, counts);
    /* Ticks that were made up for before they were missed do not carry over. */
    clock->missed = missed < before ? before : missed;
    if (PROF_WITH_BUILTIN)
        clock->irregular = irregular;
    if (PROF_WITH_NMI)
        clock->interrupted = interrupted;
    clock->last_tsc = last;
    clock->resume_tsc = resume;
    /* The timer begins anew just now: what was before is not on its grid. */
    clock->grid_tsc = clock->run_begin_tsc;
    prof_clock.rate_mhz = rate_mhz;
    set_others();
}

#if PROF_WITH_PIT
void prof_clock_set_counts(uint32_t counts, uint32_t kept)
{
    uint64_t cycles = (prof_clock.tsc_hz << PROF_PERIOD_SHIFT) * kept;

    prof_clock_set(prof_divide(cycles, PROF_PIT_HZ), counts,
                   (uint32_t)prof_divide((uint64_t)PROF_PIT_HZ * 1000, kept));
}
#endif

#if PROF_WITH_NMI
void prof_clock_interrupt(void)
{
    uint64_t now = prof_tsc();

    PROF_FOR_EACH_CPU (cpu)
        prof_timebase_interrupt(prof_clock_of(cpu), prof_cpu_tsc_at(cpu, now));
}
#endif

static int64_t missed_in_all(const struct prof_cpu *cpu)
{
    return prof_clock_of(cpu)->missed + missed_by(cpu);
}

uint64_t prof_clock_missed(const struct prof_cpu *cpu)
{
    int64_t missed = missed_in_all(cpu) - missed_before[prof_cpu_number(cpu)];

    return missed > 0 ? (uint64_t)missed : 0;
}

#if PROF_CPUS_MAX > 1
uint64_t prof_clock_merged(const struct prof_cpu *cpu)
{
    int64_t missed = missed_by(cpu);

    return missed > 0 ? (uint64_t)missed : 0;
}
#endif

void prof_clock_reset(void)
{
    PROF_FOR_EACH_CPU (cpu)
        missed_before[prof_cpu_number(cpu)] = missed_in_all(cpu);
}
