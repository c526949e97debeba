/* SPDX-License-Identifier: Apache-2.0 */
#ifndef OCCUPANCY_OCCUPANCY_H
#define OCCUPANCY_OCCUPANCY_H

/*
 * Who held the event loop, as the guest counted it (<prof/loop.h>).
 *
 * A stream has rounds, about one each second: `loop` with the account of all
 * time, then `loop_row` for each site whose numbers have changed, at one time.
 * Nodes of the tree and ranges of histograms come with some rounds only. All is
 * counted since the guest's last reset, so that what two rounds differ by is
 * the time between them. Counts of time are cycles of the time stamp counter.
 */

#include "base/index.h"
#include "trace/event.h"
#include "trace/packet.h"

#define OCCUPANCY_SITES_MAX 4096u
#define OCCUPANCY_RECORDS_MAX (1u << 16) /* long runs; and so on */
#define OCCUPANCY_NONE UINT32_MAX

/* 32 buckets for each octave of a number of 64 bits, from 32 on. */
#define OCCUPANCY_BUCKETS (60u * 32u)

enum occupancy_histogram {
    OCCUPANCY_RUN,   /* from a run's begin to its end */
    OCCUPANCY_DELAY, /* from a wake to the run */
    OCCUPANCY_LIFE, /* from a task's creation to its end; of a future pending */
    OCCUPANCY_CALL, /* own time of a task in all its runs, once it has ended */
    OCCUPANCY_HISTOGRAMS,
};

/* What a snapshot's time went to, in cycles; disjoint, but for the whole. */
enum occupancy_part {
    OCCUPANCY_TASKS, /* the first six are kinds of sites */
    OCCUPANCY_CALLBACKS,
    OCCUPANCY_OTHERS,
    OCCUPANCY_LOOP,
    OCCUPANCY_PROFILER,
    OCCUPANCY_IDLE,
    OCCUPANCY_INTERRUPTS,
    OCCUPANCY_SAMPLER,
    OCCUPANCY_STOLEN,
    OCCUPANCY_WALL,
    OCCUPANCY_PARTS,
};

struct occupancy_site {
    bool present;  /* a row came */
    uint64_t time; /* of that */
    uint8_t kind;  /* enum occupancy_part, up to IDLE */
    bool future;   /* of primitive futures, which run nothing */
    struct event_loop_row row;
    struct event_loop_call call; /* .calls 0: none, or they are not counted */
    uint32_t *buckets[OCCUPANCY_HISTOGRAMS]; /* NULL = all are 0 */
};

/* A site below the sites that created its tasks. */
struct occupancy_node {
    uint64_t time; /* 0 = did not come */
    struct event_loop_context counts;
    uint32_t parent; /* index; OCCUPANCY_NONE = nobody that is known */
    uint32_t site;   /* index */
};

struct occupancy_snapshot {
    uint64_t time; /* clocks; 0 = there is none */
    struct event_loop account;
    bool has_calls; /* the guest counts them */
    uint64_t calls_refused;
    struct occupancy_site *sites; /* by index; not all are present */
    uint32_t site_count;
    struct occupancy_node *nodes; /* by index; parents before children */
    uint32_t node_count;
    uint64_t nodes_time; /* of the last node */
};

/* A run that was long, and what samples hit in it. */
#define OCCUPANCY_FUNCTIONS 3u
struct occupancy_run {
    uint64_t time; /* of its end */
    uint32_t site; /* index */
    uint32_t task;
    uint64_t cycles;
    uint32_t samples;
    struct {
        uint64_t address; /* 0 = none */
        uint32_t samples;
    } functions[OCCUPANCY_FUNCTIONS];
};

#define OCCUPANCY_STACK 8u
struct occupancy_freeze {
    uint64_t time;  /* of the report: the run goes on */
    uint32_t site;  /* index; what runs */
    uint32_t outer; /* index; what the loop has called */
    uint32_t task;
    uint64_t cycles;
    uint64_t stack[OCCUPANCY_STACK]; /* innermost first; 0 = no more */
};

