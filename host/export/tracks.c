/* SPDX-License-Identifier: Apache-2.0 */
/* Tracks of sites: a heap for each, by when its tracks become free. */

#include "export/tracks.h"

#include "base/memory.h"

#include <stdlib.h>

static void sink(struct track_site *site, size_t at)
{
    for (;;) {
        size_t child = 2 * at + 1;
        struct track_end moved = site->heap[at];

        if (child >= site->count)
            return;
        if (child + 1 < site->count &&
            site->heap[child + 1].end < site->heap[child].end)
            ++child;
        if (site->heap[child].end >= moved.end)
            return;
        site->heap[at] = site->heap[child];
        site->heap[child] = moved;
        at = child;
    }
}

static void rise(struct track_site *site, size_t at)
{
    while (at > 0 && site->heap[(at - 1) / 2].end > site->heap[at].end) {
        struct track_end moved = site->heap[at];

        site->heap[at] = site->heap[(at - 1) / 2];
        site->heap[(at - 1) / 2] = moved;
        at = (at - 1) / 2;
    }
}

uint32_t tracks_take(struct tracks *tracks, uint32_t number, uint64_t begin,
                     uint64_t end, bool *is_new, bool *is_new_site)
{
    uint32_t at = index_add(&tracks->keys, number, is_new_site);
    struct track_site *site;

    if (*is_new_site) {
        vector_reserve_one(&tracks->sites, at, sizeof *tracks->sites);
        tracks->sites[at] = (struct track_site){0};
    }
    site = &tracks->sites[at];
    *is_new = site->count == 0 || site->heap[0].end > begin;
    if (!*is_new) {
        site->heap[0].end = end;
        number = site->heap[0].track;
        sink(site, 0);
        return number;
    }
    if (site->count == TRACKS_OF_SITE_MAX) {
        ++tracks->refused;
        *is_new = false;
        return TRACKS_NONE;
    }
    vector_reserve_one(&site->heap, site->count, sizeof *site->heap);
    site->heap[site->count] = (struct track_end){end, tracks->count};
    rise(site, site->count++);
    return tracks->count++;
}

void tracks_free(struct tracks *tracks)
{
    for (uint32_t i = 0; i < tracks->keys.count; ++i)
        free(tracks->sites[i].heap);
    free(tracks->sites);
    index_free(&tracks->keys);
}
