/* SPDX-License-Identifier: Apache-2.0 */
/* Packets, each once, in order. */

#include "pile.h"

#include "parasite.h"

#include <stdlib.h>
#include <string.h>

bool pile_put(struct pile *pile, const struct packet *packet, uint64_t offset)
{
    bool is_new;

    if (pile->count == 0)
        memcpy(pile->uuid, packet->uuid, sizeof pile->uuid);
    if (memcmp(pile->uuid, packet->uuid, sizeof pile->uuid) != 0) {
        ++pile->foreign;
        return false;
    }
    index_add(&pile->seen, packet->sequence, &is_new);
    if (!is_new) {
        ++pile->repeated;
        return false;
    }
    room_for_one(&pile->packets, pile->count, sizeof *pile->packets);
    if (pile->count > 0 &&
        packet->sequence < pile->packets[pile->count - 1].sequence)
        pile->unsorted = true;
    pile->packets[pile->count++] = (struct pile_packet){
        .offset = offset,
        .bytes = (uint32_t)packet->total_bytes,
        .sequence = packet->sequence,
    };
    pile->bytes += packet->total_bytes;
    return true;
}

static int by_sequence(const void *left, const void *right)
{
    uint32_t a = ((const struct pile_packet *)left)->sequence;
    uint32_t b = ((const struct pile_packet *)right)->sequence;

    return (a > b) - (a < b);
}

void pile_sort(struct pile *pile)
{
    if (pile->unsorted)
        qsort(pile->packets, pile->count, sizeof *pile->packets, by_sequence);
    pile->unsorted = false;
}

uint64_t pile_missing(const struct pile *pile)
{
    uint32_t first = UINT32_MAX, last = 0;

    for (size_t i = 0; i < pile->count; ++i) {
        uint32_t sequence = pile->packets[i].sequence;

        first = sequence < first ? sequence : first;
        last = sequence > last ? sequence : last;
    }
    return pile->count > 0 ? (uint64_t)last - first + 1 - pile->count : 0;
}

void pile_free(struct pile *pile)
{
    free(pile->packets);
    index_free(&pile->seen);
    *pile = (struct pile){0};
}
