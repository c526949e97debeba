/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_VIRTUAL_CLOCK_H
#define PROF_VIRTUAL_CLOCK_H

/*
 * Virtual time: real time minus a delay. While the target runs, the delay grows
 * by (speedup) of that time, so that virtual time passes as if the target took
 * that much less. Code that follows virtual time runs as it would then.
 *
 *     real     |--f--|----------|--f--|------      f takes 4 units
 *     virtual  |-f|----------|-f|------            and at 50 % as if it took 2
 *
 * The delay never decreases. Times are TSC cycles. The calls take the current
 * time as an argument, so that tests can control it. Contexts: thread, unless
 * stated otherwise. Wait-free.
 */

#include "base/cpu.h"

#include <prof/causal.h>
#include <stdbool.h>
#include <stdint.h>

/* All zero: no target, no delay. */
struct prof_virtual_clock {
    uint64_t delay;    /* cycles */
    uint64_t own;      /* of it: the profiler's; the target saved the rest */
    uint32_t fraction; /* of a cycle of delay, in 1/65,536 */
    uint32_t speedup;  /* 0 to PROF_SPEEDUP_MAX */
    uint32_t nested;   /* entries of the target that were not left */
    uint32_t others;   /* while nested: share of the time since (since) that is
                          not the target's, in 1/65,536 */
    uint64_t since;    /* while nested: time of the last update of (delay), plus
                       the time in interrupts since then */
    uint64_t in_target; /* time in the target, without interrupts */
    uint32_t apart; /* cycles that (delay), (own) and (since) are to be more:
                           one instruction adds to it, at both widths */
};

/* Adds (apart) where it belongs. Contexts: interrupts off. */
void prof_virtual_add_apart(struct prof_virtual_clock *clock);

/* Returns the virtual time at (now). Contexts: any. */
uint64_t prof_virtual_time_inside(const struct prof_virtual_clock *clock,
                                  uint64_t now);
static inline uint64_t prof_virtual_time(const struct prof_virtual_clock *clock,
                                         uint64_t now)
{
    if (clock->nested == 0) /* most often: no multiplication */
        return now - clock->delay - clock->apart;
    return prof_virtual_time_inside(clock, now);
}

/* Returns the cycles by which (cycles) in the target become shorter. */
uint64_t prof_virtual_saved(const struct prof_virtual_clock *clock,
                            uint64_t cycles);

/* Returns the real time at which virtual time is (due), if the target does not
 * run until then. */
uint64_t prof_virtual_to_real(const struct prof_virtual_clock *clock,
                              uint64_t due);

/* Returns the time in the target until (now), without interrupts. */
uint64_t prof_virtual_in_target(const struct prof_virtual_clock *clock,
                                uint64_t now);

/* Sets the speed-up of the target from (now) on; 0: normal speed. */
void prof_virtual_speed_up(struct prof_virtual_clock *clock, uint64_t now,
                           uint32_t speedup);

/* Updates the delay for the time in the target until (now). */
void prof_virtual_bring_up_to(struct prof_virtual_clock *clock, uint64_t now);

/* The delay grows by what (cycles) in the target become shorter. Fractions are
 * kept: a short target is visited often. */
static inline void prof_virtual_save(struct prof_virtual_clock *clock,
                                     uint32_t cycles)
{
    uint64_t grown = (uint64_t)cycles * clock->speedup + clock->fraction;

    clock->fraction = (uint32_t)grown % PROF_ONE;
    cycles = (uint32_t)(grown / PROF_ONE); /* less than before */
    prof_add_to(&clock->delay, cycles);
}

/* Report that the target is entered and left. Calls may be nested; the time
 * between the outermost two counts, less (others), which is of something else.
 * Leaving without entering has no effect. */
static inline void prof_virtual_enter(struct prof_virtual_clock *clock,
                                      uint64_t now)
{
    if (clock->nested++ != 0)
        return;
    clock->since = now - clock->apart;
    clock->others = 0;
}

/* The slow path of prof_virtual_leave(). */
void prof_virtual_leave_any(struct prof_virtual_clock *clock, uint64_t now,
                            uint32_t others);

/* With a fast path, which takes a third of the instructions on i386, and as
 * many at any speed: they are the profiler's own (own.h). */
static inline void prof_virtual_leave(struct prof_virtual_clock *clock,
                                      uint64_t now, uint32_t others)
{
    const uint64_t cycles = now - clock->since;
    const uint32_t less = others + clock->apart;
    uint32_t inside = (uint32_t)cycles;

    if (clock->nested != 1 || (clock->others | (uint32_t)(cycles >> 32)) != 0 ||
        inside < less) {
        prof_virtual_leave_any(clock, now, others);
        return;
    }
    inside -= less;
    clock->nested = 0;
    prof_add_to(&clock->in_target, inside);
    prof_virtual_save(clock, inside);
}

/* Sets the share of the time from (now) on that counts for the target, in
 * 1/65,536: for targets whose entries are unknown. */
void prof_virtual_share(struct prof_virtual_clock *clock, uint64_t now,
                        uint32_t share);

/* Reports that the target was left without a call, such as by longjmp(). */
void prof_virtual_left(struct prof_virtual_clock *clock, uint64_t now);

/* Excludes the last (cycles), spent in an interrupt, from the target's time.
 * Contexts: interrupt. */
static inline void prof_virtual_except(struct prof_virtual_clock *clock,
                                       uint64_t cycles)
{
    clock->since += cycles;
}

#endif
