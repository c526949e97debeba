/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The frequent events have two forms. The near one has 16 bits for an object
 * and is used where its number is not far from that of the others in the
 * packet; the wide one takes any.
 */

#include "trace/encode.h"

#include "stream/packet.h"
#include "stream/put.h"
#include "trace/names.h"

#define NEAR_MOST 65534u
#define NEAR_BACK 32768u /* older objects that near numbers reach */

/* What follows the objects in an event's fields. */
enum rest {
    NOTHING,
    BYTE,     /* the record's byte */
    SITE,     /* its byte and its name; the near form has 8 bits for that */
    NAME,     /* its name, 16 bits */
    WHY,      /* its name, 8 or 16 bits */
    MESSAGE,  /* 32 bits */
    VALUE,    /* its name, 8 or 16 bits, and a value, 16 or 64 */
    DURATION, /* its name, 16 bits, and 32 bits of time */
};

static const struct form {
    uint8_t near; /* enum prof_event */
    uint8_t wide;
    uint8_t objects;
    uint8_t rest;
} forms[] = {
    [PROF_TRACE_DID_CREATE] = {PROF_EVENT_CREATE, PROF_EVENT_CREATE_WIDE, 1,
                               SITE},
    [PROF_TRACE_DID_READ] = {PROF_EVENT_READ, PROF_EVENT_READ_WIDE, 1, NOTHING},
    [PROF_TRACE_DID_TRY_READ] = {PROF_EVENT_TRY_READ, PROF_EVENT_TRY_READ_WIDE,
                                 1, NOTHING},
    [PROF_TRACE_DID_RESOLVE] = {PROF_EVENT_RESOLVE, PROF_EVENT_RESOLVE_WIDE, 1,
                                NOTHING},
    [PROF_TRACE_DID_FAIL] = {PROF_EVENT_FAIL, PROF_EVENT_FAIL_WIDE, 1, NAME},
    [PROF_TRACE_DID_CANCEL] = {PROF_EVENT_CANCEL, PROF_EVENT_CANCEL_WIDE, 1,
                               NOTHING},
    [PROF_TRACE_DID_GONE] = {PROF_EVENT_GONE, PROF_EVENT_GONE_WIDE, 1, NOTHING},
    [PROF_TRACE_DID_BECOME] = {PROF_EVENT_BECOME, PROF_EVENT_BECOME_WIDE, 2,
                               NOTHING},
    [PROF_TRACE_DID_SIGNAL] = {PROF_EVENT_SIGNAL, PROF_EVENT_SIGNAL_WIDE, 2,
                               NOTHING},
    [PROF_TRACE_DID_LABEL] = {PROF_EVENT_LABEL, PROF_EVENT_LABEL_WIDE, 1, NAME},
    [PROF_TRACE_DID_COUNT] = {PROF_EVENT_COUNTER, PROF_EVENT_COUNTER_WIDE, 0,
                              VALUE},
    [PROF_TRACE_DID_SWITCH] = {PROF_EVENT_SWITCH, PROF_EVENT_SWITCH_WIDE, 1,
                               NOTHING},
    [PROF_TRACE_DID_WAKE] = {PROF_EVENT_WAKE, PROF_EVENT_WAKE_WIDE, 2, NOTHING},
    [PROF_TRACE_DID_SUSPEND] = {PROF_EVENT_SUSPEND, PROF_EVENT_SUSPEND_WIDE, 0,
                                WHY},
    [PROF_TRACE_DID_PAUSE] = {PROF_EVENT_PAUSE, PROF_EVENT_PAUSE, 0, DURATION},
    [PROF_TRACE_DID_ENTER] = {PROF_EVENT_IRQ_ENTER, PROF_EVENT_IRQ_ENTER, 0,
                              BYTE},
    [PROF_TRACE_DID_EXIT] = {PROF_EVENT_IRQ_EXIT, PROF_EVENT_IRQ_EXIT, 0, BYTE},
    [PROF_TRACE_DID_DEFER] = {PROF_EVENT_DEFER, PROF_EVENT_DEFER_WIDE, 1, BYTE},
    [PROF_TRACE_DID_SEND] = {PROF_EVENT_SEND, PROF_EVENT_SEND, 0, MESSAGE},
    [PROF_TRACE_DID_RECEIVE] = {PROF_EVENT_RECEIVE, PROF_EVENT_RECEIVE, 0,
                                MESSAGE},
};
#define FORMS (sizeof forms / sizeof *forms)

/* An event in the making. */
struct made {
    enum prof_event kind;
    uint32_t bytes;
    uint8_t fields[24];
};

/* Appends the low (bytes) bytes of (value). */
static void append(struct made *made, uint64_t value, uint32_t bytes)
{
    for (; bytes > 0; bytes--) {
        made->fields[made->bytes++] = (uint8_t)value;
        value >>= 8;
    }
}

static bool has_number(uint32_t object)
{
    return object != PROF_TRACE_NONE && object != PROF_TRACE_UNKNOWN;
}

