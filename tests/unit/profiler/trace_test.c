/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The recorder of objects, as a stream: what a runtime reports comes out of the
 * packets as it was, or is counted and marked where it is missing.
 */

#include "../unit.h"

#include "trace_world.h"

#define SLOTS 256u /* of a ring in the least memory */

static PROF_TRACE_NAME(disk, "disk");
static PROF_TRACE_NAME(pages, "pages in flight");
static PROF_TRACE_COUNTER(sent_bytes, "bytes sent");
static PROF_TRACE_SITE(site, "here");

/* What a packet begins with: which object is current. */
#define BEGINNING "switch 4294967295\n"

static void begin(void)
{
    open_stream();
    disk.tag = pages.tag = site.tag = sent_bytes.name.tag = 0;
    sent_bytes.value = 0;
    trace_open(PROF_TRACE_MEMORY_MIN, PROF_TRACE_STREAM);
    assert_int_equal(prof_trace_cpus[0].mask + 1, PROF_TRACE_STEP * SLOTS);
}

static void report_all(void)
{
    uint32_t task = prof_trace_create(PROF_TRACE_TASK, &site);
    uint32_t promise = prof_trace_create(PROF_TRACE_PROMISE, &disk);

    prof_trace_switch(task);
    prof_trace_try_read(promise);
    prof_trace_suspend(&disk);
    prof_trace_switch(PROF_TRACE_NONE);
    prof_trace_irq_enter(0x2b);
    prof_trace_defer(0x2b, task);
    prof_trace_irq_exit(0x2b);
    prof_trace_counter(&pages, -3);
    prof_trace_counter(&pages, 1ll << 40);
    prof_trace_resolve(promise);
    prof_trace_await(promise, task);
    prof_trace_wake(task, promise);
    prof_trace_read(promise);
    prof_trace_signal(promise, task);
    prof_trace_becomes(promise, task);
    prof_trace_label(task, &disk);
    prof_trace_label_text(task, "na\nme", 5);
    prof_trace_pause(&disk, 1000 * CLOCK);
    prof_trace_fail(promise, &pages);
    prof_trace_cancel(task);
    prof_trace_gone(PROF_TRACE_UNKNOWN);
}

FIXTURE(begin, trace_close);

TEST(each_call_is_an_event)
{
    report_all();
    assert_string_equal(sent(), BEGINNING "site 1 here@" __FILE__ "\n"
                                          "create 1 1 1\n"
                                          "name 2 disk\n"
                                          "create 2 2 2\n"
                                          "switch 1\n"
                                          "try_read 2\n"
                                          "suspend 2\n"
                                          "switch 0\n"
                                          "irq_enter 43\n"
                                          "defer 1 43\n"
                                          "irq_exit 43\n"
                                          "name 3 pages in flight\n"
                                          "counter 3 -3\n"
                                          "counter 3 1099511627776\n"
                                          "resolve 2\n"
                                          "await 2 1\n"
                                          "wake 1 2\n"
                                          "read 2\n"
                                          "signal 2 1\n"
                                          "become 2 1\n"
                                          "label 1 2\n"
                                          "name 4 na?me\n"
                                          "label 1 4\n"
                                          "pause 2 1000\n"
                                          "fail 2 3\n"
                                          "cancel 1\n"
                                          "gone 4294967295\n");
    assert_int_equal(stats().events, 23);
    assert_int_equal(stats().sent, 23);
    assert_int_equal(stats().lost, 0);
    assert_int_equal(stats().objects, 2);
    assert_int_equal(stats().names, 4);
}

/* Any object, however far its number is from the others'. */
TEST(numbers_of_objects_may_be_anything)
{
    static const uint32_t objects[] = {
        1, 7, 40000, 70000, 0x12345678, UINT32_MAX, 0, 2, 0xfffeffff, 140000};
    char expected[400] = "";

    for (unsigned i = 0; i < sizeof objects / sizeof *objects; i++) {
        prof_trace_read(objects[i]);
        prof_trace_wake(objects[i], 3);
        snprintf(expected + strlen(expected), 60, "read %u\nwake %u 3\n",
                 objects[i], objects[i]);
    }
    assert_string_equal(sent() + strlen(BEGINNING), expected);
}

/* Tasks of which 32 live at once, created one after the other. */
TEST(events_of_recent_objects_are_brief)
{
    uint32_t tasks[32];

    for (int turn = 0; turn < 20; turn++) {
        for (int i = 0; i < 32; i++)
            prof_trace_switch(tasks[i] =
                                  prof_trace_create(PROF_TRACE_TASK, &site));
        for (int i = 0; i < 32; i++) {
            prof_trace_wake(tasks[i], tasks[0]);
            prof_trace_read(tasks[i]);
            prof_trace_resolve(tasks[i]);
        }
        prof_trace_flush();
    }
    assert_in_range(stats().bytes * 100 / stats().events, 400, 500);
}

