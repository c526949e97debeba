/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAUSAL_CAUSAL_H
#define CAUSAL_CAUSAL_H

/* What the files of this room share. */

#include "base/cpu.h"
#include "base/log_linear.h"
#include "causal/experiments.h"
#include "causal/held_events.h"
#include "causal/virtual_clock.h"
#include "causal/waited.h"
#include "sample/cpu_state.h"

#include <prof/causal.h>

/* What the loop does. */
struct prof_work {
    const void *kind;     /* of the handler that runs; NULL: none does */
    uint64_t real;        /* while one runs: when it began, by real time less
                              the profiler's own */
    uint64_t began;       /* by virtual time */
    uint64_t ended;       /* virtual time that is accounted for; while an agent
                              is faster, that of the last end of one */
    uint32_t turns;       /* since a handler began */
    uint64_t polled;      /* by the same: the last prof_causal_owes(), */
    uint64_t answers;     /* and how many there were; */
    uint64_t poll;        /* between two of them, if none has come meanwhile */
    bool polls;           /* there was one since a handler */
    bool is_out;          /* what is left out has begun, */
    uint32_t out_sampled; /* and (sampled) then */
    uint32_t source;      /* what was waited for last, */
    uint64_t waited;      /* and how long, in this experiment */
    struct prof_moment turned; /* when the last turn began */
    uint64_t turned_own;       /* the profiler's own time then */
    uint64_t turn_max;         /* cycles of one without work */
    uint64_t drain_end;        /* of an open loop: real time, at the latest */
    uint64_t drain_lag;        /* when the last time began */
};

/* How long requests take, in virtual cycles: a log-linear histogram. Values of
 * 2^40 cycles and more count as the greatest. */
#define PROF_LATENCY_ROWS 36u
#define PROF_LATENCY_BUCKETS (PROF_LATENCY_ROWS * PROF_LOG_LINEAR_ROW)

struct prof_latency_sum {
    uint64_t cycles; /* of all */
    uint32_t count;
    uint32_t buckets[PROF_LATENCY_BUCKETS];
};

void prof_latency_add(struct prof_latency_sum *sum, uint64_t cycles);

/* found[1] is the value that (permille) of all are below, with those in its
 * bucket at equal distances; between the ends of its interval of 95 % if
 * requests know nothing of each other. Zeros without any. */
void prof_latency_interval(const struct prof_latency_sum *sum,
                           uint32_t permille, uint64_t *found);

/* What virtual time was spent on, for one target and one speed-up. */
struct prof_limit_sum {
    uint64_t cycles[PROF_LIMITS];
    uint64_t named[PROF_WAITED_MAX]; /* of these */
};

struct prof_causal {
    struct prof_virtual_clock clock; /* changed with interrupts off, while
                                        experiments run: these may be in the
                                        target */
    uint64_t left_out;   /* cycles that are of no part of the program */
    uint64_t normal;     /* real time since which nothing is faster;
                             UINT64_MAX: something is */
    uint64_t normal_own; /* prof_causal_own() then */
    /* Lists; the last one added is the first, */
    struct prof_target *targets;
    struct prof_progress *points;
    struct prof_latency *latency_kinds;
    struct prof_assumption *assumptions; /* of these, the first one added */
    struct prof_held held;
    struct prof_experiments experiments;
    struct prof_latency_sum *latencies; /* by target, speed-up, kind */
    uint32_t kinds;                     /* of these */
    uint32_t epoch;                     /* of agents: counts releases */
    struct prof_limit_sum *limits;      /* by target, speed-up */
    struct prof_latency_sum *latency;   /* of these: of this experiment, */
    struct prof_limit_sum *limit;       /* kind 0 */
    struct prof_work *work;             /* NULL until the first start, */
    struct prof_waited_names *names;    /* as are these */
    uint64_t due;                       /* of the event that was taken last */
    uint64_t tsc_hz;
    void *memory;                  /* of experiments */
    void *of_shares;               /* the part of it for shares.h */
    uint64_t started;              /* real time */
    uint64_t began;                /* the same, of the first experiment whose
                                      results were not discarded */
    struct prof_target *by_shares; /* the target, if it is (shares.h) */
    uint32_t sampled; /* of prof_sampler_cycles(), when it was last looked at:
                         the low half, because the target reads the clock
                         before so much is spent in interrupts */
    uint32_t taken;   /* what the event came from that was taken since a handler
                       began (waited.h) */
    bool open;        /* there is an open loop, since the last release */
    bool releases;    /* all that is held is due */
    bool checks;      /* answers are checked: what counts is at normal speed */
    bool listed;      /* it is not, and all that is held is in the list:
                             there is some */
    uint32_t strange; /* functions that were not as they were left */
    /* From held_refused on; prof_causal_stats() adds the rest. */
    struct prof_causal_stats sums;
};
extern struct prof_causal prof_causal;

/* Cycles of the delay that are the profiler's own, and by which the target was
 * faster. */
static inline uint64_t prof_causal_own(void)
{
    return prof_causal.clock.own + prof_causal.clock.apart;
}

static inline uint64_t prof_causal_saved(void)
{
    return prof_causal.clock.delay - prof_causal.clock.own;
}

