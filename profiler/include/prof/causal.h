/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_CAUSAL_H
#define PROF_CAUSAL_H

/*
 * Causal profiling: by how much does the whole become faster if one part of it
 * does? For programs on one event loop.
 *
 *     static PROF_PROGRESS(replied, "replied");
 *     static PROF_TARGET(parsing, "parse");
 *
 *     prof_causal_add_progress(&replied);
 *     prof_causal_add_target(&parsing);
 *     prof_causal_start(&settings);
 *     ...
 *     prof_target_enter(&parsing); parse(); prof_target_leave(&parsing);
 *     ...
 *     prof_progress(&replied);             a unit of work is done
 *     ...
 *     prof_causal_report();
 *
 * While a target runs in an experiment, virtual time is slower than real time.
 * A kernel whose loop, timers and answers from outside follow virtual time runs
 * as if the target were faster by as much: same events, same order. So:
 *
 *   - what decides by the time reads prof_causal_time(), not the TSC
 *   - each device and each peer has an agent, which says when an answer that
 *     has arrived is due on the virtual clock
 *   - what has arrived and is not due is held (prof_causal_hold())
 *
 * Error policy: calls return 0 or an enum prof_error. Without an experiment
 * all times are real, and nothing is ever held.
 * Contexts: thread, unless it says otherwise; one CPU.
 */

#include <prof/causal_agent.h>
#include <prof/causal_functions.h>
#include <prof/config.h>
#include <prof/cpus.h>
#include <prof/error.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PROF_ONE 65536u /* speed-ups are in 1/65,536 */

/* At 100 % nothing that a target waits for would ever be due. */
#define PROF_SPEEDUP_MAX (PROF_ONE / 100u * 95u)

#if PROF_WITH_CAUSAL
/* What is counted: visits only, or what experiments need, too. */
enum prof_causal_state {
    PROF_CAUSAL_NOTHING,
    PROF_CAUSAL_VISITS,
    PROF_CAUSAL_EXPERIMENTS,
};
extern uint32_t prof_causal_state;
static inline bool prof_causal_on(void)
{
    return prof_causal_state == PROF_CAUSAL_EXPERIMENTS;
}
extern uint32_t prof_causal_spins;
extern uint64_t prof_causal_lag;      /* that of the last experiments */
extern uint64_t prof_causal_next_due; /* UINT64_MAX: nothing is held */
uint64_t prof_causal_experiment_time(void);
extern bool prof_causal_ended;   /* prof_causal_complete() */
extern bool prof_causal_outside; /* the target is what an agent does */
#define PROF_CAUSAL_ON                                                         \
    (__builtin_expect(prof_causal_on(), 0) && prof_cpu_is_first())
#define PROF_CAUSAL_COUNTS                                                     \
    (__builtin_expect(prof_causal_state != PROF_CAUSAL_NOTHING, 0) &&          \
     prof_cpu_is_first())
#define PROF_CAUSAL_NEXT_DUE prof_causal_next_due
#else
#define PROF_CAUSAL_NEXT_DUE UINT64_MAX
#define PROF_CAUSAL_ON 0
#define PROF_CAUSAL_COUNTS 0
#endif

/* Whether experiments run. Contexts: any. */
static inline bool prof_causal_running(void)
{
    return PROF_CAUSAL_ON;
}

/* ---- virtual time */

/* Virtual time, in cycles of the TSC. It never goes back. Without an
 * experiment: the TSC less a constant. Contexts: any. */
static inline uint64_t prof_causal_time(void)
{
#if PROF_WITH_CAUSAL
    if (PROF_CAUSAL_ON)
        return prof_causal_experiment_time();
    return __builtin_ia32_rdtsc() - prof_causal_lag;
#else
    return __builtin_ia32_rdtsc();
#endif
}

/* The TSC at which virtual time will be (due) if no target runs until then. */
uint64_t prof_causal_real(uint64_t due);

/* (cycles) until now were spent in an interrupt, and so not in the target.
 * Contexts: interrupt. */
void prof_causal_except(uint64_t cycles);

/* (cycles) until now were spent on what is no part of the program, such as
 * clients that are simulated beside it: virtual time stands still for as long,
 * and an open loop's packets have not had that time to arrive in. */
#if PROF_WITH_CAUSAL
void prof_causal_leave_out(uint64_t cycles);
#else
static inline void prof_causal_leave_out(uint64_t cycles)
{
    (void)cycles;
}
#endif

/* What the kernel does between the two is for experiments only, such as to find
 * the agent of a frame: virtual time stands still. No handler is called
 * meanwhile. The first returns what the second needs. Contexts: thread. */
