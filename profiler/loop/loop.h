/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_LOOP_LOOP_H
#define PROF_LOOP_LOOP_H

/*
 * Accounting of what runs.
 *
 * Frames form a stack, with the innermost at `top` and the event loop at the
 * bottom. The clock is read once at each change; that time is the end of one
 * frame's time and the begin of the other's:
 *
 *     begin    outer->start -= now    frame->start = now     top = frame
 *     leave    outer->start += now    now - frame->start     top = outer
 *
 * So `now - start` of the frame at the top, and `- start` of all others, is
 * their self time so far, with nothing counted twice or left out.
 *
 * All of this is modulo 2^32. Frames are rebased (rebase.c) at the first change
 * in each new 2^32 cycles: each frame's time so far is moved to `before`, and
 * its site is replaced by one for which every run is notable.
 */

#include "base/cpu.h"
#include "loop/long_runs.h"
#include "loop/sites.h"
#include "sample/cpu_state.h"

#include <prof/loop.h>
#include <prof/loop_stats.h>
#include <prof/prof.h>
#include <prof/text.h>
#include <stdbool.h>
#include <stdint.h>

#define PROF_LOOP_DEPTH_MAX 256u /* frames that a reader walks */

/*
 * The utilisation of the loop in the last seconds: the share of the time not
 * stolen in which it was not idle. For the last minute there is a mark for the
 * end of each whole second, with the idle time until then, made at the end of
 * an idle span or by a reader.
 */
#define PROF_UTILISATION_SECONDS 60u
#define PROF_UTILISATION_MARKS (PROF_UTILISATION_SECONDS + 1)

struct prof_utilisation {
    uint64_t second; /* cycles of one */
    uint64_t next;   /* end of the present one */
    uint64_t before; /* idle time until the last reset */
    uint64_t stolen; /* until now, that was taken out of anything */
    uint32_t shift;  /* marks are in 2^shift cycles */
    uint32_t at;     /* of the newest mark */
    uint32_t count;  /* marks, the newest ones */
    /* at the end of whole seconds, both modulo 2^32 */
    uint32_t idle_marks[PROF_UTILISATION_MARKS];
    uint32_t stolen_marks[PROF_UTILISATION_MARKS];
};

/*
 * The freeze guard reports what holds the loop for prof.loop_freeze or longer,
 * while it still does. If the loop's own frame has not run between two timer
 * interrupts, the loop has been held since the first of them, and by the frame
 * at the top at least since its start. So runs and pauses need no code for the
 * guard, and a freeze is detected within a tick.
 */
#define PROF_GUARD_FRAMES 12u

struct prof_freeze {
    uint64_t tsc;
    uint64_t held_cycles;               /* so far */
    const struct prof_loop_site *site;  /* site of the innermost frame */
    const struct prof_loop_site *outer; /* site that the loop has called */
    uint32_t object;
    uint32_t count; /* of addresses: the interrupted one, and its callers */
    uintptr_t addresses[PROF_GUARD_FRAMES];
};

struct prof_guard {
    uint64_t limit;        /* cycles, 0 = no guard */
    void (*trigger)(void); /* to be called in the interrupt, or NULL */
    bool held;             /* at the last tick, and then: */
    bool reported;
    bool is_new;    /* nobody has taken (freeze) */
    uint64_t mark;  /* the loop's frame */
    uint64_t since; /* clock at the first tick of that */
    struct prof_freeze freeze;
};

struct prof_loop_cpu {
    struct prof_loop_frame *top;
    uint32_t high;                 /* of the clock, at the last rebase */
    struct prof_loop_frame bottom; /* the event loop */
    uint64_t tsc_hz;
    uint64_t opened_tsc;  /* or reset */
    uint64_t opened_away; /* time in interrupts until then */
    uint64_t read_tsc;    /* the last time that somebody read */
    uint64_t stolen_cycles, stolen_cycles_reset; /* as the drain says */
    uint64_t taken_out_cycles;     /* steal that was taken out of what ran */
    uint64_t taken_out_irq_cycles; /* and out of interrupts */
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

    struct prof_guard guard;
    struct prof_long_runs long_runs;
    struct prof_utilisation utilisation;

#if PROF_CPUS_MAX > 1
    struct prof_cpu *sampled;          /* its state for the sampler */
    uint64_t away_seen;                /* interrupt_cycles at the last rebase */
    struct prof_loop_snapshot *viewed; /* what is read instead, or NULL */
    struct prof_loop_snapshot *filled; /* what it fills at the moment */
    uint32_t resets, changes;          /* that it has followed; cpus.c */
    const struct prof_loop_frame *waits; /* the one in which it waits for other
                                            CPUs, or NULL */
#endif
};
extern struct prof_loop_cpu prof_loop_cpus[PROF_LOOP_STATES];

