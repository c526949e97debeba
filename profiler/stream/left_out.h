/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_STREAM_LEFT_OUT_H
#define PROF_STREAM_LEFT_OUT_H

/* The stream where it was left out (<prof/config.h>), for stream.h: it is never
 * on, and its calls take no code. */

static const
    __attribute__((unused)) struct prof_stream_losses prof_stream_emitted;

static inline bool prof_stream_on(void)
{
    return false;
}

static inline void prof_stream_start(uint64_t tsc, uint32_t rate_mhz,
                                     uint32_t depth)
{
    (void)tsc;
    (void)rate_mhz;
    (void)depth;
}

static inline void prof_stream_stop(uint64_t tsc)
{
    (void)tsc;
}

static inline void prof_stream_hello(void)
{
}

static inline void prof_stream_sample(uint64_t tsc, uint32_t node,
                                      struct prof_stream_node *leaf)
{
    (void)tsc;
    (void)node;
    (void)leaf;
}

static inline void prof_stream_overflow(uint64_t tsc, uintptr_t address,
                                        uint32_t samples, uint64_t cycles)
{
    (void)tsc;
    (void)address;
    (void)samples;
    (void)cycles;
}

static inline void prof_stream_drop(uint64_t tsc, uint32_t samples,
                                    uint64_t cycles)
{
    (void)tsc;
    (void)samples;
    (void)cycles;
}

static inline void prof_stream_lost_ticks(uint64_t tsc, int64_t missed,
                                          uint64_t stolen_cycles)
{
    (void)tsc;
    (void)missed;
    (void)stolen_cycles;
}

static inline void prof_stream_dropped(uint64_t tsc, uint64_t dropped,
                                       uint64_t cycles)
{
    (void)tsc;
    (void)dropped;
    (void)cycles;
}

static inline void prof_stream_stopped_walks(uint64_t tsc,
                                             const uint32_t *samples)
{
    (void)tsc;
    (void)samples;
}

static inline void prof_stream_flush(uint64_t tsc)
{
    (void)tsc;
}

static inline void prof_stream_discard(uint64_t samples)
{
    (void)samples;
}

static inline void prof_stream_sums(struct prof_stream_sums *sums)
{
    *sums = (struct prof_stream_sums){0};
}

#endif
