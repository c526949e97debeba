/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HTTP_LOOP_SITES_H
#define HTTP_LOOP_SITES_H

/* What the metrics of the event loop are of, in either format. */

#include "ranking.h"

#include <prof/loop_stats.h>

/* Those with the most self time, the first of them first. One that has done
 * nothing since the last reset is left out. */
struct loop_sites {
    struct prof_loop_row row[RANKING_ROWS];
    struct ranking ranking;
};
void loop_sites_take(struct loop_sites *sites);

/* The histograms. */
struct loop_histogram {
    enum prof_loop_measure measure;
    const char *name;
    const char *help;
};
extern const struct loop_histogram loop_histograms[PROF_LOOP_MEASURES];

/* How many of them there are: the last one where calls are counted. */
unsigned loop_histogram_count(void);

/* Classic buckets: their upper bounds in ns, the same for all sites, so that
 * they can be added; and how many values are within each. */
#define LOOP_BOUNDS 15u
extern const uint64_t loop_bounds_ns[LOOP_BOUNDS];
struct loop_buckets {
    uint64_t limit[LOOP_BOUNDS]; /* the bounds in cycles */
    uint64_t values[LOOP_BOUNDS];
};
void loop_buckets_take(struct loop_buckets *buckets,
                       const struct prof_loop_row *row,
                       enum prof_loop_measure measure);

#endif
