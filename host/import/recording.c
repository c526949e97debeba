/* SPDX-License-Identifier: Apache-2.0 */
/* Objects of other recorders as events of ours, all in their wide forms. */

#include "import/recording.h"

#include "base/memory.h"

#include <stdlib.h>

#define OBJECTS_MAX (1u << 24)

#define PUT(recording, NAME, name, ...)                                        \
    stream_put(&(recording)->stream, PROF_EVENT_##NAME,                        \
               &(struct prof_event_##name){__VA_ARGS__},                       \
               sizeof(struct prof_event_##name))

void recording_begin(struct recording *recording)
{
    recording_object(recording, RECORDING_LOOP_KEY);
}

void recording_end(struct recording *recording, uint8_t **bytes, size_t *count)
{
    stream_end(&recording->stream);
    *bytes = recording->stream.bytes;
    *count = recording->stream.count;
    free(recording->objects);
    index_free(&recording->keys);
}

void recording_at(struct recording *recording, uint64_t time, uint16_t cpu)
{
    stream_at(&recording->stream, time, cpu % STREAM_CPUS);
    if (recording->events++ == 0)
        PUT(recording, HELLO, hello, .version = PROF_FORMAT_VERSION,
            .pointer_bits = 64);
}

/* The number of (key), RECORDING_NONE if there are too many. */
static uint32_t number_of(struct recording *recording, uint64_t key,
                          bool *is_new)
{
    uint32_t number = index_find(&recording->keys, key);

    *is_new = false;
    if (number != INDEX_NONE)
        return number;
    if (recording->keys.count == OBJECTS_MAX)
        return RECORDING_NONE;
    number = index_add(&recording->keys, key, is_new);
    vector_reserve_one(&recording->objects, number, sizeof *recording->objects);
    recording->objects[number] = (struct recording_object){
        RECORDING_NONE, RECORDING_NONE, RECORDING_NONE, false};
    return number;
}

/* What (number) is after all that it became; there are no rings. */
static uint32_t became(struct recording *recording, uint32_t number)
{
    uint32_t last = number;

    while (recording->objects[last].becomes != RECORDING_NONE)
        last = recording->objects[last].becomes;
    while (number != last) { /* so that the next search is short */
        uint32_t next = recording->objects[number].becomes;

        recording->objects[number].becomes = last;
        number = next;
    }
    return last;
}

uint32_t recording_object(struct recording *recording, uint64_t key)
{
    bool is_new;
    uint32_t number = number_of(recording, key, &is_new);

    if (number == RECORDING_NONE)
        return RECORDING_LOOP;
    if (is_new && number != RECORDING_LOOP)
        PUT(recording, ALIVE, alive, .object = number);
    return became(recording, number);
}

void recording_create(struct recording *recording, uint64_t key,
                      enum prof_trace_kind kind)
{
    bool is_new;
    uint32_t number = number_of(recording, key, &is_new);

    if (is_new)
        PUT(recording, CREATE_WIDE, create_wide, .object = number,
            .object_kind = (uint8_t)kind);
}

static uint32_t current(const struct recording *recording)
{
    return recording->current[recording->stream.cpu];
}

void recording_start(struct recording *recording, uint32_t object)
{
    PUT(recording, SWITCH_WIDE, switch_wide, object);
    recording->current[recording->stream.cpu] = object;
    recording->left[recording->stream.cpu] = false;
}

void recording_suspend(struct recording *recording, uint16_t why)
{
    PUT(recording, SUSPEND_WIDE, suspend_wide, why);
    recording->left[recording->stream.cpu] = true;
}

void recording_run(struct recording *recording, uint32_t object)
{
    bool left = recording->left[recording->stream.cpu];

    if (object == current(recording) && !left)
        return;
    if (current(recording) != RECORDING_LOOP && !left)
        recording_suspend(recording, 0);
    recording_start(recording, object);
}

void recording_idle(struct recording *recording, uint16_t why)
{
    recording_run(recording, RECORDING_LOOP);
    recording_suspend(recording, why);
}

void recording_read(struct recording *recording, uint32_t object,
                    uint32_t source, bool must_wait)
{
    uint32_t before = current(recording);
    bool left = recording->left[recording->stream.cpu];

    if (source == RECORDING_LOOP)
        return;
    if (object != before)
        recording_start(recording, object);
    if (must_wait)
        PUT(recording, TRY_READ_WIDE, try_read_wide, source);
    else
        PUT(recording, READ_WIDE, read_wide, source);
    if (object == before)
        return;
    recording_suspend(recording, 0);
    recording_start(recording, before);
    if (left)
        recording_suspend(recording, 0);
}

/* Whether (object) may end; it does. */
static bool ends(struct recording *recording, uint32_t object)
{
    bool may = object != RECORDING_LOOP && !recording->objects[object].ended;

    recording->objects[object].ended = true;
    return may;
}

void recording_resolve(struct recording *recording, uint32_t object)
{
    if (ends(recording, object))
        PUT(recording, RESOLVE_WIDE, resolve_wide, object);
}

void recording_fail(struct recording *recording, uint32_t object, uint16_t why)
{
    if (ends(recording, object))
        PUT(recording, FAIL_WIDE, fail_wide, object, why);
}

void recording_become(struct recording *recording, uint32_t object,
                      uint32_t other)
{
    bool runs = object == current(recording);

    if (object == other || other == RECORDING_LOOP || !ends(recording, object))
        return;
    if (runs)
        recording_suspend(recording, 0);
    PUT(recording, BECOME_WIDE, become_wide, object, other);
    recording->objects[object].becomes = other;
    if (runs)
        recording_start(recording, other);
}

void recording_signal(struct recording *recording, uint32_t source,
                      uint32_t object)
{
    PUT(recording, SIGNAL_WIDE, signal_wide, source, object);
}

void recording_label(struct recording *recording, uint32_t object,
                     uint16_t label)
{
    PUT(recording, LABEL_WIDE, label_wide, object, label);
}

void recording_counter(struct recording *recording, uint16_t counter,
                       int64_t value)
{
    PUT(recording, COUNTER_WIDE, counter_wide, counter, value);
}

void recording_pause(struct recording *recording, uint16_t why, uint64_t clocks)
{
    PUT(recording, PAUSE, pause, why,
        clocks < UINT32_MAX ? (uint32_t)clocks : UINT32_MAX);
}

void recording_lose(struct recording *recording)
{
    PUT(recording, LOST, lost, 0);
}
