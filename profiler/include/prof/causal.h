/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_CAUSAL_H
#define PROF_CAUSAL_H

/*
 * Causal profiling: measures by how much a program would speed up if one part
 * of it, the target, were faster. For programs with one event loop.
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
 * While the target of an experiment runs, virtual time advances more slowly
 * than real time. If the kernel's loop, its timers and answers from outside
 * follow virtual time, the program runs as if the target were faster: the same
 * events in the same order. So:
 *
 *   - code that makes decisions by the time reads prof_causal_time(), not the
 *     TSC
 *   - each device and each peer has an agent (<prof/causal_agent.h>), which
 *     computes when an answer that has arrived is due in virtual time
 *   - an event that has arrived and is not due yet is held (prof_causal_hold())
 *
 * Error policy: calls return 0 or an enum prof_error. Outside experiments all
 * times are real, and no event is held.
 *
 * Contexts: thread on the first CPU, unless stated otherwise. Without
 * PROF_WITH_CAUSAL the calls have no effect or return PROF_EABSENT.
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

#define PROF_ONE 65536u /* 100 %: speed-ups are in 1/65,536 */

/* The largest speed-up. At 100 % virtual time would stand still in a target. */
#define PROF_SPEEDUP_MAX (PROF_ONE / 100u * 95u)

#if PROF_WITH_CAUSAL
/* Private, up to PROF_CAUSAL_COUNTS. What is counted: visits only, or all that
 * experiments need. */
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
extern uint64_t prof_causal_lag;      /* lag of virtual time, in cycles, when
                                         the last experiments ended */
extern uint64_t prof_causal_next_due; /* UINT64_MAX: no event is held */
uint64_t prof_causal_experiment_time(void);
extern bool prof_causal_ended;    /* prof_causal_complete() */
extern bool prof_causal_outside;  /* the target is an agent's work */
extern bool prof_causal_handlers; /* prof_handler_begin() and _end() have an
                                     effect */
#define PROF_CAUSAL_ON                                                         \
    (__builtin_expect(prof_causal_on(), 0) && prof_cpu_is_first())
#define PROF_CAUSAL_COUNTS                                                     \
    (__builtin_expect(prof_causal_state != PROF_CAUSAL_NOTHING, 0) &&          \
     prof_cpu_is_first())
#define PROF_CAUSAL_HANDLERS                                                   \
    (__builtin_expect(prof_causal_handlers, 0) && prof_cpu_is_first())
#define PROF_CAUSAL_NEXT_DUE prof_causal_next_due
#else
#define PROF_CAUSAL_HANDLERS 0
#define PROF_CAUSAL_NEXT_DUE UINT64_MAX
#define PROF_CAUSAL_ON 0
#define PROF_CAUSAL_COUNTS 0
#endif

/* Returns whether experiments are running. Contexts: any. */
static inline bool prof_causal_running(void)
{
    return PROF_CAUSAL_ON;
}

/* ---- virtual time */

/* Returns the virtual time in TSC cycles. It is monotonic. Outside experiments:
 * the TSC minus a constant. Contexts: any. */
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

/* Returns the TSC value at which virtual time reaches (due) if no target runs
 * until then. */
uint64_t prof_causal_real(uint64_t due);

/* Excludes the last (cycles) TSC cycles, spent in an interrupt, from the
 * target's time. Contexts: interrupt. */
void prof_causal_except(uint64_t cycles);

/* Excludes the last (cycles) TSC cycles from virtual time: they were spent on
 * code that is no part of the program, such as simulated clients in the same
 * image. Packets of an open loop could not arrive in that time. Where
 * interrupts are on meanwhile, prof_causal_leave_out_begin() comes first, so
 * that samples of that code are not subtracted from the target's time twice.
 * Contexts: thread. */
#if PROF_WITH_CAUSAL
void prof_causal_leave_out_begin(void);
void prof_causal_leave_out(uint64_t cycles);
#else
static inline void prof_causal_leave_out_begin(void)
{
}
static inline void prof_causal_leave_out(uint64_t cycles)
{
    (void)cycles;
}
#endif

/* Enclose work of the kernel that only experiments need, such as the lookup of
 * a frame's agent: virtual time stands still, and no handler may be called. The
 * first returns the argument of the second. Contexts: thread. */
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

