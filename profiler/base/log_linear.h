/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_LOG_LINEAR_H
#define PROF_LOG_LINEAR_H

/*
 * Buckets of log-linear histograms: 32 of equal width in each octave. The width
 * of a bucket is at most 1/32 of its lowest value, so its middle is off by at
 * most 1.6 %.
 *
 *     value < 64    bucket `value`
 *     otherwise     `value >> octave` is from 32 to 63; 32 * octave + that
 *
 * A bucket's row is bucket / 32. Contexts: any.
 */

#include <stdbool.h>
#include <stdint.h>

#define PROF_LOG_LINEAR_ROW 32u

/* Returns the bucket of (value). */
static inline uint32_t prof_log_linear_bucket(uint64_t value)
{
    uint32_t low = (uint32_t)value, octave;

    if (low == value) { /* most often: fewer instructions on i386 */
        octave = 26 - (uint32_t)__builtin_clz(low | PROF_LOG_LINEAR_ROW);
        return octave * PROF_LOG_LINEAR_ROW + (low >> octave);
    }
    octave = 58 - (uint32_t)__builtin_clzll(value);
    return octave * PROF_LOG_LINEAR_ROW + (uint32_t)(value >> octave);
}

static inline uint32_t prof_log_linear_octave(uint32_t bucket)
{
    return bucket < 2 * PROF_LOG_LINEAR_ROW ? 0
                                            : bucket / PROF_LOG_LINEAR_ROW - 1;
}

/* Returns the lowest value in (bucket). */
static inline uint64_t prof_log_linear_low(uint32_t bucket)
{
    uint32_t octave = prof_log_linear_octave(bucket);

    return (uint64_t)(bucket - octave * PROF_LOG_LINEAR_ROW) << octave;
}

/* Finds the bucket of a quantile: call prof_log_linear_find() for each bucket
 * that is not empty, in the order of values, until it returns true. */
struct prof_log_linear_quantile {
    uint64_t wanted; /* thousandths of values that are not above it */
    uint64_t below;  /* thousandths of values below the bucket */
};

static inline bool
prof_log_linear_find(struct prof_log_linear_quantile *quantile, uint64_t count)
{
    if (quantile->below + count * 1000 >= quantile->wanted)
        return true;
    quantile->below += count * 1000;
    return false;
}

#endif
