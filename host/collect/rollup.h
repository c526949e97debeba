/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COLLECT_ROLLUP_H
#define COLLECT_ROLLUP_H

/*
 * One boot of one guest, added up by buckets of time and CPU while it runs.
 *
 * Where model.h keeps what a trace says for all time, this keeps what has come
 * since the last bucket was closed, so that a thousand guests fit into a
 * hundred megabytes. Time is weighed by the same rules as there.
 *
 * Buckets are minutes, or what is asked for, of the host's clock: a packet's
 * times are put on it by when the first packet came. They are put on it anew
 * where they would be later than now, or LATE_MS earlier: the guest's clock, or
 * the host's, has jumped, the guest was stopped, or old packets come at once.
 * A bucket is closed when (grace_ms) have gone by since its end. What comes for
 * it later is in the next one, so each sample is in exactly one bucket.
 *
 * What a guest can make a rollup hold is limited. What is beyond a limit counts
 * as unresolved. Packets that never came are a loss: their samples are
 * estimated from the time that they covered and the rate.
 *
 * What a guest can say is limited, too, so that one that lies does not spoil
 * the sums of all: the counts of a CPU in a bucket are no more than fit into
 * the time since the last bucket was closed, and (backlog_seconds) before.
 */

#include "base/index.h"
#include "collect/waits.h"
#include "trace/event.h"
#include "trace/packet.h"

#define ROLLUP_NODES_MAX (1u << 16) /* of a guest */
#define ROLLUP_CELLS_MAX (1u << 14) /* stacks by CPU, of a bucket */
#define ROLLUP_LOOP_MAX (1u << 14)  /* ranges of histograms, of a guest */
#define ROLLUP_SITES_MAX (1u << 12)
#define ROLLUP_CPUS_MAX 256u
#define ROLLUP_STACK_MAX 256u
#define ROLLUP_LATE_MS 30000
#define ROLLUP_EARLY_MS 1000
#define ROLLUP_OLD_MS 120000  /* older events are put there */
#define ROLLUP_RATE_MAX 20000 /* samples a second of a CPU that are believed */

/* An address and its caller, by the guest's number. Addresses are within 2 GiB
 * of the image's code, as offsets in the store are. */
struct rollup_node {
    int32_t offset;  /* from text_begin */
    uint32_t parent; /* ROLLUP_UNDEFINED = it did not come */
};
#define ROLLUP_UNDEFINED UINT32_MAX

struct rollup_cell {
    uint64_t clocks; /* 1/PROF_CLOCK_HZ */
    uint32_t samples;
    uint32_t node;
    uint16_t cpu;
};

/* Samples of one CPU. All that were taken are attributed, idle, unresolved or
 * dropped; their sum is the guest's own count of ticks. */
struct rollup_account {
    uint16_t cpu;
    uint64_t attributed; /* the sum of its cells */
    uint64_t idle;
    uint64_t unresolved; /* the stack is not known, or beyond a limit */
    uint64_t dropped;    /* by the guest, by its own count */
    uint64_t masked;     /* of the first two: interrupts were off */
    uint64_t missed;     /* ticks that were due and never came */
    uint64_t lost;       /* in packets that never came: estimated */
    uint64_t packets_lost;
    uint64_t stolen_clocks;
    uint64_t clocks;      /* of all samples */
    uint64_t implausible; /* times that a count was impossibly high */
    uint64_t last;        /* clock of its last sample, 0 = none */
    uint64_t discarded;   /* as of then */
    uint32_t sequence;    /* of the next packet after it */
};

static inline uint64_t rollup_ticks(const struct rollup_account *account)
{
    return account->attributed + account->idle + account->unresolved +
           account->dropped;
}

/* A range of a histogram of a CPU's event loop, so far. Each CPU has a loop of
 * its own, with its own numbers of sites. */
struct rollup_loop {
    uint64_t low; /* cycles of the TSC */
    uint32_t count;
    uint32_t sent; /* in closed buckets */
    uint16_t cpu;
    uint16_t site; /* its number there */
    uint8_t measure;
};

struct rollup_site {
    uint64_t id;   /* a hash of its name and place; 0 = it was not defined */
    uint32_t text; /* of strings */
};

struct rollup_bucket {
    int64_t begin; /* UTC, in seconds; 0 = not open */
    struct index keys;
    struct rollup_cell *cells; /* by number in keys */
    struct rollup_account *accounts;
    size_t account_count;
};

