/* SPDX-License-Identifier: Apache-2.0 */
/*
 * eio-trace's traces: records of the Fuchsia trace format, and what eio says in
 * them. Each ring, which is a domain of OCaml, is a CPU here. The rings' events
 * come one ring after the other, so all are collected, and put in order of time
 * at the end.
 *
 * Records of the Fuchsia trace format: words of 64 bits, little-endian. The
 * first word of a record has its type (bits 0 to 3), its length in words (4 to
 * 15), and what depends on the type. A reference to a string is 0 for the empty
 * one, a number below 2^15 that a record has defined, or 2^15 and the bytes of
 * a string that follows. Records of no use here are passed over.
 */

#include "base/bytes.h"
#include "base/memory.h"
#include "import/recording.h"

#include <stdlib.h>
#include <string.h>

struct eio_text {
    const char *text;
    size_t bytes;
};

struct eio_event {
    uint64_t time;   /* clocks */
    uint64_t thread; /* kernel object: a ring's or a fiber's */
    uint8_t type; /* of the Fuchsia trace format: 0 instant, 2 begin, 3 end */
    struct eio_text category;
    struct eio_text name;
    uint64_t id;             /* an argument, 0 = it is not there */
    struct eio_text message; /* or a context's type */
};

/* ---- what eio says */

#define RING 1u /* the low bits of a thread's number; the rest is its id */
#define FIBER 2u

enum { BEGIN = 2, END = 3 }; /* types of events; 0 is an instant */

enum act_kind {
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

struct eio {
    struct eio_act *acts;
    size_t count;
    struct index fibers; /* by id */
    uint16_t *cpus;      /* of each fiber: where it ran last */
    struct strings texts;
    uint32_t depths[STREAM_CPUS]; /* of the collector's phases, nested */
    uint64_t begins[STREAM_CPUS];
    uint64_t time; /* of the last event */
    uint16_t cpu;
};

static bool is_word(struct eio_text text, const char *word)
{
    return text.bytes == strlen(word) &&
           memcmp(text.text, word, text.bytes) == 0;
}

static uint32_t keep_text(struct eio *eio, struct eio_text text)
{
    char copy[256] = "";

    if (text.bytes > sizeof copy - 1)
        text.bytes = sizeof copy - 1;
    if (text.bytes > 0)
        memcpy(copy, text.text, text.bytes);
    return strings_put(&eio->texts, copy);
}

static void add_act(struct eio *eio, enum act_kind act, uint64_t object,
                    uint32_t text, uint64_t value)
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
    static const uint16_t first;
    uint32_t number =
        index_add_row(&eio->fibers, id, &eio->cpus, &first, sizeof first);

    return &eio->cpus[number];
}

/* The fiber (id) runs from now on. */
static void take_wake(struct eio *eio, uint64_t time, uint64_t cpu, uint64_t id)
{
    eio->time = time;
    eio->cpu = (uint16_t)(cpu % STREAM_CPUS);
    *cpu_of(eio, id) = eio->cpu;
    add_act(eio, RUN, id, 0, 0);
}

static void take_name(struct eio *eio, uint64_t id, struct eio_text name)
{
    add_act(eio, LABEL, id, keep_text(eio, name), 0);
}

/* A new fiber's creation follows the event that it runs. */
static void take_create(struct eio *eio, uint64_t id)
{
    struct eio_act *last = eio->count > 0 ? &eio->acts[eio->count - 1] : NULL;

    if (last == NULL || last->act != RUN || last->object != id) {
        add_act(eio, CREATE_FIBER, id, 0, 0);
        return;
    }
    eio->cpu = last->cpu;
    last->act = CREATE_FIBER;
    add_act(eio, RUN, id, 0, 0);
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
        add_act(eio, PAUSE, 0, keep_text(eio, event->name),
                event->time - eio->begins[cpu]);
    }
}

static void take_own(struct eio *eio, const struct eio_event *event,
                     uint64_t fiber)
{
    if (is_word(event->name, "create-fiber"))
        take_create(eio, event->id);
    else if (is_word(event->name, "exit-fiber"))
        add_act(eio, EXIT_FIBER, event->id, 0, 0);
    else if (is_word(event->name, "cc") && event->type == BEGIN)
        add_act(eio, BEGIN_SCOPE, event->id, keep_text(eio, event->message),
                fiber);
    else if (is_word(event->name, "cc"))
        add_act(eio, END_SCOPE, fiber, 0, 0);
    else if (is_word(event->name, "log"))
        add_act(eio, LABEL, fiber, keep_text(eio, event->message), 0);
    else if (is_word(event->name, "error"))
        add_act(eio, FAIL, event->id, keep_text(eio, event->message), 0);
    else if (is_word(event->name, "suspend-domain") && event->type == BEGIN)
        add_act(eio, IDLE, 0, keep_text(eio, event->name), 0);
}

