/* SPDX-License-Identifier: Apache-2.0 */
/* Packets, each once, in order. */

#include "pile.h"

#include "parasite.h"

#include <stdlib.h>
#include <string.h>

static int compare(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

static int by_time(const void *left, const void *right)
{
    const struct pile_packet *a = left, *b = right;

    if (a->begin != b->begin)
        return compare(a->begin, b->begin);
    if (a->cpu != b->cpu)
        return compare(a->cpu, b->cpu);
    return compare(a->sequence, b->sequence);
}

bool pile_put(struct pile *pile, const struct packet *packet, uint64_t offset)
{
    bool is_new;

    if (pile->count == 0)
        memcpy(pile->uuid, packet->uuid, sizeof pile->uuid);
    if (memcmp(pile->uuid, packet->uuid, sizeof pile->uuid) != 0) {
        ++pile->foreign;
        return false;
    }
    index_add(&pile->seen, index_pair(packet->cpu, packet->sequence), &is_new);
    if (!is_new) {
        ++pile->repeated;
        return false;
    }
    room_for_one(&pile->packets, pile->count, sizeof *pile->packets);
    pile->packets[pile->count++] = (struct pile_packet){
        .offset = offset,
        .begin = packet->begin,
        .bytes = (uint32_t)packet->total_bytes,
        .sequence = packet->sequence,
        .cpu = packet->cpu,
    };
    if (pile->count > 1 && by_time(&pile->packets[pile->count - 2],
                                   &pile->packets[pile->count - 1]) > 0)
        pile->unsorted = true;
    pile->bytes += packet->total_bytes;
    return true;
}

void pile_sort(struct pile *pile)
{
    if (pile->unsorted)
        qsort(pile->packets, pile->count, sizeof *pile->packets, by_time);
    pile->unsorted = false;
}

/* The packets of one CPU: how many there are, and from where to where. */
struct span {
    uint64_t count;
    uint32_t first;
    uint32_t last;
};

static void widen(struct span *span, uint32_t sequence)
{
    if (span->count++ == 0)
        span->first = span->last = sequence;
    if (sequence < span->first)
        span->first = sequence;
    if (sequence > span->last)
        span->last = sequence;
}

uint64_t pile_missing(const struct pile *pile)
{
    struct span *spans = NULL;
    struct index cpus = {0};
    uint64_t missing = 0;

    for (size_t i = 0; i < pile->count; ++i) {
        bool is_new;
        uint32_t number = index_add(&cpus, pile->packets[i].cpu, &is_new);

        if (is_new) {
            room_for_one(&spans, number, sizeof *spans);
            spans[number] = (struct span){0};
        }
        widen(&spans[number], pile->packets[i].sequence);
    }
    for (uint32_t i = 0; i < cpus.count; ++i)
        missing +=
            (uint64_t)spans[i].last - spans[i].first + 1 - spans[i].count;
    free(spans);
    index_free(&cpus);
    return missing;
}

void pile_free(struct pile *pile)
{
    free(pile->packets);
    index_free(&pile->seen);
    *pile = (struct pile){0};
}