static inline uint32_t prof_causal_sampled(void)
{
    return (uint32_t)prof_sampler_cycles(prof_cpu_here());
}

/* The present time, after the sampler's interrupts were taken out of the
 * target's; others are passed to prof_causal_except(). Contexts: interrupts
 * off. */
uint64_t prof_causal_exactly(void);
void prof_causal_except_samples(void); /* the same without the time */

/* Then interrupts do not matter: they change (since). */
static inline bool prof_causal_no_target(void)
{
    return prof_causal.clock.nested == 0 && !prof_causal_outside;
}

/* Both clocks, with interrupts off. */
struct prof_moment prof_causal_now_in_target(void);

/* Reads both clocks where no target runs. False: an interrupt has changed the
 * delay meanwhile, and they are not of the same time. */
static inline bool prof_causal_read_both(struct prof_moment *both)
{
    const volatile struct prof_virtual_clock *clock = &prof_causal.clock;
    uint32_t low;
#if defined __i386__ && !defined PROF_HOSTED
    uint32_t now, high;
    bool same;

    __asm__ volatile("mov %5, %2\n\t"
                     "rdtsc\n\t"
                     "mov %%eax, %0\n\t"
                     "mov %%edx, %1\n\t"
                     "sub %6, %%eax\n\t"
                     "sbb $0, %%edx\n\t"
                     "sub %2, %%eax\n\t"
                     "sbb 4+%5, %%edx\n\t"
                     "cmp %5, %2"
                     : "=&r"(now), "=&r"(high), "=&r"(low),
                       "=&A"(both->virtual_time), "=@cce"(same)
                     : "m"(clock->delay), "m"(clock->apart));
    both->real = (uint64_t)high << 32 | now;
    return same;
#else
    const volatile uint32_t *still = (const volatile void *)&clock->delay;
    uint64_t lag = clock->delay;

    low = (uint32_t)lag;
    lag += clock->apart;
    both->real = prof_tsc();
    both->virtual_time = both->real - lag;
    return low == *still;
#endif
}

static inline struct prof_moment prof_causal_both(void)
{
    struct prof_moment both;

    if (prof_causal_no_target() &&
        __builtin_expect(prof_causal_read_both(&both), 1))
        return both;
    return prof_causal_now_in_target();
}

/* (target) is left at (now); (own) cycles of the visit were the profiler's. It
 * is entered by a call that knows what it takes itself (own.h). Contexts:
 * interrupts off. */
void prof_causal_leave_at(struct prof_target *target, uint64_t now,
                          uint32_t own);
void prof_causal_enter_last(struct prof_target *target);

/* prof_causal_visit() in a call that (began) then and excludes all of itself.
 * Contexts: interrupts off. */
void prof_causal_visit_at(struct prof_progress *point, uint64_t began);

/* The one that paces experiments. There is one. */
const struct prof_progress *prof_causal_first_point(void);

/* All held events are due from now on. */
void prof_causal_release(void);

/* Of a target and a speed-up, from 0 on, all kinds of requests and all shares
 * of the time. */
struct prof_latency_sum *prof_causal_latency_sums(uint32_t target,
                                                  uint32_t speedup);
struct prof_limit_sum *prof_causal_limit_sum(uint32_t target, uint32_t speedup);

/* The quantiles of a sum; all 0 without any request. */
void prof_causal_quantiles_of(const struct prof_latency_sum *sum,
                              struct prof_quantiles *quantiles);

/* Another experiment has begun at (now), perhaps while its target runs. */
void prof_causal_follow(uint64_t now);

/* Between two experiments: releases the held events of an open loop before
 * there is no room for more. */
void prof_causal_drain(uint64_t now);

/* Experiments begin. */
void prof_causal_traffic_begin(uint64_t tsc_hz, uint64_t now);

/* An experiment has ended at (now): if a target was called too often, it is
 * learnt from samples, and all experiments begin again. */
void prof_causal_learn(uint64_t now);

/* A function that was not called for so long, in cycles, runs without being
 * called, as that of a task does, or not at all. */
static inline uint64_t prof_causal_uncalled_cycles(void)
{
    return prof_divide(prof_causal.tsc_hz, 5);
}

/* Whether the experiment is with (target). */
static inline bool prof_causal_chosen(const struct prof_target *target)
{
    return target->number == prof_causal.experiments.number;
}

/* While an agent is the target: (time), or the time that handlers have come to
 * if that is later. (now) is the real time. */
uint64_t prof_causal_not_before(uint64_t time, uint64_t now);

/* After handlers, and before experiments change: accounts the virtual time
 * until (time) to the CPU. */
void prof_causal_worked(uint64_t time);

/* The loop has waited until (now), virtual time, for what was taken then: adds
 * it to the sums (waited.c). */
void prof_causal_account_wait(struct prof_work *work, uint64_t now);

/* (part) of (all), in millionths. */
uint32_t prof_causal_ppm(uint64_t part, uint64_t all);

/* Handlers need not wait for what they owe (traffic.c). Contexts: interrupts
 * off. */
void prof_causal_forgive(uint64_t now);

/* An experiment begins or ends: handlers are noted from now on. One may be
 * under way whose beginning was not. Contexts: interrupts off. */
void prof_causal_follow_handlers(void);

#endif
