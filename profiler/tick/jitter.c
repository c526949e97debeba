/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Jitter keeps samples from running in step with the program.
 *
 * A loop that takes one sampling period, or a whole part of one, is always
 * sampled at the same place, and its profile is wrong. So every
 * PROF_JITTER_TICKS ticks the timer gets another count, chosen uniformly from
 * half the mean to one and a half times the mean.
 *
 * That is as good as a new count at each tick. Let the loop take a period P,
 * and the count be P + d: each sample lies d further on in the loop. As d is
 * uniform over one P, so is each multiple of it, modulo P. Any two samples are
 * then independent, and the error of a sum of them is the same as if all were.
 * The same holds for loops of a half, a third, ... of P. With less than half of
 * the mean to either side, d would not cover the whole loop.
 *
 * That a sample takes time does not matter if it is equally long everywhere in
 * the loop, give or take a hundredth of the loop. Otherwise the difference adds
 * up while a period holds, and the loop may come into step.
 *
 * The range is divided into STRATA parts, and each is chosen once before any
 * is chosen again: so ticks are as many as the rate promises, but for a few
 * dozen; left to chance they would differ by 400 in a minute at 1 kHz. And a
 * function that runs for a hundred periods at a time meets short and long ones;
 * left to chance its share by samples would miss its interval in 18 of 100
 * runs.
 *
 * A sample still represents the time since the one before. That favours no
 * place in the loop, because the sample before it was placed as uniformly.
 *
 * The PIT is given mode and count, so that it restarts at once; with a count
 * alone the 8254, unlike QEMU's, finishes the old one first. The kernel's ticks
 * are decided by the TSC and not affected.
 */

#include "tick/jitter.h"

#include "sample/cpu_state.h"
#include "tick/clock.h"
#include "tick/pit.h"

#include <prof/config.h>
#include <prof/prof.h>
#include <stddef.h>

/* To either side: with less, shares of a loop in step err more than chance. */
#define ENOUGH_PERCENT 30u

#define STRATA 16u
#define STRATA_BITS 4
#define STRATUM_SHIFT 28

/* Low and high ones in turn, so that the mean is kept all the time. Exclusive
 * or with any number is another such order. */
static const uint8_t order[STRATA] = {0,  11, 6,  13, 3, 8,  14, 5,
                                      10, 1,  12, 7,  2, 15, 4,  9};

/* The widest variation to either side: no period is longer than the kernel's
 * tick, so that no two of those come in one of ours, nor than the PIT can. */
static uint32_t jitter_width(const struct prof_pit_rate *rate)
{
    uint32_t mean = rate->ours;
    uint32_t room = rate->kernel - mean;
    uint32_t wanted = mean * prof_options()->jitter_percent / 100;

    if (mean + room > UINT16_MAX)
        room = UINT16_MAX - mean;
    if (PROF_WITH_BUILTIN && mean - rate->least < room)
        room = mean > rate->least ? mean - rate->least : 0;
    return wanted < room ? wanted : room;
}

uint32_t prof_jitter_next(struct prof_jitter *jitter)
{
    uint32_t turn = jitter->turn++ % STRATA, at;

    /* Knuth's MMIX generator; its upper bits are the random ones. */
    jitter->random =
        jitter->random * 6364136223846793005u + 1442695040888963407u;
    at = (uint32_t)(jitter->random >> 32);
    if (turn == 0)
        jitter->shuffle = at >> STRATUM_SHIFT;
    at = at << STRATA_BITS >> STRATA_BITS;
    at |= ((uint32_t)order[turn] ^ jitter->shuffle) << STRATUM_SHIFT;
    return jitter->least + (uint32_t)((uint64_t)at * jitter->counts >> 32);
}

/* A period of (counts) is in force from the newest sample on, even if that is
 * not yet drained. */
static void note_period(struct prof_cpu *cpu, uint32_t counts)
{
    struct prof_ring *ring = &cpu->ring;
    struct prof_timebase *clock = prof_clock_of(cpu);

    if (prof_ring_newest_tsc(ring) > clock->last_tsc) /* not drained */
        prof_ring_before(ring, ring->head)->divisor = (uint16_t)counts;
    else
        prof_timebase_change(clock, counts);
}

/* Any two seeds, consecutive ones among them, begin at places of the
 * generator's cycle that have nothing to do with each other. Without this, all
 * its numbers would differ by one that only depends on the seeds' distance. */
