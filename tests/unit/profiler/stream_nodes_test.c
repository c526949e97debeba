/* SPDX-License-Identifier: Apache-2.0 */

/* The encoder's nodes: whatever is lost, and whenever a reader joins, it learns
 * of the stacks that samples name. */

#include "../unit.h"

#include "stream_world.h"

FIXTURE(open_stream, NULL);

/* Each sample names a node that is defined before it, or the reader learns of
 * it later, whichever packet is lost. */
TEST(samples_are_known_whichever_packet_is_lost)
{
    unsigned nodes = 3000;

    prof_stream_start(prof_cpu_here(), at(0), 1000000, 0);
    for (unsigned i = 1; i <= 3 * nodes; i++)
        sample(at(10000 * i), i * 7 % nodes + 1);
    prof_stream_end(at(10000 * (3 * nodes + 1)), 0);
    for (unsigned lost = 0; lost < kept_count; lost++) {
        see_all_but(lost);
        for (unsigned i = 0; i < seen_count; i++) {
            if (!is_sample(&seen[i]))
                continue;
            for (uint32_t node = seen[i].event.node; node != 0; node /= 2)
                assert_true(known[node].defined > 0);
        }
    }
}

TEST(nodes_come_before_what_names_them)
{
    static bool come[NODES];

    prof_stream_start(prof_cpu_here(), at(0), 1000000, 0);
    for (unsigned i = 1; i <= 5000; i++)
        sample(at(10000 * i), (i * 7919) % 90000 + 1);
    prof_stream_end(at(10000 * 5001), 0);
    see_all();
    for (unsigned i = 0; i < seen_count; i++) {
        uint32_t node = seen[i].event.node;

        if (seen[i].event.kind == PROF_EVENT_NODE ||
            seen[i].event.kind == PROF_EVENT_LEAF)
            come[node] = known[node].parent == 0 || come[known[node].parent];
        assert_true(!is_sample(&seen[i]) || come[node]);
    }
}

TEST(nodes_in_use_are_emitted_again_now_and_then)
{
    unsigned before;

    prof_stream_start(prof_cpu_here(), at(0), 1000000, 0);
    for (unsigned i = 1; i <= 300000; i++)
        sample(at(10000ull * i), i % 100 + 1);
    see_all();
    assert_true(kept_count > 256);
    before = known[100].defined;
    assert_in_range(before, kept_count / 20, kept_count / 16 + 2);
    prof_stream_start(prof_cpu_here(), at(10000ull * 300001), 1000000, 0);
    for (unsigned i = 300002; i <= 302000; i++)
        sample(at(10000ull * i), i % 100 + 1);
    see_all();
    assert_int_equal(known[100].defined, before + 1);
}

/* How often node 100 of 400 in use is defined in (seconds), at 1 kHz. */
static unsigned definitions_in(unsigned seconds)
{
    prof_stream_start(prof_cpu_here(), at(0), 1000000, 0);
    for (unsigned i = 1; i <= seconds * 1000; i++)
        sample(at(10000ull * i), i % 400 + 1);
    see_all();
    return known[100].defined;
}

static int ask(void)
{
    return -1;
}

/* Where the reader can ask, nodes are defined twice, and then once a minute;
 * and all in use at once when it does. */
TEST(repeats_are_rare_where_readers_can_ask)
{
    struct prof_transport two_way = keeper;
    unsigned before;

    two_way.receive = ask;
    assert_in_range(definitions_in(300), 15, 2 + 300 / 10);
    open_stream();
    prof_stream_open(&(struct prof_stream_settings){
        .transport = &two_way, .tree = tree, .config = &config});
    before = definitions_in(300);
    assert_in_range(before, 4, 2 + 300 / 60);
    prof_stream_hello(prof_cpu_here());
    before = kept_count;
    for (unsigned i = 300001; i <= 302000; i++)
        sample(at(10000ull * i), i % 400 + 1);
    see_from(before, before + 1);
    for (unsigned node = 1; node <= 400; node++)
        assert_int_equal(known[node].defined, 1);
}

/* So many nodes are in use that they fill the packets after which each is
 * defined again: that must not fill the next ones, and so on for ever. */
TEST(emitting_nodes_again_does_not_fill_the_stream)
{
    enum { IN_USE = 30000, SAMPLES = 10 * IN_USE };
    struct prof_stats sums = {0};

    prof_stream_start(prof_cpu_here(), at(0), 10000000, 0);
    for (unsigned i = 1; i <= SAMPLES; i++)
        sample(at(100ull * i), 40000 + i % IN_USE);
    prof_stream_stats(&sums);
    assert_in_range(sums.stream_bytes, 8 * SAMPLES, 18 * SAMPLES);
}

