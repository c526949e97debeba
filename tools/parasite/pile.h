/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PILE_H
#define PILE_H

/*
 * Which packets there are: put in as they come, each once, and sorted by their
 * time at the end, which for each CPU is the order of their sequence. Where a
 * packet lies is the owner's affair: an offset into a file or into memory.
 *
 * A pile holds the packets of one boot of one image. The first packet says
 * which; those of others are counted and refused.
 */

#include "index.h"
#include "packet.h"

struct pile_packet {
    uint64_t offset;
    uint64_t begin; /* clock */
    uint32_t bytes;
    uint32_t sequence;
    uint16_t cpu;
};

/* Starts as zeros. */
struct pile {
    struct pile_packet *packets;
    size_t count;
    bool unsorted; /* the time went back */
    uint8_t uuid[16];
    struct index seen;
    uint64_t bytes;
    uint64_t repeated; /* packets that were there already */
    uint64_t foreign;  /* packets of another boot */
};

/* Whether (packet) belongs to the pile and is new to it; then it is put in,
 * lying at (offset). */
bool pile_put(struct pile *pile, const struct packet *packet, uint64_t offset);

void pile_sort(struct pile *pile);

/* Packets that are missing between the first and the last one of each CPU. */
uint64_t pile_missing(const struct pile *pile);

void pile_free(struct pile *pile);

#endif