TEST(steps_of_a_counter_are_added_up)
{
    prof_trace_counter_add(&sent_bytes, 6);
    prof_trace_counter_add(&sent_bytes, 6);
    prof_trace_counter_add(&sent_bytes, -13);
    assert_int_equal(prof_trace_set_mode(PROF_TRACE_OFF), PROF_OK);
    prof_trace_counter_add(&sent_bytes, 1000);
    assert_int_equal(prof_trace_set_mode(PROF_TRACE_STREAM), PROF_OK);
    prof_trace_counter_add(&sent_bytes, 1ll << 40);
    prof_trace_counter_add(&sent_bytes, INT64_MIN);
    assert_string_equal(sent(), BEGINNING "name 1 bytes sent\n"
                                          "counter 1 6\n"
                                          "counter 1 12\n"
                                          "counter 1 -1\n"
                                          "counter 1 1099511627775\n"
                                          "counter 1 -9223370937343148033\n");
}

/* What has a loss after it is right again: events have sums. */
TEST(sums_survive_losses)
{
    for (unsigned i = 0; i < 2 * SLOTS; i++)
        prof_trace_counter_add(&sent_bytes, 3);
    sent();
    assert_true(stats().lost >= SLOTS);
    assert_null(strstr(said, "counter 1 3\n"));
    assert_non_null(strstr(said, "counter 1 1536\n")); /* 2 * SLOTS * 3 */
}

TEST(while_it_is_off_nothing_is_recorded)
{
    assert_int_equal(prof_trace_set_mode(PROF_TRACE_OFF), PROF_OK);
    report_all();
    assert_true(prof_trace_create(PROF_TRACE_TASK, &site) ==
                PROF_TRACE_UNKNOWN);
    assert_true(prof_trace_current() == PROF_TRACE_UNKNOWN);
    assert_int_equal(stats().events, 0);
    assert_int_equal(prof_trace_set_mode(PROF_TRACE_STREAM), PROF_OK);
    prof_trace_read(5);
    assert_string_equal(sent(), BEGINNING "read 5\n");
}

/* The oldest are overwritten; where they are missing it says how many, and what
 * is current from there on. */
TEST(what_is_lost_is_marked_where_it_is_missing)
{
    prof_trace_read(1);
    prof_trace_flush();
    prof_trace_switch(77);
    for (uint32_t i = 0; i < SLOTS + 8; i++)
        prof_trace_read(i + 1);
    prof_trace_switch(78);
    sent();
    said_begins(BEGINNING "read 1\nlost 10\nswitch 77\nread 10\n");
    assert_int_equal(lines_with("lost"), 1);
    assert_non_null(strstr(said, "read 264\nswitch 78\n"));
    assert_int_equal(stats().lost, 10);
    assert_int_equal(stats().sent, 1 + SLOTS);
    assert_int_equal(stats().events, SLOTS + 11);
}

/* What an interrupt finds in the middle of a thread's call. */
static struct prof_trace_record *begin_event(uint32_t *at)
{
    struct prof_trace_record *record;

    *at = prof_trace_take(&prof_trace_cpus[0]);
    record = prof_trace_slot(&prof_trace_cpus[0], *at);
    record->at = PROF_TRACE_ODD;
    record->a = 1111;
    return record;
}

static void end_event(struct prof_trace_record *record, uint32_t at)
{
    record->what = PROF_TRACE_DID_READ;
    record->tsc_low = record->tsc_high = UINT32_MAX; /* after all */
    record->at = at;
}

TEST(an_interrupt_may_come_in_the_middle)
{
    struct prof_trace_record *record;
    uint32_t at;

    prof_trace_read(1);
    record = begin_event(&at);
    prof_trace_read(2);
    prof_trace_read(3);
    end_event(record, at);
    prof_trace_read(4);
    assert_string_equal(sent(), BEGINNING
                        "read 1\nread 1111\nread 2\nread 3\nread 4\n");
}

/* So many interrupts that the ring wraps around to the event they interrupted:
 * nobody writes it but its owner, and every event is read or lost. */
TEST(a_storm_in_the_middle_tears_nothing)
{
    struct prof_trace_record *record;
    uint32_t at;

    for (uint32_t more = SLOTS - 2; more < SLOTS + 3; more++) {
        struct prof_trace_stats before = stats(), now;

        kept_count = 0;
        record = begin_event(&at);
        for (uint32_t i = 0; i < more; i++)
            prof_trace_read(2222);
        assert_int_equal(record->at, PROF_TRACE_ODD);
        end_event(record, at);
        sent();
        now = stats();
        assert_int_equal(now.events - before.events, more + 1);
        assert_int_equal(now.events - before.events,
                         now.sent - before.sent + now.lost - before.lost);
        assert_int_equal(lines_with("read 1111"), more < SLOTS);
        assert_int_equal(lines_with("read 2222"),
                         more < SLOTS ? more : SLOTS - 1);
        assert_int_equal(now.lost - before.lost,
                         more < SLOTS ? 0 : more - SLOTS + 2);
    }
}

