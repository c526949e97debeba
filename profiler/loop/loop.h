/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_LOOP_LOOP_H
#define PROF_LOOP_LOOP_H

/*
 * What runs, and when that changed.
 *
 * Frames are a stack, the innermost at `top`, the event loop at its bottom. The
 * clock is read once at each change, and that moment is the end of one frame's
 * time and the begin of the other's:
 *
 *     begin    outer->start -= now    frame->start = now     top = frame
 *     leave    outer->start += now    now - frame->start     top = outer
 *
 * So `now - start` of the frame at the top, and `- start` of all others, is
 * their self time so far, with nothing counted twice or left out.
 *
 * All this modulo 2^32. Frames are rebased (rebase.c) at the first change in
 * each new 2^32 cycles: each frame's time so far is moved to `before`, and its
 * site is replaced by one for which every run is notable.
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

#define PROF_LOOP_DEPTH_MAX 256u /* frames that a reader looks at */

/*
 * How busy the loop was in the last seconds: the share that was not idle, of
 * what the host has not stolen. For a minute there is a mark for the end of
 * each whole second, with the idle time until then. It is made at the end of an
 * idle span, or by a reader.
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
 * The freeze guard says who holds the loop for longer than prof.loop_freeze,
 * while it still does. As long as the loop's own frame has not run between two
 * of the timer's interrupts, it has been held since the first of them; what
 * runs at the top, since its start at least. So runs and pauses need do nothing
 * for it, and it is noticed within a tick.
 */
#define PROF_GUARD_FRAMES 12u