#if PROF_WITH_CAUSAL
uint64_t prof_causal_aside(void);
void prof_causal_aside_end(uint64_t began);
#else
static inline uint64_t prof_causal_aside(void)
{
    return 0;
}
static inline void prof_causal_aside_end(uint64_t began)
{
    (void)began;
}
#endif

/* ---- progress and targets */

/* A place that is passed once for each unit of work. */
struct prof_progress {
    const char *name;           /* MUST remain valid */
    uint32_t number;            /* private: 0, or from 1 on */
    struct prof_progress *next; /* private */
};
#define PROF_PROGRESS(variable, text)                                          \
    struct prof_progress variable = {text, 0, 0}

struct prof_range; /* <prof/prof.h> */

/* A part of the program that might become faster. */
struct prof_target {
    const char *name;                /* MUST remain valid */
    uint32_t number;                 /* private: 0, or from 1 on */
    uint32_t inside;                 /* private: entries without an exit */
    uint64_t visits;                 /* while running */
    struct prof_target *next;        /* private */
    bool outside;                    /* private: it is what an agent does */
    bool by_samples;                 /* private: it is learnt from samples;
                                        visits are samples in it then */
    bool on_trial;                   /* private: which of the two is better is
                                        not known yet */
    uintptr_t begin, end;            /* private: its code; 0: none */
    const struct prof_range *ranges; /* private: which parts of that; NULL:
                                        all */
    uint32_t ranges_count;           /* private: of these */
};
#define PROF_TARGET(variable, text)                                            \
    struct prof_target variable = {text, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}

/* While no experiments run; again has no effect. It MUST remain valid. The
 * first point paces the experiments: it should be passed often. */
void prof_causal_add_progress(struct prof_progress *point);
void prof_causal_add_target(struct prof_target *target);

/* A unit of work is done. */
void prof_causal_visit(struct prof_progress *point);
static inline void prof_progress(struct prof_progress *point)
{
    if (PROF_CAUSAL_COUNTS)
        prof_causal_visit(point);
}

/* A kind of request, which takes from when its event was due until it is
 * done. */
struct prof_latency {
    const char *name;          /* MUST remain valid */
    uint32_t number;           /* private: 0, or from 1 on */
    struct prof_latency *next; /* private */
};
#define PROF_LATENCY(variable, text) struct prof_latency variable = {text, 0, 0}

/* As prof_causal_add_progress(). */
void prof_causal_add_latency(struct prof_latency *latency);

/* Virtual time at which the event was due that prof_causal_take() has returned
 * last: when its request began. Without experiments: the time. */
uint64_t prof_causal_due(void);

/* A request is done that began at (began), virtual time. */
void prof_causal_done(struct prof_latency *latency, uint64_t began);
static inline void prof_latency_end(struct prof_latency *latency,
                                    uint64_t began)
{
    if (PROF_CAUSAL_ON)
        prof_causal_done(latency, began);
}

/* The target begins and ends. Calls may be nested. It MUST be left before it
 * waits: waiting does not become faster. */
void prof_causal_enter(struct prof_target *target);
void prof_causal_leave(struct prof_target *target);
static inline void prof_target_enter(struct prof_target *target)
{
    if (PROF_CAUSAL_ON)
        prof_causal_enter(target);
}
static inline void prof_target_leave(struct prof_target *target)
{
    if (PROF_CAUSAL_ON)
        prof_causal_leave(target);
}

/* To be called before the current stack becomes [begin, end), and before
 * prof_stack_set(). Contexts: thread. */
void prof_causal_switched(uintptr_t begin, uintptr_t end);
static inline void prof_causal_switch(uintptr_t begin, uintptr_t end)
{
    if (PROF_CAUSAL_ON)
        prof_causal_switched(begin, end);
}

/* ---- experiments */

#define PROF_CAUSAL_SPEEDUPS_MAX 8u

/* 0 in a member: the value in brackets. */
struct prof_causal_settings {
    uint32_t speedups;                          /* of these (25, 50, 95 %) */
    uint32_t speedup[PROF_CAUSAL_SPEEDUPS_MAX]; /* none of them 0 */
    uint64_t cycles_min; /* an experiment is meant to take so long (10 ms) */
    uint64_t cycles_max; /* one that takes longer is abandoned (5 s) */
    uint32_t visits_min; /* and has so many visits (50) */
    uint32_t held;       /* events that can be held at a time (4,096) */
    uint64_t tsc_hz;     /* not 0 */
    uint32_t seed;       /* of what is drawn (1) */
    bool rotates;        /* targets whose gains are least certain have most of
                            the experiments, those that do not run none; else
                            all have as many */
    uint32_t first;      /* with (rotates): only so many targets take part at
                            first, and one more whenever all of their intervals
                            are narrow (all) */
    uint32_t narrow;     /* per cent to either side (3) */
    bool weighs;         /* how wide intervals are is kept for
                            prof.causal_until= */
};

