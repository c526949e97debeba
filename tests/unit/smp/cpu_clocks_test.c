/* SPDX-License-Identifier: Apache-2.0 */

/* The clocks of several CPUs, played by one thread: the times of their samples
 * in the stream, counters that are apart, and the ticks and NMIs that a CPU has
 * missed or ignored when it leaves. Built with PROF_CPUS_MAX of 64. */

#include "../profiler/profiler_world.h"
#include "../unit.h"
#include "aggregate/drain.h"
#include "sample/cpus.h"
#include "stream/stream.h"
#include "trace/event.h"

#include <prof/cpus.h>
#include <prof/error.h>

#define CPUS 2u
#define ENTRIES 64u
#define PACKETS_MAX 64u
#define OTHER (&prof_cpus[1])
#define CUT ((uint32_t)PROF_WALK_FALLING << PROF_WALK_STOP_SHIFT)

static uint8_t packets[PACKETS_MAX][PROF_PACKET_DEFAULT];
static size_t packet_bytes[PACKETS_MAX];
static uint32_t packet_count;

static bool keep(const void *packet, size_t bytes)
{
    assert_true(packet_count < PACKETS_MAX && bytes <= sizeof packets[0]);
    memcpy(packets[packet_count], packet, bytes);
    packet_bytes[packet_count++] = bytes;
    return true;
}

static bool open_always(void)
{
    return true;
}

static const struct prof_transport keeper = {
    .name = "keeper", .open = open_always, .send = keep};

static size_t memory_bytes(void)
{
    return CPUS * (WORLD_MEMORY(ENTRIES) + 2 * PROF_CACHE_LINE);
}

/* Ten seconds after boot. One timer ticks on all, as NMIs do. */
static void begin(void)
{
    struct prof_config config = {
        .tsc_hz = WORLD_TSC_HZ,
        .boot_tsc = prof_tsc() - 10ull * WORLD_TSC_HZ,
        .cpus = CPUS,
        .tick = {.kind = PROF_TICK_HOOK,
                 .rate_mhz = WORLD_RATE_MHZ,
                 .irregular = true},
        .text = {0x1000, 0x1000000},
    };

    world_end();
    world_memory = malloc(memory_bytes());
    prof_control_forget();
    prof_cpu_limit = 0;
    memset(prof_cpus, 0, sizeof prof_cpus);
    packet_count = 0;
    world_output_bytes = 0;
    assert_int_equal(prof_init(world_memory, memory_bytes(), &config), 0);
    prof_meter_end();
    prof_clock.common = prof_clock.by_nmi = true;
    prof_transport_use(&keeper);
    assert_int_equal(prof_start(), 0);
}

static void end(void)
{
    prof_clock.common = prof_clock.by_nmi = false;
    world_end();
}

FIXTURE(begin, end);

/* CPU 1 joins, whose counter is (offset) behind the first one's, and did so
 * (ago) cycles ago. */
static void join_late(int64_t offset, uint64_t ago)
{
    prof_cpu_hosted = PROF_CPU_NOBODY;
    assert_int_equal(prof_cpu_join(1), 0);
    prof_cpu_hosted = PROF_CPU_FIRST;
    prof_cpu_link(OTHER)->tsc_offset = offset;
    prof_cpu_link(OTHER)->joined_tsc -= (uint64_t)offset + ago;
    prof_drain();
}

static void join(void)
{
    join_late(0, 0);
}

static void leave(void)
{
    prof_cpu_hosted = OTHER;
    prof_cpu_leave();
    prof_cpu_hosted = PROF_CPU_FIRST;
}

/* A sample of CPU 1 at (tsc), by its counter, whose callers end early. */
static void sample(uint64_t tsc)
{
    OTHER->ticks++;
    prof_ring_push(&OTHER->ring, 0x3000, tsc, CUT);
}

/* Both get so many ticks, of which CPU 1 misses some. */
static void tick_both(uint32_t ticks, uint32_t missed)
{
    PROF_CPU_FIRST->ticks += ticks;
    OTHER->ticks += ticks - missed;
}

static struct prof_cpu_stats stats(void)
{
    struct prof_cpu_stats found;

    assert_true(prof_cpu_stats(1, &found));
    return found;
}

/* How many events of (kind) CPU (cpu) has sent; (seen) has the first of them. A
 * sample may define its stack. */
static struct event seen[8];

