/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Events of objects keep their times among samples: also where the host took
 * time, which the stream says before the sample that is late.
 */

#include "../unit.h"

#include "profiler_world.h"
#include "stream_checker.h"
#include "trace/event.h"
#include "trace/recorder.h"

#include <prof/trace.h>

#define CYCLES (WORLD_TSC_HZ / (double)PROF_CLOCK_HZ) /* a clock */

static unsigned char recorder[PROF_TRACE_MEMORY_MIN]
    __attribute__((aligned(8)));

/* An event at (tsc), as if that had been its time. */
static void event_at(uint64_t tsc, uint32_t object)
{
    struct prof_trace_record *record =
        prof_trace_slot(&prof_trace_cpus[0], prof_trace_cpus[0].head);

    prof_trace_read(object);
    record->tsc_low = (uint32_t)tsc;
    record->tsc_high = (uint32_t)(tsc >> 32);
}

static void begin(void)
{
    world_small();
    kept_count = 0;
    prof_transport_use(&keeper);
    memset(prof_trace_cpus, 0, sizeof prof_trace_cpus);
    assert_int_equal(prof_trace_open(recorder, sizeof recorder), 0);
    assert_int_equal(prof_trace_set_mode(PROF_TRACE_STREAM), 0);
}

#define FOUND_MAX 16u
static struct event found[FOUND_MAX];
static unsigned found_count;

/* Sends all, and reads what is of interest here. */
static void find_all(void)
{
    struct event_reader reader;
    struct packet packet;
    struct event event;

    prof_drain();
    prof_transport_panic(0);
    found_count = 0;
    for (unsigned i = 0; i < kept_count; i++) {
        assert_int_equal(packet_check(kept[i].data, kept[i].bytes, &packet),
                         PACKET_GOOD);
        event_begin(&reader, &packet);
        while (event_next(&reader, &event)) {
            if (event.kind != PROF_EVENT_READ &&
                event.kind != PROF_EVENT_SEND &&
                event.kind != PROF_EVENT_RECEIVE)
                continue;
            assert_true(found_count < FOUND_MAX);
            found[found_count++] = event;
        }
    }
}

/* The READ events have the times (tscs), and come in that order. */
static void check_times(const uint64_t *tscs, unsigned count)
{
    find_all();
    assert_int_equal(found_count, count);
    for (unsigned i = 0; i < count; i++) {
        double clock = (double)tscs[i] / CYCLES;

        assert_int_equal(found[i].kind, PROF_EVENT_READ);
        assert_true((double)found[i].time > clock - 2 &&
                    (double)found[i].time < clock + 2);
    }
}

FIXTURE(begin, world_end);

TEST(events_before_stolen_time_keep_theirs)
{
    const uint64_t times[] = {WORLD_PERIOD * 3 / 2, WORLD_PERIOD * 5 / 2,
                              WORLD_PERIOD * 20, WORLD_PERIOD * 41};

    world_tick(0x1000, WORLD_PERIOD);
    for (unsigned i = 0; i < 4; i++)
        event_at(times[i], i + 1);
    world_tick(0x1000, 40 * WORLD_PERIOD); /* 39 periods late */
    check_times(times, 4);
}

TEST(so_do_those_before_the_overflow_table)
{
    const uint64_t times[] = {WORLD_PERIOD * 3 / 2, WORLD_PERIOD * 70};

    for (unsigned i = 0; i < 200; i++)
        world_tick(0x1000 + 16 * i, (i + 1) * WORLD_PERIOD);
    event_at(times[0], 1);
    event_at(times[1], 2);
    check_times(times, 2);
}

/* How many walks stopped is said at the end of a drain, with that time. */
TEST(so_do_those_of_a_drain_with_stopped_walks)
{
    const uint64_t times[] = {WORLD_PERIOD * 3 / 2};

    world_tick(0x1000, WORLD_PERIOD);
    event_at(times[0], 1);
    prof_accounts_of(prof_cpu_here())->stopped[PROF_WALK_OUTSIDE]++;
    check_times(times, 1);
}

/* What both machines call a message comes out as it was. */
TEST(messages_are_events)
{
    prof_trace_message(0xdeadbeef, true);
    prof_trace_message(7, false);
    find_all();
    assert_int_equal(found_count, 2);
    assert_int_equal(found[0].kind, PROF_EVENT_SEND);
    assert_int_equal(found[0].as_send.message, 0xdeadbeef);
    assert_int_equal(found[1].kind, PROF_EVENT_RECEIVE);
    assert_int_equal(found[1].as_receive.message, 7);
}
