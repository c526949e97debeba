/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Every event of <prof/events.def>, put into packets by the guest's encoder and
 * read by the host's decoder: what goes in comes out.
 */

#include "../unit.h"

#include "stream/packet.h"
#include "trace/event.h"

#define TEXT 0x100000u
#define EVENTS_MAX 2048u
#define ROUNDS 300u

union fields {
#define PROF_EVENT(NAME, name, kind, meaning, fields)                          \
    struct prof_event_##name as_##name;
#include <prof/events.def>
};

/* What was put, to be compared with what is read. */
static struct put {
    enum prof_event kind;
    uint64_t clock;
    struct prof_packet_node node;      /* of short events */
    uint8_t raw[sizeof(union fields)]; /* of the others */
} expected[EVENTS_MAX];
static unsigned put_count;

static struct prof_packet_maker packet;
static uint64_t clock_now;

/* Time goes on, mostly by little; before a brief event always, from the last
 * event that has a time. */
static struct put *next_put(enum prof_event kind)
{
    uint64_t step = unit_number() % (unit_random() % 8 == 0 ? 8000000 : 70000);
    struct put *put = &expected[put_count++];

    assert_true(put_count <= EVENTS_MAX);
    clock_now = prof_event_is_brief(kind) ? packet.end + step % 65536
                                          : clock_now + step;
    put->kind = kind;
    put->clock = clock_now;
    for (size_t i = 0; i < sizeof put->raw; i++)
        put->raw[i] = (uint8_t)unit_random();
    return put;
}

