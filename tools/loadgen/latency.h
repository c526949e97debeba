/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LATENCY_H
#define LATENCY_H

/*
 * Durations, counted in buckets whose width grows with the value, so that any
 * value up to days is kept to within 1/128 of itself (the layout of Gil Tene's
 * HdrHistogram).
 *
 * Coordinated omission is the error of measuring only when the measured system
 * allows it: a generator that waits for a stalled server sends nothing during
 * the stall, and so misses what clients would have suffered in that time. An
 * open load avoids it if each session counts from the moment it was due. For a
 * closed load latency_add_corrected() adds what is missing: the sessions that
 * would have begun, one each (interval_us), during a long one.
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

/* The least value that is not exceeded by (part), 0 to 1, of all values; up to
 * 1/128 too high, but never above the greatest. 0 if there are none. */
uint64_t latency_at(const struct latency *latency, double part);

#endif
