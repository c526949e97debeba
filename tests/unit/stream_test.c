/* SPDX-License-Identifier: Apache-2.0 */

/* The encoder: what is told comes out in time order, and what is lost shows. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../../profiler/src/state.h"
#include "../../profiler/src/stream.h"
#include "stream_checker.h"

#define CLOCK 128ull /* cycles a tick of the stream's clock */
#define SECOND ((uint64_t)PROF_CLOCK_HZ * CLOCK)

#define NODES 100000u
static uint32_t told[NODES];
static const uint8_t build_id[20] = {1,  2,  3,  4,  5,  6,  7,  8,  9,  10,
                                     11, 12, 13, 14, 15, 16, 17, 18, 19, 20};

/* A node whose address is not like the others'; 0 = none. */
static uint32_t odd_node;
static uintptr_t odd_address;

static bool tree(uint32_t node, struct prof_stream_node *found)
{
    if (node == 0 || node >= NODES)
        return false;
    *found = (struct prof_stream_node){
        node / 2, 0x100000 + 16 * (uintptr_t)node, &told[node]};
    if (node == odd_node)
        found->address = odd_address;
    return true;
}

static int open_stream(void **unused)
{
    (void)unused;
    kept_count = kept_refuse = kept_asked = 0;
    memset(told, 0, sizeof told);
    prof_state.config = (struct prof_config){
        .tsc_hz = SECOND,
        .boot_tsc = 1000,
        .boot_unix_seconds = 1700000000,
        .text = {0x100000, 0x200000},
        .build_id = build_id,
        .build_id_bytes = sizeof build_id,
    };
    prof_stream_open(&keeper, tree);
    return 0;
}

static uint64_t at(uint64_t clock)
{
    return 1000 + clock * CLOCK;
}

static void every_event_comes_out_as_told(void **unused)
{
    struct prof_event_hello hello;
    struct prof_event_start start;
    struct prof_event_spill spill;
    struct prof_event_drop drop;
    struct prof_event_stopped_walk walk;

    (void)unused;
    prof_stream_start(at(10), 1000152, 64);
    prof_stream_sample(at(20), 1);
    prof_stream_sample(at(30), 70000);
    prof_stream_sample(at(35), 1);
    prof_stream_idle(at(40));
    prof_stream_miss(at(45), 3);
    prof_stream_stolen(at(45), 4 * CLOCK);
    prof_stream_spill(at(50), 0xabcdef, 7, 6 * CLOCK);
    prof_stream_drop(at(60), 9, 5 * CLOCK);
    prof_stream_stopped_walk(at(60), PROF_WALK_FALLING, 2);
    prof_stream_stop(at(70));
    prof_stream_end(at(80), 101);
    assert_false(prof_stream_on());
    see_all();

    assert_int_equal(seen[0].kind, PROF_EVENT_HELLO);
    memcpy(&hello, seen[0].fields, sizeof hello);
    assert_int_equal(hello.version, PROF_FORMAT_VERSION);
    assert_int_equal(hello.pointer_bits, 8 * sizeof(void *));
    assert_true(hello.tsc_hz == SECOND && hello.unix_seconds == 1700000000);
    assert_true(hello.text_begin == 0x100000 && hello.text_end == 0x200000);
    assert_int_equal(hello.build_id_bytes, sizeof build_id);
    assert_memory_equal(hello.build_id, build_id, sizeof build_id);
    memcpy(&start, nth(PROF_EVENT_START, 0)->fields, sizeof start);
    assert_true(start.rate_mhz == 1000152 && start.depth == 64);
    assert_true(nth(PROF_EVENT_START, 0)->clock == 10);
    assert_true(nth(PROF_EVENT_LEAF, 0)->clock == 20);
    assert_int_equal(nth(PROF_EVENT_LEAF, 0)->node, 1);
    assert_true(nth(PROF_EVENT_SAMPLE_WIDE, 0)->clock == 30);
    assert_int_equal(nth(PROF_EVENT_SAMPLE_WIDE, 0)->node, 70000);
    assert_true(nth(PROF_EVENT_SAMPLE, 0)->clock == 35);
    assert_int_equal(nth(PROF_EVENT_SAMPLE, 0)->node, 1);
    assert_true(nth(PROF_EVENT_IDLE, 0)->clock == 40);
    assert_int_equal(nth(PROF_EVENT_MISS, 0)->fields[0], 3);
    assert_int_equal(nth(PROF_EVENT_STOLEN, 0)->fields[0], 4);
    memcpy(&spill, nth(PROF_EVENT_SPILL, 0)->fields, sizeof spill);
    assert_true(spill.address == 0xabcdef && spill.samples == 7 &&
                spill.clocks == 6);
    memcpy(&drop, nth(PROF_EVENT_DROP, 0)->fields, sizeof drop);
    assert_true(drop.samples == 9 && drop.clocks == 5);
    memcpy(&walk, nth(PROF_EVENT_STOPPED_WALK, 0)->fields, sizeof walk);
    assert_true(walk.reason == PROF_WALK_FALLING && walk.samples == 2);
    assert_true(nth(PROF_EVENT_STOP, 0)->clock == 70);
    assert_int_equal(seen[seen_count - 1].kind, PROF_EVENT_BYE);
    assert_int_equal(seen[seen_count - 1].fields[0], 101);
    assert_true(known[70000].address == 0x100000 + 16 * 70000);
    assert_true(known[70000].parent == 35000 && known[1].told == 1);
}

