/* SPDX-License-Identifier: Apache-2.0 */
/* The events of eio-trace, collected, then emitted in order. */

#include "import/eio.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

#define RING 1u /* the low bits of a thread's number; the rest is its id */
#define FIBER 2u

enum { INSTANT = 0, BEGIN = 2, END = 3 };

enum act {
    RUN,
    CREATE_FIBER,
    EXIT_FIBER,
    SUSPEND,
    BEGIN_SCOPE,
    END_SCOPE,
    LABEL,
    FAIL,
    PAUSE,
    IDLE,
};

struct eio_act {
    uint64_t time;
    uint64_t object; /* the recorder's number */
    uint64_t value;  /* PAUSE: clocks */
    size_t order;
    uint32_t text; /* of eio->texts */
    uint16_t cpu;
    uint8_t act;
};

static bool is(struct eio_text text, const char *word)
{
    return text.bytes == strlen(word) &&
           memcmp(text.text, word, text.bytes) == 0;
}

static uint32_t keep(struct eio *eio, struct eio_text text)
{
    char copy[256] = "";

    if (text.bytes > sizeof copy - 1)
        text.bytes = sizeof copy - 1;
    if (text.bytes > 0)
        memcpy(copy, text.text, text.bytes);
    return strings_put(&eio->texts, copy);
}

static void add(struct eio *eio, enum act act, uint64_t object, uint32_t text,
                uint64_t value)
{
    vector_reserve_one(&eio->acts, eio->count, sizeof *eio->acts);
    eio->acts[eio->count] = (struct eio_act){
        .time = eio->time,
        .object = object,
        .value = value,
        .order = eio->count,
        .text = text,
        .cpu = eio->cpu,
        .act = (uint8_t)act,
    };
    ++eio->count;
}

/* ---- taking */

/* Where the fiber (id) ran last. */
static uint16_t *cpu_of(struct eio *eio, uint64_t id)
{
    bool is_new;
    uint32_t number = index_add(&eio->fibers, id, &is_new);

    if (is_new) {
        vector_reserve_one(&eio->cpus, number, sizeof *eio->cpus);
        eio->cpus[number] = 0;
    }
    return &eio->cpus[number];
}

void eio_wake(struct eio *eio, uint64_t time, uint64_t cpu, uint64_t id)
{
    eio->time = time;
    eio->cpu = (uint16_t)(cpu % STREAM_CPUS);
    *cpu_of(eio, id) = eio->cpu;
    add(eio, RUN, id, 0, 0);
}

void eio_name(struct eio *eio, uint64_t id, struct eio_text name)
{
    add(eio, LABEL, id, keep(eio, name), 0);
}

/* A new fiber's creation follows the event that it runs. */
static void take_create(struct eio *eio, uint64_t id)
{
    struct eio_act *last = eio->count > 0 ? &eio->acts[eio->count - 1] : NULL;

    if (last == NULL || last->act != RUN || last->object != id) {
        add(eio, CREATE_FIBER, id, 0, 0);
        return;
    }
    eio->cpu = last->cpu;
    last->act = CREATE_FIBER;
    add(eio, RUN, id, 0, 0);
}

/* A phase of the collector; only the outermost ones are kept. */
static void take_phase(struct eio *eio, const struct eio_event *event)
{
    uint16_t cpu = eio->cpu;

    if (event->type == BEGIN) {
        if (eio->depths[cpu]++ == 0)
            eio->begins[cpu] = event->time;
    } else if (event->type == END && eio->depths[cpu] > 0 &&
               --eio->depths[cpu] == 0 && event->time >= eio->begins[cpu]) {
        add(eio, PAUSE, 0, keep(eio, event->name),
            event->time - eio->begins[cpu]);
    }
}