/* A progress point: code that runs once for each unit of work. */
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
    uint32_t inside;                 /* private: entries not left yet */
    uint64_t visits;                 /* entries while experiments run */
    struct prof_target *next;        /* private */
    bool outside;                    /* private: it is an agent's work */
    bool by_samples;                 /* private: its time is measured by
                                        samples; visits counts these then */
    bool on_trial;                   /* private: which of the two is better is
                                        not known yet */
    uintptr_t begin, end;            /* private: its code; 0: none */
    const struct prof_range *ranges; /* private: parts of that code; NULL:
                                        all */
    uint32_t ranges_count;           /* private: number of ranges */
};
#define PROF_TARGET(variable, text)                                            \
    struct prof_target variable = {text, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}

/* Add a progress point or a target, which MUST remain valid. No effect if it
 * was added before, or while experiments run. The first point added paces the
 * experiments, so it should be visited often. */
void prof_causal_add_progress(struct prof_progress *point);
void prof_causal_add_target(struct prof_target *target);

/* Report a visit of (point): a unit of work is done. */
void prof_causal_visit(struct prof_progress *point);
static inline void prof_progress(struct prof_progress *point)
{
    if (PROF_CAUSAL_COUNTS)
        prof_causal_visit(point);
}

/* A kind of request whose latency is measured: from the time at which its event
 * was due until it is done. */
struct prof_latency {
    const char *name;          /* MUST remain valid */
    uint32_t number;           /* private: 0, or from 1 on */
    struct prof_latency *next; /* private */
};
#define PROF_LATENCY(variable, text) struct prof_latency variable = {text, 0, 0}

/* Adds a kind of request. As prof_causal_add_progress(). */
void prof_causal_add_latency(struct prof_latency *latency);

/* Returns the virtual time at which the event last returned by
 * prof_causal_take() was due: the begin of its request. Outside experiments:
 * prof_causal_time(). */
uint64_t prof_causal_due(void);

/* Report that a request is done that began at virtual time (began). */
void prof_causal_done(struct prof_latency *latency, uint64_t began);
static inline void prof_latency_end(struct prof_latency *latency,
                                    uint64_t began)
{
    if (PROF_CAUSAL_ON)
        prof_causal_done(latency, began);
}

/* Report that the target begins and ends. Calls may be nested. The target MUST
 * be left before it waits, as waiting does not become faster. */
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

/* Report a switch to the stack [begin, end). To be called before the switch,
 * and before prof_stack_set(). Contexts: thread. */
void prof_causal_switched(uintptr_t begin, uintptr_t end);
static inline void prof_causal_switch(uintptr_t begin, uintptr_t end)
{
    if (PROF_CAUSAL_ON)
        prof_causal_switched(begin, end);
}

/* ---- experiments */

#define PROF_CAUSAL_SPEEDUPS_MAX 8u

/* Settings of experiments. If a member is 0, the value in parentheses applies.
 */
struct prof_causal_settings {
    uint32_t speedups; /* number of speed-ups (25, 50 and 95 %) */
    uint32_t speedup[PROF_CAUSAL_SPEEDUPS_MAX]; /* in 1/PROF_ONE, none is 0 */
    uint64_t cycles_min; /* intended length of an experiment in cycles
                            (10 ms) */
    uint64_t cycles_max; /* length after which it is abandoned (5 s) */
    uint32_t visits_min; /* visits that an experiment needs (50) */
    uint32_t held;       /* events that can be held at a time (4,096) */
    uint64_t tsc_hz;     /* TSC frequency in Hz, not 0 */
    uint32_t seed;       /* of random choices (1) */
    bool rotates;        /* targets with the least certain gains get most of the
                            experiments, and targets that do not run get none;
                            else all get the same number */
    uint32_t first;      /* with (rotates): number of targets at first; one more
                            is added whenever all intervals are narrow (all) */
    uint32_t narrow;     /* a narrow interval, per cent to either side (3) */
    bool weighs;         /* keep the widths of intervals, for
                            prof.causal_until= */
};

/*
 * Starts experiments with all targets and all progress points. Allocates with
 * prof_port_alloc(). Returns 0 or
 *   PROF_ESTATE        experiments are running, or events that they held were
 *                      not taken
 *   PROF_EVALUE        no target or no progress point; too many speed-ups, or
 *                      one that is 0 or above PROF_SPEEDUP_MAX; (held) is more
 *                      than a million; or (tsc_hz) is 0
 *   PROF_EMEMORY       there is no memory
 *   PROF_ECAUSAL_CPUS  config.cpus is more than 1
 */
int prof_causal_start(const struct prof_causal_settings *settings);

/* Instead of experiments, makes (target) faster by (speedup), 0 to
 * PROF_SPEEDUP_MAX in 1/PROF_ONE, until prof_causal_stop(). Returns 0,
 * PROF_ESTATE (experiments are not running) or PROF_EVALUE. */
int prof_causal_fix(const struct prof_target *target, uint32_t speedup);

