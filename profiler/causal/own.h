/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_OWN_H
#define PROF_OWN_H

/*
 * The time that the profiler itself takes. Virtual time stands still meanwhile:
 * otherwise experiments would be with another program, where timers race with
 * what it computes. Nor is it a target's.
 *
 * What calls take between their readings of the clock is known at their end.
 * What is before and after is measured when experiments begin, by visits that
 * do nothing. Contexts: thread, interrupts off.
 */

#include "causal/causal.h"

#include "base/cpu.h"

/* In cycles. */
struct prof_own {
    uint32_t visit;   /* of prof_target_enter() and _leave(): in the target, */
    uint32_t entered; /* all of the first, */
    uint32_t left;    /* and all of the second */
    uint32_t patched; /* of the hooks of a patched function: in the target */
    uint32_t hook;    /* of one, outside of its readings of the clock */
    uint32_t call;    /* of other calls, outside of theirs */
    /* all of the fast path of a call, which has no readings */
    uint32_t submit, answer, sent, packet; /* of an agent that is direct */
    uint32_t hold, take, done;
};
extern struct prof_own prof_own;

/* Measures (prof_own). To be called when experiments have begun and functions
 * are patched. Contexts: thread, interrupts off. */
void prof_own_measure(void);

/* (cycles) are the profiler's own. All were with interrupts off, but for a few
 * that an interrupt takes before it can read the clock. */
static inline void prof_own_skip(uint64_t cycles)
{
    prof_causal.clock.delay += cycles;
    prof_causal.clock.own += cycles;
}

/* The same of the fast path of a call, from whatever target. Interrupts may be
 * on. */
static inline void prof_own_skip_path(uint32_t cycles)
{
    __asm__("addl %1, %0" : "+m"(prof_causal.clock.apart) : "r"(cycles) : "cc");
}

struct prof_own_call {
    uint64_t began;
    uint64_t own; /* then: calls may be made in calls */
    bool inside;  /* the target */
};

/* A call of the profiler begins. Returns what prof_own_end() needs. */
static inline struct prof_own_call prof_own_begin(void)
{
    return (struct prof_own_call){prof_tsc(), prof_causal_own(),
                                  prof_causal.clock.nested != 0};
}

/* (call) ends; (around) cycles of it are not between the two. If the target
 * that it was made from still runs, all of this is not the target's. */
void prof_own_end(struct prof_own_call call, uint32_t around);

/* The same for a call that turns interrupts off itself. */
struct prof_own_guard {
    struct prof_own_call call;
    bool on; /* interrupts, before */
};

static inline struct prof_own_guard prof_own_open(void)
{
    bool on = prof_interrupts_save();

    return (struct prof_own_guard){prof_own_begin(), on};
}

static inline void prof_own_close_here(const struct prof_own_guard *guard)
{
    if (guard->call.inside)
        prof_own_end(guard->call, prof_own.call);
    else if (prof_causal_on())
        prof_own_skip(prof_tsc() - guard->call.began + prof_own.call -
                      (prof_causal_own() - guard->call.own));
    prof_interrupts_restore(guard->on);
}

/*
 * The same for a short call in which nothing else is left out or is the
 * profiler's own, in few instructions: of the time when it began the low half
 * is enough, and of the target only whether it runs at the end. It may be
 * entered or left in the call. Such calls keep what is rare in functions of
 * their own, so that few registers are to be saved for it.
 */
struct prof_own_brief {
    uint32_t began;
    bool on; /* interrupts, before */
};

/* What is rare at the end of one: the target runs. */
void prof_own_brief_end(uint32_t began);

/* The low half of prof_tsc(): on x86_64, without putting both together. */
static inline uint32_t prof_own_tsc(void)
{
#ifdef PROF_HOSTED
    return (uint32_t)prof_tsc();
#else
    uint32_t low;

    __asm__ volatile("rdtsc" : "=a"(low) : : "edx");
    return low;
#endif
}

static inline struct prof_own_brief prof_own_brief_open(void)
{
    bool on = prof_interrupts_save();

    return (struct prof_own_brief){prof_own_tsc(), on};
}

/* While experiments run. */
static inline void prof_own_brief_close_here(struct prof_own_brief brief)
{
    if (__builtin_expect(prof_causal.clock.nested == 0, 1))
        prof_own_skip_path(prof_own_tsc() - brief.began + prof_own.call);
    else
        prof_own_brief_end(brief.began);
    prof_interrupts_restore(brief.on);
}

/* A hundred bytes in each of ten callers, or with -Os a call. */
#ifdef __OPTIMIZE_SIZE__
void prof_own_close(const struct prof_own_guard *guard);
void prof_own_brief_close_on(struct prof_own_brief brief);
void prof_own_brief_close(struct prof_own_brief brief);
#else
#define prof_own_close prof_own_close_here
#define prof_own_brief_close_on prof_own_brief_close_here
static inline void prof_own_brief_close(struct prof_own_brief brief)
{
    if (__builtin_expect(prof_causal_on(), 1))
        prof_own_brief_close_here(brief);
    else
        prof_interrupts_restore(brief.on);
}
#endif

#endif