/*
 * Begins experiments with all targets and all points. Allocates by
 * prof_port_alloc(). Returns 0, PROF_ESTATE (they are running, or what they
 * held was not taken), PROF_EVALUE (no target or no point; too many speed-ups,
 * or one that is 0 or above PROF_SPEEDUP_MAX; more than a million events to be
 * held; no tsc_hz), PROF_EMEMORY, or PROF_ECAUSAL_CPUS: config.cpus is more
 * than 1.
 */
int prof_causal_start(const struct prof_causal_settings *settings);

/* Instead of experiments: (target) is (speedup) faster from now on, 0 to
 * PROF_SPEEDUP_MAX, until prof_causal_stop(). Returns 0, PROF_ESTATE (they are
 * not running) or PROF_EVALUE. */
int prof_causal_fix(const struct prof_target *target, uint32_t speedup);

/* All experiments begin again: what was measured is void. */
void prof_causal_again(void);

/* Ends them; what is held becomes due. Results remain until the next start. */
void prof_causal_stop(void);

/* By how much the time for a unit of work becomes shorter. */
struct prof_gain {
    int32_t ppm;           /* negative: longer */
    uint32_t interval_ppm; /* to either side: 95 % */
    uint32_t groups;       /* of experiments that say so, 16 at most */
};

/* Of (speedup), the number of one of the settings. Returns 0, PROF_EVALUE, or
 * PROF_ESTATE if there were too few experiments. */
int prof_causal_gain(const struct prof_target *target, uint32_t speedup,
                     const struct prof_progress *point, struct prof_gain *gain);

/* What virtual time goes to: a handler, or waiting for the next one. */
enum prof_limit {
    PROF_LIMIT_TIME,     /* a timer, or what is not known to agents */
    PROF_LIMIT_DEVICE,   /* answers of agents PARALLEL and SERVERS */
    PROF_LIMIT_PEER,     /* packets of CLOSED */
    PROF_LIMIT_ARRIVALS, /* and of OPEN */
    PROF_LIMIT_CPU,      /* handlers */
    PROF_LIMIT_LOCK,     /* what holds a lock goes on, and others wait for it */
};
#define PROF_LIMITS 6u

struct prof_shares {
    uint32_t target_ppm; /* at normal speed: time in the target */
    uint32_t limit_ppm[PROF_LIMITS];
};

/* As prof_causal_quantiles(); PROF_ESTATE without any experiment. */
int prof_causal_shares(const struct prof_target *target, uint32_t speedup,
                       struct prof_shares *shares);

/* A part of virtual time. */
struct prof_part {
    enum prof_limit kind;
    const char *name; /* of the agent, timer or lock; NULL: all of the kind that
                         have no name */
    uint32_t ppm;
};
#define PROF_PARTS_MAX (16u + PROF_LIMITS)

/* All that are not 0, the greatest first, and their number. As
 * prof_causal_shares(). */
#if PROF_WITH_CAUSAL
int prof_causal_parts(const struct prof_target *target, uint32_t speedup,
                      struct prof_part parts[PROF_PARTS_MAX], uint32_t *count);
#else
static inline int prof_causal_parts(const struct prof_target *target,
                                    uint32_t speedup,
                                    struct prof_part parts[PROF_PARTS_MAX],
                                    uint32_t *count)
{
    (void)target;
    (void)speedup;
    (void)parts;
    *count = 0;
    return PROF_EABSENT;
}
#endif

/* A/A: of experiments at normal speed, each second one is the speed-up. */
int prof_causal_none(const struct prof_progress *point, struct prof_gain *gain);

/* Of the requests of a kind, in cycles; from low to high with 95 %. */
struct prof_quantiles {
    uint64_t requests;
    uint64_t mean;
    uint64_t p50_low, p50, p50_high; /* half of them take less than p50 */
    uint64_t p99_low, p99, p99_high; /* 99 % do */
};

#define PROF_NORMAL_SPEED UINT32_MAX

/* Of (speedup), the number of one of the settings or PROF_NORMAL_SPEED. As
 * prof_causal_gain(); PROF_ESTATE without any request. */
int prof_causal_quantiles(const struct prof_target *target, uint32_t speedup,
                          const struct prof_latency *latency,
                          struct prof_quantiles *quantiles);