static uint32_t sent(uint16_t cpu, enum prof_event kind)
{
    struct event_reader reader;
    struct packet found;
    struct event event;
    uint32_t count = 0;

    for (uint32_t i = 0; i < packet_count; i++) {
        assert_int_equal(packet_check(packets[i], packet_bytes[i], &found),
                         PACKET_GOOD);
        if (found.cpu != cpu)
            continue;
        event_begin(&reader, &found);
        while (event_next(&reader, &event)) {
            if (event.kind == PROF_EVENT_LEAF)
                event.kind = PROF_EVENT_SAMPLE;
            if (event.kind != kind)
                continue;
            assert_true(count < sizeof seen / sizeof *seen);
            seen[count++] = event;
        }
    }
    return count;
}

static uint64_t clock_at(uint64_t tsc)
{
    return prof_stream_clock_at(&prof_encoder_of(OTHER)->writer.clock, tsc);
}

static uint64_t first_clock_at(uint64_t tsc)
{
    return prof_stream_clock_at(&prof_encoder_of(PROF_CPU_FIRST)->writer.clock,
                                tsc);
}

/* ---- times in the stream */

/* A change of the rate begins at each CPU's own last sample, though the other
 * one's is later or earlier; a start where that CPU was started. */
TEST(a_start_is_on_the_clock_of_its_cpu)
{
    for (uint64_t late = 0; late < 2; late++) {
        uint64_t begun;

        begin();
        join_late(WORLD_TSC_HZ, WORLD_TSC_HZ / 100);
        begun = prof_cpu_link(OTHER)->joined_tsc;
        sample(begun + 1000000 * late);
        prof_ring_push(&PROF_CPU_FIRST->ring, 0x3000,
                       begun + WORLD_TSC_HZ + 1000000 * !late, CUT);
        assert_int_equal(prof_set_depth(7), 0);
        sample(begun + 3000000);
        prof_drain();
        prof_stop();
        assert_int_equal(prof_start(), 0);
        prof_transport_end(0);
        assert_int_equal(sent(1, PROF_EVENT_START), 3);
        assert_int_equal(seen[1].as_start.depth, 7);
        assert_true(seen[1].time == clock_at(begun + 1000000 * late));
        assert_true(seen[2].time == clock_at(prof_clock_of(OTHER)->resume_tsc));
    }
}

/* The first comparison that is answered comes after CPU 1 has joined, while
 * there is a stream. */
TEST(a_comparison_moves_the_clock_of_a_stream)
{
    const uint64_t offset = WORLD_TSC_HZ;
    uint64_t begun;
    uint32_t count;

    join();
    begun = prof_tsc();
    sample(begun);
    prof_drain();
    prof_cpu_link(OTHER)->tsc_offset = (int64_t)offset;
    prof_cpu_link(OTHER)->tsc_error = 300;
    prof_drain();
    prof_drain();
    sample(begun + 1000);
    prof_drain();
    prof_transport_end(0);
    assert_int_equal(sent(1, PROF_EVENT_SAMPLE), 2);
    assert_true(seen[1].time == first_clock_at(begun + 1000 + offset));
    count = sent(1, PROF_EVENT_CPU);
    assert_true(count >= 2);
    assert_true(seen[count - 2].as_cpu.error == PROF_CPU_TSC_UNKNOWN);
    assert_true(seen[count - 1].as_cpu.offset == (int64_t)offset);
    assert_int_equal(seen[count - 1].as_cpu.error, 300);
}

/* CPU 1 is sampled on between the reading of its vector and the end of the
 * drain, which says how many walks ended early and what NMIs were merged. */
TEST(what_a_drain_says_at_its_end_moves_no_sample)
{
    const int64_t offsets[] = {0, WORLD_TSC_HZ, -(int64_t)WORLD_TSC_HZ};

    for (size_t i = 0; i < sizeof offsets / sizeof *offsets; i++) {
        uint64_t begun;

        begin();
        join_late(offsets[i], 0);
        begun = prof_cpu_tsc_at(OTHER, prof_tsc());
        tick_both(5, 5);
        sample(begun);
        prof_drain();
        sample(begun + 1000);
        sample(begun + 2000);
        prof_drain();
        prof_transport_end(0);
        assert_int_equal(sent(1, PROF_EVENT_STOPPED_WALK), 2);
        assert_int_equal(sent(1, PROF_EVENT_NMI), 2);
        assert_int_equal(seen[0].as_nmi.merged, 4);
        assert_int_equal(sent(1, PROF_EVENT_SAMPLE), 3);
        for (uint32_t j = 0; j < 3; j++)
            assert_true(seen[j].time == clock_at(begun + 1000 * j));
    }
}