static void times_survive_any_gap(void **unused)
{
    static const uint64_t gaps[] = {0,        1,        1u << 26, 1u << 27,
                                    12345678, 1u << 28, 3,        9000000000,
                                    67108865, 0,        1};
    uint64_t clock = 5;
    unsigned number = 0;

    (void)unused;
    prof_stream_start(at(clock), 1000000, 0);
    for (unsigned i = 0; i < sizeof gaps / sizeof *gaps; i++) {
        clock += gaps[i];
        prof_stream_sample(at(clock), 1);
    }
    prof_stream_end(at(clock), 0);
    see_all();
    clock = 5;
    for (unsigned i = 0; i < sizeof gaps / sizeof *gaps; i++) {
        clock += gaps[i];
        assert_true(nth_sample(number++)->clock == clock);
    }
    assert_true(count_of(PROF_EVENT_CLOCK) >= 3);
}

static void time_never_goes_back(void **unused)
{
    (void)unused;
    prof_stream_sample(at(100), 1);
    prof_stream_sample(at(90), 1);
    prof_stream_sample(0, 1);
    prof_stream_end(at(80), 0);
    see_all();
    assert_int_equal(count_of_samples(), 3);
    assert_true(nth_sample(2)->clock == 100);
}

static void packets_are_numbered_and_say_hello_again(void **unused)
{
    struct prof_packet head;
    unsigned hellos = 0;

    (void)unused;
    prof_stream_start(at(0), 1000000, 0);
    for (unsigned i = 0; i < 200000; i++)
        prof_stream_sample(at(10000 * (i + 1)), 1);
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
        if (seen[i].kind == PROF_EVENT_HELLO) {
            assert_int_equal(seen[i].packet, 64 * hellos++);
            assert_true(i == 0 || seen[i - 1].packet != seen[i].packet);
        }
    assert_int_equal(hellos, (kept_count + 63) / 64);
    assert_int_equal(count_of(PROF_EVENT_START), hellos);
}

