/* SPDX-License-Identifier: Apache-2.0 */
/* The decoder: for each event of <prof/events.def> a function that reads its
 * fields. The other forms of NODE and SAMPLE come out as the short ones: what
 * they say is the same. */

#include "trace/event.h"

#include "base/bytes.h"
#include "base/checked.h"

#include <string.h>

#define LOW_BITS(value, bits) ((uint32_t)(value) & ((1u << (bits)) - 1u))

/* ---- the short events, bit by bit */

#define PROF_SHORT(NAME, name, tag, meaning, bits) [tag] = PROF_##NAME##_BYTES,
static const uint8_t short_bytes[] = {
#include <prof/events.def>
};

struct short_fields {
    uint32_t time;
    uint32_t node;
    uint32_t parent;
    uint32_t text_offset;
};

/* The (bits) bits, at most 26, from number *(from) on, which goes on. */
static inline uint32_t take_bits(const uint8_t *at, unsigned *from,
                                 unsigned bits)
{
    uint64_t found = 0;
    unsigned first = *from / 8, last = (*from + bits - 1) / 8;

    for (unsigned i = first; i <= last; ++i)
        found |= (uint64_t)at[i] << (8 * (i - first));
    found >>= *from % 8;
    *from += bits;
    return LOW_BITS(found, bits);
}

#define PROF_SHORT(NAME, name, tag, meaning, bits)                             \
    static void read_##name(struct short_fields *fields, const uint8_t *at)    \
    {                                                                          \
        unsigned from = PROF_EVENT_TAG_BITS;                                   \
                                                                               \
        bits                                                                   \
    }
#define PROF_BITS(class, name, bits) fields->name = take_bits(at, &from, bits);
#include <prof/events.def>

/* ---- the others, field by field */

#define READ_uint8(field, at) ((field) = *(at))
#define READ_uint16(field, at) ((field) = le16(at))
#define READ_uint32(field, at) ((field) = le32(at))
#define READ_uint64(field, at) ((field) = le64(at))
#define READ_address READ_uint64
#define READ_clock READ_uint64
#define READ_bytes32(field, at) memcpy(field, at, sizeof(field))
#define READ_walk_stop READ_uint16
#define READ_object_kind READ_uint8
#define READ_name8 READ_uint8
#define READ_int16(field, at) ((field) = (int16_t)le16(at))
#define READ_int64(field, at) ((field) = (int64_t)le64(at))
#define READ_near(field, at)                                                   \
    ((field) = whole_number(reader->first, le16(at), PROF_NEAR_UNKNOWN))
#define READ_tiny(field, at)                                                   \
    ((field) = whole_number(reader->recent, *(at), PROF_TINY_UNKNOWN))
#define READ_text(field, at)                                                   \
    ((field) = is_ended(at, end) ? (const char *)(at) : "")
#define BYTES_bytes32 32
#define BYTES_uint8 1
#define BYTES_name8 1
#define BYTES_object_kind 1
#define BYTES_uint16 2
#define BYTES_int16 2
#define BYTES_near 2
#define BYTES_tiny 1
#define BYTES_walk_stop 2
#define BYTES_uint32 4
#define BYTES_uint64 8
#define BYTES_int64 8
#define BYTES_address 8
#define BYTES_clock 8
#define BYTES_text 0

static uint32_t whole_number(uint32_t first, uint32_t number, uint32_t unknown)
{
    if (number == unknown)
        return EVENT_UNKNOWN_OBJECT;
    return number == PROF_NEAR_NONE ? 0 : first + number;
}

static bool is_ended(const uint8_t *at, const uint8_t *end)
{
    return memchr(at, '\0', (size_t)(end - at)) != NULL;
}

#define PROF_EVENT(NAME, name, kind, meaning, fields)                          \
    static void read_##name(struct event_##name *event, const uint8_t *at,     \
                            const uint8_t *end,                                \
                            const struct event_reader *reader)                 \
    {                                                                          \
        (void)end;                                                             \
        (void)reader;                                                          \
        fields                                                                 \
    }
#define PROF_FIELD(type, name, meaning)                                        \
    READ_##type(event->name, at);                                              \
    at += BYTES_##type;
#include <prof/events.def>

