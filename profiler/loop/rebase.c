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

/* The present moment, and the time in interrupts until then that was added
 * since the last rebase: an NMI may come, and add its own, between the two. */
static ALWAYS_INLINE uint64_t read_both(uint64_t *away)
{
    const volatile uint64_t *cycles = &prof_cpus[0].interrupt_cycles;
    uint64_t tsc;

    do {
        *away = *cycles;
        tsc = prof_loop_tsc();
    } while (*cycles != *away);
    return tsc;
}

/* Subtracts in memory, so that nothing is lost that an NMI adds meanwhile. */
static ALWAYS_INLINE void subtract(uint64_t *sum, uint64_t value)
{
#ifdef __i386__
    prof_loop_half *half = (prof_loop_half *)sum;

    __asm__ volatile("subl %2, %0\n\tsbbl %3, %1"
                     : "+m"(half[0]), "+m"(half[1])
                     : "r"((uint32_t)value), "r"((uint32_t)(value >> 32))
                     : "cc");
#else
    __asm__ volatile("subq %1, %0" : "+m"(*sum) : "r"(value) : "cc");
#endif
}

/* With interrupts off, for the guard reads all this. */
static ALWAYS_INLINE uint64_t rebase(struct prof_loop_now *now)
{
    bool on = prof_interrupts_save();
    uint64_t away, tsc = read_both(&away);

    subtract(&prof_cpus[0].interrupt_cycles, away);
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
