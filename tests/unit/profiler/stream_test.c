/* SPDX-License-Identifier: Apache-2.0 */

/* The encoder: events come out in the order of time, and what is lost shows. */

#include "../unit.h"

#include "stream_world.h"

FIXTURE(open_stream, NULL);

TEST(every_event_is_decoded_as_emitted)
{
    const uint32_t stopped[PROF_WALK_REASONS] = {[PROF_WALK_FALLING] = 2};
    const struct event_hello *hello = &seen[0].event.as_hello;

    prof_stream_start(prof_cpu_here(), at(10), 1000152, 64);
    sample(at(20), 1);
    sample(at(30), 70000);
    sample(at(35), 1);
    sample(at(40), 0);
    prof_stream_lost_ticks(prof_cpu_here(), at(45), 3, 4 * CLOCK);
    prof_stream_overflow(prof_cpu_here(), at(50), 0xabcdef, 7, 6 * CLOCK);
    prof_stream_drop(prof_cpu_here(), at(60), 9, 5 * CLOCK);
    prof_stream_stopped_walks(prof_cpu_here(), at(60), stopped);
    prof_stream_stop(prof_cpu_here(), at(70));
    prof_stream_end(at(80), 101);
    assert_false(prof_stream_on());
    see_all();

    assert_int_equal(seen[0].event.kind, PROF_EVENT_HELLO);
    assert_int_equal(hello->version, PROF_FORMAT_VERSION);
    assert_int_equal(hello->pointer_bits, 8 * sizeof(void *));
    assert_true(hello->tsc_hz == SECOND && hello->unix_seconds == 1700000000);
    assert_true(hello->text_begin == 0x100000 && hello->text_end == 0x200000);
    assert_int_equal(hello->build_id_bytes, sizeof build_id);
    assert_memory_equal(hello->build_id, build_id, sizeof build_id);
    assert_string_equal(all_seen(1), "10 start 1000152 64\n"
                                     "20 leaf 1 0 0x100010\n"
                                     "30 sample 70000\n"
                                     "35 sample 1\n"
                                     "40 idle\n"
                                     "45 stolen 4\n"
                                     "45 miss 3\n"
                                     "50 overflow 11259375 7 6\n"
                                     "60 drop 9 5\n"
                                     "60 stopped_walk 5 2\n"
                                     "70 stop\n"
                                     "80 bye 101\n");
    assert_true(known[70000].address == 0x100000 + 16 * 70000);
    assert_true(known[70000].parent == 35000 && known[1].defined == 1);
}

TEST(times_survive_any_gap)
{
    static const uint64_t gaps[] = {0,        1,        1u << 26, 1u << 27,
                                    12345678, 1u << 28, 3,        9000000000,
                                    67108865, 0,        1};
    uint64_t clock = 5;
    unsigned number = 0;

    prof_stream_start(prof_cpu_here(), at(clock), 1000000, 0);
    for (unsigned i = 0; i < sizeof gaps / sizeof *gaps; i++) {
        clock += gaps[i];
        sample(at(clock), 1);
    }
    prof_stream_end(at(clock), 0);
    see_all();
    clock = 5;
    for (unsigned i = 0; i < sizeof gaps / sizeof *gaps; i++) {
        clock += gaps[i];
        assert_true(nth_sample(number++)->event.time == clock);
    }
    assert_true(count_of(PROF_EVENT_CLOCK) >= 3);
}

TEST(time_never_goes_back)
{
    sample(at(100), 1);
    sample(at(90), 1);
    sample(0, 1);
    prof_stream_end(at(80), 0);
    see_all();
    assert_int_equal(count_of_samples(), 3);
    assert_true(nth_sample(2)->event.time == 100);
}

TEST(packets_are_numbered_and_repeat_hello)
{
    struct prof_packet head;
    unsigned hellos = 0;

    prof_stream_start(prof_cpu_here(), at(0), 1000000, 0);
    for (unsigned i = 0; i < 200000; i++)
        sample(at(10000 * (i + 1)), 1);
    prof_stream_end(at(10000ull * 200001), 0);
    see_all();
    assert_true(kept_count > 192);
    assert_int_equal(count_of_samples(), 200000);
    for (unsigned i = 0; i < kept_count; i++) {
        memcpy(&head, kept[i].data, sizeof head);
        assert_int_equal(head.sequence, i);
        assert_true(head.discarded == 0);
    }
    for (unsigned i = 0; i < seen_count; i++)
        if (seen[i].event.kind == PROF_EVENT_HELLO) {
            assert_int_equal(seen[i].packet, 64 * hellos++);
            assert_true(i == 0 || seen[i - 1].packet != seen[i].packet);
        }
    assert_int_equal(hellos, (kept_count + 63) / 64);
    assert_int_equal(count_of(PROF_EVENT_START), hellos);
}

TEST(what_is_refused_is_counted_and_costs_no_time)
{
    struct prof_packet head;
    struct prof_stats sums = {0};

    prof_stream_start(prof_cpu_here(), at(0), 1000000, 0);
    kept_refuse = 2;
    for (unsigned i = 1; i <= 2000; i++)
        sample(at(10000 * i), 1);
    assert_int_equal(kept_count, 0);
    assert_int_equal(kept_asked, 1); /* once for each drain, not sample */
    prof_stream_flush(prof_cpu_here(), at(10000 * 2000));
    assert_int_equal(kept_asked, 2);
    prof_stream_flush(prof_cpu_here(), at(10000 * 2000));
    assert_int_equal(kept_count, 1);
    sample(at(10000 * 2001), 1);
    prof_stream_end(at(10000 * 2002), 0);
    see_all();
    prof_stream_stats(&sums);
    assert_true(sums.stream_discarded > 0);
    assert_int_equal(count_of_samples() + sums.stream_discarded, 2001);
    memcpy(&head, kept[1].data, sizeof head);
    assert_int_equal(head.sequence, 1);
    assert_true(head.discarded == sums.stream_discarded);
    assert_true(nth(PROF_EVENT_START, 1)->time == 10000 * 2000);
}

