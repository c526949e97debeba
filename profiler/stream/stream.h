/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_STREAM_H
#define PROF_STREAM_H

/*
 * The encoder: drained samples become packets (<prof/format.h>), which go to a
 * transport. With no transport chosen every call returns at once.
 *
 * Contexts: thread, from the drain and the calls around it; never the
 * interrupt. Nothing is allocated. Times are TSC values; the stream converts
 * them to its own clock. A time before the last event's counts as that one.
 */

#include <prof/config.h>
#include <prof/format.h>
#include <prof/prof.h>
#include <prof/transport.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A node of the tree of stacks, as its owner's records begin. */
struct prof_stream_node {
    uintptr_t address;
    uint32_t parent;
    uint32_t unused; /* by the stream */
    uint32_t note;   /* the stream's own about this node, 0 at first */
} __attribute__((may_alias));

/* Node (node) of that tree; NULL: there is none. Stays where it is. */
typedef struct prof_stream_node *prof_stream_tree(uint32_t node);

/* Running totals of what left no sample. The stream emits by how much they have
 * grown since it last saw them. */
struct prof_stream_losses {
    int64_t missed;         /* ticks due and not delivered; may fall, when one
                               is delivered after all */
    uint64_t stolen_cycles; /* in which the guest did not run */
    uint64_t dropped;       /* samples that the interrupt dropped */
    uint64_t dropped_cycles;
    uint32_t stopped_walks[PROF_WALK_REASONS]; /* by enum prof_walk_stop */
};

struct prof_stream_settings {
    const struct prof_transport *transport; /* open; NULL: no stream */
    prof_stream_tree *tree;                 /* of the nodes samples name */
    const struct prof_config *config;       /* of image and boot; MUST stay */
    struct prof_stream_losses losses;       /* before this stream */
};

/* What a stream has cost. */
struct prof_stream_sums {
    uint64_t packets;   /* taken by the transport */
    uint64_t bytes;     /* of those packets */
    uint64_t discarded; /* samples that could not be sent */
};

#if !PROF_WITH_STREAM

/* It is never on, and its calls take no code. */
#define prof_stream_on() false
#define prof_stream_start(tsc, rate_mhz, depth)                                \
    ((void)(tsc), (void)(rate_mhz), (void)(depth))
#define prof_stream_stop(tsc) ((void)(tsc))
#define prof_stream_hello() ((void)0)
#define prof_stream_sample(tsc, node, leaf)                                    \
    ((void)(tsc), (void)(node), (void)(leaf))
#define prof_stream_overflow(tsc, address, samples, cycles)                    \
    ((void)(tsc), (void)(address), (void)(samples), (void)(cycles))
#define prof_stream_drop(tsc, samples, cycles)                                 \
    ((void)(tsc), (void)(samples), (void)(cycles))
#define prof_stream_lost_ticks(tsc, missed, stolen_cycles)                     \
    ((void)(tsc), (void)(missed), (void)(stolen_cycles))
#define prof_stream_dropped(tsc, dropped, cycles)                              \
    ((void)(tsc), (void)(dropped), (void)(cycles))
#define prof_stream_stopped_walks(tsc, samples) ((void)(tsc), (void)(samples))
#define prof_stream_flush(tsc) ((void)(tsc))
#define prof_stream_discard(samples) ((void)(samples))
#define prof_stream_sums(sums) ((void)(*(sums) = (struct prof_stream_sums){0}))

#else

/* Begins a new stream with an identity of its own. The present one ends without
 * a last event. */
void prof_stream_open(const struct prof_stream_settings *settings);

/* Whether there is a stream: a transport is chosen and works. */
extern bool prof_stream_is_on;
static inline bool prof_stream_on(void)
{
    return prof_stream_is_on;
}

/* Sampling (re)started at (tsc) at (rate_mhz) with (depth); or stopped. */
void prof_stream_start(uint64_t tsc, uint32_t rate_mhz, uint32_t depth);
void prof_stream_stop(uint64_t tsc);

/* A reader joins: HELLO comes next, and all nodes are defined again. */
void prof_stream_hello(void);

/* One sample at (tsc) of the node (node), which is (leaf), and is defined first
 * where the reader may not know it; or, if the node is 0, an idle one. NULL:
 * the node is not in the tree. */
void prof_stream_sample(uint64_t tsc, uint32_t node,
                        struct prof_stream_node *leaf);

/* (samples) at (address) that cover (cycles), single times unknown; and such of
 * which nothing is known. (tsc) is when the last of them was taken. */
void prof_stream_overflow(uint64_t tsc, uintptr_t address, uint32_t samples,
                          uint64_t cycles);
void prof_stream_drop(uint64_t tsc, uint32_t samples, uint64_t cycles);

/* What has been emitted of the losses, or passed while there was no stream.
 * Written by the stream alone. */
extern struct prof_stream_losses prof_stream_emitted;

/*
 * So many ticks were missed and cycles stolen before (tsc). The sample at (tsc)
 * is not charged for the stolen ones. Called for each sample, hence inline.
 */
void prof_stream_emit_lost_ticks(uint64_t tsc, int64_t missed,
                                 uint64_t stolen_cycles);
static inline void prof_stream_lost_ticks(uint64_t tsc, int64_t missed,
                                          uint64_t stolen_cycles)
{
    if (missed > prof_stream_emitted.missed ||
        stolen_cycles != prof_stream_emitted.stolen_cycles)
        prof_stream_emit_lost_ticks(tsc, missed, stolen_cycles);
}

/* So many samples, which cover so many cycles, were dropped in all, the last of
 * them at (tsc). */
void prof_stream_dropped(uint64_t tsc, uint64_t dropped, uint64_t cycles);

/* So many walks stopped early, by enum prof_walk_stop. */
void prof_stream_stopped_walks(uint64_t tsc,
                               const uint32_t samples[PROF_WALK_REASONS]);

/* At the end of each drain: sends what is old enough to be sent. */
void prof_stream_flush(uint64_t tsc);

/*
 * In a panic: sends the packet in the making as it is; counts (samples) as
 * discarded. Contexts: also in the middle of any other call to here.
 */
void prof_stream_push(void);
void prof_stream_discard(uint64_t samples);

/* The image ends with (code): sends everything, with a last event. Closes the
 * stream. */
void prof_stream_end(uint64_t tsc, uint32_t code);

/* What it has cost so far. */
void prof_stream_sums(struct prof_stream_sums *sums);

#endif
#endif