static bool is_near(const struct prof_trace_sink *sink, uint32_t object)
{
    return !has_number(object) ||
           (object > sink->first && object - sink->first <= NEAR_MOST);
}

static uint32_t near(const struct prof_trace_sink *sink, uint32_t object)
{
    if (object == PROF_TRACE_UNKNOWN)
        return PROF_NEAR_UNKNOWN;
    return object == PROF_TRACE_NONE ? PROF_NEAR_NONE : object - sink->first;
}

/* Whether what follows the objects has room in the near form. */
static bool is_short(const struct prof_trace_record *record, enum rest rest)
{
    uint64_t value = (uint64_t)record->b << 32 | record->a;

    if (rest != SITE && rest != WHY && rest != VALUE)
        return true;
    return prof_trace_name_of(record->what) <= UINT8_MAX &&
           (rest != VALUE || value + 0x8000 <= UINT16_MAX);
}

static void append_rest(struct made *made,
                        const struct prof_trace_record *record, enum rest rest,
                        bool wide)
{
    uint32_t name = prof_trace_name_of(record->what);
    uint64_t value = (uint64_t)record->b << 32 | record->a;

    if (rest == BYTE || rest == SITE)
        append(made, prof_trace_byte_of(record->what), 1);
    if (rest == SITE || rest == WHY || rest == VALUE)
        append(made, name, wide ? 2 : 1);
    if (rest == NAME || rest == DURATION)
        append(made, name, 2);
    if (rest == VALUE)
        append(made, value, wide ? 8 : 2);
    if (rest == MESSAGE)
        append(made, record->a, 4);
    if (rest == DURATION) {
        value = prof_stream_span(value);
        append(made, value <= UINT32_MAX ? value : UINT32_MAX, 4);
    }
}

static void make(struct made *made, const struct prof_trace_sink *sink,
                 const struct prof_trace_record *record)
{
    const struct form *form = &forms[prof_trace_what_of(record->what)];
    const uint32_t objects[] = {record->a, record->b};
    bool wide = !is_short(record, form->rest);

    for (uint32_t i = 0; i < form->objects; i++)
        wide = wide || !is_near(sink, objects[i]);
    *made = (struct made){.kind = wide ? form->wide : form->near};
    for (uint32_t i = 0; i < form->objects; i++)
        append(made, wide ? objects[i] : near(sink, objects[i]), wide ? 4 : 2);
    append_rest(made, record, form->rest, wide);
}

/* Whether near numbers of this packet should begin elsewhere, because of
 * (object): they have no beginning, or it is newer than they reach. */
static bool needs_first(const struct prof_trace_sink *sink, uint32_t object)
{
    return has_number(object) &&
           (!sink->counts ||
            (object > sink->first && object - sink->first > NEAR_MOST));
}

/* Chooses where near numbers begin, and puts that. */
static bool put_first(struct prof_trace_sink *sink, uint64_t tsc,
                      uint32_t object)
{
    const uint32_t bytes = sizeof(struct prof_event_objects);
    uint32_t first = object > NEAR_BACK ? object - NEAR_BACK : 0;

    if (!sink->put(PROF_EVENT_OBJECTS, tsc, &first, bytes))
        return false;
    sink->first = first;
    sink->counts = true;
    sink->bytes += prof_packet_event_bytes(PROF_EVENT_OBJECTS, bytes);
    return true;
}

static bool put_made(struct prof_trace_sink *sink, uint64_t tsc,
                     const struct made *made)
{
    if (!sink->put(made->kind, tsc, made->fields, made->bytes))
        return false;
    sink->bytes += prof_packet_event_bytes(made->kind, made->bytes);
    return true;
}

/* OBJECTS, a SWITCH to any object, and RECORDED. */
#define BEGINNING_MAX                                                          \
    (3 * PROF_EVENT_HEAD_BYTES +                                               \
     (uint32_t)(sizeof(struct prof_event_objects) +                            \
                sizeof(struct prof_event_switch_wide) +                        \
                sizeof(struct prof_event_extension) +                          \
                sizeof(struct prof_event_recorded)))

static bool put_count(struct prof_trace_sink *sink, uint64_t tsc)
{
    const uint32_t bytes = sizeof(struct prof_event_recorded);
    uint32_t passed = sink->passed();

    if (!sink->put(PROF_EVENT_RECORDED, tsc, &passed, bytes))
        return false;
    sink->bytes += prof_packet_event_bytes(PROF_EVENT_RECORDED, bytes);
    return true;
}

/* Room for (bytes) of events. In another packet than before, near numbers have
 * no beginning, and the current object is repeated: the packet before may be
 * lost. How many events there were until then is for readers that check. */