/* Restarts all experiments, and discards their results. */
void prof_causal_again(void);

/* Ends experiments; events that are held become due. Results remain until the
 * next start. */
void prof_causal_stop(void);

/* By how much the time for a unit of work becomes shorter. */
struct prof_gain {
    int32_t ppm;           /* parts per million; negative: longer */
    uint32_t interval_ppm; /* half the width of the 95 % confidence interval */
    uint32_t groups;       /* groups of experiments it is based on, up to 16 */
};

/* Estimates the gain at (point) if (target) has the speed-up with index
 * (speedup) in the settings. Returns 0, PROF_EVALUE, or PROF_ESTATE (too few
 * experiments). */
int prof_causal_gain(const struct prof_target *target, uint32_t speedup,
                     const struct prof_progress *point, struct prof_gain *gain);

/* What virtual time is spent on: handlers, or waiting for the next one. */
enum prof_limit {
    PROF_LIMIT_TIME,     /* waiting for a timer, or for an unknown source */
    PROF_LIMIT_DEVICE,   /* waiting for PARALLEL and SERVERS agents */
    PROF_LIMIT_PEER,     /* waiting for packets of CLOSED agents */
    PROF_LIMIT_ARRIVALS, /* waiting for packets of OPEN agents */
    PROF_LIMIT_CPU,      /* in handlers */
    PROF_LIMIT_LOCK,     /* waiting for the holder of a lock, on which others
                            wait */
};
#define PROF_LIMITS 6u

struct prof_shares {
    uint32_t target_ppm; /* time in the target at normal speed */
    uint32_t limit_ppm[PROF_LIMITS];
};

/* Computes the shares of virtual time in experiments with (target) at
 * (speedup), an index or PROF_NORMAL_SPEED. Returns 0, PROF_EVALUE, or
 * PROF_ESTATE (no experiments). */
int prof_causal_shares(const struct prof_target *target, uint32_t speedup,
                       struct prof_shares *shares);

/* A part of virtual time. */
struct prof_part {
    enum prof_limit kind;
    const char *name; /* of the agent, timer or lock; NULL: all unnamed ones of
                         this kind together */
    uint32_t ppm;
};
#define PROF_PARTS_MAX (16u + PROF_LIMITS)

/* Lists all parts that are not 0 in (parts), largest first, and their number in
 * *count. Otherwise as prof_causal_shares(). */
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

/* Estimates the gain of an A/A test, whose true value is 0: half of the groups
 * of experiments at normal speed are compared with the other half. Returns 0,
 * PROF_EVALUE, or PROF_ESTATE (too few experiments). */
int prof_causal_none(const struct prof_progress *point, struct prof_gain *gain);

/* Latencies of a kind of request, in cycles. The 95 % confidence interval of a
 * quantile is from ..._low to ..._high. */
struct prof_quantiles {
    uint64_t requests;
    uint64_t mean;
    uint64_t p50_low, p50, p50_high; /* median */
    uint64_t p99_low, p99, p99_high; /* 99th percentile */
};

/* The index of a speed-up: none. */
#define PROF_NORMAL_SPEED UINT32_MAX

/* Computes the quantiles of (latency) in experiments with (target) at
 * (speedup), an index in the settings or PROF_NORMAL_SPEED. Returns 0,
 * PROF_EVALUE, or PROF_ESTATE (no requests). */
int prof_causal_quantiles(const struct prof_target *target, uint32_t speedup,
                          const struct prof_latency *latency,
                          struct prof_quantiles *quantiles);

/* Counts since the start of the experiments. */
struct prof_causal_stats {
    uint64_t experiments;
    uint64_t abandoned;    /* experiments with too few visits in cycles_max */
    uint64_t delay_cycles; /* lag of virtual time */
    uint64_t held;         /* events that were held */
    uint32_t held_most;    /* most events held at a time */
    uint64_t held_refused; /* events that could not be held; each has ended the
                                experiment that was under way */
    uint64_t answers;      /* answers of all agents */
    uint64_t contradictions; /* of checked: earlier than the agent's kind
                                allows */
    uint64_t checked;        /* of answers: at normal speed, when the kind can
                                be checked */
    uint64_t drained;        /* times that an open loop's held packets were let
                                through */
    uint64_t stolen_cycles;  /* stolen while idle; a lower bound */
};

/* Copies the counts to (stats). */
void prof_causal_stats(struct prof_causal_stats *stats);

/* Prints the table of results through prof_port_write(). */
void prof_causal_report(void);