#define IS_TEXT(type) (BYTES_##type == 0)
static const struct {
    const char *name; /* NULL: there is no such kind */
    uint8_t bytes;    /* of its fields, the least */
    bool has_text;    /* after these */
} kinds[PROF_KINDS] = {
#define PROF_EVENT(NAME, name, kind, meaning, fields)                          \
    [kind] = {#name, sizeof(struct prof_event_##name), fields false},
#define PROF_FIELD(type, name, meaning) IS_TEXT(type) ||
#define PROF_BARE(NAME, name, kind, meaning) [kind] = {#name, 0, false},
#include <prof/events.def>
};

static void read_fields(struct event *event, const uint8_t *at,
                        const uint8_t *end, const struct event_reader *reader)
{
    switch (event->kind) {
#define PROF_EVENT(NAME, name, kind, meaning, fields)                          \
    case kind:                                                                 \
        read_##name(&event->as_##name, at, end, reader);                       \
        break;
#include <prof/events.def>
    default:
        break;
    }
}

const char *event_name(enum prof_event kind)
{
    static const char *const names[] = {
#define PROF_SHORT(NAME, name, tag, meaning, bits) [tag] = #name,
#include <prof/events.def>
    };

    if (kind < PROF_EVENT_OTHER)
        return names[kind];
    return kind < PROF_KINDS && kinds[kind].name != NULL ? kinds[kind].name
                                                         : "unknown";
}

/* ---- from one to the next */

void event_begin(struct event_reader *reader, const struct packet *packet)
{
    *reader = (struct event_reader){
        .at = packet->events,
        .end = packet->events + packet->events_bytes,
        .clock = packet->begin,
        .text_begin = packet->text_begin,
    };
}

/* The low (bits) bits of the clock came; it never goes back. */
static uint64_t wound_clock(uint64_t clock, uint32_t low, unsigned bits)
{
    uint64_t mask = (1ull << bits) - 1;

    if (low >= (clock & mask))
        return (clock & ~mask) | low;
    clock = checked_add(clock, mask + 1);
    return clock == UINT64_MAX ? clock : (clock & ~mask) | low;
}

static void next_short(struct event_reader *reader, struct event *event)
{
    struct short_fields fields = {0};

    switch (event->kind) {
    case PROF_EVENT_SAMPLE:
        read_sample(&fields, reader->at);
        break;
    case PROF_EVENT_LEAF:
        read_leaf(&fields, reader->at);
        break;
    default:
        read_node(&fields, reader->at);
        break;
    }
    if (event->kind != PROF_EVENT_NODE)
        reader->clock =
            wound_clock(reader->clock, fields.time, PROF_SHORT_TIME_BITS);
    event->node = fields.node;
    event->parent = fields.parent;
    event->address = reader->text_begin + fields.text_offset;
    reader->at += short_bytes[event->kind];
}

/* Wide and brief forms, once read, have the same fields as plain ones. */
#define WIDE_FORMS(WIDE)                                                       \
    WIDE(SWITCH, switch)                                                       \
    WIDE(CREATE, create)                                                       \
    WIDE(READ, read)                                                           \
    WIDE(TRY_READ, try_read)                                                   \
    WIDE(AWAIT, await)                                                         \
    WIDE(RESOLVE, resolve)                                                     \
    WIDE(FAIL, fail)                                                           \
    WIDE(CANCEL, cancel)                                                       \
    WIDE(GONE, gone)                                                           \
    WIDE(BECOME, become)                                                       \
    WIDE(SIGNAL, signal)                                                       \
    WIDE(WAKE, wake)                                                           \
    WIDE(SUSPEND, suspend)                                                     \
    WIDE(DEFER, defer)                                                         \
    WIDE(COUNTER, counter)                                                     \
    WIDE(LABEL, label)
#define BRIEF_FORMS(BRIEF)                                                     \
    BRIEF(SWITCH, switch)                                                      \
    BRIEF(CREATE, create)                                                      \
    BRIEF(READ, read)                                                          \
    BRIEF(RESOLVE, resolve)                                                    \
    BRIEF(WAKE, wake)                                                          \
    BRIEF(SUSPEND, suspend)
#define SAME_LAYOUT(name, other)                                               \
    _Static_assert(sizeof(struct event_##name) ==                              \
                       sizeof(struct event_##other),                           \
                   "two forms of one event");
#define SAME_AS_WIDE(NAME, name) SAME_LAYOUT(name, name##_wide)
#define SAME_AS_BRIEF(NAME, name) SAME_LAYOUT(name, name##_brief)
WIDE_FORMS(SAME_AS_WIDE)
BRIEF_FORMS(SAME_AS_BRIEF)
#define OF_WIDE(NAME, name) [PROF_EVENT_##NAME##_WIDE] = PROF_EVENT_##NAME,
#define OF_BRIEF(NAME, name) [PROF_EVENT_##NAME##_BRIEF] = PROF_EVENT_##NAME,
static const uint8_t plain_kinds[PROF_KINDS] = {WIDE_FORMS(OF_WIDE)
                                                    BRIEF_FORMS(OF_BRIEF)};

/* The other forms become NODE and SAMPLE, and CLOCK sets the clock. */
static void make_plain(struct event_reader *reader, struct event *event)
{
    switch (event->kind) {
    case PROF_EVENT_NODE_WIDE:
        event->kind = PROF_EVENT_NODE;
        event->node = event->as_node_wide.node;
        event->parent = event->as_node_wide.parent;
        event->address = event->as_node_wide.address;
        break;
    case PROF_EVENT_SAMPLE_LATE:
        event->kind = PROF_EVENT_SAMPLE;
        event->node = event->as_sample_late.node;
        break;
    case PROF_EVENT_SAMPLE_WIDE:
        event->kind = PROF_EVENT_SAMPLE;
        event->node = event->as_sample_wide.node;
        break;
    case PROF_EVENT_CLOCK:
        if (event->as_clock.now > reader->clock)
            reader->clock = event->as_clock.now;
        break;
    case PROF_EVENT_OBJECTS:
        reader->first = event->as_objects.first;
        break;
    case PROF_EVENT_RECENT:
        reader->recent = event->as_recent.first;
        break;
    default:
        if (event->kind < PROF_KINDS && plain_kinds[event->kind] != 0)
            event->kind = plain_kinds[event->kind];
        break;
    }
}

struct head {
    uint32_t kind;
    uint32_t low_clock;
    unsigned clock_bits;
    const uint8_t *fields;
    size_t bytes; /* of the fields */
};

/* Reads the head of an event whose tag says that its kind follows; there are
 * (left) bytes. False: it is cut, or its length unknown. */
static bool read_head(struct head *head, const uint8_t *at, size_t left)
{
    size_t bytes;

    head->kind = LOW_BITS(*at >> PROF_EVENT_TAG_BITS, PROF_EVENT_KIND_BITS);
    head->clock_bits = prof_event_is_brief(head->kind) ? PROF_SHORT_TIME_BITS
                                                       : PROF_EVENT_TIME_BITS;
    bytes = 1 + head->clock_bits / 8;
    if (left < bytes)
        return false;
    head->low_clock = le16(at + 1);
    if (head->clock_bits == PROF_EVENT_TIME_BITS)
        head->low_clock |= (uint32_t)at[3] << 16;
    head->fields = at + bytes;
    left -= bytes;
    if (head->kind != PROF_KIND_ESCAPE) {
        head->bytes = kinds[head->kind].bytes;
        return kinds[head->kind].name != NULL && left >= head->bytes;
    }
    if (left < sizeof(struct prof_event_extension))
        return false;
    head->kind = head->fields[0];
    head->bytes = head->fields[1];
    head->fields += sizeof(struct prof_event_extension);
    return head->kind >= PROF_KIND_EXTENDED &&
           left - sizeof(struct prof_event_extension) >= head->bytes &&
           head->bytes >= kinds[head->kind].bytes;
}

static bool next_other(struct event_reader *reader, struct event *event)
{
    struct head head;

    if (!read_head(&head, reader->at, (size_t)(reader->end - reader->at)))
        return false;
    reader->clock = wound_clock(reader->clock, head.low_clock, head.clock_bits);
    reader->at = head.fields + head.bytes;
    event->kind = head.kind;
    read_fields(event, head.fields, reader->at, reader);
    make_plain(reader, event);
    reader->passed_over =
        reader->passed_over ||
        (head.bytes > kinds[head.kind].bytes && !kinds[head.kind].has_text) ||
        kinds[head.kind].name == NULL;
    return true;
}

bool event_next(struct event_reader *reader, struct event *event)
{
    do {
        size_t left = (size_t)(reader->end - reader->at);

        if (left == 0)
            return false;
        event->kind = LOW_BITS(*reader->at, PROF_EVENT_TAG_BITS);
        if (event->kind == PROF_EVENT_OTHER) {
            if (!next_other(reader, event))
                return false;
        } else if (left >= short_bytes[event->kind]) {
            next_short(reader, event);
        } else {
            return false;
        }
    } while (event->kind >= PROF_KIND_EXTENDED &&
             kinds[event->kind].name == NULL);
    event->time = reader->clock;
    return true;
}