struct prof_trace_place prof_trace_encode_room(struct prof_trace_sink *sink,
                                               uint64_t tsc, uint32_t bytes)
{
    struct prof_trace_record now = {.what = PROF_TRACE_DID_SWITCH,
                                    .a = sink->current};
    struct prof_trace_place place = sink->room(tsc, bytes + BEGINNING_MAX);
    struct made made;

    if (place.interning == NULL || place.sequence == sink->sequence)
        return place;
    sink->sequence = place.sequence;
    sink->counts = false;
    if (needs_first(sink, now.a) && !put_first(sink, tsc, now.a))
        return (struct prof_trace_place){NULL, 0};
    make(&made, sink, &now);
    if (!put_made(sink, tsc, &made) || !put_count(sink, tsc))
        return (struct prof_trace_place){NULL, 0};
    return place;
}

bool prof_trace_encode_count(struct prof_trace_sink *sink, uint64_t tsc)
{
    uint32_t bytes = (uint32_t)sizeof(struct prof_event_recorded);

    bytes = prof_packet_event_bytes(PROF_EVENT_RECORDED, bytes);
    return prof_trace_encode_room(sink, tsc, bytes).interning != NULL &&
           put_count(sink, tsc);
}

/* Texts in the stream: a place in the source has a file's name as well. */
#define TEXT_MAX 190u

/* Appends (text), and what is cut of it as "...", up to (end). */
static uint32_t append_text(char *to, uint32_t at, uint32_t end,
                            const char *text)
{
    for (; *text != '\0' && at < end; text++)
        to[at++] = *text >= ' ' ? *text : '?';
    if (*text != '\0')
        for (uint32_t i = 1; i <= 3; i++)
            to[at - i] = '.';
    return at;
}

struct definition {
    struct prof_event_site site;
    char text[TEXT_MAX + 1];
} __attribute__((packed));

/* Makes the definition of a (name); its length, where (*fields) begins. */
static uint32_t define(struct definition *made,
                       const struct prof_trace_name *name, uint32_t number)
{
    uint32_t length =
        append_text(made->text, 0, PROF_TRACE_TEXT_MAX, name->text);

    made->site = (struct prof_event_site){(uint16_t)number, name->line};
    if (name->file != NULL) {
        made->text[length++] = '@';
        length = append_text(made->text, length, TEXT_MAX, name->file);
    }
    made->text[length++] = '\0';
    return length;
}

bool prof_trace_encode_name(struct prof_trace_sink *sink, uint64_t tsc,
                            uint32_t number)
{
    const struct prof_trace_name *name;
    struct prof_trace_place place;
    struct definition made;
    enum prof_event kind = PROF_EVENT_NAME;
    const uint8_t *fields = (const uint8_t *)&made;
    uint32_t text, bytes;

    if (number == PROF_NAME_NONE || number > prof_names_count())
        return true;
    name = prof_names_get(number);
    place = prof_trace_encode_room(sink, tsc, 0);
    if (place.interning == NULL)
        return false;
    if (name == NULL || !prof_interning_due(place.interning, place.sequence,
                                            sink->notes[number - 1]))
        return true;
    text = define(&made, name, number);
    bytes = (uint32_t)sizeof made.site + text;
    if (name->file != NULL) {
        kind = PROF_EVENT_SITE;
    } else { /* the same without a line */
        bytes -= (uint32_t)sizeof made.site.line;
        fields += sizeof made.site.line;
        __builtin_memcpy((uint8_t *)&made + sizeof made.site.line,
                         &made.site.number, sizeof made.site.number);
    }
    place =
        prof_trace_encode_room(sink, tsc, prof_packet_event_bytes(kind, bytes));
    if (place.interning == NULL || !sink->put(kind, tsc, fields, bytes))
        return false;
    sink->notes[number - 1] =
        prof_interning_defined(place.sequence, sink->notes[number - 1]);
    sink->bytes += prof_packet_event_bytes(kind, bytes);
    return true;
}

bool prof_trace_encode_plain(struct prof_trace_sink *sink, enum prof_event kind,
                             uint64_t tsc, const void *fields, uint32_t bytes)
{
    uint32_t all = prof_packet_event_bytes(kind, bytes);

    if (prof_trace_encode_room(sink, tsc, all).interning == NULL ||
        !sink->put(kind, tsc, fields, bytes))
        return false;
    sink->bytes += all;
    return true;
}

/* The event, and before it OBJECTS, that near numbers need. */
#define EVENT_MAX (2 * PROF_EVENT_HEAD_BYTES + 24u)

bool prof_trace_encode(struct prof_trace_sink *sink, uint64_t tsc,
                       const struct prof_trace_record *record)
{
    uint32_t what = prof_trace_what_of(record->what);
    struct made made;

    if (what == 0 || what >= FORMS)
        return true;
    if (what == PROF_TRACE_DID_SUSPEND && record->a != 0)
        return prof_trace_encode_stack(sink, tsc, record);
    if (!prof_trace_encode_name(sink, tsc, prof_trace_name_of(record->what)) ||
        prof_trace_encode_room(sink, tsc, EVENT_MAX).interning == NULL)
        return false;
    if (forms[what].objects != 0 && needs_first(sink, record->a) &&
        !put_first(sink, tsc, record->a))
        return false;
    make(&made, sink, record);
    if (what == PROF_TRACE_DID_SWITCH)
        sink->current = record->a;
    return put_made(sink, tsc, &made);
}