static void what_is_refused_is_counted_and_costs_no_time(void **unused)
{
    struct prof_packet head;
    struct prof_stream_sums sums;
    const struct seen *start;

    (void)unused;
    prof_stream_start(at(0), 1000000, 0);
    kept_refuse = 2;
    for (unsigned i = 1; i <= 2000; i++)
        prof_stream_sample(at(10000 * i), 1);
    assert_int_equal(kept_count, 0);
    assert_int_equal(kept_asked, 1); /* once for each drain, not sample */
    prof_stream_flush(at(10000 * 2000));
    assert_int_equal(kept_asked, 2);
    prof_stream_flush(at(10000 * 2000));
    assert_int_equal(kept_count, 1);
    prof_stream_sample(at(10000 * 2001), 1);
    prof_stream_end(at(10000 * 2002), 0);
    see_all();
    prof_stream_sums(&sums);
    assert_true(sums.discarded > 0);
    assert_int_equal(count_of_samples() + sums.discarded, 2001);
    memcpy(&head, kept[1].data, sizeof head);
    assert_int_equal(head.sequence, 1);
    assert_true(head.discarded == sums.discarded);
    start = nth(PROF_EVENT_START, 1);
    assert_int_equal(start->packet, 1);
    assert_true(start->clock == 10000 * 2000);
}

static void a_way_that_stays_shut_ends_all_the_same(void **unused)
{
    struct prof_stream_sums sums;

    (void)unused;
    kept_refuse = UINT32_MAX;
    prof_stream_start(at(0), 1000000, 0);
    for (unsigned i = 1; i <= 5000; i++)
        prof_stream_idle(at(10000 * i));
    prof_stream_end(at(10000 * 5001), 0);
    prof_stream_sums(&sums);
    assert_int_equal(kept_count, 0);
    assert_true(kept_asked < 100 && sums.packets == 0 && sums.bytes == 0);
}

/* Each sample names a node that was told before it, or the reader learns of it
 * later, whichever packet is lost. */
static void samples_are_known_whichever_packet_is_lost(void **unused)
{
    unsigned nodes = 3000;

    (void)unused;
    prof_stream_start(at(0), 1000000, 0);
    for (unsigned i = 1; i <= 3 * nodes; i++)
        prof_stream_sample(at(10000 * i), i * 7 % nodes + 1);
    prof_stream_end(at(10000 * (3 * nodes + 1)), 0);
    for (unsigned lost = 0; lost < kept_count; lost++) {
        see_all_but(lost);
        for (unsigned i = 0; i < seen_count; i++) {
            if (!is_sample(&seen[i]))
                continue;
            for (uint32_t node = seen[i].node; node != 0; node /= 2)
                assert_true(known[node].told > 0);
        }
    }
}

static void nodes_come_before_what_names_them(void **unused)
{
    static bool come[NODES];

    (void)unused;
    prof_stream_start(at(0), 1000000, 0);
    for (unsigned i = 1; i <= 5000; i++)
        prof_stream_sample(at(10000 * i), (i * 7919) % 90000 + 1);
    prof_stream_end(at(10000 * 5001), 0);
    see_all();
    for (unsigned i = 0; i < seen_count; i++) {
        uint32_t node = seen[i].node;

        if (seen[i].kind == PROF_EVENT_NODE ||
            seen[i].kind == PROF_EVENT_NODE_WIDE ||
            seen[i].kind == PROF_EVENT_LEAF)
            come[node] = known[node].parent == 0 || come[known[node].parent];
        assert_true(!is_sample(&seen[i]) || come[node]);
    }
}

static void nodes_in_use_are_told_again_now_and_then(void **unused)
{
    unsigned before;

    (void)unused;
    prof_stream_start(at(0), 1000000, 0);
    for (unsigned i = 1; i <= 300000; i++)
        prof_stream_sample(at(10000ull * i), i % 100 + 1);
    see_all();
    assert_true(kept_count > 256);
    before = known[100].told;
    assert_in_range(before, kept_count / 20, kept_count / 16 + 2);
    prof_stream_start(at(10000ull * 300001), 1000000, 0);
    for (unsigned i = 300002; i <= 302000; i++)
        prof_stream_sample(at(10000ull * i), i % 100 + 1);
    see_all();
    assert_int_equal(known[100].told, before + 1);
}

