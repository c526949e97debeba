/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAUSAL_CAUSAL_H
#define CAUSAL_CAUSAL_H

/*
 * What experiments of causal profiling say (<prof/causal.h>): by how much the
 * time for a unit of work becomes shorter if a target is faster.
 *
 * A stream has each experiment, and now and then the sums of all so far, by
 * target, speed-up and point of progress. Sums take the place of what was
 * added up before them, so that results are the guest's even if the recording
 * began late or packets are missing. Times are cycles of the time stamp
 * counter.
 */

#include "base/index.h"
#include "trace/event.h"
#include "trace/packet.h"

#include <prof/rates.h>
#include <stdio.h>

#define CAUSAL_SPEEDUPS_MAX 16u
#define CAUSAL_POINTS_MAX 1024u
#define CAUSAL_TARGETS_MAX 8192u
#define CAUSAL_SERIES_MAX (1u << 16)
#define CAUSAL_RECORDS_MAX (1u << 20) /* experiments; and visits in them */
#define CAUSAL_ASSUMED_MAX 16u
#define CAUSAL_UNTRIED_MAX 64u
#define CAUSAL_ROWS_MAX (1u << 14)      /* that are shown, of points or kinds */
#define CAUSAL_COZ_LINES_MAX (1u << 24) /* with visits */

struct causal_target {
    uint32_t name; /* of strings; first, as of points and kinds */
    uint8_t accrual;
    uint64_t visits;
    uint64_t real; /* time of experiments at speed-up 0 */
    uint64_t in_target;
};

/* How long requests of a kind take, of a target and a speed-up. */
struct causal_latency {
    bool known;
    struct event_causal_latency event;
};

/* What virtual time goes to, of a target and a speed-up: by kind, but for
 * locks, and for one of it. */
#define CAUSAL_LIMITS 6u /* as in the stream: the last are locks */
#define CAUSAL_SUMS 5u
#define CAUSAL_CPU 4u
#define CAUSAL_WAITED_MAX 32u
struct causal_limit {
    uint64_t cycles[CAUSAL_SUMS];
    uint64_t waited[CAUSAL_WAITED_MAX];
};

struct causal_waited {
    uint32_t name; /* of strings; 0: none came */
    uint8_t kind;
};

/* A part of virtual time. */
struct causal_part {
    uint8_t kind;
    const char *name; /* NULL: all of the kind that have none */
    double part;
};
#define CAUSAL_PARTS_MAX (CAUSAL_WAITED_MAX + CAUSAL_LIMITS)

struct causal_visits {
    uint32_t point; /* INDEX_NONE: no such one was named or measured before */
    uint32_t visits;
};

struct causal_record {
    struct event_causal_experiment event;
    uint32_t target; /* INDEX_NONE: there is no such target */
    uint32_t visits; /* index of the first of event.points */
};

/* Answers that could contradict an assumption, and those that did. */
struct causal_checked {
    uint64_t checked;
    uint64_t contradictions;
};

/* A hot function that was not chosen as a target, or several. */
struct causal_untried {
    uint32_t name;      /* of strings; without one it is several */
    uint8_t why;        /* as in the stream */
    uint32_t functions; /* how many */
    double share;       /* of the time, 0 = unknown */
};

/* One value of a curve. */
struct causal_value {
    double speedup; /* 0 to 1 */
    bool known;
    double gain;     /* 0.1 = 10 % shorter; negative: longer */
    double interval; /* to either side, 95 % */
    uint32_t groups; /* that say so */
};

/* What a curve is like, of a target and a point. */
enum causal_shape {
    CAUSAL_NOT_CALLED,
    CAUSAL_TOO_FEW,
    CAUSAL_TO_COME,
    CAUSAL_NOT_REACHED, /* the point */
    CAUSAL_TOO_MUCH,    /* was held, so that experiments were abandoned */
    CAUSAL_UNSURE,      /* it may gain nothing, or all of the time saved */
    CAUSAL_NOTHING,     /* no speed-up gains anything */
    CAUSAL_WHOLE,       /* all of the time that is saved is gained */
    CAUSAL_MORE,        /* and more than that */
    CAUSAL_PART,        /* the same part of it everywhere */
    CAUSAL_UNEVEN,      /* another part of it at one speed-up than at others */
    CAUSAL_BENDS,       /* beyond (bend) it gains nothing more */
    CAUSAL_LESSENS,     /* beyond (bend) it gains more, but less than before */
    CAUSAL_FALLS,       /* beyond (bend) it gains less than there */
    CAUSAL_HARMS,       /* it takes longer */
    CAUSAL_MIXED,       /* shorter at one speed-up, longer at another */
    CAUSAL_SHAPES,
};

