/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_LOOP_LOOP_H
#define PROF_LOOP_LOOP_H

/*
 * What runs, and when that changed.
 *
 * Frames are a stack, the innermost at `top`, the event loop at its bottom. The
 * clock (clock.h) is read once at each change, and that moment is the end of
 * one frame's time and the begin of the other's:
 *
 *     begin    outer->start -= now    frame->start = now     top = frame
 *     leave    outer->start += now    now - frame->start     top = outer
 *
 * So `now - start` of the frame at the top, and `- start` of all others, is
 * their own time so far, with nothing counted twice or left out.
 *
 * All this modulo 2^32. Frames are rebased (rebase.c) at the
 * first change in each new 2^32 cycles: each frame's time so far is moved to
 * `before`, and its site is replaced by one for which every run is notable.
 */

#include "loop/clock.h"
#include "loop/sites.h"

#include <prof/loop.h>
#include <prof/text.h>
#include <stdbool.h>
#include <stdint.h>

/* A task that is not ready has the highest bit of `ready` set; one that was
 * woken in an interrupt when a rebase was due, the second highest. So a run
 * compares the upper half with that of the present moment, and knows at once
 * that the task was woken, within the last 2^32 cycles, and since the last
 * rebase. */
#define PROF_LOOP_NOT_READY (1u << 31)
#define PROF_LOOP_NOT_REBASED ((uint64_t)1 << 62)

static inline prof_loop_half *prof_loop_halves(uint64_t *value)
{
    return (prof_loop_half *)value;
}

static inline bool prof_loop_is_ready(struct prof_loop_task *task)
{
    return (prof_loop_halves(&task->ready)[1] & PROF_LOOP_NOT_READY) == 0;
}

static inline void prof_loop_set_not_ready(struct prof_loop_task *task)
{
    prof_loop_halves(&task->ready)[1] = PROF_LOOP_NOT_READY; /* one store */
}

#define PROF_LOOP_DEPTH_MAX 256u /* frames that a reader looks at */

struct prof_loop_state {
    struct prof_loop_frame *top;
    uint32_t high;                 /* of the clock, at the last rebase */
    struct prof_loop_frame bottom; /* the event loop */
    uint64_t tsc_hz;
    uint64_t opened_tsc;  /* or reset */
    uint64_t opened_away; /* time in interrupts until then */
    uint64_t read_tsc;    /* the last time that somebody read */
    uint64_t stolen_cycles, stolen_cycles_reset; /* as the drain says */
    uint64_t taken_out_cycles; /* of these: out of what they were stolen from */
    uint64_t taken_out_irq_cycles; /* out of interrupts */
    uint64_t pair_cycles;          /* what a run and a pause cost */

    /* Written by the interrupt. */
    uint32_t depth;     /* interrupts that have not ended */
    uint64_t enter_tsc; /* of the outermost */
    uint64_t enter_away;
    uint64_t irq_cycles; /* their time, and how many; never reset */
    uint64_t irqs;
    uint64_t irq_cycles_reset, irqs_reset;
    uint64_t long_irq_enter, long_irq_exit; /* of the last long one */
    uint32_t freezes, freezes_reset;
};

extern struct prof_loop_state prof_loop_state;

/* What all counts belong to. */
struct prof_loop_now {
    uint64_t tsc, away; /* away: time in interrupts */
    uint64_t irq_cycles, irqs;
};

/* Rebases all frames, at a moment that (now), which may be NULL, says. */
void prof_loop_rebase(struct prof_loop_now *now);
uint64_t prof_loop_put_rebase(void); /* returns its TSC */

/* Where frames that have run for long turn to. Aligned to 4. */
#define PROF_LOOP_LONG_BYTES sizeof(uint32_t)
void prof_loop_rebase_open(void *memory);

/* The own time of (frame) so far, at (now), that of a rebase. */
static inline uint64_t prof_loop_so_far(const struct prof_loop_frame *frame,
                                        uint64_t now)
{
    uint32_t end = frame == prof_loop_state.top ? (uint32_t)now : 0;
    uint64_t before = frame->site != frame->node->site ? frame->before : 0;

    return before + (uint32_t)(end - frame->start);
}

/* When (frame) began. It is rebased, or has begun since the last rebase. */
static inline uint64_t prof_loop_begun(const struct prof_loop_frame *frame)
{
    uint32_t high = frame->site != frame->node->site ? frame->begin_high
                                                     : prof_loop_state.high;

    return (uint64_t)high << 32 | frame->begin;
}

/* The profiler works from now on, until prof_loop_leave(). */
void prof_loop_put_profiler(struct prof_loop_frame *frame);
static inline void prof_loop_profiler(struct prof_loop_frame *frame)
{
    frame->node = NULL;
#if PROF_WITH_LOOP
    if (prof_loop_on != 0)
        prof_loop_put_profiler(frame);
#endif
}

/* Writes (cycles) as a time, in eight columns. Contexts: any. */
void prof_loop_write_time(struct prof_text *out, uint64_t cycles);

#ifdef PROF_HOSTED
/* As before prof_loop_open(), for a test's next one. */
void prof_loop_forget(void);
#endif

#endif