/* As many nodes in use as fill the packets that one is told again after: that
 * must not fill the next ones, and so on for ever. */
static void telling_nodes_again_does_not_fill_the_stream(void **unused)
{
    enum { IN_USE = 30000, SAMPLES = 10 * IN_USE };
    struct prof_stream_sums sums;

    (void)unused;
    prof_stream_start(at(0), 10000000, 0);
    for (unsigned i = 1; i <= SAMPLES; i++)
        prof_stream_sample(at(100ull * i), 40000 + i % IN_USE);
    prof_stream_sums(&sums);
    assert_in_range(sums.bytes, 8 * SAMPLES, 18 * SAMPLES);
}

/* Whoever begins to listen in the middle knows all stacks in use after twice
 * the packets that a node is told again after. */
static void who_joins_late_learns_all(void **unused)
{
    enum { WAIT = 2 * 16 };

    (void)unused;
    prof_stream_start(at(0), 1000000, 0);
    for (unsigned i = 1; i <= 100000; i++)
        prof_stream_sample(at(10000 * i), i * 7 % 1500 + 1);
    prof_stream_end(at(10000ull * 100001), 0);
    assert_true(kept_count > 3 * WAIT);
    for (unsigned first = 1; first + WAIT < kept_count; first += 5) {
        see_from(first, first + WAIT);
        for (unsigned node = 1; node <= 1500; node++)
            assert_true(known[node].told > 0);
    }
}

/* The one event of a first sample of (node) (gap) after a start; its node is
 * at (address). */
static const struct seen *told_as(uint32_t node, uintptr_t address,
                                  uint64_t gap)
{
    open_stream(NULL);
    odd_node = node;
    odd_address = address;
    prof_stream_start(at(100), 1000000, 64);
    prof_stream_sample(at(100), node / 2);
    prof_stream_sample(at(100 + gap), node);
    prof_stream_end(at(100 + gap), 0);
    see_all();
    assert_true(nth_sample(1)->clock == 100 + gap);
    assert_int_equal(nth_sample(1)->node, node);
    assert_true(known[node].address == address);
    assert_int_equal(known[node].parent, node / 2);
    odd_node = 0;
    return nth_sample(1);
}

static void what_is_too_large_takes_a_longer_form(void **unused)
{
    const uintptr_t text = 0x100000, far = text + (1u << 26);

    (void)unused;
    assert_int_equal(told_as(9, text, 10)->kind, PROF_EVENT_LEAF);
    assert_int_equal(told_as(9, far - 1, 65535)->kind, PROF_EVENT_LEAF);
    assert_int_equal(told_as(16383, text, 0)->kind, PROF_EVENT_LEAF);
    assert_int_equal(told_as(9, text, 65536)->kind, PROF_EVENT_SAMPLE_LATE);
    assert_int_equal(told_as(16384, text, 1)->kind, PROF_EVENT_SAMPLE_LATE);
    assert_int_equal(told_as(65535, far, 1)->kind, PROF_EVENT_SAMPLE_LATE);
    assert_int_equal(told_as(65536, text, 1)->kind, PROF_EVENT_SAMPLE_WIDE);
    assert_int_equal(told_as(9, far, 1)->kind, PROF_EVENT_SAMPLE);
    assert_int_equal(count_of(PROF_EVENT_NODE_WIDE), 1);
    assert_int_equal(told_as(9, text - 1, 1)->kind, PROF_EVENT_SAMPLE);
    assert_int_equal(count_of(PROF_EVENT_NODE_WIDE), 1);
    assert_int_equal(told_as(9, UINTPTR_MAX, 1)->kind, PROF_EVENT_SAMPLE);
}