/* Returns the state of the current CPU, with one CPU a constant address. */
static inline struct prof_loop_cpu *prof_loop_cpu_here(void)
{
    return &prof_loop_cpus[prof_loop_slot()];
}

/* ---- the clock
 *
 * A run or a pause needs only the lower half of the TSC, and no interrupt's
 * time, while the upper half equals that of the last rebase and
 * prof_cpu.interrupt_cycles has not changed since. The TSC is read first, so
 * that an interrupt between the two is detected.
 */

#ifdef PROF_HOSTED
extern uint64_t prof_loop_hosted_tsc; /* a test's own */
#endif

struct prof_loop_reading {
    uint32_t low, high;
};

static inline struct prof_loop_reading prof_loop_read(void)
{
    struct prof_loop_reading now;

#ifdef PROF_HOSTED
    uint64_t tsc = *(volatile uint64_t *)&prof_loop_hosted_tsc;

    now = (struct prof_loop_reading){(uint32_t)tsc, (uint32_t)(tsc >> 32)};
#else
    __asm__ volatile("rdtsc" : "=a"(now.low), "=d"(now.high) : : "memory");
#endif
    return now;
}

static inline uint64_t prof_loop_whole(struct prof_loop_reading reading)
{
    return (uint64_t)reading.high << 32 | reading.low;
}

static inline uint64_t prof_loop_tsc(void)
{
    return prof_loop_whole(prof_loop_read());
}

typedef uint32_t __attribute__((may_alias)) prof_loop_half;

static inline prof_loop_half *prof_loop_halves(uint64_t *value)
{
    return (prof_loop_half *)value;
}

#if PROF_CPUS_MAX == 1

/* Returns whether there was an interrupt. On i386 the lower half suffices. */
static inline bool prof_loop_interrupted(void)
{
    uint64_t *cycles = &prof_cpu_here()->interrupt_cycles;
    bool any;

#ifdef __i386__
    __asm__ volatile("cmpl $0, %1"
                     : "=@ccnz"(any)
                     : "m"(*prof_loop_halves(cycles)));
#else
    __asm__ volatile("cmpq $0, %1" : "=@ccnz"(any) : "m"(*cycles));
#endif
    return any;
}

static inline struct prof_cpu *prof_loop_sampled(void)
{
    return prof_cpu_here();
}

/* Returns the cycles in interrupts so far. Contexts: interrupts off. */
static inline uint64_t prof_loop_away(void)
{
    return prof_cpu_here()->interrupt_cycles + prof_cpu_here()->taken_cycles;
}

/* Returns the cycles in interrupts at the last rebase. */
static inline uint64_t prof_loop_away_seen(void)
{
    return prof_cpu_here()->taken_cycles;
}

#else

/* Nothing is removed from interrupt_cycles, as the first CPU reads them. The
 * state is stored, as the CPU may have been sampled under another number. */

static inline struct prof_cpu *prof_loop_sampled(void)
{
    return prof_loop_cpu_here()->sampled;
}

static inline bool prof_loop_interrupted(void)
{
    struct prof_loop_cpu *cpu = prof_loop_cpu_here();
    const volatile prof_loop_half *cycles =
        prof_loop_halves(&cpu->sampled->interrupt_cycles);

    return *cycles != (uint32_t)cpu->away_seen;
}

static inline uint64_t prof_loop_away(void)
{
    return prof_loop_cpu_here()->sampled->interrupt_cycles;
}

static inline uint64_t prof_loop_away_seen(void)
{
    return prof_loop_cpu_here()->away_seen;
}

#endif

/* A point in time, with the counts up to it. */
struct prof_loop_now {
    uint64_t tsc, away; /* away: time in interrupts */
    uint64_t irq_cycles, irqs;
};

/* Rebases all frames, and stores the time in *now unless (now) is NULL. */
void prof_loop_rebase(struct prof_loop_now *now);
uint64_t prof_loop_put_rebase(void); /* returns its TSC */

/* Sets the memory of the site of rebased frames, aligned to 4 bytes. */
#define PROF_LOOP_LONG_BYTES sizeof(uint32_t)
void prof_loop_rebase_open(void *memory);

/* ---- tasks and frames */

/* A task that is not ready has the highest bit of `ready` set; one that was
 * woken in an interrupt when a rebase was due, the second highest. So if the
 * upper half is that of the present moment, a run knows at once that the task
 * was woken since the last rebase. */
