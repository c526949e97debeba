/* SPDX-License-Identifier: Apache-2.0 */
#ifndef REPORT_REPORT_H
#define REPORT_REPORT_H

/*
 * Tables of a trace. The sort keys define what a row is: a function, a source
 * line, a task, a CPU, or a combination. Its self is the weight of the samples
 * in it, its total that of the samples in it or in its callees. A sample counts
 * once for a row, however often the row is in its stack.
 */

#include "image/exits.h"
#include "profile/interval.h"
#include "profile/weigh.h"

#include <jansson.h>
#include <stdio.h>

enum report_key {
    REPORT_SYMBOL = 1,
    REPORT_LINE = 2,
    REPORT_TASK = 4,
    REPORT_CPU = 8
};

struct report_row {
    struct frame frame; /* 0 where it is no key */
    uint32_t task;      /* name */
    uint32_t cpu;
    struct model_count self;
    struct model_count total;
    struct model_count exits; /* of self, in the hypervisor */
    uint64_t stamp;           /* the last cell that was counted in total */
};

/* A call, from one row to another. */
struct report_edge {
    uint32_t caller; /* rows */
    uint32_t callee;
    struct model_count count;
    uint64_t stamp;
};

#define REPORT_NONE UINT32_MAX

/* A row at one position in the tree of all stacks. */
struct report_branch {
    uint32_t row;
    uint32_t child;   /* the last one added, REPORT_NONE = none */
    uint32_t sibling; /* the one before it */
    struct model_count self;
    struct model_count total;
};

struct report {
    struct view view;
    unsigned keys; /* enum report_key */
    bool callers;  /* below each row */
    bool callees;
    bool tree;
    bool inverted; /* the root is the innermost function */
    bool by_total; /* rows are sorted by their total */
    bool json;
    double limit;   /* percent; smaller rows are hidden, -1 = default */
    long row_limit; /* rows of a table, 0 = all, -1 = default */
    const char *color;
    bool stdio;            /* text was asked for */
    bool has_exits;        /* show the time in the hypervisor */
    regex_t *exits_always; /* functions that count as a whole, NULL = none */
    struct exits *exits;   /* NULL = not asked for, or no image */

    struct model_count sum; /* of all selected samples */
    struct model_count own; /* the profiler's, which are not selected */
    struct report_row *rows;
    struct index row_frames; /* (function, line) */
    struct index row_wheres; /* (task, cpu) */
    struct index row_keys;   /* pairs of these */
    struct report_edge *edges;
    struct index edge_keys; /* (caller, callee) */
    struct report_branch *branches;
    struct index branch_keys; /* (parent, row) */
    uint32_t root;            /* the last branch without a parent */
};

/* Adds up all selected cells. */
void report_add_up(struct report *report);

/* Frees what was added up; report_close() also what was opened. */
void report_forget(struct report *report);
void report_close(struct report *report);

/* The numbers of rows, edges or branches above the limit, sorted; to be freed.
 * Edges have (row) as callee (callers) or caller; branches (parent). */
uint32_t *report_rows(const struct report *report, size_t *count);
uint32_t *report_calls(const struct report *report, uint32_t row, bool callers,
                       size_t *count);
uint32_t *report_children(const struct report *report, uint32_t parent,
                          size_t *count);

/* Percent of the whole weight. */
double report_percent(const struct report *report,
                      const struct model_count *count);

/* Whether such a percentage has an interval. By latency and by blame samples of
 * one tick share its time, so they are not independent of each other, and the
 * interval of their number would be too narrow. */
bool report_has_intervals(const struct report *report);

/* The interval of that percentage, at REPORT_CONFIDENCE: that of the number of
 * samples, in proportion. Returns whether they are few, interval_is_few(), and
 * the interval is of use. */
#define REPORT_CONFIDENCE 0.95
bool report_interval(const struct report *report,
                     const struct model_count *count, struct interval *percent);

/* A line for each CPU of a trace of several, after (prefix); or JSON. */
void report_print_cpus(const struct model *model, const char *prefix);
json_t *report_cpus_json(const struct model *model);

/* The longest stretches with interrupts off, where they were looked for. */
void report_print_stretches(const struct report *report);
json_t *report_stretches_json(const struct view *view,
                              const struct weighed *weighed);

/* How samples were weighed, if not by their own time. */
json_t *report_weights_json(const struct view *view);

void report_print(const struct report *report);
void report_print_tree(const struct report *report);
void report_print_json(const struct report *report);

#define REPORT_ROWS_MAX (1u << 22)
#define REPORT_BRANCHES_MAX (1u << 22)
#define REPORT_NAME_MAX 1024 /* bytes of a row's name; the rest is cut */

#endif
