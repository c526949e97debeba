/* SPDX-License-Identifier: Apache-2.0 */

/*
 * What runs and pauses leave to a later moment, but to the next of them at the
 * latest: time in interrupts is taken off what they have interrupted, and times
 * that do not fit in 32 bits are moved where they do.
 *
 * Nothing has changed since the last change, which was within the same 2^32
 * cycles as the last rebase. So until the end of these the own time of each
 * frame is known from 32 bits.
 */

#include "loop/loop.h"

#define ALWAYS_INLINE inline __attribute__((always_inline))

static struct prof_loop_state *const state = &prof_loop_state;
static struct prof_loop_site *long_site; /* only its histograms.notable */

void prof_loop_rebase_open(void *memory)
{
    *(uint32_t *)memory = 0;
    long_site = memory;
}

static void move(struct prof_loop_frame *frame, uint64_t so_far)
{
    if (frame->site != frame->node->site) {
        frame->before += so_far;
    } else {
        frame->before = so_far;
        frame->begin_high = state->high;
    }
    frame->site = long_site;
    frame->start = 0;
}

/* The upper half of the clock has become another. */
static void move_all(uint64_t now, uint64_t away)
{
    uint64_t last = (uint64_t)state->high << 32 | UINT32_MAX;
    struct prof_loop_frame *top = state->top;
    uint32_t depth = 0;

    move(top, (uint32_t)((uint32_t)last - top->start) + (now - last) - away);
    top->start = (uint32_t)now;
    for (struct prof_loop_frame *at = top->outer;
         at != NULL && depth < PROF_LOOP_DEPTH_MAX; at = at->outer, depth++)
        move(at, (uint32_t)-at->start);
    state->high = (uint32_t)(now >> 32);
}

/* With interrupts off, for the guard reads all this. */
static ALWAYS_INLINE uint64_t rebase(struct prof_loop_now *now)
{
    bool on = prof_interrupts_save();
    uint64_t tsc = prof_loop_tsc(), away = prof_cpus[0].interrupt_cycles;

    prof_cpus[0].interrupt_cycles -= away; /* an NMI may add to it */
    prof_cpus[0].taken_cycles += away;
    if ((uint32_t)(tsc >> 32) != state->high)
        move_all(tsc, away);
    else
        state->top->start += (uint32_t)away;
    if (now != NULL)
        *now = (struct prof_loop_now){.tsc = tsc,
                                      .away = prof_cpus[0].taken_cycles,
                                      .irq_cycles = state->irq_cycles,
                                      .irqs = state->irqs};
    prof_interrupts_restore(on);
    return tsc;
}

void prof_loop_rebase(struct prof_loop_now *now)
{
    (void)rebase(now);
    if (now != NULL)
        state->read_tsc = now->tsc;
}

/* The same under a name by which tests/loop knows the readings of changes. */
uint64_t prof_loop_put_rebase(void)
{
    return rebase(NULL);
}