/* A packet is sent once it is a second old, by the clock of its CPU. */
TEST(a_packet_is_as_old_as_its_cpu_says)
{
    const int64_t offsets[] = {0, WORLD_TSC_HZ, -(int64_t)WORLD_TSC_HZ};

    for (size_t i = 0; i < sizeof offsets / sizeof *offsets; i++) {
        uint64_t begun;

        begin();
        begun = prof_tsc();
        join_late(offsets[i], 0);
        if (prof_tsc() - begun < WORLD_TSC_HZ)
            assert_int_equal(sent(1, PROF_EVENT_START), 0);
        begin();
        join_late(offsets[i], WORLD_TSC_HZ * 3ull / 2);
        assert_int_equal(sent(1, PROF_EVENT_START), 1);
    }
}

/* ---- what was missed, over joining and leaving */

TEST(what_a_cpu_has_missed_is_kept)
{
    join();
    tick_both(10, 3);
    assert_int_equal(stats().missed, 3);
    leave();
    assert_int_equal(stats().missed, 3);
    PROF_CPU_FIRST->ticks += 100; /* which are no longer CPU 1's */
    assert_int_equal(stats().missed, 3);
    prof_drain();
    assert_false(stats().joined);
    assert_int_equal(prof_encoder_of(OTHER)->emitted.nmi_merged, 3);
    PROF_CPU_FIRST->ticks += 100;
    assert_int_equal(stats().missed, 3);
    assert_int_equal(world_stats().missed, 3);
    join();
    assert_int_equal(stats().missed, 3);
    tick_both(10, 1);
    assert_int_equal(stats().missed, 4);
    prof_drain();
    prof_transport_end(0);
    assert_int_equal(sent(1, PROF_EVENT_NMI), 2);
    assert_int_equal(seen[0].as_nmi.merged, 3);
    assert_int_equal(seen[1].as_nmi.merged, 4);
}

/* A reset begins the guest's own counts again; the stream goes on, as with its
 * samples. What the first CPU has missed is in its MISS events. */
TEST(a_reset_is_not_the_streams)
{
    uint32_t count;

    join();
    tick_both(10, 3);
    prof_reset();
    assert_int_equal(stats().missed, 0);
    tick_both(10, 2);
    leave();
    prof_drain();
    assert_int_equal(stats().missed, 2);
    prof_reset();
    assert_int_equal(stats().missed, 0);
    prof_clock_of(PROF_CPU_FIRST)->missed += 7;
    join();
    tick_both(10, 4);
    assert_int_equal(stats().missed, 4);
    prof_drain();
    prof_transport_end(0);
    count = sent(1, PROF_EVENT_NMI);
    assert_int_equal(seen[count - 1].as_nmi.merged, 3 + 2 + 4);
    assert_int_equal(sent(0, PROF_EVENT_NMI), 0);
}

/* A CPU that joins and leaves between two drains has missed nothing. */
TEST(who_was_hardly_there_has_missed_nothing)
{
    prof_cpu_hosted = PROF_CPU_NOBODY;
    assert_int_equal(prof_cpu_join(1), 0);
    prof_cpu_hosted = PROF_CPU_FIRST;
    tick_both(1000, 1000);
    assert_int_equal(stats().missed, 0);
    leave();
    assert_int_equal(stats().missed, 0);
    tick_both(1000, 1000);
    prof_drain();
    assert_int_equal(stats().missed, 0);
}

/* ---- NMIs that were no samples */

/* This machine has no local APIC, by which it would get them. */
TEST(ignored_nmis_are_kept)
{
    join();
    OTHER->nmi.duplicates = 5;
    prof_drain();
    prof_reset();
    assert_int_equal(world_stats().tick.nmi_duplicates, 0);
    leave();
    prof_drain();
    assert_int_equal(prof_source_nmi.join(OTHER), PROF_ELAPIC);
    assert_int_equal(OTHER->nmi.near, PROF_NMI_STOPPED);
    join();
    OTHER->nmi.duplicates += 2;
    assert_int_equal(world_stats().tick.nmi_duplicates, 2);
    prof_drain();
    prof_transport_end(0);
    assert_int_equal(sent(1, PROF_EVENT_NMI), 2);
    assert_int_equal(seen[1].as_nmi.duplicates, 7);
}
