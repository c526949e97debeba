/* SPDX-License-Identifier: Apache-2.0 */
#ifndef STREAM_WORLD_H
#define STREAM_WORLD_H

/*
 * A stream that begins anew for each test: its packets are kept
 * (stream_checker.h), its nodes are those of a made-up tree.
 */

#include "stream/stream.h"
#include "stream_checker.h"

#define CLOCK 128ull /* cycles a tick of the stream's clock */
#define SECOND ((uint64_t)PROF_CLOCK_HZ * CLOCK)

#define NODES 100000u
static struct prof_stream_node known_nodes[NODES];
static const uint8_t build_id[20] = {1,  2,  3,  4,  5,  6,  7,  8,  9,  10,
                                     11, 12, 13, 14, 15, 16, 17, 18, 19, 20};

/* A node whose address is not like the others'; 0 = none. */
static uint32_t odd_node;
static uintptr_t odd_address;

static struct prof_stream_node *tree(uint32_t node)
{
    struct prof_stream_node *found = &known_nodes[node];

    if (node == 0 || node >= NODES)
        return NULL;
    found->parent = node / 2;
    found->address = 0x100000 + 16 * (uintptr_t)node;
    if (node == odd_node)
        found->address = odd_address;
    return found;
}

/* A sample of (node), 0 = idle, as the drain would pass it. */
static inline void sample(uint64_t tsc, uint32_t node)
{
    prof_stream_sample(prof_cpu_here(), tsc, node, tree(node));
}

static const struct prof_config config = {
    .tsc_hz = SECOND,
    .boot_tsc = 1000,
    .boot_unix_seconds = 1700000000,
    .text = {0x100000, 0x200000},
    .build_id = build_id,
    .build_id_bytes = sizeof build_id,
};

static void open_stream(void)
{
    kept_count = kept_refuse = kept_asked = 0;
    memset(known_nodes, 0, sizeof known_nodes);
    prof_stream_open(&(struct prof_stream_settings){
        .transport = &keeper, .tree = tree, .config = &config});
}

static inline uint64_t at(uint64_t clock)
{
    return 1000 + clock * CLOCK;
}

#endif