#define PROF_LOOP_NOT_READY (1u << 31)
#define PROF_LOOP_NOT_REBASED ((uint64_t)1 << 62)

static inline bool prof_loop_is_ready(struct prof_loop_task *task)
{
    return (prof_loop_halves(&task->ready)[1] & PROF_LOOP_NOT_READY) == 0;
}

static inline void prof_loop_set_not_ready(struct prof_loop_task *task)
{
    prof_loop_halves(&task->ready)[1] = PROF_LOOP_NOT_READY; /* one store */
}

/* Returns whether (frame) was rebased since it began. */
static inline bool prof_loop_was_rebased(const struct prof_loop_frame *frame)
{
    return frame->site != frame->node->site;
}

/* Returns the self time of (frame) up to (now), the time of a rebase. */
static inline uint64_t prof_loop_so_far(const struct prof_loop_frame *frame,
                                        uint64_t now)
{
    uint32_t end = frame == prof_loop_cpu_here()->top ? (uint32_t)now : 0;
    uint64_t before = prof_loop_was_rebased(frame) ? frame->before : 0;

    return before + (uint32_t)(end - frame->start);
}

/* Returns the TSC at which (frame) began. It was rebased, or has begun since
 * the last rebase. */
static inline uint64_t prof_loop_begun(const struct prof_loop_frame *frame)
{
    uint32_t high = prof_loop_was_rebased(frame) ? frame->begin_high
                                                 : prof_loop_cpu_here()->high;

    return (uint64_t)high << 32 | frame->begin;
}

/* The first starts the statistics on the current CPU, in (bytes) bytes at
 * (memory); interrupts off. The second resets them. Contexts: thread. */
void prof_loop_open_here(void *memory, size_t bytes, uint64_t tsc_hz);
void prof_loop_reset_here(void);

/* ---- calls of the rest of the module. Contexts: thread */

/* Measures the cost of a run and a pause. */
void prof_loop_time_pairs(void);

/* Reports that the profiler works, until prof_loop_leave(). */
void prof_loop_put_profiler(struct prof_loop_frame *frame);
static inline void prof_loop_profiler(struct prof_loop_frame *frame)
{
    frame->node = NULL;
    PROF_LOOP_IF(PROF_LOOP_IS_ON, prof_loop_put_profiler(frame));
}

/* Passes a sample at (tsc), in the code at (pc), from the drain. */
static inline void prof_loop_sample(uint64_t tsc, uintptr_t pc)
{
    if (PROF_WITH_LOOP &&
        __builtin_expect(prof_loop_cpu_here()->long_runs.count != 0, 0))
        prof_long_runs_put_sample(tsc, pc);
}

/* Send the statistics to the stream: changes once a second, everything for a
 * new reader and at the end. The first is called at the end of a drain, which
 * has passed all samples, (period_cycles) apart, the last one at (last_tsc);
 * the host has stolen (stolen_cycles). The second requires everything to be
 * sent again, for a new reader or after a reset. The third is called when the
 * image ends. */
void prof_loop_drained(uint64_t tsc, uint64_t stolen_cycles,
                       uint64_t period_cycles, uint64_t last_tsc);
void prof_loop_send_again(void);
void prof_loop_send_last(void);

/* ---- utilisation. Times are TSC values, after a rebase. Contexts: thread, and
 * the drain */

/* Begins at (tsc), with (hz) cycles a second. */
void prof_utilisation_open(uint64_t tsc, uint64_t hz);

/* Makes the marks of all seconds that have ended by (tsc). */
void prof_utilisation_mark(uint64_t tsc);

/* Prepares for a reset of all counts of the loop to 0. */
void prof_utilisation_reset(uint64_t tsc);

/* Reports that (cycles) before (tsc) were stolen, and were removed from the
 * frame that ran, or from idle time. All seconds that have ended MUST be
 * marked. */
void prof_utilisation_stolen(uint64_t tsc, uint64_t cycles, bool was_idle);

/* Returns the idle cycles since prof_utilisation_open(), up to (tsc). */
uint64_t prof_utilisation_idle(uint64_t tsc);

/* Returns the utilisation in 1/1000 in the last *seconds whole seconds before
 * (tsc). Lowers *seconds to the number of seconds known; returns 0 if that is
 * 0. */
uint32_t prof_utilisation(uint64_t tsc, uint32_t *seconds);

/* ---- the freeze guard */

/* Sets the limit in cycles, 0: no guard, and the function called at each
 * freeze, or NULL. */