static void take_own(struct eio *eio, const struct eio_event *event,
                     uint64_t fiber)
{
    if (is(event->name, "create-fiber"))
        take_create(eio, event->id);
    else if (is(event->name, "exit-fiber"))
        add(eio, EXIT_FIBER, event->id, 0, 0);
    else if (is(event->name, "cc") && event->type == BEGIN)
        add(eio, BEGIN_SCOPE, event->id, keep(eio, event->message), fiber);
    else if (is(event->name, "cc"))
        add(eio, END_SCOPE, fiber, 0, 0);
    else if (is(event->name, "log"))
        add(eio, LABEL, fiber, keep(eio, event->message), 0);
    else if (is(event->name, "error"))
        add(eio, FAIL, event->id, keep(eio, event->message), 0);
    else if (is(event->name, "suspend-domain") && event->type == BEGIN)
        add(eio, IDLE, 0, keep(eio, event->name), 0);
}

void eio_take(struct eio *eio, const struct eio_event *event)
{
    uint64_t fiber = RECORDING_LOOP_KEY;

    eio->time = event->time;
    if ((event->thread & 3) == FIBER) {
        fiber = event->thread >> 2;
        eio->cpu = *cpu_of(eio, fiber);
    } else if ((event->thread & 3) == RING) {
        eio->cpu = (uint16_t)((event->thread >> 2) % STREAM_CPUS);
    }
    if (is(event->category, "eio"))
        take_own(eio, event, fiber);
    else if (is(event->category, "gc"))
        take_phase(eio, event);
    else if (is(event->category, "eio.suspend") && event->type == BEGIN)
        add(eio, SUSPEND, fiber, keep(eio, event->name), 0);
    else if (is(event->category, "eio.span") && event->type == BEGIN)
        add(eio, LABEL, fiber, keep(eio, event->name), 0);
}

/* ---- emitting */

static int by_time(const void *left, const void *right)
{
    const struct eio_act *a = left, *b = right;

    if (a->time != b->time)
        return a->time < b->time ? -1 : 1;
    return (a->order > b->order) - (a->order < b->order);
}

/* A context is a scope of the fiber (fiber), in the innermost one before. */
static void begin_scope(struct recording *recording, uint64_t id,
                        uint32_t fiber, uint16_t name)
{
    uint32_t scope;

    recording_create(recording, id, PROF_TRACE_SCOPE);
    scope = recording_object(recording, id);
    if (name != 0)
        recording_label(recording, scope, name);
    if (scope == fiber || scope == RECORDING_LOOP)
        return;
    recording->objects[scope].outer = recording->objects[fiber].scope;
    recording->objects[fiber].scope = scope;
}

static void end_scope(struct recording *recording, uint32_t fiber)
{
    uint32_t scope = recording->objects[fiber].scope;

    if (scope == RECORDING_NONE)
        return;
    recording->objects[fiber].scope = recording->objects[scope].outer;
    recording_resolve(recording, scope);
}

static void emit(struct recording *recording, const struct eio_act *act,
                 const char *text)
{
    uint16_t name = stream_name(&recording->stream, text, strlen(text));
    uint32_t object;

    switch (act->act) {
    case CREATE_FIBER:
        recording_create(recording, act->object, PROF_TRACE_TASK);
        return;
    case BEGIN_SCOPE:
        object = recording_object(recording, act->value);
        begin_scope(recording, act->object, object, name);
        return;
    case PAUSE:
        recording_pause(recording, name, act->value);
        return;
    case IDLE:
        recording_idle(recording, name);
        return;
    default:
        break;
    }
    object = recording_object(recording, act->object);
    switch (act->act) {
    case RUN:
        recording_start(recording, object);
        break;
    case EXIT_FIBER:
        recording_resolve(recording, object);
        break;
    case SUSPEND:
        recording_suspend(recording, name);
        break;
    case END_SCOPE:
        end_scope(recording, object);
        break;
    case LABEL:
        recording_label(recording, object, name);
        break;
    case FAIL:
        recording_fail(recording, object, name);
        break;
    }
}

void eio_finish(struct eio *eio, struct recording *recording)
{
    if (eio->count > 0)
        qsort(eio->acts, eio->count, sizeof *eio->acts, by_time);
    for (size_t i = 0; i < eio->count; ++i) {
        const struct eio_act *act = &eio->acts[i];

        recording_at(recording, act->time, act->cpu);
        emit(recording, act, strings_text(&eio->texts, act->text));
    }
    free(eio->acts);
    free(eio->cpus);
    index_free(&eio->fibers);
    strings_free(&eio->texts);
}