enum occupancy_problem_kind {
    OCCUPANCY_MISSED,    /* packets, perhaps with parts of a round */
    OCCUPANCY_STRAY,     /* a part of no round */
    OCCUPANCY_TWICE,     /* a row for the second time in a round */
    OCCUPANCY_NO_PLACE,  /* a site that is defined nowhere */
    OCCUPANCY_NO_BUCKET, /* a histogram or range that there is not */
    OCCUPANCY_NO_KIND,   /* a kind of sites that there is not */
    OCCUPANCY_NOT_WALL,  /* the parts of the account are not the whole */
    OCCUPANCY_NOT_SITES, /* sites of a kind are not the account's part */
    OCCUPANCY_NOT_TOTAL, /* the tree gives a site another total */
    OCCUPANCY_NOT_CALLS, /* the longest call is longer than all together */
    OCCUPANCY_BACK,      /* counts that are less than before */
    OCCUPANCY_NOT_KEPT,  /* beyond a limit */
    OCCUPANCY_PROBLEM_KINDS,
};

/* The first one of a kind, and how many there are. */
struct occupancy_problem {
    uint64_t count;
    uint64_t time;
    uint64_t number; /* a site, a value, or a difference in cycles */
};

/* How much of the time the loop was idle, at a round. */
struct occupancy_turn {
    uint64_t time;
    uint64_t wall;
    uint64_t idle;
};

struct occupancy_place {
    bool defined;
    uint32_t number; /* the guest's */
    uint32_t text;   /* of strings */
    uint32_t file;
    uint32_t line;
};

/* Starts as zeros, or with (from), (to) and (each) set. */
struct occupancy {
    uint64_t from; /* clocks: what was before is subtracted */
    uint64_t to;   /* 0 = no end */

    uint64_t tsc_hz; /* 0 = no hello came */
    struct strings strings;
    struct index site_numbers; /* index by the guest's number */
    struct occupancy_place *places;

    bool any;                         /* there was a complete round */
    bool ended;                       /* the guest has said so */
    uint64_t rounds;                  /* complete ones up to (to) */
    struct occupancy_snapshot now;    /* the last of them */
    struct occupancy_snapshot before; /* the last before (from) */
    uint64_t reset_time;              /* clocks; when the guest began */
    struct occupancy_turn *turns;     /* of all since then, oldest first */
    uint32_t turn_count;
    struct occupancy_run *runs;
    uint32_t run_count;
    struct occupancy_freeze *freezes;
    uint32_t freeze_count;
    struct occupancy_problem problems[OCCUPANCY_PROBLEM_KINDS];

    /* the round being received */
    struct occupancy_snapshot made;
    struct index node_numbers; /* index by the guest's number */
    bool is_making;
    bool unsure;               /* the begin of a round may be missing */
    bool incomplete;           /* some packet is missing */
    uint16_t cpu;              /* whose packets it is in, */
    struct packet_order order; /* and which of these is next */
    uint64_t time;             /* of the event being taken */
};

/* Adds a packet of the CPU whose loop it is; they come in order. */
void occupancy_take(struct occupancy *occupancy, const struct packet *packet);

/* After the last packet, once: subtracts, adds up, checks. */
void occupancy_finish(struct occupancy *occupancy);

void occupancy_free(struct occupancy *occupancy);

/* ---- several CPUs, each with a loop of its own */

struct occupancy_cpu {
    uint16_t cpu;
    struct occupancy occupancy;
};

/* Starts as zeros, or with (from) and (to) set, as above. */
struct occupancy_cpus {
    uint64_t from, to;
    struct index numbers; /* index by the CPU's number */
    struct occupancy_cpu *all;
    bool ended;

    /* Once it is finished: */
    uint32_t count;  /* with a snapshot, by rising numbers */
    bool any;        /* there was a round, whenever */
    uint64_t tsc_hz; /* 0 = no hello came */
};

/* Adds a packet of any CPU; those of each come in order. */
void occupancy_cpus_take(struct occupancy_cpus *cpus,
                         const struct packet *packet);

/* As occupancy_finish(), of each. */
void occupancy_cpus_finish(struct occupancy_cpus *cpus);

/* Forgets all but one of those that are finished. False: it is none of them,
 * and nothing is left. */
bool occupancy_cpus_only(struct occupancy_cpus *cpus, uint16_t cpu);

