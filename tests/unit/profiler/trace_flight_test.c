/* SPDX-License-Identifier: Apache-2.0 */

/* The recorder of objects as a flight recorder; and what is outside the ring:
 * names, and which objects live. */

#include "../unit.h"

#include "trace_said.h"

#define SLOTS 256u /* of a ring in the least memory */
#define HISTORY PROF_CPU_HISTORY

static PROF_TRACE_SITE(site, "here");
static PROF_TRACE_NAME(other, "other");

static struct prof_trace_stats stats(void)
{
    struct prof_trace_stats now;

    prof_trace_stats(&now);
    return now;
}

static void begin_flight(void)
{
    open_stream();
    site.tag = other.tag = 0;
    trace_open(PROF_TRACE_MEMORY_MIN, PROF_TRACE_FLIGHT);
}

static void begin_stream(void)
{
    open_stream();
    site.tag = other.tag = 0;
    trace_open(PROF_TRACE_MEMORY_MIN, PROF_TRACE_STREAM);
}

FIXTURE(begin_flight, trace_close);

/* ---- the flight recorder */

TEST(nothing_is_sent_before_a_dump)
{
    prof_trace_read(1);
    prof_trace_flush();
    prof_stream_push(prof_cpu_here());
    assert_string_equal(all_said(HISTORY), "");
    assert_string_equal(all_said(0), "");
}

TEST(a_dump_has_the_last_events_and_what_they_name)
{
    uint32_t task = prof_trace_create(PROF_TRACE_TASK, &site);

    prof_trace_switch(task);
    for (uint32_t i = 0; i < SLOTS; i++)
        prof_trace_read(9);
    prof_trace_resolve(task);
    prof_trace_switch(0);
    assert_int_equal(prof_trace_dump(), PROF_OK);
    all_said(HISTORY);
    said_begins("switch 4294967295\nhistory \nsite 1 here@");
    assert_non_null(strstr(said, "alive 1 of 4294967295 kind 1 ended 1 site 1 "
                                 "label 0\nswitch 1\nread 9\n"));
    assert_non_null(strstr(said, "read 9\nresolve 1\nswitch 0\n"));
    assert_int_equal(lines_with("read 9"), SLOTS - 2);
    assert_int_equal(lines_with("create"), 0);
    assert_int_equal(stats().dumps, 1);
}

TEST(the_next_dump_has_what_the_last_one_has_not)
{
    prof_trace_read(1);
    assert_int_equal(prof_trace_dump(), PROF_OK);
    prof_trace_read(2);
    assert_int_equal(prof_trace_dump(), PROF_OK);
    all_said(HISTORY);
    assert_int_equal(lines_with("read 1\n"), 1);
    assert_int_equal(lines_with("read 2\n"), 1);
    assert_int_equal(lines_with("history"), 2);
}

/* A transport during which an interrupt records. */
static unsigned storm;

static bool keep_in_a_storm(const void *packet, size_t bytes)
{
    for (unsigned i = 0; i < storm; i++)
        prof_trace_read(5555);
    return keep(packet, bytes);
}

static const struct prof_transport stormy = {
    .name = "stormy",
    .open = keep_open,
    .send = keep_in_a_storm,
};

TEST(it_may_be_read_while_it_is_written)
{
    prof_stream_open(prof_cpu_here(), &(struct prof_stream_settings){
                                          &stormy, tree, &config, {0}});
    for (storm = 0; storm < 3 * SLOTS; storm += 37) {
        uint64_t sent = stats().sent;

        kept_count = 0;
        for (uint32_t i = 0; i < 20 * SLOTS; i++)
            prof_trace_wake(i + 100000, i * 7);
        assert_int_equal(prof_trace_dump(), PROF_OK);
        all_said(HISTORY);
        assert_true(stats().sent - sent + 0 <= SLOTS);
        assert_int_equal(lines_with("read 5555"), 0); /* came later */
        assert_true(storm > 0 || lines_with("wake") == SLOTS);
    }
}

TEST(a_trigger_stops_it_until_it_was_dumped)
{
    prof_trace_read(1);
    prof_trace_trigger();
    prof_trace_read(2);
    assert_false(prof_trace_is_on());
    prof_trace_flush();
    assert_true(prof_trace_is_on());
    all_said(HISTORY);
    assert_int_equal(lines_with("read 1\n"), 1);
    assert_int_equal(lines_with("read 2\n"), 0);
}