struct prof_causal_stats {
    uint64_t experiments;
    uint64_t abandoned;      /* too few visits in cycles_max */
    uint64_t delay_cycles;   /* by which virtual time lags */
    uint64_t held;           /* events that were held */
    uint32_t held_most;      /* at a time */
    uint64_t held_refused;   /* no room: each has ended an experiment */
    uint64_t answers;        /* of all agents */
    uint64_t contradictions; /* of these: earlier than their kind can answer */
    uint64_t checked;        /* answers while nothing was faster, where that
                                would show */
    uint64_t drained;        /* times that traffic of an open loop was let
                                through */
    uint64_t stolen_cycles;  /* lower bound: steal while idle */
};
void prof_causal_stats(struct prof_causal_stats *stats);

/* Prints a table by prof_port_write(). */
void prof_causal_report(void);

/*
 * To be called after each prof_drain(): begins, once, what prof.causal= asks
 * for; with auto when there are enough samples to choose targets by. Its caller
 * MUST be the event loop: functions that are on the stack are not chosen. Ends
 * them, and prints their table, when prof.causal_for= or prof.causal_until=
 * says so.
 */
void prof_causal_step(void);

/* Whether that has been: nothing is left to be measured. */
static inline bool prof_causal_complete(void)
{
#if PROF_WITH_CAUSAL
    return prof_causal_ended;
#else
    return false;
#endif
}

/* Both clocks, now. */
struct prof_moment prof_causal_now(void);

/* Holds (event) until (due), even if that is now, for the order's sake. False:
 * it is to be handled now, as there are no experiments, or there is no room,
 * which ends this one. */
bool prof_causal_hold(uint64_t due, void *event);

/* When the next event is due, 0: at once; false: none is held. */
static inline bool prof_causal_next(uint64_t *due)
{
    *due = PROF_CAUSAL_NEXT_DUE;
    return *due != UINT64_MAX;
}

/* Whether that is due at (now), virtual time. */
static inline bool prof_causal_next_by(uint64_t now, uint64_t *due)
{
    *due = PROF_CAUSAL_NEXT_DUE;
    return *due <= now && PROF_WITH_CAUSAL;
}

/* Returns that event and removes it, due or not; NULL: none is held. */
void *prof_causal_take(void);

/* Removes (event), due or not. False: it is not held. Linear in what is. */
bool prof_causal_withdraw(const void *event);

/* The loop would halt without experiments, or a driver waits for its device:
 * what runs until prof_causal_work() is in no target's time. That is to be
 * called when there is work: a timer or an answer is due, a device has some. */
void prof_causal_spin(void);
void prof_causal_found(void);
static inline void prof_causal_work(void)
{
#if PROF_WITH_CAUSAL
    if (__builtin_expect(prof_causal_spins != 0, 0))
        prof_causal_found();
#endif
}

/* To be called in each turn of the loop: ends an experiment without visits. */
void prof_causal_turn(void);

/* The loop calls a handler, and it has returned. (kind) is anything that those
 * for the same events have in common, such as the function; not NULL. Nested
 * calls only refine the kind. */
void prof_causal_handler(const void *kind);
void prof_causal_handled(void);
static inline void prof_handler_begin(const void *kind)
{
    if (PROF_CAUSAL_ON)
        prof_causal_handler(kind);
}
static inline void prof_handler_end(void)
{
    if (PROF_CAUSAL_ON)
        prof_causal_handled();
}

/* What runs is of another kind from now on, such as a task in the handler that
 * resumes it. Returns the kind until now, to be passed at its end. */
const void *prof_causal_part(const void *kind);
static inline const void *prof_handler_part(const void *kind)
{
    return PROF_CAUSAL_ON ? prof_causal_part(kind) : NULL;
}

/*
 * While experiments run: the loop has waited, and the handler that it has
 * called since knows what for, better than by the event that it came from.
 * (kind) is PROF_LIMIT_TIME, for a timer, without effect if the event was none,
 * or PROF_LIMIT_LOCK: others wait for a lock whose holder goes on. The last
 * call counts. Without effect if the handler did not have to be waited for.
 * (name) MUST remain valid; PROF_PARTS_MAX less PROF_LIMITS names are known.
 */
#if PROF_WITH_CAUSAL
void prof_causal_waited(enum prof_limit kind, const char *name);
#else
static inline void prof_causal_waited(enum prof_limit kind, const char *name)
{
    (void)kind;
    (void)name;
}
#endif

/* Until the loop has waited again, there is nothing more to be said. */
#if PROF_WITH_CAUSAL
void prof_causal_wait_known(void);
#else
static inline void prof_causal_wait_known(void)
{
}
#endif

/* After a handler: whether the loop has to wait, because an agent is faster. It
 * takes what arrives, and calls no handler. */
bool prof_causal_owes_now(void);
static inline bool prof_causal_owes(void)
{
#if PROF_WITH_CAUSAL
    return PROF_CAUSAL_ON && prof_causal_outside && prof_causal_owes_now();
#else
    return false;
#endif
}

#ifdef __cplusplus
}
#endif

#endif
