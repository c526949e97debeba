/* SPDX-License-Identifier: Apache-2.0 */

/*
 * What left no sample. The drain passes running totals; this emits by how much
 * they have grown. They count as emitted also while there is no stream, so that
 * one which begins later does not begin with what was lost before it.
 */

#include "stream/put.h"
#include "stream/stream.h"

struct prof_stream_losses prof_stream_emitted;

void prof_stream_emit_lost_ticks(uint64_t tsc, int64_t missed,
                                 uint64_t stolen_cycles)
{
    struct prof_stream_losses *emitted = &prof_stream_emitted;
    uint64_t stolen = stolen_cycles - emitted->stolen_cycles;
    uint32_t ticks = (uint32_t)(missed - emitted->missed);

    if (prof_stream_on() && stolen != 0)
        (void)prof_stream_put(PROF_EVENT_STOLEN, tsc,
                              PROF_FIELDS(stolen, prof_stream_span(stolen)));
    emitted->stolen_cycles = stolen_cycles;
    if (missed <= emitted->missed)
        return;
    if (prof_stream_on())
        (void)prof_stream_put(PROF_EVENT_MISS, tsc, PROF_FIELDS(miss, ticks));
    emitted->missed = missed;
}

void prof_stream_dropped(uint64_t tsc, uint64_t dropped, uint64_t cycles)
{
    struct prof_stream_losses *emitted = &prof_stream_emitted;

    if (dropped == emitted->dropped)
        return;
    prof_stream_drop(tsc, (uint32_t)(dropped - emitted->dropped),
                     cycles - emitted->dropped_cycles);
    emitted->dropped = dropped;
    emitted->dropped_cycles = cycles;
}

void prof_stream_stopped_walks(uint64_t tsc,
                               const uint32_t samples[PROF_WALK_REASONS])
{
    uint32_t *emitted = prof_stream_emitted.stopped_walks;

    for (uint32_t i = 0; i < PROF_WALK_REASONS; i++) {
        uint32_t more = samples[i] - emitted[i];

        if (more != 0 && prof_stream_on())
            (void)prof_stream_put(PROF_EVENT_STOPPED_WALK, tsc,
                                  PROF_FIELDS(stopped_walk, (uint16_t)i, more));
        emitted[i] = samples[i];
    }
}