struct causal_curve {
    uint32_t target;
    uint32_t point;
    double share;   /* of the time, at normal speed; negative: unknown */
    uint32_t count; /* of values, the least speed-up first */
    struct causal_value values[CAUSAL_SPEEDUPS_MAX];
    uint64_t experiments; /* with the target, normal speed included */
    double slope;         /* gain of the greatest speed-up known, over that */
    enum causal_shape shape;
    double bend; /* the speed-up, 0: it has none */
};

/* Starts as zeros. */
struct causal {
    bool any;               /* there was an account, the last of which is */
    struct event_causal is; /* of the run that the rest is of */
    bool is_other;          /* it is of the run before: no account came yet */
    uint64_t began, ends;   /* clocks: of that run, as far as is known */
    uint64_t tsc_hz;
    uint32_t assumed[CAUSAL_ASSUMED_MAX]; /* of strings; 0: none came */
    struct causal_checked checked[CAUSAL_ASSUMED_MAX];
    struct causal_untried untried[CAUSAL_UNTRIED_MAX];
    uint32_t untried_count;
    uint64_t learnt; /* samples that shares are learnt from; 0: unknown */
    /* Before experiments, and after them. */
    struct prof_progress_sum pace[PROF_RATE_DURING][PROF_GAIN_GROUPS];
    struct event_causal_regimes regimes; /* zeros: there is one rate */
    struct strings strings;
    uint32_t speedup_count;
    uint32_t speedups[CAUSAL_SPEEDUPS_MAX]; /* in 1/65536, by number */
    /* What was named or measured, in the order in which it was; that is what
     * (target), (point) and (kind) of all calls count. */
    struct index target_numbers, point_numbers, kind_numbers; /* the guest's */
    struct causal_target *targets;
    uint32_t *points; /* names, of strings */
    uint32_t *kinds;  /* the same of requests that take time */
    struct index latency_keys;
    struct causal_latency *latencies;
    struct index limit_keys;
    struct causal_limit *limits;
    struct causal_waited waited[CAUSAL_WAITED_MAX];
    struct index series_keys;
    struct prof_progress_sum (*series)[PROF_GAIN_GROUPS];
    struct causal_record *records;
    uint32_t record_count;
    uint32_t counted; /* of these: were not abandoned */
    struct causal_visits *visits;
    uint32_t visit_count;
    uint32_t visits_begin; /* of the experiment being received */
    uint64_t stolen;
    uint64_t unkept; /* events beyond a limit, or of no sense */
    uint16_t cpu;
    struct packet_order order;
};

/* Of the indexes; private. */
static inline uint64_t causal_key(uint32_t target, uint32_t speedup,
                                  uint32_t point)
{
    return index_pair(target, speedup << 16 | point);
}

/* Adds a packet; those of each CPU come in order. */
void causal_take(struct causal *causal, const struct packet *packet);

void causal_free(struct causal *causal);

/* Names, "[target 7]" where none came. */
const char *causal_target_name(const struct causal *causal, uint32_t target);
const char *causal_point_name(const struct causal *causal, uint32_t point);

const char *causal_kind_name(const struct causal *causal, uint32_t kind);

/* Experiments of which the stream has said nothing. */
uint64_t causal_missing(const struct causal *causal);

/* How many points and kinds are shown: at most CAUSAL_ROWS_MAX rows. */
uint32_t causal_points_shown(const struct causal *causal);
uint32_t causal_kinds_shown(const struct causal *causal);

