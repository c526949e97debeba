/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Suspends with stacks. The nodes of a stack are its own: they cannot be those
 * of samples, which take memory from the heap, and a panic has none.
 */

#include "trace/encode.h"

#include "stream/packet.h"
#include "stream/put.h"
#include "trace/stacks.h"

static bool put_node(const struct prof_trace_sink *sink, uint64_t tsc,
                     uint32_t number, uint32_t caller)
{
    const struct prof_trace_stack *stack = prof_trace_stack_at(number);
    bool is_outermost = caller + 1 == stack->count;

    return sink->put(
        PROF_EVENT_NODE_WIDE, tsc,
        PROF_FIELDS(node_wide, PROF_SUSPEND_NODE(number, caller),
                    is_outermost ? 0 : PROF_SUSPEND_NODE(number, caller + 1),
                    prof_trace_stacks.text_begin + stack->offsets[caller]));
}

/* Defines stack (number), if it is due. False: the sink has no room. */
static bool define(struct prof_trace_sink *sink, uint64_t tsc, uint32_t number)
{
    struct prof_trace_stack *stack = prof_trace_stack_at(number);
    const uint32_t bytes = stack->count * PROF_PACKET_NODE_MAX;
    uint32_t *note = &stack->notes[sink->number];
    struct prof_trace_place place = prof_trace_encode_room(sink, tsc, 0);

    if (place.interning == NULL)
        return false;
    if (!prof_interning_due(place.interning, place.sequence, *note))
        return true;
    place = prof_trace_encode_room(sink, tsc, bytes);
    if (place.interning == NULL)
        return false;
    for (uint32_t caller = stack->count; caller-- > 0;)
        if (!put_node(sink, tsc, number, caller))
            return false;
    *note = prof_interning_defined(place.sequence, *note);
    sink->bytes += bytes;
    return true;
}

bool prof_trace_encode_stack(struct prof_trace_sink *sink, uint64_t tsc,
                             const struct prof_trace_record *record)
{
    const uint32_t why = prof_trace_name_of(record->what);

    if (!prof_trace_encode_name(sink, tsc, why) ||
        !define(sink, tsc, record->a))
        return false;
    return prof_trace_encode_plain(
        sink, PROF_EVENT_SUSPEND_STACK, tsc,
        PROF_FIELDS(suspend_stack, (uint16_t)why, (uint16_t)record->a));
}