TEST(a_panic_dumps)
{
    for (uint32_t i = 0; i < SLOTS; i++)
        prof_trace_read(3);
    prof_trace_slot(&prof_trace_cpus[0], 10 * PROF_TRACE_STEP)->at =
        PROF_TRACE_ODD;
    prof_trace_last(true);
    all_said(HISTORY);
    assert_int_equal(lines_with("read 3"), SLOTS - 1);
    assert_int_equal(lines_with("lost 1\n"), 1);
}

TEST(a_dump_goes_on_when_the_transport_does)
{
    for (uint32_t i = 0; i < SLOTS; i++)
        prof_trace_read(4);
    kept_refuse = 1000;
    assert_int_equal(prof_trace_dump(), PROF_OK);
    prof_trace_flush();
    assert_int_equal(kept_count, 0);
    kept_refuse = 0;
    prof_trace_flush();
    all_said(HISTORY);
    assert_int_equal(lines_with("read 4"), SLOTS);
}

/* A dump of (source), of which nothing is sent yet. */
static void begin_dump(uint32_t source)
{
    prof_trace_read(source);
    kept_refuse = 1000;
    assert_int_equal(prof_trace_dump(), PROF_OK);
    assert_int_equal(kept_count, 0);
}

/* What the last dump left is in no later one. */
static void nothing_is_left_of_it(void)
{
    kept_refuse = 0;
    assert_false(prof_trace_is_on());
    prof_trace_flush();
    prof_trace_read(8);
    assert_false(prof_trace_is_on());
    assert_int_equal(prof_trace_set_mode(PROF_TRACE_FLIGHT), PROF_OK);
    assert_true(prof_trace_is_on());
    prof_trace_read(2);
    prof_trace_flush();
    assert_int_equal(kept_count, 0);
    assert_int_equal(prof_trace_dump(), PROF_OK);
    all_said(HISTORY);
    assert_int_equal(lines_with("history"), 1);
    assert_int_equal(lines_with("read 2\n"), 1);
    assert_int_equal(lines_with("read"), 1);
}

TEST(off_ends_a_dump)
{
    begin_dump(1);
    assert_int_equal(prof_trace_set_mode(PROF_TRACE_OFF), PROF_OK);
    nothing_is_left_of_it();
}

TEST(off_ends_a_trigger)
{
    prof_trace_read(1);
    kept_refuse = 1000;
    prof_trace_trigger();
    assert_int_equal(prof_trace_set_mode(PROF_TRACE_OFF), PROF_OK);
    nothing_is_left_of_it();
}

TEST(off_sends_a_dump_that_is_due)
{
    prof_trace_read(1);
    prof_trace_trigger();
    assert_int_equal(prof_trace_set_mode(PROF_TRACE_OFF), PROF_OK);
    assert_false(prof_trace_is_on());
    all_said(HISTORY);
    assert_int_equal(lines_with("read 1\n"), 1);
}

TEST(a_panic_during_a_dump_is_in_it)
{
    begin_dump(1);
    prof_trace_read(2);
    kept_refuse = 0;
    prof_trace_last(true);
    all_said(HISTORY);
    assert_int_equal(lines_with("read 1\n"), 1);
    assert_int_equal(lines_with("read 2\n"), 1);
    assert_false(prof_trace_is_on());
}

TEST(a_trigger_during_a_dump_stops_it)
{
    begin_dump(1);
    prof_trace_read(2);
    prof_trace_trigger();
    prof_trace_read(3);
    kept_refuse = 0;
    prof_trace_flush();
    all_said(HISTORY);
    assert_int_equal(lines_with("read 2\n"), 1);
    assert_int_equal(lines_with("read 3\n"), 0);
    assert_true(prof_trace_is_on());
    assert_int_equal(stats().dumps, 1);
}

/* An interrupt whose trigger comes while the last packet is sent. */
static bool keep_and_trigger(const void *packet, size_t bytes)
{
    prof_trace_read(5);
    prof_trace_trigger();
    prof_trace_read(6);
    return keep(packet, bytes);
}

static const struct prof_transport triggering = {
    .name = "triggering",
    .open = keep_open,
    .send = keep_and_trigger,
};

TEST(a_trigger_at_the_end_of_a_dump_is_in_it)
{
    prof_stream_open(prof_cpu_here(), &(struct prof_stream_settings){
                                          &triggering, tree, &config, {0}});
    kept_count = 0;
    assert_int_equal(prof_trace_dump(), PROF_OK);
    all_said(HISTORY);
    assert_int_equal(lines_with("read 5\n"), 1);
    assert_int_equal(lines_with("read 6\n"), 0);
    assert_true(prof_trace_is_on());
}

/* It is not made for ever, nor goes on in another stream, which has other
 * names. */
