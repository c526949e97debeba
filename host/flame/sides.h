/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FLAME_SIDES_H
#define FLAME_SIDES_H

/*
 * One guest from both sides: samples of its own profiler (FLAME_NEW), and of
 * `parasite attach` (FLAME_BASE), on the clock of the former (flame/align.h).
 * The kind of a sample from outside says why the profiler could not take it.
 */

#include "flame/align.h"
#include "flame/flame.h"

enum sides_kind {
    SIDES_BOTH,    /* the profiler inside could have taken it */
    SIDES_EARLY,   /* before its first sample */
    SIDES_AFTER,   /* after its last one */
    SIDES_MASKED,  /* interrupts are off, and it is not sampled by NMI */
    SIDES_SAMPLER, /* interrupts are off in a function of the profiler, mostly
                      in its own interrupt */
    SIDES_GAP,     /* interrupts are on, but no sample came for a long time */
    SIDES_CPU,     /* on a CPU that it does not sample */
    SIDES_KINDS
};

struct sides_sample {
    uint64_t time; /* clocks since flame.begin, and flame.lead before that */
    uint64_t clocks;
    uint32_t stack;
    uint32_t samples;
    uint32_t cpu;
    enum sides_kind kind;
};

/* A time without samples inside of a CPU that it samples, but with samples from
 * outside. */
struct sides_window {
    enum sides_kind kind; /* the most frequent one of the latter */
    uint64_t from;        /* as in sides_sample */
    uint64_t to;
    uint32_t cpu;
};

/* The samples inside of one CPU. */
struct sides_inside {
    double *times; /* in clocks of its own */
    bool *whole;   /* by number: it represents all samples since the one before,
                      so there is no gap between them */
    size_t count;
};

struct sides {
    struct align align;
    struct sides_sample *samples;
    size_t count;
    struct sides_window *windows; /* of each CPU in the order of time */
    size_t window_count;
    uint64_t clocks[SIDES_KINDS]; /* of the samples */
    uint64_t all;                 /* their sum */
    double error;                 /* of the clock, in clocks: the median */
    double worst;                 /* where there are samples inside */
    bool ended;                   /* the profiler inside has said so */
    uint64_t left_out;            /* samples of other boots */

    struct sides_inside inside[MODEL_CPUS_MAX]; /* by CPU */
    bool by_nmi;  /* some of any CPU had interrupts off: one source has all */
    double first; /* outside, of this boot; in clocks of the trace outside */
    double last;
    double period; /* of samples inside */
};

/* What (kind) is, for the summary. */
const char *sides_kind_name(enum sides_kind kind);

/* Whether (view), which is open, is a trace of `parasite attach` that knows of
 * a profiler inside. */
bool sides_is_outside(struct view *view);

/* Adds both. Ends the process if they have no clock in common. */
void sides_add(struct flame *flame, struct view *inside, struct view *outside,
               struct exits *exits);

/* Called by flame_add(): the samples of (view) from outside; (stacks) has the
 * stack of each cell. */
void sides_add_samples(struct flame *flame, struct view *view,
                       const uint32_t *stacks);

/* The columns of docs/views.md, and the page's JSON about them. */
void sides_put_columns(const struct flame *flame, struct columns *columns);
json_t *sides_head(const struct flame *flame);

void sides_free(struct sides *sides);

#endif