/* The kinds that are not short, and the bytes of their fields. */
static const struct {
    enum prof_event kind;
    uint32_t bytes;
} others[] = {
#define PROF_EVENT(NAME, name, kind, meaning, fields)                          \
    {PROF_EVENT_##NAME, sizeof(struct prof_event_##name)},
#define PROF_BARE(NAME, name, kind, meaning) {PROF_EVENT_##NAME, 0},
#include <prof/events.def>
};
#define OTHERS (sizeof others / sizeof *others)

static void put_other(size_t number)
{
    struct put *put = next_put(others[number].kind);
    uint32_t bytes = others[number].bytes;

    if (put->kind == PROF_EVENT_CLOCK)
        memcpy(put->raw, &put->clock, sizeof put->clock);
    prof_packet_put(&packet, put->kind, put->clock, put->raw, bytes);
}

static void put_short(enum prof_event kind)
{
    struct put *put = next_put(kind);

    put->node.node = (uint32_t)unit_number();
    put->node.parent = (uint32_t)unit_number();
    put->node.address = TEXT + (uintptr_t)unit_number();
    if (kind == PROF_EVENT_SAMPLE)
        prof_packet_sample(&packet, put->clock, put->node.node);
    else if (kind == PROF_EVENT_LEAF)
        prof_packet_leaf(&packet, put->clock, &put->node);
    else
        prof_packet_node(&packet, put->clock, &put->node);
}

/* Begins a packet, with an event that has a time. */
static void begin_packet(void)
{
    prof_packet_clear(&packet);
    packet.text_begin = TEXT;
    put_count = 0;
    put_other(0);
}

static void end_packet(struct event_reader *reader)
{
    static struct packet found;

    prof_packet_close(&packet, &(struct prof_packet_label){.sequence = 1});
    assert_int_equal(packet_check(packet.data, packet.bytes, &found),
                     PACKET_GOOD);
    event_begin(reader, &found);
}

/* What near and tiny numbers are from, by the events compared so far. */
static uint32_t first_now, recent_now;

static uint32_t whole_number(uint32_t number, uint32_t first, uint32_t unknown)
{
    if (number == unknown)
        return UINT32_MAX;
    return number == 0 ? 0 : first + number;
}

/* Whether the fields that were read are those that were put. */
#define SAME_uint8(name) assert_int_equal(event->name, given.name)
#define SAME_name8 SAME_uint8
#define SAME_object_kind SAME_uint8
#define SAME_uint16 SAME_uint8
#define SAME_walk_stop SAME_uint8
#define SAME_uint32 SAME_uint8
#define SAME_uint64(name) assert_true(event->name == given.name)
#define SAME_int16 SAME_uint64
#define SAME_int64 SAME_uint64
#define SAME_address SAME_uint64
#define SAME_clock SAME_uint64
#define SAME_near(name)                                                        \
    assert_true(event->name == whole_number(given.name, first_now, 65535))
#define SAME_tiny(name)                                                        \
    assert_true(event->name == whole_number(given.name, recent_now, 255))
#define SAME_text(name) assert_string_equal(event->name, "")
#define SAME_bytes32(name) assert_memory_equal(event->name, given.name, 32)
#define PROF_EVENT(NAME, name, kind, meaning, fields)                          \
    static void compare_##name(const struct put *put,                          \
                               const struct event_##name *event)               \
    {                                                                          \
        struct prof_event_##name given;                                        \
                                                                               \
        memcpy(&given, put->raw, sizeof given);                                \
        fields                                                                 \
    }
#define PROF_FIELD(type, name, meaning) SAME_##type(name);
#include <prof/events.def>

/* The kind of the event called (name), whose last (bytes) do not count. */
static enum prof_event kind_called(const char *name, size_t bytes)
{
    size_t length = strlen(name) - bytes;

    for (size_t i = 0; i < OTHERS; i++) {
        const char *other = event_name(others[i].kind);

        if (strlen(other) == length && strncmp(name, other, length) == 0)
            return others[i].kind;
    }
    fail_msg("%s has no plain form", name);
    return PROF_EVENT_OTHER;
}

/* The kind as which (kind) comes out. */
static enum prof_event read_as(enum prof_event kind)
{
    switch (kind) {
    case PROF_EVENT_SAMPLE_LATE:
    case PROF_EVENT_SAMPLE_WIDE:
        return PROF_EVENT_SAMPLE;
    case PROF_EVENT_NODE_WIDE:
        return PROF_EVENT_NODE;
    default:
        if (strstr(event_name(kind), "_wide") != NULL)
            return kind_called(event_name(kind), strlen("_wide"));
        if (strstr(event_name(kind), "_brief") != NULL)
            return kind_called(event_name(kind), strlen("_brief"));
        return kind;
    }
}

static void compare(const struct put *put, const struct event *event)
{
    assert_int_equal(event->kind, read_as(put->kind));
    if (event->kind != PROF_EVENT_NODE)
        assert_true(event->time == put->clock);
    switch (put->kind) {
    case PROF_EVENT_LEAF:
    case PROF_EVENT_NODE:
        assert_int_equal(event->parent, put->node.parent);
        assert_true(event->address == put->node.address);
        assert_int_equal(event->node, put->node.node);
        break;
    case PROF_EVENT_SAMPLE:
        assert_int_equal(event->node, put->node.node);
        break;
#define PROF_EVENT(NAME, name, kind, meaning, fields)                          \
    case PROF_EVENT_##NAME:                                                    \
        compare_##name(put, &event->as_##name);                                \
        break;
#include <prof/events.def>
    default: /* no fields */
        break;
    }
}

/* A leaf that is too large for the short form is a node, then a sample. */
static void read_put(struct event_reader *reader, const struct put *put)
{
    struct event event;
    struct put sample = *put;

    assert_true(event_next(reader, &event));
    if (put->kind == PROF_EVENT_LEAF && event.kind == PROF_EVENT_NODE) {
        sample.kind = PROF_EVENT_NODE;
        compare(&sample, &event);
        sample.kind = PROF_EVENT_SAMPLE;
        assert_true(event_next(reader, &event));
    }
    compare(&sample, &event);
    if (event.kind == PROF_EVENT_OBJECTS)
        first_now = event.as_objects.first;
    if (event.kind == PROF_EVENT_RECENT)
        recent_now = event.as_recent.first;
}

static void read_all(void)
{
    struct event_reader reader;
    struct event event;

    first_now = recent_now = 0;
    end_packet(&reader);
    for (unsigned i = 0; i < put_count; i++)
        read_put(&reader, &expected[i]);
    assert_false(event_next(&reader, &event));
    assert_true(reader.at == reader.end);
    assert_false(reader.passed_over);
}

TEST(each_event_comes_out_as_it_went_in)
{
    for (size_t number = 0; number < OTHERS + PROF_EVENT_OTHER; number++)
        for (unsigned i = 0; i < ROUNDS; i++) {
            begin_packet();
            if (number < OTHERS)
                put_other(number);
            else
                put_short((enum prof_event)(number - OTHERS));
            read_all();
        }
}

TEST(packets_of_all_events_come_out_as_they_went_in)
{
    for (unsigned i = 0; i < ROUNDS; i++) {
        begin_packet();
        while (prof_packet_fits(&packet, sizeof(union fields) + 8)) {
            size_t number = unit_random() % (OTHERS + 4 * PROF_EVENT_OTHER);

            if (number < OTHERS)
                put_other(number);
            else
                put_short((enum prof_event)(number % PROF_EVENT_OTHER));
        }
        read_all();
    }
}

/* A guest that knows more than this host. */
TEST(unknown_extended_events_are_passed_over)
{
    struct event_reader reader;
    struct event event;
    struct put *before, *more;

    for (unsigned bytes = 0; bytes <= UINT8_MAX; bytes++) {
        static const uint8_t fields[UINT8_MAX];

        begin_packet();
        prof_packet_put(&packet, (enum prof_event)255, clock_now, fields,
                        bytes);
        put_short(PROF_EVENT_SAMPLE);
        end_packet(&reader);
        read_put(&reader, before = &expected[0]);
        assert_false(reader.passed_over);
        read_put(&reader, &expected[1]);
        assert_true(reader.passed_over);
        assert_false(event_next(&reader, &event));
        assert_true(reader.at == reader.end);
    }
    begin_packet();
    more = next_put(PROF_EVENT_TASK);
    prof_packet_put(&packet, PROF_EVENT_TASK, more->clock, more->raw,
                    sizeof(struct prof_event_task) + 3);
    end_packet(&reader);
    read_put(&reader, before);
    read_put(&reader, more);
    assert_true(reader.passed_over && reader.at == reader.end);
}

/* An extended event that is shorter than it must be is not read. */
TEST(short_extended_events_end_the_packet)
{
    struct event_reader reader;
    struct event event;

    begin_packet();
    prof_packet_put(&packet, PROF_EVENT_TASK, clock_now, expected[0].raw,
                    sizeof(struct prof_event_task) - 1);
    end_packet(&reader);
    read_put(&reader, &expected[0]);
    assert_false(event_next(&reader, &event));
    assert_true(reader.at != reader.end);
}

TEST(names_are_those_of_the_table)
{
    assert_string_equal(event_name(PROF_EVENT_LEAF), "leaf");
    assert_string_equal(event_name(PROF_EVENT_OVERFLOW), "overflow");
    assert_string_equal(event_name(PROF_EVENT_TASK), "task");
    assert_string_equal(event_name((enum prof_event)PROF_KIND_ESCAPE),
                        "unknown");
    assert_string_equal(event_name((enum prof_event)1000), "unknown");
}
