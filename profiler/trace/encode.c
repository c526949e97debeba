/* SPDX-License-Identifier: Apache-2.0 */

/* Events, and the definitions that are due before them. */

#include "trace/encode.h"

#include "stream/packet.h"
#include "trace/form.h"
#include "trace/names.h"

/* An event, and before it RECENT and OBJECTS. */
#define EVENT_MAX                                                              \
    (3 * PROF_EVENT_HEAD_BYTES + 24u +                                         \
     (uint32_t)(sizeof(struct prof_event_extension) +                          \
                sizeof(struct prof_event_recent) +                             \
                sizeof(struct prof_event_objects)))

/* Such a SWITCH, and RECORDED. */
#define BEGINNING_MAX                                                          \
    (EVENT_MAX + PROF_EVENT_HEAD_BYTES +                                       \
     (uint32_t)(sizeof(struct prof_event_extension) +                          \
                sizeof(struct prof_event_recorded)))

/* Puts (record), and before it what its objects count from. There is room. */
static bool put_record(struct prof_trace_sink *sink, uint64_t tsc,
                       const struct prof_trace_record *record)
{
    const bool soon = sink->soon(tsc);
    struct prof_trace_bases *bases = &sink->bases;
    struct prof_trace_made made;
    uint32_t kind;

    while ((kind = prof_trace_form_base(bases, record, soon)) != 0) {
        const uint32_t *first =
            kind == PROF_EVENT_RECENT ? &bases->tiny : &bases->near;

        if (!sink->put(kind, tsc, first, sizeof *first))
            return false;
        sink->bytes += prof_packet_event_bytes(kind, sizeof *first);
    }
    prof_trace_form_make(&made, bases, record, soon);
    if (!sink->put(made.kind, tsc, made.fields, made.bytes))
        return false;
    sink->bytes += prof_packet_event_bytes(made.kind, made.bytes);
    return true;
}

static bool put_count(struct prof_trace_sink *sink, uint64_t tsc)
{
    const uint32_t bytes = sizeof(struct prof_event_recorded);
    uint32_t passed = sink->passed();

    if (!sink->put(PROF_EVENT_RECORDED, tsc, &passed, bytes))
        return false;
    sink->bytes += prof_packet_event_bytes(PROF_EVENT_RECORDED, bytes);
    return true;
}

/* Room for (bytes) of events. In another packet than before, numbers of objects
 * have nothing to count from, and the current object is repeated: the packet
 * before may be lost. How many events there were until then is for readers that
 * check. */
struct prof_trace_place prof_trace_encode_room(struct prof_trace_sink *sink,
                                               uint64_t tsc, uint32_t bytes)
{
    struct prof_trace_record now = {.what = PROF_TRACE_DID_SWITCH,
                                    .a = sink->current};
    struct prof_trace_place place = sink->room(tsc, bytes + BEGINNING_MAX);

    if (place.interning == NULL || place.sequence == sink->sequence)
        return place;
    sink->sequence = place.sequence;
    sink->bases = (struct prof_trace_bases){false, false, 0, 0};
    if (!put_record(sink, tsc, &now) || !put_count(sink, tsc))
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

bool prof_trace_encode(struct prof_trace_sink *sink, uint64_t tsc,
                       const struct prof_trace_record *record)
{
    uint32_t what = prof_trace_what_of(record->what);

    if (!prof_trace_form_exists(record))
        return true;
    if (what == PROF_TRACE_DID_SUSPEND && record->a != 0)
        return prof_trace_encode_stack(sink, tsc, record);
    if (!prof_trace_encode_name(sink, tsc, prof_trace_name_of(record->what)) ||
        prof_trace_encode_room(sink, tsc, EVENT_MAX).interning == NULL)
        return false;
    if (what == PROF_TRACE_DID_SWITCH)
        sink->current = record->a;
    return put_record(sink, tsc, record);
}
