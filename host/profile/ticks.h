/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROFILE_TICKS_H
#define PROFILE_TICKS_H

/*
 * Samples of several CPUs that one tick took, found by their times. A tick is
 * joined if each CPU that is sampled at that time has exactly one sample within
 * a bound from the first one; otherwise what the others did is not known, and
 * its samples are in no result. All samples of a tick account for the time of
 * the least. A CPU is sampled from its first sample to its last, and a little
 * beyond. Samples that were only summed up have no time, and are in no tick.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum ticks_kind {
    TICKS_BUSY,
    TICKS_IDLE, /* halted */
    TICKS_IN,   /* in the function that is asked about */
    TICKS_SUM,  /* several samples, whose times are not known */
};

struct ticks_sample {
    uint64_t time;   /* clocks */
    uint64_t clocks; /* that it accounts for; its weight once it is weighed */
    enum ticks_kind kind;
    uint32_t tick; /* that it was joined in, from 1 on; 0 = in none */
};

/* A tick that was joined. */
struct ticks_one {
    uint64_t clocks; /* that each of its samples accounts for */
    uint32_t count;  /* of samples */
    uint32_t busy;   /* of these, those that are not idle */
};

struct ticks_cpu {
    uint32_t cpu;
    struct ticks_sample *samples; /* in the order of time */
    size_t count;
    size_t next; /* private */
};

/* Starts as zeros, (bound) and (grace). */
struct ticks {
    uint64_t bound; /* clocks from the first sample of a tick to its last */
    uint64_t grace; /* that a CPU may begin later, or end earlier, and miss */

    struct ticks_cpu *cpus;
    size_t cpu_count;
    size_t recent; /* private: where the last CPU was found */

    uint64_t samples; /* all */
    uint64_t clocks;
    uint64_t joined; /* those in ticks that were joined */
    uint64_t joined_clocks;
    uint64_t ticks;  /* that were joined */
    uint64_t *skews; /* of these, by clocks from 0 to (bound) */
    uint64_t *busy;  /* clocks by how many CPUs were not idle, 0 to all */
    struct ticks_one *list; /* by number - 1; only if nothing weighs them */
};

/* Adds a sample of (cpu), not before its last one. */
void ticks_add(struct ticks *ticks, uint32_t cpu,
               const struct ticks_sample *sample);

/* Sample (number) of (cpu); NULL if there is none. */
const struct ticks_sample *ticks_at(struct ticks *ticks, uint32_t cpu,
                                    uint64_t number);

/* Gives the (count) samples of one tick their weights. */
typedef void ticks_weigh(struct ticks_sample **samples, size_t count);

/* After the last sample: finds the ticks and has them weighed, or, if (weigh)
 * is NULL, listed. The weight of a sample in none is 0. */
void ticks_join(struct ticks *ticks, ticks_weigh *weigh);

/*
 * By latency: the time of a tick is divided by the number of CPUs that were
 * busy, or where none was by that of all. So the weights of all ticks are the
 * time that went by.
 */
ticks_weigh ticks_by_latency;

/*
 * By blame: the time of those in the function is divided evenly among the
 * others that were busy. Where none was it goes to those that were halted, and
 * where all were in the function it stays with them. So the weights of all
 * ticks are the time in the function.
 */
ticks_weigh ticks_by_blame;

/* The skew, in clocks, that (share) of the joined ticks do not exceed. */
uint64_t ticks_skew(const struct ticks *ticks, double share);

void ticks_free(struct ticks *ticks);

#endif
