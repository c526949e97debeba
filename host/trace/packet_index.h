/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRACE_PACKET_INDEX_H
#define TRACE_PACKET_INDEX_H

/*
 * An index of packets: each is added once, as they come, and finally sorted by
 * time, which for each CPU is the order of their sequence. The caller decides
 * what an offset means: a position in a file or in memory.
 *
 * The index holds the packets of one boot of one image. The first packet
 * determines which; those of others are counted and refused. So are those of
 * more than TRACE_CPUS_MAX CPUs, and more than TRACE_PACKETS_MAX.
 */

#include "base/index.h"
#include "trace/packet.h"

#define TRACE_CPUS_MAX 256
#define TRACE_PACKETS_MAX (1u << 24)

struct packet_entry {
    uint64_t offset;
    uint64_t begin; /* clock */
    uint32_t bytes;
    uint32_t sequence;
    uint16_t cpu;
};

/* Starts as zeros. */
struct packet_index {
    struct packet_entry *packets;
    size_t count;
    bool unsorted; /* time went back */
    uint8_t uuid[16];
    struct index seen;
    struct index cpus;
    uint64_t bytes;
    uint64_t repeated; /* packets that were there already */
    uint64_t foreign;  /* packets of another boot */
    uint64_t excess;   /* packets beyond a limit */
};

/* Adds (packet), which is at (offset). Returns false if it is from another
 * boot, is in the index already, or one too many. */
bool packet_index_add(struct packet_index *index, const struct packet *packet,
                      uint64_t offset);

void packet_index_sort(struct packet_index *index);

/* How many packets are missing between the first and the last one of each
 * CPU. */
uint64_t packet_index_missing(const struct packet_index *index);

void packet_index_free(struct packet_index *index);

#endif
