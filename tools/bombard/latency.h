/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LATENCY_H
#define LATENCY_H

/*
 * How long things took: counts in buckets whose width grows with the value, so
 * that any value up to days is kept to within 1/128 of itself (the layout that
 * Gil Tene's HdrHistogram made known).
 *
 * Coordinated omission is the error of measuring only when the one measured
 * allows it: a generator that waits for a stalled server sends nothing during
 * the stall, and so misses what everybody would have suffered who came then.
 * An open load does not have it where each session counts from the moment it
 * was due. For a closed load latency_add_corrected() puts in what is missing:
 * the sessions that would have begun, one each (interval_us), during a long
 * one.
 */

#include <stdint.h>

#define LATENCY_SUB 128u /* buckets for each doubling */
#define LATENCY_BUCKETS (64u * LATENCY_SUB)

/* Starts as zeros. */
struct latency {
    uint64_t counts[LATENCY_BUCKETS];
    uint64_t count;
    uint64_t sum_us;
    uint64_t max_us;
};

void latency_add(struct latency *latency, uint64_t value_us);

/* Adds (value_us), and value less one interval, less two, ... down to the
 * interval. An interval of 0 adds the value alone. */
void latency_add_corrected(struct latency *latency, uint64_t value_us,
                           uint64_t interval_us);

/* Adds all of (from), corrected by (interval_us), to (to). */
void latency_correct(struct latency *to, const struct latency *from,
                     uint64_t interval_us);

/* The least value that (part), 0 to 1, of all values do not exceed, to within
 * 1/128 upwards, and never above the greatest. 0 where there are none. */
uint64_t latency_at(const struct latency *latency, double part);

#endif
