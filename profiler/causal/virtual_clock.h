/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_VIRTUAL_CLOCK_H
#define PROF_VIRTUAL_CLOCK_H

/*
 * Virtual time: real time less the delay. While the target runs, the delay
 * grows by (speedup) of that time, and so virtual time passes as if the target
 * took that much less. What runs on virtual time runs as it would then.
 *
 *     real     |--f--|----------|--f--|------      f takes 4 units
 *     virtual  |-f|----------|-f|------            and at 50 % as if it took 2
 *
 * The delay is never taken back. Times are in cycles of the TSC. The calls take
 * the present time, so that tests can have their own. Contexts: thread, except
 * where it says otherwise. Wait-free.
 */

#include <prof/causal.h>
#include <stdbool.h>
#include <stdint.h>

/* All zero: no target, no delay. */
struct prof_virtual_clock {
    uint64_t delay;    /* cycles */
    uint32_t fraction; /* of a cycle of delay, in 1/65,536 */
    uint32_t speedup;  /* 0 to PROF_SPEEDUP_MAX */
    uint32_t nested;   /* entries of the target that were not left */
    uint32_t others;   /* while nested: what is not the target's of the time
                          since then, in 1/65,536 */
    uint64_t since; /* while nested: when delay was last brought up to now, and
                       the time in interrupts since then added to it */
    uint64_t in_target; /* time in the target, without interrupts */
};

/* Virtual time at (now). Contexts: any. */
uint64_t prof_virtual_time_inside(const struct prof_virtual_clock *clock,
                                  uint64_t now);
static inline uint64_t prof_virtual_time(const struct prof_virtual_clock *clock,
                                         uint64_t now)
{
    if (clock->nested == 0) /* most often: no multiplication */
        return now - clock->delay;
    return prof_virtual_time_inside(clock, now);
}

/* What (cycles) in the target are shorter by. */
uint64_t prof_virtual_saved(const struct prof_virtual_clock *clock,
                            uint64_t cycles);

/* The real time at which it is (due), if the target does not run until then. */
uint64_t prof_virtual_to_real(const struct prof_virtual_clock *clock,
                              uint64_t due);

/* Time in the target until (now), without interrupts. */
uint64_t prof_virtual_in_target(const struct prof_virtual_clock *clock,
                                uint64_t now);

/* From (now) on the target is (speedup) faster; 0: as fast as it is. */
void prof_virtual_speed_up(struct prof_virtual_clock *clock, uint64_t now,
                           uint32_t speedup);

/* What has passed in the target until (now) is added to the delay. */
void prof_virtual_bring_up_to(struct prof_virtual_clock *clock, uint64_t now);

/* The target is entered and left. Calls may be nested: only time between the
 * outermost two counts. Leaving without having entered does nothing. */
static inline void prof_virtual_enter(struct prof_virtual_clock *clock,
                                      uint64_t now)
{
    if (clock->nested++ != 0)
        return;
    clock->since = now;
    clock->others = 0;
}

/* prof_virtual_leave() of any call. */
void prof_virtual_leave_any(struct prof_virtual_clock *clock, uint64_t now);

/* The fast path: on i386 a third of the instructions. */
static inline void prof_virtual_leave(struct prof_virtual_clock *clock,
                                      uint64_t now)
{
    uint64_t cycles = now - clock->since, grown;

    if (clock->nested != 1 || clock->others != 0 || cycles >> 32 != 0) {
        prof_virtual_leave_any(clock, now);
        return;
    }
    clock->nested = 0;
    clock->in_target += cycles;
    grown = (uint64_t)(uint32_t)cycles * clock->speedup + clock->fraction;
    clock->delay += (uint32_t)(grown / PROF_ONE); /* less than (cycles) */
    clock->fraction = (uint32_t)grown % PROF_ONE;
}

/* From (now) on (share), in 1/65,536, of the time in the target is its own, as
 * it is where it is not known when it is entered. */
void prof_virtual_share(struct prof_virtual_clock *clock, uint64_t now,
                        uint32_t share);

/* The target was left in a way that cannot be seen, such as by longjmp(). */
void prof_virtual_left(struct prof_virtual_clock *clock, uint64_t now);

/* (cycles) until now were spent in an interrupt: not in the target.
 * Contexts: interrupt. */
static inline void prof_virtual_except(struct prof_virtual_clock *clock,
                                       uint64_t cycles)
{
    clock->since += cycles;
}

#endif
