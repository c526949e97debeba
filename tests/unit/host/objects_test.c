/* SPDX-License-Identifier: Apache-2.0 */

/* Texts in events, and near numbers of objects beside the tests of all events
 * in events_test.c. */

#include "../unit.h"

#include "stream/packet.h"
#include "trace/event.h"

static struct prof_packet_maker packet;
static struct packet found;

static struct event_reader reader_of_packet(void)
{
    struct event_reader reader;

    prof_packet_close(&packet, &(struct prof_packet_label){.sequence = 1});
    assert_int_equal(packet_check(packet.data, packet.bytes, &found),
                     PACKET_GOOD);
    event_begin(&reader, &found);
    prof_packet_clear(&packet);
    return reader;
}

static struct event only_event(void)
{
    struct event_reader reader = reader_of_packet();
    struct event event;

    assert_true(event_next(&reader, &event));
    assert_true(reader.at == reader.end);
    assert_false(reader.passed_over);
    return event;
}

TEST(a_text_ends_where_it_says)
{
    uint8_t fields[] = "\x07\x01text\0rest";
    struct event event;

    prof_packet_put(&packet, PROF_EVENT_NAME, 5, fields, sizeof fields);
    event = only_event();
    assert_int_equal(event.as_name.number, 0x107);
    assert_string_equal(event.as_name.text, "text");
}

/* It would be read beyond the event's end. */
TEST(a_text_without_an_end_is_none)
{
    uint8_t fields[] = {1, 0, 'a', 'b', 'c'};

    prof_packet_put(&packet, PROF_EVENT_NAME, 5, fields, sizeof fields);
    assert_string_equal(only_event().as_name.text, "");
    prof_packet_put(&packet, PROF_EVENT_NAME, 5, fields, 2);
    assert_string_equal(only_event().as_name.text, "");
}

static void put_near(uint16_t number)
{
    prof_packet_put(&packet, PROF_EVENT_READ, 5, &number, sizeof number);
}

TEST(near_numbers_count_from_the_last_beginning)
{
    static const uint32_t expected[] = {0, UINT32_MAX, 7, 1007, 0x10006};
    struct event_reader reader;
    struct event event;
    uint32_t first = 1000;
    unsigned at = 0;

    put_near(PROF_NEAR_NONE);
    put_near(PROF_NEAR_UNKNOWN);
    put_near(7);
    prof_packet_put(&packet, PROF_EVENT_OBJECTS, 6, &first, sizeof first);
    put_near(7);
    first = 0xffff;
    prof_packet_put(&packet, PROF_EVENT_OBJECTS, 6, &first, sizeof first);
    put_near(7);
    reader = reader_of_packet();
    while (event_next(&reader, &event))
        if (event.kind == PROF_EVENT_READ)
            assert_true(event.as_read.source == expected[at++]);
    assert_int_equal(at, 5);
}

static void put_tiny(uint8_t number)
{
    prof_packet_put(&packet, PROF_EVENT_READ_BRIEF, 5, &number, sizeof number);
}

TEST(tiny_numbers_count_from_the_last_recent_one)
{
    static const uint32_t expected[] = {0, UINT32_MAX, 1007, 0x100fd};
    struct event_reader reader;
    struct event event;
    uint32_t first = 1000;
    unsigned at = 0;

    put_tiny(PROF_NEAR_NONE);
    put_tiny(PROF_TINY_UNKNOWN);
    prof_packet_put(&packet, PROF_EVENT_RECENT, 5, &first, sizeof first);
    put_tiny(7);
    first = 0xffff;
    prof_packet_put(&packet, PROF_EVENT_RECENT, 5, &first, sizeof first);
    put_tiny(254);
    reader = reader_of_packet();
    while (event_next(&reader, &event))
        if (event.kind == PROF_EVENT_READ)
            assert_true(event.as_read.source == expected[at++]);
    assert_int_equal(at, 4);
}

/* 16 bits of the time: they may be less than those of the event before. */
TEST(a_brief_event_may_come_after_a_wrap)
{
    struct event_reader reader;
    struct event event;
    uint8_t number = 0;

    prof_packet_put(&packet, PROF_EVENT_STOP, 0x5ffff, NULL, 0);
    prof_packet_put(&packet, PROF_EVENT_READ_BRIEF, 0x6fffe, &number, 1);
    reader = reader_of_packet();
    assert_true(event_next(&reader, &event) && event_next(&reader, &event));
    assert_true(event.time == 0x6fffe);
}