static void take_meaning(struct eio *eio, const struct eio_event *event)
{
    uint64_t fiber = RECORDING_LOOP_KEY;

    eio->time = event->time;
    if ((event->thread & 3) == FIBER) {
        fiber = event->thread >> 2;
        eio->cpu = *cpu_of(eio, fiber);
    } else if ((event->thread & 3) == RING) {
        eio->cpu = (uint16_t)((event->thread >> 2) % STREAM_CPUS);
    }
    if (is_word(event->category, "eio"))
        take_own(eio, event, fiber);
    else if (is_word(event->category, "gc"))
        take_phase(eio, event);
    else if (is_word(event->category, "eio.suspend") && event->type == BEGIN)
        add_act(eio, SUSPEND, fiber, keep_text(eio, event->name), 0);
    else if (is_word(event->category, "eio.span") && event->type == BEGIN)
        add_act(eio, LABEL, fiber, keep_text(eio, event->name), 0);
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

static void emit_act(struct recording *recording, const struct eio_act *act,
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

/* Emits to (recording) all that was taken, and frees it. */
static void emit_all(struct eio *eio, struct recording *recording)
{
    if (eio->count > 0)
        qsort(eio->acts, eio->count, sizeof *eio->acts, by_time);
    for (size_t i = 0; i < eio->count; ++i) {
        const struct eio_act *act = &eio->acts[i];

        recording_at(recording, act->time, act->cpu);
        emit_act(recording, act, strings_text(&eio->texts, act->text));
    }
    free(eio->acts);
    free(eio->cpus);
    index_free(&eio->fibers);
    strings_free(&eio->texts);
}

/* ---- records */

#define MAGIC 0x0016547846040010ull
#define WORD 8u
#define STRINGS 0x8000u
#define THREADS 256u
#define TICKS_HZ 1000000000u

enum { /* of records */
       INITIALIZATION = 1,
       STRING,
       THREAD,
       EVENT,
       USER_OBJECT = 6,
       SCHEDULING = 8,
       LARGE = 15,
};

#define THREAD_WAKEUP 2u
#define ARGUMENT_STRING 6u

struct fuchsia {
    struct eio eio;
    uint64_t ticks_hz;
    struct eio_text strings[STRINGS];
    uint64_t threads[THREADS]; /* kernel objects */
    uint64_t unread;           /* bytes */
};

/* What is left of a record. */
struct record {
    const uint8_t *at;
    const uint8_t *end;
    bool cut; /* something was missing */
};

/* The (count) bits of (word) from bit (from) on. */
static uint32_t bits_of(uint64_t word, unsigned from, unsigned count)
{
    return (uint32_t)(word >> from & ((1ull << count) - 1));
}

static uint64_t take_word(struct record *record)
{
    uint64_t word;

    if ((size_t)(record->end - record->at) < WORD) {
        record->cut = true;
        return 0;
    }
    word = le64(record->at);
    record->at += WORD;
    return word;
}

/* (bytes) bytes, and those up to the next word. */
static struct eio_text take_bytes(struct record *record, size_t bytes)
{
    struct eio_text text = {(const char *)record->at, bytes};
    size_t whole = (bytes + WORD - 1) / WORD * WORD;

    if ((size_t)(record->end - record->at) < whole) {
        record->cut = true;
        return (struct eio_text){"", 0};
    }
    record->at += whole;
    return text;
}

static struct eio_text take_string(const struct fuchsia *fuchsia,
                                   struct record *record, uint32_t reference)
{
    if (reference >= STRINGS)
        return take_bytes(record, reference - STRINGS);
    if (fuchsia->strings[reference].text == NULL)
        return (struct eio_text){"", 0};
    return fuchsia->strings[reference];
}

static uint64_t take_thread(const struct fuchsia *fuchsia,
                            struct record *record, uint32_t reference)
{
    if (reference != 0)
        return fuchsia->threads[reference];
    take_word(record); /* the process */
    return take_word(record);
}

static uint64_t clocks_of(const struct fuchsia *fuchsia, uint64_t ticks)
{
    return ticks / fuchsia->ticks_hz * PROF_CLOCK_HZ +
           ticks % fuchsia->ticks_hz * PROF_CLOCK_HZ / fuchsia->ticks_hz;
}

static void take_argument(const struct fuchsia *fuchsia, struct record *record,
                          struct eio_event *event)
{
    const uint8_t *begin = record->at;
    uint64_t head = take_word(record), value = 0;
    size_t bytes = bits_of(head, 4, 12) * WORD;
    struct record argument = {begin + WORD, begin + bytes, false};
    struct eio_text name, text = {"", 0};

    if (bytes < WORD || (size_t)(record->end - begin) < bytes) {
        record->cut = true;
        return;
    }
    name = take_string(fuchsia, &argument, bits_of(head, 16, 16));
    if (bits_of(head, 0, 4) == ARGUMENT_STRING)
        text = take_string(fuchsia, &argument, bits_of(head, 32, 16));
    else
        value = argument.at < argument.end ? take_word(&argument) : 0;
    record->at = begin + bytes;
    record->cut = record->cut || argument.cut;
    if (is_word(name, "id"))
        event->id = value;
    else if (is_word(name, "message") || is_word(name, "type"))
        event->message = text;
}

static void take_event(struct fuchsia *fuchsia, struct record *record,
                       uint64_t head)
{
    struct eio_event event = {.type = (uint8_t)bits_of(head, 16, 4)};
    uint32_t arguments = bits_of(head, 20, 4);

    event.time = clocks_of(fuchsia, take_word(record));
    event.thread = take_thread(fuchsia, record, bits_of(head, 24, 8));
    event.category = take_string(fuchsia, record, bits_of(head, 32, 16));
    event.name = take_string(fuchsia, record, bits_of(head, 48, 16));
    while (arguments-- > 0 && !record->cut)
        take_argument(fuchsia, record, &event);
    if (!record->cut)
        take_meaning(&fuchsia->eio, &event);
}

/* The name of a fiber or a context. */
static void take_user_object(struct fuchsia *fuchsia, struct record *record,
                             uint64_t head)
{
    uint64_t id = take_word(record);
    struct eio_text name;

    take_thread(fuchsia, record, bits_of(head, 16, 8));
    name = take_string(fuchsia, record, bits_of(head, 24, 16));
    if (!record->cut)
        take_name(&fuchsia->eio, id, name);
}

static void take_scheduling(struct fuchsia *fuchsia, struct record *record,
                            uint64_t head)
{
    uint64_t time, id;

    if (bits_of(head, 60, 4) != THREAD_WAKEUP)
        return;
    time = clocks_of(fuchsia, take_word(record));
    id = take_word(record);
    if (!record->cut)
        take_wake(&fuchsia->eio, time, bits_of(head, 20, 16), id);
}

static void take_definition(struct fuchsia *fuchsia, struct record *record,
                            uint64_t head)
{
    struct eio_text text;

    if (bits_of(head, 0, 4) == STRING) {
        text = take_bytes(record, bits_of(head, 32, 15));
        if (!record->cut)
            fuchsia->strings[bits_of(head, 16, 15)] = text;
    } else if (bits_of(head, 0, 4) == THREAD) {
        take_word(record);
        fuchsia->threads[bits_of(head, 16, 8)] = take_word(record);
    } else {
        uint64_t hz = take_word(record);

        /* so that a product with the rest of a division fits */
        if (hz > 0 && hz <= UINT64_MAX / PROF_CLOCK_HZ)
            fuchsia->ticks_hz = hz;
    }
}

static void take_record(struct fuchsia *fuchsia, struct record *record)
{
    uint64_t head = take_word(record);

    switch (bits_of(head, 0, 4)) {
    case INITIALIZATION:
    case STRING:
    case THREAD:
        take_definition(fuchsia, record, head);
        break;
    case EVENT:
        take_event(fuchsia, record, head);
        break;
    case USER_OBJECT:
        take_user_object(fuchsia, record, head);
        break;
    case SCHEDULING:
        take_scheduling(fuchsia, record, head);
        break;
    default:
        break;
    }
}

bool eio_is(const uint8_t *bytes, size_t count)
{
    return count >= WORD && le64(bytes) == MAGIC;
}

uint64_t eio_read(struct recording *recording, const uint8_t *bytes,
                  size_t count)
{
    struct fuchsia *fuchsia = xreallocarray(NULL, 1, sizeof *fuchsia);
    const uint8_t *at = bytes, *end = bytes + count;
    uint64_t unread;

    memset(fuchsia, 0, sizeof *fuchsia);
    fuchsia->ticks_hz = TICKS_HZ;
    while ((size_t)(end - at) >= WORD) {
        uint64_t head = le64(at);
        uint64_t words = bits_of(head, 0, 4) == LARGE ? bits_of(head, 4, 32)
                                                      : bits_of(head, 4, 12);
        struct record record;

        if (words == 0 || words > (size_t)(end - at) / WORD)
            break;
        record = (struct record){at, at + words * WORD, false};
        take_record(fuchsia, &record);
        fuchsia->unread += record.cut ? words * WORD : 0;
        at += words * WORD;
    }
    unread = fuchsia->unread + (uint64_t)(end - at);
    emit_all(&fuchsia->eio, recording);
    free(fuchsia);
    return unread;
}