/*
 * Controls experiments as options request; to be called after each
 * prof_drain(). Starts, once, the experiments of prof.causal=; with auto, when
 * there are enough samples to choose targets. Ends them and prints their table
 * as prof.causal_for= and prof.causal_until= request. The caller MUST be the
 * event loop, as functions on the stack are not chosen. prof_poll() calls this.
 */
void prof_causal_step(void);

/* Returns whether prof_causal_step() has ended the experiments, so that nothing
 * is left to measure. Contexts: any. */
static inline bool prof_causal_complete(void)
{
#if PROF_WITH_CAUSAL
    return prof_causal_ended;
#else
    return false;
#endif
}

/* Returns the time by both clocks. */
struct prof_moment prof_causal_now(void);

/* Holds (event) until virtual time (due), even if that has passed, to preserve
 * the order. Returns false if the caller must handle the event now, as no
 * experiments are running, or there is no room, which ends the experiment. */
bool prof_causal_hold(uint64_t due, void *event);

/* Stores the virtual time at which the next held event is due in *due, 0 for at
 * once. Returns false if no event is held. */
static inline bool prof_causal_next(uint64_t *due)
{
    *due = PROF_CAUSAL_NEXT_DUE;
    return *due != UINT64_MAX;
}

/* Like prof_causal_next(), but returns whether the event is due at virtual time
 * (now). */
static inline bool prof_causal_next_by(uint64_t now, uint64_t *due)
{
    *due = PROF_CAUSAL_NEXT_DUE;
    return *due <= now && PROF_WITH_CAUSAL;
}

/* Removes the next held event, due or not, and returns it; NULL: none is
 * held. */
void *prof_causal_take(void);

/* Removes (event), due or not. Returns false if it is not held. Linear in the
 * number of events held. */
bool prof_causal_withdraw(const void *event);

/* prof_causal_spin() reports that the loop polls instead of halting, or that a
 * driver waits for its device: code that runs until prof_causal_work() is in no
 * target's time. Call the latter when there is work: a timer or an answer is
 * due, or a device has data. prof_causal_found() is its implementation. */
void prof_causal_spin(void);
void prof_causal_found(void);
static inline void prof_causal_work(void)
{
#if PROF_WITH_CAUSAL
    if (__builtin_expect(prof_causal_spins != 0, 0))
        prof_causal_found();
#endif
}

/* Ends experiments that are overdue; to be called in each turn of the loop. */
void prof_causal_turn(void);

/* Report that the loop calls a handler, and that it has returned. (kind)
 * identifies handlers of the same events, such as a pointer to the function;
 * not NULL. A second prof_handler_begin() before the end only refines the kind:
 * the first prof_handler_end() ends the handler. For a part of a handler that
 * has an end of its own, use prof_handler_part(). */
void prof_causal_handler(const void *kind);
void prof_causal_handled(void);
static inline void prof_handler_begin(const void *kind)
{
    if (PROF_CAUSAL_HANDLERS)
        prof_causal_handler(kind);
}
static inline void prof_handler_end(void)
{
    if (PROF_CAUSAL_HANDLERS)
        prof_causal_handled();
}

/* Change the kind of the current handler, such as when it resumes a task.
 * Return the previous kind, to be passed in a second call at the end. */
const void *prof_causal_part(const void *kind);
static inline const void *prof_handler_part(const void *kind)
{
    return PROF_CAUSAL_ON ? prof_causal_part(kind) : NULL;
}

/*
 * Refines what the loop has waited for before the current handler, beyond what
 * its event shows. (kind) is PROF_LIMIT_TIME for a timer, without effect if the
 * event is not a timer's; or PROF_LIMIT_LOCK if others wait for a lock whose
 * holder goes on. (name) MUST remain valid; up to PROF_PARTS_MAX - PROF_LIMITS
 * names are distinguished. The last call counts. No effect if the loop did not
 * wait for the handler. To be called only while experiments run.
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

/* Makes prof_causal_waited() have no effect until the loop has waited again. To
 * be called only while experiments run. */
#if PROF_WITH_CAUSAL
void prof_causal_wait_known(void);
#else
static inline void prof_causal_wait_known(void)
{
}
#endif

/* Returns, after a handler, whether the loop must wait before it calls the next
 * one, as an agent is the target and is faster. Meanwhile the loop takes what
 * arrives, and calls no handler. */
bool prof_causal_owes_now(void);
static inline bool prof_causal_owes(void)
{
#if PROF_WITH_CAUSAL
    return __builtin_expect(prof_causal_outside, 0) && PROF_CAUSAL_ON &&
           prof_causal_owes_now();
#else
    return false;
#endif
}

#ifdef __cplusplus
}
#endif

#endif
