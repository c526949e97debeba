/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_EXPERIMENTS_H
#define PROF_EXPERIMENTS_H

/*
 * Experiments: for a number of visits of the first progress point, one of the
 * targets is faster by one of the speed-ups, and visits of all points are
 * counted. They follow each other without a gap, and begin
 * and end at a visit, so that no time and no part of a period is lost. Those at
 * speed-up 0 are what the others of the target are compared with.
 *
 * They come in blocks. A block is of one target: all speed-ups, 0 among them,
 * in random order, and then in the reverse order. So what changes at a steady
 * rate meanwhile is the same for all of them, and the groups of a speed-up are
 * of the same times as those at normal speed (<prof/gain.h>).
 *
 * Targets take turns, or are drawn by how much is still to be learnt of each:
 * with the square of its widest interval, so that those whose visits vary most
 * have the most experiments, and none is forgotten. Then they may also begin
 * with the first few, and others come when these are narrow enough.
 *
 * Contexts: thread.
 */

#include "causal/virtual_clock.h"

#include <prof/gain.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PROF_EXPERIMENT_SPEEDUPS_MAX (PROF_CAUSAL_SPEEDUPS_MAX + 1u)

/* Why one has ended. */
enum prof_experiment_end {
    PROF_EXPERIMENT_COUNTS,
    PROF_EXPERIMENT_SLOW,  /* too few visits in cycles_max */
    PROF_EXPERIMENT_FULL,  /* no room for held events */
    PROF_EXPERIMENT_EARLY, /* its target may not be faster yet */
};

/* One that has ended; its visits are still those of the experiments. */
struct prof_experiment_record {
    uint32_t number; /* from 1 on, abandoned ones too */
    uint32_t target;
    uint32_t speedup; /* its number */
    enum prof_experiment_end end;
    uint64_t virtual_time; /* cycles of what counts */
    uint64_t real_time;    /* the same of the real time */
    uint64_t in_target;    /* of this */
};

struct prof_experiment_settings {
    uint32_t targets;                               /* from 1 on */
    uint32_t points;                                /* from 1 on */
    uint32_t speedups;                              /* of these; the first: */
    uint32_t speedup[PROF_EXPERIMENT_SPEEDUPS_MAX]; /* is 0 */
    uint64_t cycles_min; /* an experiment takes at least so long, and as many */
    uint32_t visits_min; /*  visits of the first point */
    uint64_t cycles_max; /* one that takes longer is abandoned */
    uint32_t seed;
    bool rotates;    /* targets with wide intervals are drawn more often */
    bool weighs;     /* prof_experiments_reach() is to be called */
    uint32_t first;  /* with (rotates): so many targets take part at first; 0:
                        all. One more does */
    uint32_t narrow; /*  when none of their intervals is wider, in per cent */
    /* Whether a target may be faster; NULL: all may. Until then experiments
     * with it are at normal speed, and void. */
    bool (*known)(uint32_t target);
    /* Called for each that has ended, if it is not NULL. */
    void (*ended)(const struct prof_experiment_record *record,
                  const uint32_t *visits);
};

/* Of a target, in experiments at normal speed. */
struct prof_target_share {
    uint64_t inside; /* cycles in it */
    uint64_t cycles; /* in all */
};

struct prof_experiments {
    struct prof_experiment_settings settings;
    struct prof_virtual_clock *clock;
    struct prof_progress_sum *sums;   /* by target, speed-up, point, group */
    struct prof_target_share *shares; /* by target */
    uint32_t *visits;                 /* in this experiment, by point */
    uint32_t *weights;    /* by target: how often it is drawn, which is
                          the square of its widest interval */
    uint8_t *order;       /* of speed-ups in a block */
    uint32_t taking_part; /* so many targets, from the first one on */
    uint32_t target;      /* of this experiment */
    uint32_t speedup;     /* its number */
    uint32_t number;      /* of the target as causal.h counts: from 1 on */
    uint64_t began;       /* virtual time */
    uint64_t began_real;
    uint64_t began_in_target; /* time in the target before it */
    bool fixed;               /* no experiments: one target and one speed-up */
    bool paused;              /* no experiment: held traffic is let through */
    bool counts;     /* false: visits still show the experiment before */
    bool known;      /* the target may be faster in this block */
    uint8_t place;   /* in the block */
    uint8_t tries;   /* that were abandoned at this place */
    uint32_t wanted; /* visits of the first point */
    uint32_t enough; /* of these: then something is to be done */
    uint32_t random;
    uint32_t fixed_speedup; /* with (fixed): 0 to PROF_SPEEDUP_MAX */
    uint64_t done;
    uint64_t abandoned; /* too few visits in cycles_max */
};

/* Bytes of memory that prof_experiments_init() needs. */
size_t prof_experiments_bytes(const struct prof_experiment_settings *settings);

/* (memory) is aligned to 8 and MUST remain valid. (settings) may be those that
 * (all) has. */
void prof_experiments_init(struct prof_experiments *all,
                           const struct prof_experiment_settings *settings,
                           struct prof_virtual_clock *clock, uint64_t now,
                           void *memory);

/* (point) was visited. True, rarely: prof_experiments_visited() is to be
 * called. */
static inline bool prof_experiments_count(struct prof_experiments *all,
                                          uint32_t point)
{
    return ++all->visits[point] >= all->enough && point == 0;
}

/* True: the next experiment has begun, perhaps with another target. */
bool prof_experiments_visited(struct prof_experiments *all, uint64_t now);

/* Both, at (now). */
static inline bool prof_experiments_visit(struct prof_experiments *all,
                                          uint32_t point, uint64_t now)
{
    return prof_experiments_count(all, point) &&
           prof_experiments_visited(all, now);
}

/* Whether that takes too long at (at), virtual time. One that began in a call
 * of the profiler, whose time is taken out at its end, has not begun yet. */
static inline bool prof_experiments_overdue(const struct prof_experiments *all,
                                            uint64_t at)
{
    return at - all->began >= all->settings.cycles_max &&
           (int64_t)(at - all->began) >= 0 && !all->fixed && !all->paused;
}

/* Ends an experiment without visits; (at) is the virtual time at (now). True:
 * it was abandoned, and the next has begun. */
bool prof_experiments_check(struct prof_experiments *all, uint64_t now,
                            uint64_t at);

/* Ends this experiment, if there is one, without a result, and begins the next.
 */
void prof_experiments_abandon(struct prof_experiments *all, uint64_t now);

/* No experiments from (now) on, at normal speed, until the next one begins. */
void prof_experiments_pause(struct prof_experiments *all, uint64_t now);
void prof_experiments_resume(struct prof_experiments *all, uint64_t now);

/* Whether all intervals that are still worked on are at most (percent), which
 * is below 20: those of the first point. */
bool prof_experiments_reach(const struct prof_experiments *all,
                            uint32_t percent);

/* (target) is not drawn while it (rests). Nothing, unless they rotate. */
void prof_experiments_rest(struct prof_experiments *all, uint32_t target,
                           bool rests);

/* No experiments any more: (target) is (speedup) faster. */
void prof_experiments_fix(struct prof_experiments *all, uint32_t target,
                          uint32_t speedup, uint64_t now);

/* The groups of experiments of a target, a speed-up and a point. */
struct prof_progress_sum *
prof_experiments_sums(const struct prof_experiments *all, uint32_t target,
                      uint32_t speedup, uint32_t point);

#endif
