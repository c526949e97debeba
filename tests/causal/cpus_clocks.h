/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAUSAL_CPUS_CLOCKS_H
#define CAUSAL_CPUS_CLOCKS_H

/*
 * A virtual clock for each of two CPUs: real time less what it has saved, which
 * grows by the speed-up while the CPU is in the target. The one that has saved
 * less is ahead by virtual time, and must not do now what the other sees:
 *
 *   - before anything that CPUs share (a lock, a queue, a count) a CPU waits
 *     until it has saved as much as the other: clocks_pay()
 *   - one that has waited for the other goes on at the virtual time at which
 *     that one has let it, or at which it began to wait, if that is later:
 *     clocks_waited()
 *
 * So what is shared is changed in the order of virtual time. This is the least
 * with which that can be tried; the profiler has no such thing. No locks. Times
 * are in cycles of the TSC. Contexts: thread, each CPU its own.
 *
 * The file that includes this defines the machine_...() functions: the number
 * of the CPU, the time, and a short wait.
 */

#include <stdbool.h>
#include <stdint.h>

static unsigned machine_cpu(void);
static uint64_t machine_tsc(void);
static void machine_pause(void);

#define CLOCKS 2u
#define CLOCKS_ONE 65536u /* speed-ups are in 1/65,536 */

/* How far apart CPUs may be that a host runs now on this core, now on that. */
#define CLOCKS_SKEW 20000

/* Of a change of what is shared: when it was, and what had been saved. */
struct clocks_stamp {
    uint64_t time; /* virtual */
    uint64_t saved;
};

/* Written by its CPU, read by all: (version) is odd meanwhile, as 64 bits are
 * two words on i386. */
static struct clock {
    volatile uint32_t version;
    uint32_t speedup;
    volatile uint64_t saved;
    volatile uint64_t since; /* when the target began; 0: it does not run */
    volatile uint64_t in_target;
    uint32_t out_of_order;
} clocks[CLOCKS];

static inline struct clock *clocks_here(void)
{
    return &clocks[machine_cpu()];
}

static inline void clocks_begin_change(struct clock *clock)
{
    clock->version++;
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

static inline void clocks_end_change(struct clock *clock)
{
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    clock->version++;
}

static inline uint64_t clocks_grown(uint64_t cycles, uint32_t speedup)
{
    return cycles / CLOCKS_ONE * speedup +
           cycles % CLOCKS_ONE * speedup / CLOCKS_ONE;
}

/* What has been saved until (now), in the target, too. */
static inline uint64_t clocks_saved_by(const struct clock *clock, uint64_t now)
{
    uint64_t saved, since;
    uint32_t version, speedup;

    for (;;) {
        version = clock->version;
        __atomic_thread_fence(__ATOMIC_SEQ_CST);
        saved = clock->saved;
        since = clock->since;
        speedup = clock->speedup;
        __atomic_thread_fence(__ATOMIC_SEQ_CST);
        if (version % 2 == 0 && clock->version == version)
            break;
        machine_pause();
    }
    return since == 0 || since > now
               ? saved
               : saved + clocks_grown(now - since, speedup);
}

static inline uint64_t clocks_other_saved(uint64_t now)
{
    return clocks_saved_by(&clocks[1 - machine_cpu()], now);
}

/* From now on (speedup) of the time is saved. The clock is read when others
 * wait for the change: what one has seen before does not grow belatedly,
 * however long the host does not run this CPU. */
static inline void clocks_begin(struct clock *clock, uint32_t speedup)
{
    clocks_begin_change(clock);
    clock->speedup = speedup;
    clock->since = machine_tsc();
    clocks_end_change(clock);
}

/* Until now. Returns how long that was. */
static inline uint64_t clocks_end(struct clock *clock)
{
    uint64_t cycles;

    clocks_begin_change(clock);
    cycles = machine_tsc() - clock->since;
    clock->saved += clocks_grown(cycles, clock->speedup);
    clock->since = 0;
    clocks_end_change(clock);
    return cycles;
}

/* The target begins, which is (speedup) faster, and ends. */
static inline void clocks_enter(uint32_t speedup)
{
    clocks_begin(clocks_here(), speedup);
}

static inline void clocks_leave(void)
{
    struct clock *clock = clocks_here();

    clock->in_target += clocks_end(clock);
}

/* Waits until the other CPU has not saved more; (stamp) is then. All of the
 * time in which it waits is saved, and the other sees that meanwhile: a host
 * may run this CPU again much later than what it waits for. */
static inline void clocks_pay(struct clocks_stamp *stamp)
{
    struct clock *clock = clocks_here();
    uint64_t now = machine_tsc();

    while (clock->saved < clocks_other_saved(now)) {
        clocks_begin(clock, CLOCKS_ONE);
        do {
            machine_pause();
            now = machine_tsc();
        } while (clocks_saved_by(clock, now) < clocks_other_saved(now));
        clocks_end(clock);
    }
    stamp->saved = clock->saved;
    stamp->time = now - stamp->saved;
}

static inline void clocks_set_saved(struct clock *clock, uint64_t saved)
{
    clocks_begin_change(clock);
    clock->saved = saved;
    clocks_end_change(clock);
}

/* The caller has waited since (began), real time, for what (by) did. */
static inline void clocks_waited(uint64_t began, const struct clocks_stamp *by)
{
    struct clock *clock = clocks_here();
    uint64_t saved = clock->saved + (machine_tsc() - began);

    if (saved > by->saved)
        saved = by->saved;
    if (saved > clock->saved)
        clocks_set_saved(clock, saved);
}

/* What the caller sees was done at (by). */
static inline void clocks_check(const struct clocks_stamp *by)
{
    struct clock *clock = clocks_here();

    if ((int64_t)(machine_tsc() - clock->saved - by->time) < -CLOCKS_SKEW)
        clock->out_of_order++;
}

/* All begin again. */
static inline void clocks_reset(void)
{
    for (unsigned i = 0; i < CLOCKS; i++)
        clocks[i] = (struct clock){0};
}

/* How often a CPU saw something that was later than it saw it. */
static inline uint32_t clocks_out_of_order(void)
{
    return clocks[0].out_of_order + clocks[1].out_of_order;
}

#endif
