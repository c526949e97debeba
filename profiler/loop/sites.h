/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_LOOP_SITES_H
#define PROF_LOOP_SITES_H

/*
 * Sites, and contexts: the nodes of a tree, each a site below the context of
 * its creator. Both are in the memory given at the start, and are never
 * removed.
 *
 * Self time is added to a task's node only, and totals are computed for each
 * reader. So the cost of a pause does not depend on the depth, and descendants
 * are counted after their parent's end, too.
 *
 * Recursion. If a site is already on a node's path to the root, its node below
 * that is `recursive`: a leaf, as tasks created there are put below the leaf's
 * parent. Both paths have the same set of sites, and a total depends on that
 * set only. So no path is longer than the number of sites, and totals are
 * exact.
 *
 * Contexts: thread.
 */

#include "loop/cpus.h"
#include "loop/histogram.h"

#include <prof/loop.h>
#include <prof/loop_stats.h>
#include <stdbool.h>
#include <stdint.h>

struct prof_loop_site {
    struct prof_histograms histograms;
    /* What is counted as it happens. A reader sums up the rest: own and total
     * time, and of runs the cycles. Only a copy has counts and the oldest. */
    struct prof_loop_row row;
    struct prof_loop_task *oldest, *newest; /* of the pending ones */
    struct prof_loop_node *top;             /* below no other: of callbacks */
    uint64_t key;                           /* the table's: its order */
    struct prof_loop_site *after;
    uint32_t note;    /* the stream's */
    uint32_t notable; /* as histograms.notable, if calls are not counted */
    bool has_calls;   /* of tasks, which are counted */
    uint64_t oldest_future; /* a reader's: when it was made, 0 = none pends */
};

struct prof_loop_node {
    uint64_t self_cycles; /* of runs that have paused */
    uint64_t calls;
    struct prof_loop_site *site;
    struct prof_loop_node *parent; /* NULL: nobody */
    struct prof_loop_node *leader; /* below which its creations are put: its
                                      parent if it is recursive, or itself */
    uint32_t next;                 /* number of the next with its hash, + 1 */
    uint64_t own_sum, total_sum;   /* a reader's */
};

/* Sites that are always there. */
enum {
    PROF_SITE_LOOP,
    PROF_SITE_IDLE,
    PROF_SITE_PROFILER,
    PROF_SITE_OTHERS,
    PROF_SITES_FIXED,
};

struct prof_loop_sites {
    struct prof_loop_site *sites;
    struct prof_loop_node *nodes;
    uint16_t *heads; /* by hash: number of a node + 1 */
    uint32_t site_count, site_max;
    uint32_t node_count, node_max; /* contexts, a top one for each site */
#if PROF_CPUS_MAX > 1
    uint32_t begun; /* of the sites; the others below site_count are empty */
#endif
    uint32_t heads_mask;
    uint32_t refused;          /* sites */
    uint64_t refused_contexts; /* calls */
};

extern struct prof_loop_sites prof_loop_tables[PROF_LOOP_STATES];

/* Returns the sites of the current CPU, with one CPU a constant address. */
static inline struct prof_loop_sites *prof_loop_sites_here(void)
{
    return &prof_loop_tables[prof_loop_slot()];
}

/* Initialises the sites in (bytes) bytes at (memory), which are kept. Contexts:
 * thread, once on each CPU. */
void prof_loop_sites_open(void *memory, size_t bytes);

/* Resets times and counts. */
void prof_loop_sites_reset(void);

/* Returns the number of sites counted on this CPU. Sites are numbered across
 * all CPUs, so that there may be gaps. */
static inline uint32_t
prof_loop_sites_begun(const struct prof_loop_sites *sites)
{
#if PROF_CPUS_MAX > 1
    return sites->begun;
#else
    return sites->site_count;
#endif
}

static inline bool prof_loop_site_begun(const struct prof_loop_site *site)
{
    return PROF_CPUS_MAX == 1 || site->top != NULL;
}

/* Returns the number of (name), 0 if it has none; another CPU may assign it. */
static inline uint32_t prof_loop_number_of(const struct prof_trace_name *name)
{
#if PROF_CPUS_MAX > 1
    return __atomic_load_n(&name->loop, __ATOMIC_RELAXED);
#else
    return name->loop;
#endif
}

/* Returns whether (name) has a site on this CPU. */
static inline bool prof_loop_site_is_here(const struct prof_trace_name *name)
{
    uint32_t number = prof_loop_number_of(name);

    return number != 0 &&
           prof_loop_site_begun(&prof_loop_sites_here()->sites[number]);
}

/* Creates a site for (name); returns `others` if there is no room. */
struct prof_loop_site *prof_loop_site_new(struct prof_trace_name *name,
                                          enum prof_loop_kind kind);

/* Returns the site of (name), after creating it with (kind) if it is new. */
static inline struct prof_loop_site *
prof_loop_site_of(struct prof_trace_name *name, enum prof_loop_kind kind)
{
    if (__builtin_expect(!prof_loop_site_is_here(name), 0))
        return prof_loop_site_new(name, kind);
    return &prof_loop_sites_here()->sites[name->loop];
}

/* Returns the node of (site) below (parent), its creator. */
struct prof_loop_node *prof_loop_node_below(struct prof_loop_node *parent,
                                            struct prof_loop_site *site);

/* Like prof_loop_node_below(); (parent) NULL: no creator. */
static inline struct prof_loop_node *
prof_loop_node_of(struct prof_loop_node *parent, struct prof_loop_site *site)
{
    return parent == NULL ? site->top : prof_loop_node_below(parent, site);
}

static inline uint32_t prof_loop_site_number(const struct prof_loop_site *site)
{
    return (uint32_t)(site - prof_loop_sites_here()->sites);
}

static inline uint32_t prof_loop_node_number(const struct prof_loop_node *node)
{
    return (uint32_t)(node - prof_loop_sites_here()->nodes);
}

static inline bool prof_loop_is_recursive(const struct prof_loop_node *node)
{
    return node->leader != node;
}

#endif
