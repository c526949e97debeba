/* SPDX-License-Identifier: Apache-2.0 */
/* Packets, each once, in order. */

#include "trace/packet_index.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

static int compare(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

static int by_time(const void *left, const void *right)
{
    const struct packet_entry *a = left, *b = right;

    if (a->begin != b->begin)
        return compare(a->begin, b->begin);
    if (a->cpu != b->cpu)
        return compare(a->cpu, b->cpu);
    return compare(a->sequence, b->sequence);
}

/* Whether there is room for a packet of (cpu), which is noted. */
static bool has_room(struct packet_index *index, uint16_t cpu)
{
    if (index->count == TRACE_PACKETS_MAX)
        return false;
    if (index_find(&index->cpus, cpu) == INDEX_NONE &&
        index->cpus.count == TRACE_CPUS_MAX)
        return false;
    index_add(&index->cpus, cpu, NULL);
    return true;
}

bool packet_index_add(struct packet_index *index, const struct packet *packet,
                      uint64_t offset)
{
    bool is_new;

    if (index->count == 0)
        memcpy(index->uuid, packet->uuid, sizeof index->uuid);
    if (memcmp(index->uuid, packet->uuid, sizeof index->uuid) != 0) {
        ++index->foreign;
        return false;
    }
    if (!has_room(index, packet->cpu)) {
        ++index->excess;
        return false;
    }
    index_add(&index->seen, index_pair(packet->cpu, packet->sequence), &is_new);
    if (!is_new) {
        ++index->repeated;
        return false;
    }
    vector_reserve_one(&index->packets, index->count, sizeof *index->packets);
    index->packets[index->count++] = (struct packet_entry){
        .offset = offset,
        .begin = packet->begin,
        .bytes = (uint32_t)packet->total_bytes,
        .sequence = packet->sequence,
        .cpu = packet->cpu,
    };
    if (index->count > 1 && by_time(&index->packets[index->count - 2],
                                    &index->packets[index->count - 1]) > 0)
        index->unsorted = true;
    index->bytes += packet->total_bytes;
    return true;
}

void packet_index_sort(struct packet_index *index)
{
    if (index->unsorted)
        qsort(index->packets, index->count, sizeof *index->packets, by_time);
    index->unsorted = false;
}

/* The packets of one CPU: how many there are, and their range of sequences. */
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

uint64_t packet_index_missing(const struct packet_index *index)
{
    struct span spans[TRACE_CPUS_MAX] = {0};
    uint64_t missing = 0;

    for (size_t i = 0; i < index->count; ++i) {
        const struct packet_entry *packet = &index->packets[i];

        widen(&spans[index_find(&index->cpus, packet->cpu)], packet->sequence);
    }
    for (uint32_t i = 0; i < index->cpus.count; ++i)
        missing +=
            (uint64_t)spans[i].last - spans[i].first + 1 - spans[i].count;
    return missing;
}

void packet_index_free(struct packet_index *index)
{
    free(index->packets);
    index_free(&index->seen);
    index_free(&index->cpus);
    *index = (struct packet_index){0};
}