static uint64_t mix_seed(uint64_t seed)
{
    for (int round = 0; round < 3; round++) {
        seed += 0x9e3779b97f4a7c15u; /* 2^64 by the golden ratio, odd */
        seed ^= seed >> 32;
        seed *= 0x9e3779b97f4a7c15u;
    }
    return seed ^ seed >> 32;
}

void prof_jitter_open(void (*set)(uint32_t divisor))
{
    struct prof_jitter *jitter = &prof_cpu_here()->tick.jitter;

    jitter->random = mix_seed(prof_options()->seed);
    jitter->set = set;
}

static inline void plan(struct prof_jitter *jitter, uint32_t mean,
                        uint32_t either_side)
{
    jitter->least = mean - either_side;
    jitter->counts = either_side == 0 ? 0 : 2 * either_side + 1;
    jitter->turn = jitter->rest = 0;
    jitter->ticks_left = PROF_JITTER_TICKS;
}

#if PROF_CPUS_MAX > 1
uint32_t prof_jitter_spread(const struct prof_pit_rate *rate)
{
    return rate->ours << 16 | jitter_width(rate);
}

void prof_jitter_plan(struct prof_jitter *jitter, uint32_t spread,
                      uint32_t number)
{
    if (jitter->random == 0)
        jitter->random = mix_seed(prof_options()->seed + number);
    plan(jitter, spread >> 16, spread & UINT16_MAX);
    jitter->ticks_left = 0;
}

uint32_t prof_jitter_step(struct prof_jitter *jitter)
{
    if (jitter->ticks_left == 0) {
        jitter->ticks_left = PROF_JITTER_TICKS;
        jitter->divisor =
            jitter->counts == 0 ? jitter->least : prof_jitter_next(jitter);
    }
    jitter->ticks_left--;
    return jitter->divisor;
}
#endif

void prof_jitter_begin(const struct prof_pit_rate *rate)
{
    struct prof_cpu *cpu = prof_cpu_here();
    struct prof_jitter *jitter = &cpu->tick.jitter;
    uint32_t either_side = jitter_width(rate);

    plan(jitter, rate->ours, either_side);
    /* The first period varies, too: all samples of one that is the mean would
     * lie at the same place of a loop. */
    jitter->divisor =
        jitter->counts == 0 ? rate->ours : prof_jitter_next(jitter);
    jitter->set(jitter->divisor);
    note_period(cpu, jitter->divisor);
    /* which counts from now on, not from the last sample */
    prof_clock_of(cpu)->grid_tsc = prof_tsc();
    prof_clock.steady = either_side * 100 < rate->ours * ENOUGH_PERCENT;
}

void prof_jitter_end(const struct prof_pit_rate *rate)
{
    struct prof_cpu *cpu = prof_cpu_here();

    cpu->tick.jitter.counts = 0;
    note_period(cpu, rate->ours);
}

/* prof_jitter_turn() without what else is done so often. */
static inline __attribute__((always_inline)) void
change_period(struct prof_cpu *cpu, uint32_t tsc_low)
{
    struct prof_jitter *jitter = &cpu->tick.jitter;
    struct prof_entry *entry = prof_ring_before(&cpu->ring, cpu->ring.head);

    jitter->ticks_left = PROF_JITTER_TICKS;
    if (jitter->counts == 0 || entry->tsc_low != tsc_low)
        return;
    jitter->divisor = prof_jitter_next(jitter);
    entry->divisor = (uint16_t)jitter->divisor;
    jitter->set(jitter->divisor);
}

#if PROF_WITH_BUILTIN
/* The same where the interrupt may have to drain, which may look sooner than
 * the period changes: then that waits for the rest of its ticks. */
static __attribute__((noinline)) void turn_and_drain(struct prof_cpu *cpu,
                                                     uint32_t tsc_low)
{
    struct prof_jitter *jitter = &cpu->tick.jitter;
    uint32_t next;

    jitter->ticks_left = jitter->rest;
    if (jitter->rest == 0)
        change_period(cpu, tsc_low);
    jitter->rest = 0;
    next = cpu->tick_drain();
    if (next < jitter->ticks_left) {
        jitter->rest = jitter->ticks_left - next;
        jitter->ticks_left = next;
    }
}
#endif

void prof_jitter_turn(uint32_t tsc_low)
{
    struct prof_cpu *cpu = prof_cpu_here();

#if PROF_WITH_BUILTIN
    if (cpu->tick_drain != NULL) {
        turn_and_drain(cpu, tsc_low);
        return;
    }
#endif
    change_period(cpu, tsc_low);
}