TEST(a_dump_ends_with_its_stream)
{
    begin_dump(1);
    prof_trace_trigger();
    assert_false(prof_trace_is_on());
    kept_refuse = 0;
    prof_stream_open(prof_cpu_here(),
                     &(struct prof_stream_settings){NULL, tree, &config, {0}});
    prof_trace_flush();
    assert_true(prof_trace_is_on());
    open_stream();
    begin_dump(1);
    open_stream();
    prof_trace_flush();
    assert_string_equal(all_said(HISTORY), "");
    prof_trace_read(2);
    assert_int_equal(prof_trace_dump(), PROF_OK);
    all_said(HISTORY);
    assert_int_equal(lines_with("history"), 1);
    assert_int_equal(lines_with("read 2\n"), 1);
}

/* As GET /profile?format=trace does: a stream of its own, now and then. */
static void end_of_stream(void)
{
    prof_trace_last(false);
    prof_stream_end(prof_cpu_here(), at(SECOND), 0);
}

TEST(it_goes_on_after_a_stream_has_ended)
{
    prof_trace_read(1);
    end_of_stream();
    assert_int_equal(prof_trace_mode(), PROF_TRACE_FLIGHT);
    assert_true(prof_trace_is_on());
    prof_trace_read(2);
    open_stream();
    begin_dump(3);
    end_of_stream(); /* in the middle of a dump */
    assert_true(prof_trace_is_on());
    open_stream();
    prof_trace_hello();
    prof_trace_read(4);
    assert_int_equal(prof_trace_dump(), PROF_OK);
    all_said(HISTORY);
    assert_int_equal(lines_with("history"), 1);
    assert_int_equal(lines_with("read 4\n"), 1);
}

/* Positions repeat after 2^27 events; here laps are passed at a stroke. */
TEST(a_dump_has_all_that_is_left_of_any_number)
{
    const uint32_t before = 8 * PROF_TRACE_STEP;

    for (int i = 0; i < 2; i++) {
        prof_trace_cpus[0].head += 0x70000000u;
        prof_trace_flush();
    }
    prof_trace_cpus[0].head += 0x20000000u - before;
    for (uint32_t i = 0; i < SLOTS; i++)
        prof_trace_read(4);
    assert_int_equal(prof_trace_dump(), PROF_OK);
    all_said(HISTORY);
    assert_int_equal(lines_with("read 4\n"), SLOTS);
}

FIXTURE(begin_stream, trace_close);

/* Nor does a recorder in the mode STREAM end; and the next stream has all that
 * its events mention. */
TEST(each_stream_defines_its_names)
{
    for (int i = 0; i < 5; i++) {
        open_stream();
        prof_trace_hello();
        for (int packets = 0; packets <= i; packets++) {
            prof_trace_create(PROF_TRACE_TASK, &site);
            assert_int_equal(prof_trace_cpus[0].due, 0);
            sent();
        }
        assert_true(lines_with("site 1 here@") > 0);
        end_of_stream();
        assert_true(prof_trace_is_on());
    }
}

/* So a sample costs no more than without a recorder. */
TEST(nothing_is_due_without_a_stream)
{
    prof_trace_read(1);
    sent();
    end_of_stream();
    assert_true(prof_trace_cpus[0].due == UINT64_MAX);
    prof_trace_flush();
    assert_true(prof_trace_cpus[0].due == UINT64_MAX);
    open_stream();
    prof_trace_hello();
    assert_int_equal(prof_trace_cpus[0].due, 0);
    assert_int_equal(prof_trace_set_mode(PROF_TRACE_OFF), PROF_OK);
    assert_true(prof_trace_cpus[0].due == UINT64_MAX);
}

TEST(there_is_no_dump_in_other_modes)
{
    assert_int_equal(prof_trace_dump(), PROF_EFLIGHT);
    prof_trace_trigger();
    assert_true(prof_trace_is_on());
}

/* ---- names */

TEST(long_names_are_cut_and_it_shows)
{
    static char text[10001];
    char line[200];

    memset(text, 'x', sizeof text - 1);
    prof_trace_label_text(7, text, sizeof text - 1);
    prof_trace_label_text(7, text, PROF_TRACE_TEXT_MAX);
    sent();
    snprintf(line, sizeof line, "name 1 %.117s...\n", text);
    assert_int_equal(lines_with(line), 1);
    snprintf(line, sizeof line, "name 2 %.120s\n", text);
    assert_int_equal(lines_with(line), 1);
    assert_int_equal(stats().names_cut, 1);
    {
        PROF_TRACE_SITE(constant, text); /* a constant as long as that */

        prof_trace_create(PROF_TRACE_TASK, &constant);
        sent();
        snprintf(line, sizeof line, "site 3 %.117s...@%.20s", text, __FILE__);
        assert_int_equal(lines_with(line), 1);
    }
}

