/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ATTACH_PAUSES_H
#define ATTACH_PAUSES_H

/* What a run has cost the guest. A pause lasts from when the request to stop is
 * sent until the request to go on has been sent, so it is not less than what
 * the guest notices. */

#include <stdint.h>

/* Buckets of a histogram whose bounds grow by a 32nd of an octave, 2 %, from
 * 0.1 us on; the last one has all from 3 min on. */
#define PAUSES_OCTAVE 32u
#define PAUSES_BUCKETS (31u * PAUSES_OCTAVE)

/* Starts as zeros. */
struct pauses {
    uint64_t buckets[PAUSES_BUCKETS];
    uint64_t count;
    double total; /* seconds */
    double worst; /* the same */
};

void pauses_add(struct pauses *pauses, double seconds);

/* The pause that the share (part), 0 to 1, does not exceed, to 2 %; or 0. */
double pauses_part(const struct pauses *pauses, double part);

/*
 * When samples are due: at a mean rate, with intervals that vary uniformly by
 * half of their mean to either side, so that no loop of the guest is in step
 * with them. With a budget, no sample is due before all pauses together are a
 * smaller share of the time since the beginning.
 */
struct schedule {
    double interval; /* mean, seconds */
    double budget;   /* share of the time, 0 = none */
    double began;
    double due;
    uint64_t random;
};

void schedule_begin(struct schedule *schedule, double now, uint64_t seed);

/* After a sample: the next one's time goes to schedule->due. Returns how many
 * have been missed, because it took so long. (paused): all pauses so far. */
uint32_t schedule_next(struct schedule *schedule, double now, double paused);

/* Goes on at (now), after a time in which nothing could be due. */
void schedule_resume(struct schedule *schedule, double now);

#endif