struct rollup_cpu {
    uint16_t cpu;
    bool known; /* (previous) is, since the last gap */
    bool irqs_off;
    bool in_gap; /* packets are missing before the next sample */
    struct packet_order order;
    uint64_t previous;  /* clock of the sample or start before */
    uint64_t stolen;    /* since then, clocks */
    uint64_t discarded; /* samples, from the last packet */
    uint64_t gap_known; /* of those that are missing: as discarded says */
    uint32_t skipped; /* packets that came after the last, and were not read */
    uint32_t skipped_next;
    uint64_t skipped_end; /* clock */
    bool running;         /* it samples, as far as is known */
    uint32_t current;     /* the object that runs, 0 = none */
    unsigned loop_rounds; /* of its loop's ranges, 2 = two or more */

    /* after its last sample in a closed bucket, or before its first packet */
    uint64_t closed_last; /* clock, not 0 */
    uint64_t closed_discarded;
    uint32_t closed_sequence; /* of the next packet */
};

/* Starts as zeros, and what the caller sets. */
struct rollup {
    int64_t bucket_seconds;
    int64_t grace_ms;        /* from the end of a bucket to when it is closed */
    int64_t backlog_seconds; /* that it may have waited before it came */

    /* gets a bucket that is complete, which is empty after that */
    void (*closed)(void *owner, const struct rollup_bucket *bucket);
    void *owner;

    struct event_hello hello; /* version 0 = none came */
    uint32_t rate_mhz;        /* of the last start */
    uint32_t depth;
    uint64_t text_begin; /* what offsets are from */
    bool ended;          /* a BYE came: nothing new is taken any more */
    int64_t traced;      /* when its recorder was last on, UTC in ms */

    int64_t now;   /* when the last packet came, UTC in ms */
    int64_t since; /* when the last bucket was closed, or it came */
    bool anchored;
    int64_t anchor_ms; /* UTC of clock 0 */
    int64_t closed_to; /* end of the last closed bucket */
    struct rollup_bucket open[2];
    uint64_t anchors; /* how often times were put on the host's clock */

    struct rollup_node *nodes; /* by the guest's number */
    uint32_t node_room;
    struct index overflows; /* addresses, which are nodes after these */
    struct rollup_cpu *cpus;
    size_t cpu_count;
    struct index loop_keys;
    struct rollup_loop *loop;
    uint64_t loop_sent; /* sum of (sent) of all ranges */
    bool loop_resumes;  /* another process has counted (loop_before): of each
                           CPU the first round is compared with it */
    uint64_t loop_before, loop_found; /* what ranges had when first seen */
    uint64_t loop_lost;               /* of the difference, what is in losses */
    struct index site_numbers;
    struct rollup_site *sites;
    struct strings strings; /* their names */
    struct waits waits;     /* of the open buckets */

    uint64_t packets;
    uint64_t repeated;
    uint64_t unread;
    uint64_t after_bye; /* not taken */
    uint64_t refused;   /* stacks, ranges and sites beyond a limit */
};

/* Adds (packet), which came at (now), UTC in milliseconds. Returns false if it
 * came before, or after the guest's end, or cannot be read. */
bool rollup_take(struct rollup *rollup, const struct packet *packet,
                 int64_t now);

/* Notes a packet that came at (now) and is not to be read: it counts as
 * lost when the next one comes, or at the end. */
void rollup_skip(struct rollup *rollup, const struct packet *packet,
                 int64_t now);

/* Closes the buckets whose time is over, or is not to come for long as the
 * clock went back; or (all). */
void rollup_close(struct rollup *rollup, int64_t now, bool all);

/* The addresses of the stack that ends at (node), innermost first, to
 * (addresses). Returns how many, 0 if one of its nodes is not known. */
size_t rollup_stack(const struct rollup *rollup, uint32_t node,
                    uint64_t addresses[ROLLUP_STACK_MAX]);

/* Closes all buckets, and forgets the stacks, which the guest is to define
 * again: what it samples of them until then is unresolved. Sums stay exact. A
 * bucket that has not begun, since the one before was closed early, stays open,
 * and its samples become unresolved. So none is closed twice. */
void rollup_shrink(struct rollup *rollup, int64_t now);

/* Notes that (count) of the event loop's histograms are in closed buckets of
 * another process. What has been added to them since then, until the first
 * round of ranges comes, is not known by range, and rollup_loop_lost(). */
void rollup_resume_loop(struct rollup *rollup, uint64_t count);

/* The counts that were not known by range, and have not been taken. */
uint64_t rollup_loop_lost(const struct rollup *rollup);

/* The key of a range: of a CPU's site, by its number there. */
uint64_t rollup_range_key(uint16_t cpu, uint16_t site, uint8_t measure,
                          uint64_t low);

/* The number of a place, (text) of which is a name, an at sign and its file. */
uint64_t rollup_site_id(const char *text, uint32_t line);

/* Bytes that it holds. */
size_t rollup_bytes(const struct rollup *rollup);

void rollup_free(struct rollup *rollup);

#endif
