/* SPDX-License-Identifier: Apache-2.0 */
#ifndef EXPORT_TRACKS_H
#define EXPORT_TRACKS_H

/*
 * Tracks for objects: as few for each site as it has objects at one time, so
 * that thousands of short ones share a few. Objects are added by their begin.
 */

#include "base/index.h"

#include <stddef.h>

#define TRACKS_OF_SITE_MAX 1000u
#define TRACKS_NONE UINT32_MAX

/* A track by the end of what is on it; the earliest is the root of a heap. */
struct track_end {
    uint64_t end;
    uint32_t track;
};

struct track_site {
    struct track_end *heap;
    size_t count;
};

/* Starts as zeros. */
struct tracks {
    struct index keys; /* of sites */
    struct track_site *sites;
    uint32_t count;   /* of all tracks */
    uint64_t refused; /* objects, because of TRACKS_OF_SITE_MAX */
};

/* A track of (site) that is free from (begin) to (end), and whether it or its
 * site is new; TRACKS_NONE if there are too many. */
uint32_t tracks_take(struct tracks *tracks, uint32_t site, uint64_t begin,
                     uint64_t end, bool *is_new, bool *is_new_site);

void tracks_free(struct tracks *tracks);

#endif