/* What all of them together did, with no turns and no problems; to be freed by
 * occupancy_free(). Wall time is the sum of theirs, too. */
void occupancy_cpus_sum(const struct occupancy_cpus *cpus,
                        struct occupancy *sum);

void occupancy_cpus_free(struct occupancy_cpus *cpus);

/* The name of the site with that index, "[others]" or "[site 7]"; its file, ""
 * if it is not known, and line. */
const char *occupancy_name(const struct occupancy *occupancy, uint32_t site);
const char *occupancy_file(const struct occupancy *occupancy, uint32_t site);
uint32_t occupancy_line(const struct occupancy *occupancy, uint32_t site);

/* ---- one snapshot */

/* The kind of that site; one may have neither a name nor a row. */
enum occupancy_part occupancy_kind(const struct occupancy_snapshot *snapshot,
                                   uint32_t site);

/* Subtracts (before), of the same reset. Longest runs and quantiles become
 * those of the histograms' differences, 0 where these are unknown, except a
 * longest run that was after (before). Returns false if something in (before)
 * is larger. */
bool occupancy_subtract(struct occupancy_snapshot *snapshot,
                        const struct occupancy_snapshot *before);

/* Those of all rows and calls, by their histograms. */
void occupancy_set_quantiles(struct occupancy_snapshot *snapshot);

void occupancy_copy(struct occupancy_snapshot *to,
                    const struct occupancy_snapshot *from);
void occupancy_forget(struct occupancy_snapshot *snapshot);

/* See enum occupancy_part. */
void occupancy_account(const struct occupancy_snapshot *snapshot,
                       uint64_t parts[OCCUPANCY_PARTS]);

/* For how much of its time the loop was not idle: 0 to 1. */
double occupancy_busy(uint64_t wall, uint64_t idle);

/* The same of the last (seconds); negative if that is not known. */
double occupancy_lately(const struct occupancy *occupancy, double seconds);

/* ---- histograms */

/* The bucket that (value) is in. */
uint32_t occupancy_bucket(uint64_t value);

/* The least value of bucket (number); its last one is one less than the least
 * of the next bucket. */
uint64_t occupancy_bucket_begin(uint32_t number);

uint64_t occupancy_values(const uint32_t *buckets);

/* The middle of the bucket with the value below which (share) of all values
 * are, 0 to 1; 0 if there are none. */
uint64_t occupancy_quantile(const uint32_t *buckets, double share);

/* ---- problems */

void occupancy_problem(struct occupancy *occupancy,
                       enum occupancy_problem_kind kind, uint64_t number);

/* Checks the last snapshot; occupancy_finish() does it. */
void occupancy_check(struct occupancy *occupancy);

/* Whether there is a problem of (kind) that missing packets do not explain. */
bool occupancy_is_wrong(const struct occupancy *occupancy,
                        enum occupancy_problem_kind kind);

/* One line; (text) has room for OCCUPANCY_TEXT_MAX. */
#define OCCUPANCY_TEXT_MAX 200u
const char *occupancy_problem_text(const struct occupancy *occupancy,
                                   enum occupancy_problem_kind kind,
                                   char *text);

/* ---- order */

enum occupancy_order {
    OCCUPANCY_BY_SELF,
    OCCUPANCY_BY_TOTAL,
    OCCUPANCY_BY_LONGEST,
    OCCUPANCY_BY_DELAY,
    OCCUPANCY_BY_LIFE,
    OCCUPANCY_BY_CALLS,
    OCCUPANCY_BY_PENDING,
    OCCUPANCY_BY_NAME,
    OCCUPANCY_ORDERS,
};

/* The order called (word), OCCUPANCY_ORDERS if there is none. */
enum occupancy_order occupancy_order_of(const char *word);
const char *occupancy_order_word(enum occupancy_order order);

/* The histogram of a site's calls. */
enum occupancy_histogram occupancy_call_of(const struct occupancy_site *site);

/* The indices of the present sites in that order; to be freed. */
uint32_t *occupancy_sorted(const struct occupancy *occupancy,
                           const struct occupancy_snapshot *snapshot,
                           enum occupancy_order order, uint32_t *count);

#endif