/* Whoever begins to listen in the middle knows all stacks in use after twice
 * the packets that a node is defined again after. */
TEST(who_joins_late_learns_all)
{
    enum { WAIT = 2 * 16 };

    prof_stream_start(prof_cpu_here(), at(0), 1000000, 0);
    for (unsigned i = 1; i <= 100000; i++)
        sample(at(10000 * i), i * 7 % 1500 + 1);
    prof_stream_end(at(10000ull * 100001), 0);
    assert_true(kept_count > 3 * WAIT);
    for (unsigned first = 1; first + WAIT < kept_count; first += 5) {
        see_from(first, first + WAIT);
        for (unsigned node = 1; node <= 1500; node++)
            assert_true(known[node].defined > 0);
    }
}

/* The bytes of the form in which a first sample of (node) comes (gap) after a
 * start; its node is at (address). */
static unsigned emitted_in(uint32_t node, uintptr_t address, uint64_t gap)
{
    const struct seen *emitted;

    open_stream();
    odd_node = node;
    odd_address = address;
    prof_stream_start(prof_cpu_here(), at(100), 1000000, 64);
    sample(at(100), node / 2);
    sample(at(100 + gap), node);
    prof_stream_end(at(100 + gap), 0);
    see_all();
    odd_node = 0;
    emitted = nth_sample(1);
    assert_true(emitted->event.time == 100 + gap);
    assert_int_equal(emitted->event.node, node);
    assert_true(known[node].address == address);
    assert_int_equal(known[node].parent, node / 2);
    return emitted->bytes;
}

/* A node of any number and address. */
static bool seen_wide_node(void)
{
    for (unsigned i = 0; i < seen_count; i++)
        if (seen[i].event.kind == PROF_EVENT_NODE &&
            seen[i].bytes > PROF_NODE_BYTES)
            return true;
    return false;
}

TEST(what_is_too_large_takes_a_longer_form)
{
    const uintptr_t text = 0x100000, far = text + (1u << 26);
    const struct {
        uint32_t node;
        uintptr_t address;
        uint64_t gap;
        unsigned bytes;
        bool wide;
    } rows[] = {
        {9, text, 10, PROF_LEAF_BYTES, false},
        {9, far - 1, 65535, PROF_LEAF_BYTES, false},
        {16383, text, 0, PROF_LEAF_BYTES, false},
        {9, text, 65536, 4 + 2, false},
        {16384, text, 1, 4 + 2, true},
        {65535, far, 1, 4 + 2, true},
        {65536, text, 1, 4 + 4, true},
        {9, far, 1, PROF_SAMPLE_BYTES, true},
        {9, text - 1, 1, PROF_SAMPLE_BYTES, true},
        {9, UINTPTR_MAX, 1, PROF_SAMPLE_BYTES, true},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        unsigned bytes = emitted_in(rows[i].node, rows[i].address, rows[i].gap);

        if (bytes != rows[i].bytes || seen_wide_node() != rows[i].wide)
            fail_msg("row %zu: %u bytes", i, bytes);
    }
}

/* In a packet of its own, so that a listener who joins there needs no other. */
TEST(a_new_listener_gets_everything)
{
    unsigned first, before;

    prof_stream_start(prof_cpu_here(), at(0), 1000000, 9);
    for (unsigned i = 1; i <= 50; i++)
        sample(at(1000 * i), i % 4 + 1);
    assert_int_equal(kept_count, 0);
    prof_stream_hello(prof_cpu_here());
    assert_int_equal(kept_count, 1);
    prof_stream_start(prof_cpu_here(), at(1000 * 50), 1000000, 9);
    for (unsigned i = 51; i <= 100; i++)
        sample(at(1000 * i), i % 4 + 1);
    see_all();
    before = known[4].defined;
    assert_int_equal(count_of(PROF_EVENT_HELLO), 1);
    prof_stream_end(at(1000 * 101), 0);
    see_all();
    assert_int_equal(count_of(PROF_EVENT_HELLO), 2);
    assert_int_equal(known[4].defined, before + 1);
    for (first = 0; seen[first].packet == 0; first++)
        ;
    assert_int_equal(seen[first].event.kind, PROF_EVENT_HELLO);
    assert_int_equal(count_of_samples(), 100);
}
