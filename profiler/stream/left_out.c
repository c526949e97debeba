/* SPDX-License-Identifier: Apache-2.0 */

/* The stream where it was left out (<prof/config.h>): it is never on. */

#include "stream/stream.h"

#include <prof/config.h>

#if PROF_WITH_STREAM
#error "this is compiled only without the stream; see tools/build/sources.py"
#endif

struct prof_stream_losses prof_stream_emitted;

void prof_stream_open(const struct prof_stream_settings *settings)
{
    (void)settings;
}

bool prof_stream_is_on;

void prof_stream_start(uint64_t tsc, uint32_t rate_mhz, uint32_t depth)
{
    (void)tsc;
    (void)rate_mhz;
    (void)depth;
}

void prof_stream_stop(uint64_t tsc)
{
    (void)tsc;
}

void prof_stream_hello(void)
{
}

void prof_stream_sample(uint64_t tsc, uint32_t node, uint32_t note)
{
    (void)tsc;
    (void)node;
    (void)note;
}

void prof_stream_overflow(uint64_t tsc, uintptr_t address, uint32_t samples,
                          uint64_t cycles)
{
    (void)tsc;
    (void)address;
    (void)samples;
    (void)cycles;
}

void prof_stream_drop(uint64_t tsc, uint32_t samples, uint64_t cycles)
{
    (void)tsc;
    (void)samples;
    (void)cycles;
}

/* Not asked again for the same. */
void prof_stream_emit_lost_ticks(uint64_t tsc, int64_t missed,
                                 uint64_t stolen_cycles)
{
    (void)tsc;
    prof_stream_emitted.missed = missed;
    prof_stream_emitted.stolen_cycles = stolen_cycles;
}

void prof_stream_dropped(uint64_t tsc, uint64_t dropped, uint64_t cycles)
{
    (void)tsc;
    (void)dropped;
    (void)cycles;
}

void prof_stream_stopped_walks(uint64_t tsc,
                               const uint32_t samples[PROF_WALK_REASONS])
{
    (void)tsc;
    (void)samples;
}

void prof_stream_flush(uint64_t tsc)
{
    (void)tsc;
}

void prof_stream_push(void)
{
}

void prof_stream_discard(uint64_t samples)
{
    (void)samples;
}

void prof_stream_end(uint64_t tsc, uint32_t code)
{
    (void)tsc;
    (void)code;
}

void prof_stream_sums(struct prof_stream_sums *sums)
{
    *sums = (struct prof_stream_sums){0};
}

void prof_transport_text(const void *packet, size_t bytes, prof_text_sink *sink)
{
    (void)packet;
    (void)bytes;
    (void)sink;
}
