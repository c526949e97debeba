/* SPDX-License-Identifier: Apache-2.0 */
#include "causal/virtual_clock.h"

/* (cycles) times (share), in 1/65,536 cycles; without a 64-bit multiplication,
 * for which i386 needs libgcc. */
static uint64_t part(uint64_t cycles, uint32_t share)
{
    return ((uint64_t)(uint32_t)cycles * share) +
           ((uint64_t)((uint32_t)(cycles >> 32) * share) << 32);
}

static uint64_t in_target(const struct prof_virtual_clock *clock, uint64_t now)
{
    uint64_t cycles;

    now -= clock->apart;
    cycles = now - clock->since;
    /* the end of what an agent does is learnt later, but not in this order */
    if (clock->nested == 0 || now < clock->since)
        return 0;
    if (clock->others != 0)
        cycles -= part(cycles, clock->others) / PROF_ONE;
    return cycles;
}

uint64_t prof_virtual_time_inside(const struct prof_virtual_clock *clock,
                                  uint64_t now)
{
    return now - clock->delay - clock->apart -
           (part(in_target(clock, now), clock->speedup) / PROF_ONE);
}

uint64_t prof_virtual_in_target(const struct prof_virtual_clock *clock,
                                uint64_t now)
{
    return clock->in_target + in_target(clock, now);
}

uint64_t prof_virtual_saved(const struct prof_virtual_clock *clock,
                            uint64_t cycles)
{
    return part(cycles, clock->speedup) / PROF_ONE;
}

uint64_t prof_virtual_to_real(const struct prof_virtual_clock *clock,
                              uint64_t due)
{
    return due + clock->delay + clock->apart;
}

/* Fractions are kept: a short target is visited often. */
static void add_delay(struct prof_virtual_clock *clock, uint64_t cycles,
                      uint32_t share)
{
    uint64_t grown = part(cycles, share) + clock->fraction;

    clock->delay += grown / PROF_ONE;
    clock->fraction = (uint32_t)(grown % PROF_ONE);
}

void prof_virtual_add_apart(struct prof_virtual_clock *clock)
{
    const uint32_t apart = clock->apart;

    clock->apart = 0;
    prof_add_to(&clock->delay, apart);
    prof_add_to(&clock->own, apart);
    prof_add_to(&clock->since, apart); /* of no meaning outside of the target */
}

void prof_virtual_bring_up_to(struct prof_virtual_clock *clock, uint64_t now)
{
    uint64_t cycles;

    prof_virtual_add_apart(clock);
    cycles = in_target(clock, now);
    clock->in_target += cycles;
    add_delay(clock, cycles, clock->speedup);
    clock->since = now;
}

void prof_virtual_leave_any(struct prof_virtual_clock *clock, uint64_t now,
                            uint32_t others)
{
    if (clock->nested == 0)
        return;
    prof_virtual_except(clock, others);
    if (clock->nested == 1)
        prof_virtual_bring_up_to(clock, now);
    clock->nested--;
}

void prof_virtual_speed_up(struct prof_virtual_clock *clock, uint64_t now,
                           uint32_t speedup)
{
    prof_virtual_bring_up_to(clock, now);
    clock->speedup = speedup < PROF_SPEEDUP_MAX ? speedup : PROF_SPEEDUP_MAX;
}

void prof_virtual_share(struct prof_virtual_clock *clock, uint64_t now,
                        uint32_t share)
{
    prof_virtual_bring_up_to(clock, now);
    clock->others = share < PROF_ONE ? PROF_ONE - share : 0;
}

void prof_virtual_left(struct prof_virtual_clock *clock, uint64_t now)
{
    if (clock->nested == 0)
        return;
    prof_virtual_bring_up_to(clock, now);
    clock->nested = 0;
}
