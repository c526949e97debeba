/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_STREAM_H
#define PROF_STREAM_H

/*
 * From drained samples to packets (<prof/format.h>) to a transport. Contexts:
 * thread, from the drain and the calls around it; never the interrupt. With no
 * transport chosen every call returns at once.
 *
 * Times are TSC values; the stream turns them into its own clock.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct prof_out;

/* A node of the tree of stacks, as the stream wants to know it. */
struct prof_stream_node {
    uint32_t parent;
    uintptr_t address;
    uint32_t *told; /* the stream's own note about it, 0 at first */
};

/* Finds node (node) of that tree; false: there is no such node. */
typedef bool prof_stream_tree(uint32_t node, struct prof_stream_node *found);

/*
 * From now on packets go to (out), a new stream with an identity of its own;
 * the nodes that samples name are found in (tree). prof_state.config says the
 * rest. NULL for (out): nobody listens any more.
 */
void prof_stream_open(const struct prof_out *out, prof_stream_tree *tree);

/* Whether anybody listens: a transport is chosen and works. */
bool prof_stream_on(void);

/* Sampling (re)started at (tsc) at (rate_mhz) with (depth); or stopped. */
void prof_stream_start(uint64_t tsc, uint32_t rate_mhz, uint32_t depth);
void prof_stream_stop(uint64_t tsc);

/* Somebody listens from now on: hello comes next, and all nodes are news. */
void prof_stream_hello(void);

/* One sample at (tsc): the leaf's node, which is told first where the reader
 * may not know it; or an idle one. */
void prof_stream_sample(uint64_t tsc, uint32_t node);
void prof_stream_idle(uint64_t tsc);

/* (samples) at (address) that stand for (cycles), single times unknown; and
 * such of which nothing is known. (tsc) is when the last of them was taken. */
void prof_stream_spill(uint64_t tsc, uintptr_t address, uint32_t samples,
                       uint64_t cycles);
void prof_stream_drop(uint64_t tsc, uint32_t samples, uint64_t cycles);

/* (ticks) were due before (tsc) and never delivered. */
void prof_stream_miss(uint64_t tsc, uint32_t ticks);

/* For (cycles) before (tsc) the guest did not run, as it seems; they are part
 * of what the sample at (tsc) stands for. */
void prof_stream_stolen(uint64_t tsc, uint64_t cycles);

/* (samples) more walks stopped early for (reason), enum prof_walk_stop. */
void prof_stream_stopped_walk(uint64_t tsc, uint32_t reason, uint32_t samples);

/* At the end of each drain: sends what is old enough to be sent. */
void prof_stream_flush(uint64_t tsc);

/*
 * In a panic: sends the packet in the making as it is; counts (samples) as
 * discarded. Contexts: also in the middle of any other call to here.
 */
void prof_stream_push(void);
void prof_stream_discard(uint64_t samples);

/* The image ends with (code): sends everything, with a last event. Nobody
 * listens any more. */
void prof_stream_end(uint64_t tsc, uint32_t code);

/* What the stream has cost so far. */
struct prof_stream_sums {
    uint64_t packets;   /* taken by the way out */
    uint64_t bytes;     /* of those packets */
    uint64_t discarded; /* samples that could not be sent */
};
void prof_stream_sums(struct prof_stream_sums *sums);

#endif
