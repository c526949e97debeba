/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_LOOP_STATS_H
#define PROF_LOOP_STATS_H

/* Reads the statistics of <prof/loop.h>. Times are TSC cycles since
 * prof_loop_open() or prof_loop_reset(), and include the current run up to now.
 * Before prof_loop_open() all values are 0, and nothing is visited. No call
 * allocates. Contexts: thread. */

#include <prof/loop.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Selects the CPU whose statistics all calls below read (<prof/cpus.h>). The
 * selection MUST be 0 again, for the first CPU, before the next drain. For
 * another CPU, requests a copy as of its current turn of the loop, and waits up
 * to 20 ms for it; after that, the previous copy is used. Returns false, with 0
 * selected, if there is no copy yet. Contexts: first CPU, thread.
 */
#if PROF_CPUS_MAX > 1 && PROF_WITH_LOOP
bool prof_loop_read_cpu(uint32_t number);
#else
static inline bool prof_loop_read_cpu(uint32_t number)
{
    return number == 0;
}
#endif

/* ---- the account of the whole loop */

/* The nine members after wall_cycles add up to it, to the cycle. */
struct prof_loop_account {
    uint64_t wall_cycles;
    uint64_t tasks_cycles;     /* self time of all tasks */
    uint64_t callbacks_cycles; /* self time of plain callbacks */
    uint64_t others_cycles;    /* self time of sites beyond sites_max */
    uint64_t loop_cycles;      /* the event loop itself, and the main program */
    uint64_t profiler_cycles;  /* the profiler's drains and reports */
    uint64_t idle_cycles;
    uint64_t interrupts_cycles; /* in interrupt handlers */
    uint64_t sampler_cycles;    /* in the sampling interrupt */
    uint64_t stolen_cycles;     /* stolen by the host, excluded from the
                                   others */

    uint64_t stolen_inside_cycles; /* stolen by the host, included in the
                                      others; unknown in which */
    uint64_t own_cycles; /* cost of the statistics, included in the others */
    uint64_t interrupts; /* number of interrupts */
    uint64_t longest_idle_cycles;

    /* Utilisation in 1/1000, which is 1000 minus the idle share of the time not
     * stolen, in the last 1, 10 and 60 whole seconds; and how many of these
     * seconds have passed since the start. */
    uint32_t busy_permille[3];
    uint32_t busy_seconds[3];

    uint32_t sites, sites_max;       /* sites seen, and their limit */
    uint32_t sites_refused;          /* further sites, in the row `others` */
    uint32_t contexts, contexts_max; /* nodes of the tree, and their limit */
    uint64_t contexts_refused;       /* calls counted in the total of their own
                                      site only */
    uint64_t unbinned;               /* values in no histogram */
    uint64_t calls_refused;          /* ended tasks, and futures, that are in no
                                        statistics of calls, if counted */
    uint32_t freezes;                /* reported by the guard */
};

/* Fills (account). */
void prof_loop_account(struct prof_loop_account *account);

/* ---- sites */

enum prof_loop_kind {
    PROF_LOOP_TASKS,
    PROF_LOOP_CALLBACKS,
    PROF_LOOP_OTHERS,   /* sites beyond sites_max */
    PROF_LOOP_LOOP,     /* the event loop itself, and the main program */
    PROF_LOOP_PROFILER, /* drains and reports */
    PROF_LOOP_IDLE,     /* the CPU waits for an interrupt */
    PROF_LOOP_FUTURES,  /* primitive futures, which run no code */
};

/* What is measured for a site, each in a histogram. */
enum prof_loop_measure {
    PROF_LOOP_RUN,   /* self time of one run, up to the next pause */
    PROF_LOOP_DELAY, /* from a wake, or an interrupt's request, to the run */
    PROF_LOOP_WALL,  /* from the creation to the end; of a future: pending */
    PROF_LOOP_SELF,  /* self time of a task over its life, once it has ended,
                        if calls are counted */
};
#define PROF_LOOP_MEASURES 4u

struct prof_loop_sum {
    uint64_t count;
    uint64_t cycles;
    uint64_t unbinned; /* of count: not in the histogram */
};

/* The statistics of one site. */
struct prof_loop_row {
    uint32_t number; /* of the site, from 0 on; never changes */
    enum prof_loop_kind kind;
    const struct prof_trace_name *site;   /* text, file and line */
    uint64_t calls;                       /* tasks, or futures, created */
    uint64_t resolved, failed, cancelled; /* by enum prof_loop_end */
    uint64_t self_cycles;
    uint64_t total_cycles; /* self time, and that of all descendants */
    struct prof_loop_sum sums[PROF_LOOP_MEASURES]; /* of finished runs etc. */
    uint64_t longest_cycles;                       /* longest finished run */
    uint64_t longest_tsc;    /* latest TSC at which that run can have begun */
    uint32_t longest_object; /* number of its task in the trace */
    uint32_t pending;        /* tasks that have not ended */
    uint64_t oldest_cycles;  /* age of the oldest pending task */
    uint64_t held;           /* runs of prof.loop_held ms or more */
    uint64_t held_cycles;    /* time of these runs */
    uint64_t held_samples;   /* samples in these runs */

    /* If calls are counted, the longest that has ended: of tasks by self time
     * over their lives, of futures by how long they were pending. */
    uint64_t call_longest_cycles;
    uint64_t call_longest_tsc; /* TSC at its end */
    uint32_t
        call_longest_object; /* its number in the trace, or the runtime's */
};

/* Calls (visit) with (context) once for each site seen, in the order of
 * numbers. A row is valid during the call only. */
void prof_loop_visit(void (*visit)(const struct prof_loop_row *row,
                                   void *context),
                     void *context);

/* Returns the (permille) / 1000 quantile of (measure) of site (number) in
 * cycles, with an error of at most 1.6 %; 0 if there are no values. Linear in
 * the size of the histogram. */
uint64_t prof_loop_quantile(uint32_t number, enum prof_loop_measure measure,
                            uint32_t permille);

/* Calls (visit) with (context) once for each bin [low, high) of the histogram
 * that is not empty, in the order of values; (count) is the number of values in
 * it. The width of a bin is at most low / 32, or 1. */
void prof_loop_buckets(uint32_t number, enum prof_loop_measure measure,
                       void (*visit)(uint64_t low, uint64_t high,
                                     uint64_t count, void *context),
                       void *context);

/* ---- the tree of sites */

/* A node of the tree: a site, as created by its parent. */
struct prof_loop_context {
    uint32_t number; /* from 0 on; never changes */
    uint32_t parent; /* number of the creator's node, below (number); equal to
                        (number): none */
    uint32_t site;   /* number of the site */
    bool recursive;  /* an ancestor has the same site */
    uint64_t calls;
    uint64_t self_cycles;
    uint64_t total_cycles; /* self time, and that of all descendants */
};

/* Calls (visit) with (context) once for each node, in the order of numbers. */
void prof_loop_contexts(void (*visit)(const struct prof_loop_context *node,
                                      void *context),
                        void *context);

/* Prints the table of the first (rows) sites, in the order of prof.loop_by, and
 * the account, through prof_port_write(). */
void prof_loop_report(uint32_t rows);

#ifdef __cplusplus
}
#endif

#endif