/* The groups of a target, a speed-up and a point; NULL: there are none. */
const struct prof_progress_sum *causal_groups(const struct causal *causal,
                                              uint32_t target, uint32_t speedup,
                                              uint32_t point);

/* How long requests of a kind take; NULL: nothing is known. */
const struct causal_latency *causal_latency(const struct causal *causal,
                                            uint32_t target, uint32_t speedup,
                                            uint32_t kind);

/* The numbers of all speed-ups, 0 among them, sorted; returns how many. */
uint32_t causal_speedups(const struct causal *causal,
                         uint32_t numbers[CAUSAL_SPEEDUPS_MAX]);

/* What virtual time goes to when the target is faster by (speedup), the
 * greatest part first; returns how many there are, 0: nothing is known. */
uint32_t causal_parts(const struct causal *causal, uint32_t target,
                      uint32_t speedup,
                      struct causal_part parts[CAUSAL_PARTS_MAX]);

/* What that is, in words: "CPU", "timer refill", or "devices". Returns (text),
 * of CAUSAL_TEXT_MAX. */
const char *causal_part_name(const struct causal_part *part, char *text);

/* What nothing gains: of experiments at normal speed, each second group is the
 * speed-up, as the guest has it. */
void causal_none(const struct causal *causal, uint32_t point,
                 struct causal_value *value);

/* How often (point) was visited in an experiment. */
uint32_t causal_visits_at(const struct causal *causal,
                          const struct causal_record *record, uint32_t point);

/* The rate of the first point's progress before experiments, in them at normal
 * speed and after them. Returns whether it is known. */
bool causal_rates(const struct causal *causal, struct prof_rates *rates);

/* The curve of a target and a point. */
void causal_curve(const struct causal *causal, uint32_t target, uint32_t point,
                  struct causal_curve *curve);

/* All curves of (point), the steepest first, unknown last; to be freed. */
struct causal_curve *causal_curves(const struct causal *causal, uint32_t point);

/* Of a curve of which a value is known: sets its shape and its bend. */
void causal_judge(struct causal_curve *curve);

/* What a curve says, in words, to (text) of CAUSAL_TEXT_MAX. */
#define CAUSAL_TEXT_MAX 400u
void causal_verdict(const struct causal_curve *curve, char *text);

/* (part) as printed: hundredths of a per cent, rounded as the guest does. */
double causal_printed(double part);

/* The verdict, what limits it then, and how the target was measured. */
const char *causal_explain(const struct causal *causal,
                           const struct causal_curve *curve, char *text);

/* (cycles) as the guest writes them: tenths of a microsecond, rounded down. */
uint64_t causal_us10(const struct causal *causal, uint64_t cycles);

/* Of all agents that no assumption is about. */
struct causal_checked causal_checked_others(const struct causal *causal);

/* Experiments that count, as far as is known. */
uint64_t causal_experiments(const struct causal *causal);

/* Why functions were not chosen, in words, by their numbers in the stream. */
#define CAUSAL_UNTRIED_REASONS 7u
#define CAUSAL_UNTRIED_COLD 5u
extern const char *const causal_untried_reasons[CAUSAL_UNTRIED_REASONS];

/* What results assume and rest on: at most CAUSAL_NOTES_MAX sentences. */
#define CAUSAL_NOTES_MAX (2 * CAUSAL_ASSUMED_MAX + CAUSAL_UNTRIED_REASONS + 16u)
uint32_t causal_notes(const struct causal *causal,
                      char notes[CAUSAL_NOTES_MAX][CAUSAL_TEXT_MAX]);

/* ---- outputs */

/* The guest's table, with shares and explanations. */
void causal_print(const struct causal *causal, FILE *out);

/* Each returns whether all of it was written. */
bool causal_write_json(const struct causal *causal, const char *title,
                       FILE *out);
bool causal_write_page(const struct causal *causal, const char *title,
                       FILE *out);

/* For Coz's viewer: the classic format, or lines of JSON, without abandoned
 * experiments. A series of latencies is an experiment of one request at a time:
 * Coz has the mean only, by Little's law. */
bool causal_write_coz(const struct causal *causal, bool lines, FILE *out);

#endif