struct prof_freeze {
    uint64_t tsc;
    uint64_t held_cycles;               /* so far */
    const struct prof_loop_site *site;  /* of what runs */
    const struct prof_loop_site *outer; /* and of what the loop has called */
    uint32_t object;
    uint32_t count; /* of addresses: the one interrupted, and its callers */
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

/* That of the current CPU; with one CPU a constant address. */
static inline struct prof_loop_cpu *prof_loop_cpu_here(void)
{
    return &prof_loop_cpus[prof_loop_slot()];
}

/* ---- the clock
 *
 * A run or a pause needs the lower half of the TSC only, and no interrupt's
 * time, as long as the upper half is that of the last rebase and nothing was
 * added to prof_cpu.interrupt_cycles since then. The counter is read first, so
 * that an interrupt between the two is seen.
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

/* Whether there was an interrupt. On i386 the lower half says enough. */
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

/* The time in interrupts so far. Contexts: interrupts off. */
static inline uint64_t prof_loop_away(void)
{
    return prof_cpu_here()->interrupt_cycles + prof_cpu_here()->taken_cycles;
}

/* The same at the last rebase. */
static inline uint64_t prof_loop_away_seen(void)
{
    return prof_cpu_here()->taken_cycles;
}

#else

/* Nothing is taken out of the cycles, since the first CPU reads them. It may
 * have been sampled as another one since, so that its state is noted. */

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

/* Whether (frame) was rebased since it began. */
static inline bool prof_loop_was_rebased(const struct prof_loop_frame *frame)
{
    return frame->site != frame->node->site;
}

/* The self time of (frame) so far, at (now), that of a rebase. */
static inline uint64_t prof_loop_so_far(const struct prof_loop_frame *frame,
                                        uint64_t now)
{
    uint32_t end = frame == prof_loop_cpu_here()->top ? (uint32_t)now : 0;
    uint64_t before = prof_loop_was_rebased(frame) ? frame->before : 0;

    return before + (uint32_t)(end - frame->start);
}

/* When (frame) began. It is rebased, or has begun since the last rebase. */
static inline uint64_t prof_loop_begun(const struct prof_loop_frame *frame)
{
    uint32_t high = prof_loop_was_rebased(frame) ? frame->begin_high
                                                 : prof_loop_cpu_here()->high;

    return (uint64_t)high << 32 | frame->begin;
}

/* Begins to count on the current CPU, with (bytes) of (memory); and forgets
 * what it has counted. Contexts: thread; interrupts off for the former. */
void prof_loop_open_here(void *memory, size_t bytes, uint64_t tsc_hz);
void prof_loop_reset_here(void);

/* ---- what the rest of the module calls. Contexts: thread */

/* Measures anew what a run and a pause cost. */
void prof_loop_time_pairs(void);

/* The profiler works from now on, until prof_loop_leave(). */
void prof_loop_put_profiler(struct prof_loop_frame *frame);
static inline void prof_loop_profiler(struct prof_loop_frame *frame)
{
    frame->node = NULL;
    PROF_LOOP_IF(PROF_LOOP_IS_ON, prof_loop_put_profiler(frame));
}

/* The drain has a sample at (tsc), in the code at (pc). */
static inline void prof_loop_sample(uint64_t tsc, uintptr_t pc)
{
    if (PROF_WITH_LOOP &&
        __builtin_expect(prof_loop_cpu_here()->long_runs.count != 0, 0))
        prof_long_runs_put_sample(tsc, pc);
}

/* Once a second what has changed is sent, and all for a new reader and at the
 * end. The drain has passed all samples on, (period_cycles) apart, the last one
 * at (last_tsc); the host has stolen (stolen_cycles). What was sent is void: a
 * new reader, or a reset. The image ends. */
void prof_loop_drained(uint64_t tsc, uint64_t stolen_cycles,
                       uint64_t period_cycles, uint64_t last_tsc);
void prof_loop_send_again(void);
void prof_loop_send_last(void);

/* ---- utilisation. Times are of the TSC, after a rebase. Contexts: thread, and
 * the drain */

/* Begins at (tsc), with (hz) cycles a second. */
void prof_utilisation_open(uint64_t tsc, uint64_t hz);

/* Makes the marks of the seconds that have ended by (tsc). */
void prof_utilisation_mark(uint64_t tsc);

/* All counts of the loop are about to become 0. */
void prof_utilisation_reset(uint64_t tsc);

/* (cycles) before (tsc) were stolen, and have been taken out of what ran, which
 * may be the idle time. All seconds that have ended MUST be marked. */
void prof_utilisation_stolen(uint64_t tsc, uint64_t cycles, bool was_idle);

/* Idle time since the open, up to (tsc). */
uint64_t prof_utilisation_idle(uint64_t tsc);

/* How busy it was in the last (*seconds) whole seconds before (tsc), in
 * thousandths. Lowers (*seconds) to what there was; with 0 returns 0. */
uint32_t prof_utilisation(uint64_t tsc, uint32_t *seconds);

/* ---- the freeze guard */

/* (cycles) 0: no guard. (trigger): called at each freeze, or NULL. */
void prof_guard_set(uint64_t cycles, void (*trigger)(void));

/* (cycles) were stolen at (tsc): nobody has held the loop meanwhile. Contexts:
 * thread, interrupts off. */
void prof_guard_shorten(uint64_t tsc, uint64_t cycles);

/* The last freeze that nobody has taken; false: there is none. Contexts:
 * thread. */
bool prof_guard_take(struct prof_freeze *freeze);

/* ---- reading, for the table and the stream. Contexts: thread */

/* From now on, until it is called with false, all that is read is of this
 * moment. MUST be called where nothing runs or pauses meanwhile. */
void prof_loop_hold_still(bool hold);

#if PROF_CPUS_MAX > 1

/*
 * A copy of what a further CPU has counted, made by it, for the first one:
 * rows, totals and the account are complete, and nothing in it is read
 * through a pointer to what the CPU goes on to write (a site's `top` only says
 * that it has one).
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

/* A turn of the loop of a CPU that has joined, not the first: begins to count
 * there, and hands over what it was asked for. Contexts: thread. */
void prof_loop_poll(void);

/* What is read from now on is what there is of CPU (number): 0, the first's
 * own, and true; or the present copy, which stays as it is until
 * prof_loop_ask(), and false if there is none. Contexts: first CPU, thread. */
bool prof_loop_view(uint32_t number);

/* The number of the CPU whose counts are read. */
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

/* The sites that are read: those of the current CPU, or what the first one has
 * of another (prof_loop_read_cpu()). */
static inline struct prof_loop_sites *prof_loop_sites_read(void)
{
#if PROF_CPUS_MAX > 1
    struct prof_loop_snapshot *viewed = prof_loop_cpu_here()->viewed;

    if (viewed != NULL)
        return &viewed->sites;
#endif
    return prof_loop_sites_here();
}

/* Fills in (row) of (site) at (tsc). Own and total times are those of the last
 * prof_loop_account(). */
void prof_loop_read_row(const struct prof_loop_site *site, uint64_t tsc,
                        struct prof_loop_row *row);

/* What a call of (row) is: a task's self time, or how long a future pended. */
static inline enum prof_loop_measure
prof_loop_call_measure(const struct prof_loop_row *row)
{
    return row->kind == PROF_LOOP_FUTURES ? PROF_LOOP_WALL : PROF_LOOP_SELF;
}

/* The longest run of (site) so far. */
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