TEST(a_blocked_transport_ends_all_the_same)
{
    struct prof_stats sums = {0};

    kept_refuse = UINT32_MAX;
    prof_stream_start(prof_cpu_here(), at(0), 1000000, 0);
    for (unsigned i = 1; i <= 5000; i++)
        sample(at(10000 * i), 0);
    prof_stream_end(at(10000 * 5001), 0);
    prof_stream_stats(&sums);
    assert_int_equal(kept_count, 0);
    assert_true(kept_asked < 100 && sums.stream_packets == 0 &&
                sums.stream_bytes == 0);
}

/* A device whose blocks are all in flight, until it is waited for. */
static bool in_flight;
static unsigned waited;

static bool keep_if_idle(const void *packet, size_t bytes)
{
    return !in_flight && keep(packet, bytes);
}

static void wait_for_blocks(void)
{
    in_flight = false;
    waited++;
}

/* The sample at which the device is full, from an empty packet to a full one:
 * in one of these cases the last event itself finds no room. */
TEST(the_last_packet_waits_for_the_device)
{
    static const struct prof_transport busy = {.name = "busy",
                                               .open = keep_open,
                                               .send = keep_if_idle,
                                               .finish = wait_for_blocks};

    for (unsigned samples = 1; samples < 2500; samples++) {
        open_stream();
        prof_stream_open(&(struct prof_stream_settings){
            .transport = &busy, .tree = tree, .config = &config});
        in_flight = false;
        waited = 0;
        prof_stream_start(prof_cpu_here(), at(0), 1000000, 0);
        for (unsigned i = 1; i <= samples; i++)
            sample(at(10000 * i), 0);
        in_flight = true;
        prof_stream_end(at(10000 * samples), 7);
        assert_in_range(waited, 1, 2);
        see_all();
        assert_int_equal(count_of(PROF_EVENT_BYE), 1);
        assert_int_equal(count_of(PROF_EVENT_IDLE), samples);
    }
}

TEST(a_dead_device_is_waited_for_once)
{
    static const struct prof_transport dead = {.name = "dead",
                                               .open = keep_open,
                                               .send = keep,
                                               .finish = wait_for_blocks};

    prof_stream_open(&(struct prof_stream_settings){
        .transport = &dead, .tree = tree, .config = &config});
    waited = 0;
    kept_refuse = UINT32_MAX;
    prof_stream_start(prof_cpu_here(), at(0), 1000000, 0);
    prof_stream_end(at(10000), 0);
    assert_int_equal(waited, 1);
    assert_int_equal(kept_count, 0);
}

TEST(a_sample_costs_six_bytes)
{
    struct prof_stats sums = {0};

    prof_stream_start(prof_cpu_here(), at(0), 1000000, 64);
    for (unsigned i = 1; i <= 60000; i++) {
        sample(at(10000 * i), i % 2000 + 1);
        if (i % 100 == 0)
            prof_stream_flush(prof_cpu_here(), at(10000 * i));
    }
    prof_stream_end(at(10000 * 60001), 0);
    prof_stream_stats(&sums);
    assert_true(sums.stream_bytes < 6 * 60000);
}

TEST(nothing_waits_longer_than_a_second)
{
    prof_stream_start(prof_cpu_here(), at(0), 100000, 0);
    sample(at(100), 0);
    prof_stream_flush(prof_cpu_here(), at(PROF_CLOCK_HZ / 2));
    assert_int_equal(kept_count, 0);
    prof_stream_flush(prof_cpu_here(), at(PROF_CLOCK_HZ + 1000));
    assert_int_equal(kept_count, 1);
    prof_stream_flush(prof_cpu_here(), at(3 * (uint64_t)PROF_CLOCK_HZ));
    assert_int_equal(kept_count, 1);
}

TEST(without_a_listener_nothing_happens)
{
    prof_stream_open(&(struct prof_stream_settings){
        .transport = NULL, .tree = tree, .config = &config});
    assert_false(prof_stream_on());
    prof_stream_start(prof_cpu_here(), at(0), 1, 1);
    sample(at(1), 1);
    sample(at(1), 0);
    prof_stream_overflow(prof_cpu_here(), at(1), 1, 1, 1);
    prof_stream_drop(prof_cpu_here(), at(1), 1, 1);
    prof_stream_lost_ticks(prof_cpu_here(), at(1), 1, 1);
    prof_stream_dropped(prof_cpu_here(), at(1), 1, 1);
    prof_stream_stopped_walks(prof_cpu_here(), at(1),
                              (uint32_t[PROF_WALK_REASONS]){0, 1});
    prof_stream_hello(prof_cpu_here());
    prof_stream_stop(prof_cpu_here(), at(1));
    prof_stream_flush(prof_cpu_here(), at(1));
    prof_stream_end(at(1), 0);
    assert_int_equal(kept_asked, 0);
}