/* In a packet of its own, so that a listener who joins there needs no other. */
static void a_new_listener_is_told_everything(void **unused)
{
    unsigned first, before;

    (void)unused;
    prof_stream_start(at(0), 1000000, 9);
    for (unsigned i = 1; i <= 50; i++)
        prof_stream_sample(at(1000 * i), i % 4 + 1);
    assert_int_equal(kept_count, 0);
    prof_stream_hello();
    assert_int_equal(kept_count, 1);
    prof_stream_start(at(1000 * 50), 1000000, 9);
    for (unsigned i = 51; i <= 100; i++)
        prof_stream_sample(at(1000 * i), i % 4 + 1);
    see_all();
    before = known[4].told;
    assert_int_equal(count_of(PROF_EVENT_HELLO), 1);
    prof_stream_end(at(1000 * 101), 0);
    see_all();
    assert_int_equal(count_of(PROF_EVENT_HELLO), 2);
    assert_int_equal(known[4].told, before + 1);
    for (first = 0; seen[first].packet == 0; first++)
        ;
    assert_int_equal(seen[first].kind, PROF_EVENT_HELLO);
    assert_int_equal(count_of_samples(), 100);
}

static void a_sample_costs_six_bytes(void **unused)
{
    struct prof_stream_sums sums;

    (void)unused;
    prof_stream_start(at(0), 1000000, 64);
    for (unsigned i = 1; i <= 60000; i++) {
        prof_stream_sample(at(10000 * i), i % 2000 + 1);
        if (i % 100 == 0)
            prof_stream_flush(at(10000 * i));
    }
    prof_stream_end(at(10000 * 60001), 0);
    prof_stream_sums(&sums);
    assert_true(sums.bytes < 6 * 60000);
}

static void nothing_waits_longer_than_a_second(void **unused)
{
    (void)unused;
    prof_stream_start(at(0), 100000, 0);
    prof_stream_idle(at(100));
    prof_stream_flush(at(PROF_CLOCK_HZ / 2));
    assert_int_equal(kept_count, 0);
    prof_stream_flush(at(PROF_CLOCK_HZ + 1000));
    assert_int_equal(kept_count, 1);
    prof_stream_flush(at(3 * (uint64_t)PROF_CLOCK_HZ));
    assert_int_equal(kept_count, 1);
}

static void with_nobody_listening_nothing_happens(void **unused)
{
    (void)unused;
    prof_stream_open(NULL, tree);
    assert_false(prof_stream_on());
    prof_stream_start(at(0), 1, 1);
    prof_stream_sample(at(1), 1);
    prof_stream_idle(at(1));
    prof_stream_spill(at(1), 1, 1, 1);
    prof_stream_drop(at(1), 1, 1);
    prof_stream_miss(at(1), 1);
    prof_stream_stopped_walk(at(1), 1, 1);
    prof_stream_hello();
    prof_stream_stop(at(1));
    prof_stream_flush(at(1));
    prof_stream_end(at(1), 0);
    assert_int_equal(kept_asked, 0);
}

#define TEST(name) cmocka_unit_test_setup(name, open_stream)

int main(void)
{
    static const struct CMUnitTest tests[] = {
        TEST(every_event_comes_out_as_told),
        TEST(times_survive_any_gap),
        TEST(time_never_goes_back),
        TEST(packets_are_numbered_and_say_hello_again),
        TEST(what_is_refused_is_counted_and_costs_no_time),
        TEST(a_way_that_stays_shut_ends_all_the_same),
        TEST(samples_are_known_whichever_packet_is_lost),
        TEST(nodes_come_before_what_names_them),
        TEST(nodes_in_use_are_told_again_now_and_then),
        TEST(telling_nodes_again_does_not_fill_the_stream),
        TEST(who_joins_late_learns_all),
        TEST(what_is_too_large_takes_a_longer_form),
        TEST(a_new_listener_is_told_everything),
        TEST(a_sample_costs_six_bytes),
        TEST(nothing_waits_longer_than_a_second),
        TEST(with_nobody_listening_nothing_happens),
    };

    return cmocka_run_group_tests_name("stream", tests, NULL, NULL);
}
