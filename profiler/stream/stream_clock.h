/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_STREAM_CLOCK_H
#define PROF_STREAM_CLOCK_H

/* The stream's clock, PROF_CLOCK_HZ, from the time stamp counter: one
 * multiplication by a fraction, from a fixed beginning, so that the error does
 * not add up. It is less than one part in ten million. */

#include "base/cpu.h"

#include <prof/format.h>
#include <stdint.h>

struct prof_stream_clock {
    uint64_t zero_tsc; /* when the clock was 0 */
    uint32_t factor;   /* clock per cycle, 0.32 */
};

/* (hz) is beyond PROF_CLOCK_HZ and below 2^36. */
static inline void prof_stream_clock_set(struct prof_stream_clock *clock,
                                         uint64_t zero_tsc, uint64_t hz)
{
    uint64_t whole = (uint64_t)PROF_CLOCK_HZ << 32;

    clock->zero_tsc = zero_tsc;
    while (hz >> 32 != 0) {
        hz >>= 1;
        whole >>= 1;
    }
    clock->factor = hz > PROF_CLOCK_HZ
                        ? (uint32_t)prof_divide(whole, (uint32_t)hz)
                        : UINT32_MAX;
}

/* The time that (cycles) take. */
static inline uint64_t
prof_stream_clock_span(const struct prof_stream_clock *clock, uint64_t cycles)
{
    return (cycles >> 32) * clock->factor +
           ((cycles & UINT32_MAX) * clock->factor >> 32);
}

/* The time of (tsc); 0 for all that was before. */
static inline uint64_t
prof_stream_clock_at(const struct prof_stream_clock *clock, uint64_t tsc)
{
    uint64_t cycles = tsc - clock->zero_tsc;

    return (int64_t)cycles < 0 ? 0 : prof_stream_clock_span(clock, cycles);
}

#endif