void prof_guard_set(uint64_t cycles, void (*trigger)(void));

/* Reports that (cycles) were stolen at (tsc), in which the loop was not held.
 * Contexts: thread, interrupts off. */
void prof_guard_shorten(uint64_t tsc, uint64_t cycles);

/* Stores the last freeze not taken yet in *freeze. Returns false if there is
 * none. Contexts: thread. */
bool prof_guard_take(struct prof_freeze *freeze);

/* ---- reading, for the table and the stream. Contexts: thread */

/* With (hold), freezes the time of all reads until it is called with false. No
 * task may run or pause meanwhile. */
void prof_loop_hold_still(bool hold);

#if PROF_CPUS_MAX > 1

/*
 * A copy of the statistics of a further CPU, which that CPU makes for the first
 * one. Rows, totals and the account are complete, and no pointer in it is
 * followed to data that the CPU continues to write (a site's `top` only shows
 * whether there is one).
 */
struct prof_loop_snapshot {
    uint32_t number;              /* of the CPU */
    uint32_t serial;              /* of the copy, 0 = there is none */
    uint32_t resets;              /* after so many of them */
    uint64_t tsc;                 /* by the CPU's own counter */
    struct prof_loop_sites sites; /* of which `nodes` and `heads` are unused */
    struct prof_loop_context *contexts;
    uint32_t context_count;
    struct prof_loop_account account;
    /* Runs that have held the loop since the copy before, and the longest of
     * all; each PROF_LONG_RUNS_... of them at most. */
    struct prof_long_run *held, *listed;
    uint32_t held_count;
    struct prof_freeze freeze;
    bool has_freeze;
    uint32_t *notes; /* the stream's, of each site; the first CPU's always */
};

/* config.kick. */
extern void (*prof_loop_kick)(uint32_t number);

/* Called in a turn of the loop of a CPU other than the first: starts the
 * statistics there, and makes a copy if one was requested. Contexts: thread. */
void prof_loop_poll(void);

/* Selects the CPU whose statistics are read: 0, the first CPU itself; or
 * (number), whose current copy does not change until prof_loop_ask(). Returns
 * false if there is no copy. Contexts: first CPU, thread. */
bool prof_loop_view(uint32_t number);

/* Returns the number of the CPU whose statistics are read. */
static inline uint32_t prof_loop_viewed(void)
{
    const struct prof_loop_snapshot *viewed = prof_loop_cpu_here()->viewed;

    return viewed != NULL ? viewed->number : 0;
}

#else

static inline uint32_t prof_loop_viewed(void)
{
    return 0;
}

#endif

/* Returns the sites that are read: those of the current CPU, or of the copy of
 * another (prof_loop_read_cpu()). */
static inline struct prof_loop_sites *prof_loop_sites_read(void)
{
#if PROF_CPUS_MAX > 1
    struct prof_loop_snapshot *viewed = prof_loop_cpu_here()->viewed;

    if (viewed != NULL)
        return &viewed->sites;
#endif
    return prof_loop_sites_here();
}

/* Fills (row) for (site) at (tsc). Self and total times are those of the last
 * prof_loop_account(). */
void prof_loop_read_row(const struct prof_loop_site *site, uint64_t tsc,
                        struct prof_loop_row *row);

/* Returns the measure of a call of (row): a task's self time, or how long a
 * future was pending. */
static inline enum prof_loop_measure
prof_loop_call_measure(const struct prof_loop_row *row)
{
    return row->kind == PROF_LOOP_FUTURES ? PROF_LOOP_WALL : PROF_LOOP_SELF;
}

/* Returns the longest run of (site) so far. */
uint64_t prof_loop_longest(const struct prof_loop_site *site);

/* Prints the table of (rows) sites in the order (by), names in (width) columns,
 * and the account. */
void prof_loop_write_table(uint32_t rows, enum prof_loop_by by, uint32_t width);

/* Limits of long runs and freezes; prof_loop_set_limits() calls it. */
void prof_loop_limit(uint64_t held_cycles, uint64_t freeze_cycles,
                     void (*trigger)(void));

/* Writes (cycles) as a time, in eight columns. Contexts: any. */
void prof_loop_write_time(struct prof_text *out, uint64_t cycles);

/* Writes "name (file:line)". Contexts: any. */
void prof_loop_write_site(struct prof_text *out,
                          const struct prof_loop_site *site);

#ifdef PROF_HOSTED
/* As before prof_loop_open(), for a test's next one. */
void prof_loop_forget(void);
#endif

#endif
