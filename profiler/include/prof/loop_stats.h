/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_LOOP_STATS_H
#define PROF_LOOP_STATS_H

/* Reading the statistics of <prof/loop.h>. Contexts: thread; nothing allocates.
 * What runs at the moment is included up to this moment. Before
 * prof_loop_open() all is 0, and nothing is visited. Times are cycles of the
 * TSC, since prof_loop_open() or prof_loop_reset(). */

#include <prof/loop.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * What is read from now on is what CPU (number) has counted (<prof/cpus.h>),
 * until this is called again; MUST be 0, the first one, before the next drain.
 * Of another CPU it is as of its last turn of the loop: it is asked, and has 20
 * ms to answer; else it is what there was. Returns false, and nothing has
 * changed from 0, if there is nothing yet. Contexts: first CPU.
 */
#if PROF_CPUS_MAX > 1 && PROF_WITH_LOOP
bool prof_loop_read_cpu(uint32_t number);
#else
static inline bool prof_loop_read_cpu(uint32_t number)
{
    return number == 0;
}
#endif

/* ---- the closing account */

/* The next nine are wall_cycles, to the cycle. */
struct prof_loop_account {
    uint64_t wall_cycles;
    uint64_t tasks_cycles;     /* self time of all tasks */
    uint64_t callbacks_cycles; /* of plain callbacks */
    uint64_t others_cycles;    /* of sites for which there was no room */
    uint64_t loop_cycles;      /* the event loop itself, and the main program */
    uint64_t profiler_cycles;  /* the profiler's drains and reports */
    uint64_t idle_cycles;
    uint64_t interrupts_cycles; /* in the handlers of interrupts */
    uint64_t sampler_cycles;    /* the sampler's, in the timer's interrupt */
    uint64_t stolen_cycles;     /* by the host, and in none of these */

    uint64_t stolen_inside_cycles; /* of all these: stolen by the host, too, but
                                      it is not known from which of them */
    uint64_t own_cycles; /* of all these: what the statistics have cost */
    uint64_t interrupts; /* how many */
    uint64_t longest_idle_cycles;

    /* 1000 less the share of idle in all but stolen time, in the last 1, 10 and
     * 60 whole seconds, or as many of them as have been. */
    uint32_t busy_permille[3];
    uint32_t busy_seconds[3]; /* how many of them have been */

    uint32_t sites, sites_max;       /* that have been seen, and fit */
    uint32_t sites_refused;          /* others, in the row `others` */
    uint32_t contexts, contexts_max; /* nodes of the tree of sites */
    uint64_t contexts_refused;       /* calls that are in no site's total but
                                      their own */
    uint64_t unbinned;               /* values in no histogram */
    uint64_t calls_refused;          /* tasks that ended, and futures, in no
                                        statistics of calls, where counted */
    uint32_t freezes;                /* that the guard has reported */
};
void prof_loop_account(struct prof_loop_account *account);

/* ---- sites */

enum prof_loop_kind {
    PROF_LOOP_TASKS,
    PROF_LOOP_CALLBACKS,
    PROF_LOOP_OTHERS,   /* sites for which there was no room */
    PROF_LOOP_LOOP,     /* the event loop itself, and the main program */
    PROF_LOOP_PROFILER, /* drains and reports */
    PROF_LOOP_IDLE,     /* the CPU waits for an interrupt */
    PROF_LOOP_FUTURES,  /* primitive futures, which run nothing */
};

/* What is measured of a site, in a histogram each. */
enum prof_loop_measure {
    PROF_LOOP_RUN,   /* self time from a run to the next pause */
    PROF_LOOP_DELAY, /* from a wake, or an interrupt that asks, to the run */
    PROF_LOOP_WALL,  /* from the creation to the end; of a future: pending */
    PROF_LOOP_SELF,  /* self time of a task in all its runs, once it has ended,
                        where calls are counted */
};
#define PROF_LOOP_MEASURES 4u

struct prof_loop_sum {
    uint64_t count;
    uint64_t cycles;
    uint64_t unbinned; /* of count: not in the histogram */
};

struct prof_loop_row {
    uint32_t number; /* of the site, from 0 on; never changes */
    enum prof_loop_kind kind;
    const struct prof_trace_name *site;   /* text, file and line */
    uint64_t calls;                       /* tasks, or futures, created */
    uint64_t resolved, failed, cancelled; /* by enum prof_loop_end */
    uint64_t self_cycles;
    uint64_t total_cycles; /* self, and that of all descendants */
    struct prof_loop_sum sums[PROF_LOOP_MEASURES]; /* finished ones */
    uint64_t longest_cycles;                       /* longest finished run */
    uint64_t longest_tsc;    /* when that began, at the latest */
    uint32_t longest_object; /* and the number of its task in the trace */
    uint32_t pending;        /* tasks that have not ended */
    uint64_t oldest_cycles;  /* age of the oldest of them */
    uint64_t held;           /* runs beyond prof.loop_hold */
    uint64_t held_cycles;    /* their time */
    uint64_t held_samples;   /* samples in these */

    /* Where calls are counted, the longest that has ended: of a task by its own
     * time over its life, of a future by how long it was pending. */
    uint64_t call_longest_cycles;
    uint64_t call_longest_tsc; /* when it ended */
    uint32_t
        call_longest_object; /* its number in the trace, or the runtime's */
};

/* Calls (visit) once for each site that has been seen, by rising number. A row
 * is valid during the call. */
void prof_loop_visit(void (*visit)(const struct prof_loop_row *row,
                                   void *context),
                     void *context);

/* A value that (permille) of a thousand of site (number)'s values do not
 * exceed, to 1.6 %; 0 if there is none. Linear in the histogram. */
uint64_t prof_loop_quantile(uint32_t number, enum prof_loop_measure measure,
                            uint32_t permille);

/* Calls (visit) for each range [low, high) of values that some are in, by
 * rising values. Its width is at most 1/32 of low, or 1. */
void prof_loop_buckets(uint32_t number, enum prof_loop_measure measure,
                       void (*visit)(uint64_t low, uint64_t high,
                                     uint64_t count, void *context),
                       void *context);

/* ---- the tree of sites */

struct prof_loop_context {
    uint32_t number; /* from 0 on; never changes */
    uint32_t parent; /* who creates it: a number below; its own: nobody */
    uint32_t site;   /* number of the site */
    bool recursive;  /* the site is also among its parents */
    uint64_t calls;
    uint64_t self_cycles;
    uint64_t total_cycles; /* with all that is below it */
};

/* Calls (visit) once for each, by rising number. */
void prof_loop_contexts(void (*visit)(const struct prof_loop_context *node,
                                      void *context),
                        void *context);

/* Prints the table of (rows) sites, and the account. Contexts: thread. */
void prof_loop_report(uint32_t rows);

#ifdef __cplusplus
}
#endif

#endif
