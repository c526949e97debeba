/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Jitter: how samples keep out of step with what they look at.
 *
 * A loop that takes a sampling period, or a whole part of one, is always met at
 * the same place: its profile is wrong by whatever that place is worth. So each
 * PROF_JITTER_TICKS ticks the PIT gets another count, chosen evenly from the
 * mean less half of it to the mean plus half of it.
 *
 * That is as good as a new one at each tick. Let the loop take a period P, and
 * the count be P + d: the ticks meet it d further on each time. As d is spread
 * evenly over one P, so is each multiple of it, modulo P: any two samples are
 * independent of each other, and the error of a sum of them is the same as if
 * all were. The same holds where the loop takes a half, a third, ... of P. Less
 * than half of the mean to either side would not reach round the loop.
 *
 * A sample still stands for the time since the one before. That cannot favour
 * one place of the loop, for where the sample before it was is as even.
 *
 * The PIT is given mode and count: then it begins anew at once, on every one of
 * them. With a count alone, some do (QEMU's) and some finish the old one first
 * (the 8254). The kernel's ticks are told by the TSC and do not notice.
 */

#include "jitter.h"

#include "pit.h"
#include "state.h"

/* The widest variation to either side: no period is longer than the kernel's
 * tick, so that no two of those come in one of ours, nor than the PIT can. */
static uint32_t width(void)
{
    uint32_t mean = prof_state.divisor;
    uint32_t room = prof_state.config.kernel_divisor - mean;
    uint32_t wanted = mean * prof_options()->jitter_percent / 100;

    if (mean + room > UINT16_MAX)
        room = UINT16_MAX - mean;
    return wanted < room ? wanted : room;
}

uint32_t prof_jitter_next(struct prof_jitter *jitter)
{
    /* Knuth's MMIX generator; its upper bits are the random ones. */
    jitter->random =
        jitter->random * 6364136223846793005u + 1442695040888963407u;
    return jitter->least +
           (uint32_t)((jitter->random >> 32) * jitter->counts >> 32);
}

/* The mean is in force from the newest sample on, drained or not. */
static void note_mean(void)
{
    struct prof_ring *ring = &prof_hot.ring;

    if (prof_state.read != ring->head)
        prof_ring_before(ring, ring->head)->divisor =
            (uint16_t)prof_state.divisor;
    else
        prof_timebase_change(&prof_state.time, prof_state.divisor);
}

void prof_jitter_begin(void)
{
    struct prof_jitter *jitter = &prof_hot.jitter;
    uint32_t either_side = width();

    jitter->least = prof_state.divisor - either_side;
    jitter->counts = either_side == 0 ? 0 : 2 * either_side + 1;
    jitter->ticks_left = PROF_JITTER_TICKS;
    jitter->divisor = prof_state.divisor;
    prof_pit_set(jitter->divisor);
    note_mean();
}

void prof_jitter_end(void)
{
    prof_hot.jitter.counts = 0;
    note_mean();
}

void prof_jitter_turn(uint32_t tsc_low)
{
    struct prof_jitter *jitter = &prof_hot.jitter;
    struct prof_entry *entry =
        prof_ring_before(&prof_hot.ring, prof_hot.ring.head);

    jitter->ticks_left = PROF_JITTER_TICKS;
    if (jitter->counts == 0 || entry->tsc_low != tsc_low)
        return;
    jitter->divisor = prof_jitter_next(jitter);
    entry->divisor = (uint16_t)jitter->divisor;
    prof_pit_set(jitter->divisor);
}