TEST(a_panic_in_the_middle_loses_that_event_only)
{
    uint32_t at;

    prof_trace_read(1);
    (void)begin_event(&at);
    prof_trace_read(2);
    prof_trace_last(true);
    prof_stream_end(at, 1);
    all_said(0);
    said_begins(BEGINNING "read 1\nlost 1\nswitch 4294967295\nread 2\nbye");
}

TEST(positions_wrap_around)
{
    prof_trace_set_mode(PROF_TRACE_OFF);
    prof_trace_ring_open(&prof_trace_cpus[0], prof_trace_cpus[0].records,
                         SLOTS);
    prof_trace_cpus[0].head = (uint32_t) - (int32_t)(2 * 100);
    prof_trace_set_mode(PROF_TRACE_STREAM);
    for (uint32_t i = 0; i < SLOTS; i++)
        prof_trace_read(i + 1);
    sent();
    assert_int_equal(lines_with("read"), SLOTS);
    assert_int_equal(stats().lost, 0);
    for (uint32_t i = 0; i < SLOTS + 1; i++)
        prof_trace_read(i + 1);
    kept_count = 0;
    sent();
    assert_int_equal(lines_with("lost 1\n"), 1);
}

/* A transport that refuses: records wait in the ring. */
TEST(nothing_is_lost_while_there_is_room)
{
    prof_trace_read(1);
    kept_refuse = 1000;
    prof_trace_flush();
    prof_stream_push();
    for (uint32_t i = 0; i < SLOTS; i++) {
        prof_trace_read(2);
        if (i % 16 == 0)
            prof_trace_flush();
    }
    kept_refuse = 0;
    prof_stream_flush(prof_cpu_here(), SECOND * 10);
    sent();
    assert_int_equal(lines_with("read 2"), SLOTS);
    assert_int_equal(lines_with("lost"), 0);
}

/* Records events while the transport refuses, and drains now and then. */
static void overflow(uint32_t events)
{
    kept_refuse = 1000000;
    for (uint32_t i = 0; i < events; i++) {
        prof_trace_wake(i + 100000, i * 7);
        if (i % 64 == 0)
            prof_trace_flush();
    }
    kept_refuse = 0;
    prof_stream_flush(prof_cpu_here(), SECOND * 10);
}

TEST(what_was_not_sent_when_it_stops_is_marked)
{
    overflow(4 * SLOTS);
    kept_refuse = 1000000;
    prof_trace_set_mode(PROF_TRACE_OFF);
    kept_refuse = 0;
    prof_stream_flush(prof_cpu_here(), SECOND * 20);
    prof_trace_set_mode(PROF_TRACE_STREAM);
    prof_trace_read(1);
    sent();
    assert_int_equal(stats().events, 4 * SLOTS + 1);
    assert_true(stats().lost > 0);
    assert_int_equal(lines_with("wake") + 1 + stats().lost, stats().events);
    assert_int_equal(lines_with("lost"), 1);
}

/* Wherever a packet ends, and the transport refuses, LOST is followed by what
 * is current. */
TEST(after_each_loss_it_says_what_is_current)
{
    for (uint32_t more = 0; more < 700; more++) {
        const char *next;
        char now[40];

        for (uint32_t i = 0; i < more; i++) {
            prof_trace_read(2);
            prof_trace_flush();
        }
        prof_trace_switch(1000 + more); /* which is lost */
        for (uint32_t i = 0; i < SLOTS + 10; i++)
            prof_trace_wake(i + 100000, i * 7);
        overflow(1);
        sent();
        assert_int_equal(lines_with("lost"), 1);
        next = strstr(strstr(said, "lost"), "wake");
        snprintf(now, sizeof now, "switch %u\n", 1000 + more);
        assert_memory_equal(next - strlen(now), now, strlen(now));
        kept_count = 0;
    }
}

/* Positions of the ring say how many events there were, and each packet does,
 * whether they were lost or not. */
static uint32_t counted;

static void take_count(const struct event *event)
{
    if (event->kind == PROF_EVENT_RECORDED)
        counted = event->as_recorded.events;
}

TEST(packets_say_how_many_there_were)
{
    prof_trace_read(1);
    overflow(4 * SLOTS);
    sent();
    prof_trace_last(false);
    prof_stream_push();
    trace_each(0, take_count);
    assert_int_equal(counted, 4 * SLOTS + 1);
    assert_true(stats().lost > 0);
}