TEST(names_without_room_are_counted)
{
    char text[16];

    for (int i = 0; i < 1000; i++)
        prof_trace_label_text(
            1, text, (size_t)snprintf(text, sizeof text, "name %d", i));
    assert_true(stats().names > 20 && stats().names < 1000);
    assert_int_equal(stats().names + stats().names_lost, 1000);
    prof_trace_label_text(1, "name 0", 6);
    assert_int_equal(prof_trace_cpus[0].records == NULL, 0);
    sent();
    assert_non_null(strstr(said, "label 1 1\n"));
}

/* A name that events mention is in the same packet, or in one before; and again
 * in a later one, since packets may be lost. */
TEST(names_are_defined_again_in_later_packets)
{
    for (int i = 0; i < 3000; i++) {
        prof_trace_gone(prof_trace_create(PROF_TRACE_TASK, &site));
        if (i % 50 == 0)
            prof_trace_flush();
    }
    sent();
    assert_true(kept_count > 4);
    assert_int_equal(lines_with("site 1 here@"), 2);
    assert_int_equal(stats().lost, 0);
    /* the first packet is lost, which has the definition */
    memmove(kept, kept + 1, --kept_count * sizeof *kept);
    all_said(0);
    assert_int_equal(lines_with("site 1 here@") > 0, 1);
    said_begins("switch 4294967295\n"); /* which object is current */
}

/* ---- objects */

TEST(a_new_reader_is_sent_the_objects_that_live)
{
    uint32_t first = prof_trace_create(PROF_TRACE_TASK, &site);

    prof_trace_label_text(first, "first", 5);
    prof_trace_switch(first);
    prof_trace_resolve(prof_trace_create(PROF_TRACE_PROMISE, &site));
    prof_trace_create(PROF_TRACE_SLEEP, &other);
    sent();
    assert_int_equal(lines_with("alive"), 0);
    kept_count = 0;
    prof_stream_hello(prof_cpu_here());
    prof_trace_hello();
    sent();
    assert_int_equal(lines_with("alive"), 2);
    assert_non_null(strstr(said, "alive 1 of 4294967295 kind 1 ended 0 site 1 "
                                 "label 2\n"));
    assert_non_null(
        strstr(said, "alive 3 of 1 kind 8 ended 0 site 3 label 0\n"));
    assert_non_null(strstr(said, "switch 1\n"));
    assert_non_null(strstr(said, "name 2 first\n"));
}

TEST(a_million_live_objects_are_not_in_the_way)
{
    uint32_t last = 0;

    for (uint32_t i = 0; i < 1000000; i++)
        last = prof_trace_create(PROF_TRACE_PROMISE, &site);
    assert_int_equal(last, 1000000);
    assert_int_equal(stats().objects, 1000000);
    assert_int_equal(stats().untracked, 1000000 - (prof_objects.mask + 1));
    for (uint32_t i = 1; i <= 1000000; i++)
        prof_trace_resolve(i);
    last = prof_trace_create(PROF_TRACE_PROMISE, &site);
    assert_int_equal(stats().untracked, 1000000 - (prof_objects.mask + 1));
    assert_non_null(prof_objects_find(last));
}

TEST(numbers_end)
{
    prof_objects.next = PROF_OBJECTS_LAST;
    assert_true(prof_trace_create(PROF_TRACE_TASK, &other) ==
                PROF_OBJECTS_LAST);
    for (int i = 0; i < 3; i++)
        assert_true(prof_trace_create(PROF_TRACE_TASK, &other) ==
                    PROF_TRACE_UNKNOWN);
}

FIXTURE(NULL, NULL);

TEST(memory_is_checked)
{
    static uint64_t memory[PROF_TRACE_MEMORY_MIN / 8];

    memset(prof_trace_cpus, 0, sizeof prof_trace_cpus);
    assert_int_equal(prof_trace_set_mode(PROF_TRACE_FLIGHT), PROF_EMEMORY);
    assert_int_equal(prof_trace_open(NULL, sizeof memory), PROF_EMEMORY);
    assert_int_equal(prof_trace_open(memory, sizeof memory - 1), PROF_EMEMORY);
    assert_int_equal(prof_trace_open((char *)memory + 4, sizeof memory),
                     PROF_EMEMORY);
    assert_int_equal(prof_trace_open(memory, sizeof memory), PROF_OK);
    assert_int_equal(prof_trace_open(memory, sizeof memory), PROF_ESTATE);
    prof_trace_cpus[0].records = NULL;
}
