/* SPDX-License-Identifier: Apache-2.0 */

/* Several CPUs, played by one thread: who joins, whose account a sample is in,
 * whose packets it is sent in, and which cache lines interrupt and drain write.
 * Built with PROF_CPUS_MAX of 64. */

#include "../profiler/profiler_world.h"
#include "aggregate/drain.h"
#include "base/options.h"
#include "sample/cpus.h"
#include "stream/stream.h"
#include "../unit.h"

#include <prof/causal.h>
#include <prof/cpus.h>
#include <prof/error.h>

#define CPUS 3u
#define ENTRIES 64u
#define PACKETS_MAX 64u

static struct prof_packet packets[PACKETS_MAX];
static uint32_t packet_count;

static bool keep(const void *packet, size_t bytes)
{
    assert_true(packet_count < PACKETS_MAX && bytes >= sizeof packets[0]);
    memcpy(&packets[packet_count++], packet, sizeof packets[0]);
    return true;
}

static bool open_always(void)
{
    return true;
}

static const struct prof_transport keeper = {
    .name = "keeper", .open = open_always, .send = keep};

/* What follows runs on (number); CPUS: on one that has not joined. */
static void be(uint32_t number)
{
    prof_cpu_hosted = number == CPUS ? PROF_CPU_NOBODY : &prof_cpus[number];
}

static size_t memory_bytes(void)
{
    return CPUS * (WORLD_MEMORY(ENTRIES) + 2 * PROF_CACHE_LINE);
}

static void begin_with(uint32_t cpus)
{
    struct prof_config config = {
        .tsc_hz = WORLD_TSC_HZ,
        .cpus = cpus,
        .tick = {.kind = PROF_TICK_HOOK,
                 .rate_mhz = WORLD_RATE_MHZ,
                 .irregular = true},
        .idle = {0x9000, 0x9010},
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
    prof_transport_use(&keeper);
    assert_int_equal(prof_start(), 0);
}

static void begin(void)
{
    begin_with(CPUS);
}

static void join(uint32_t number)
{
    be(CPUS);
    assert_int_equal(prof_cpu_join(number), 0);
    be(0);
    prof_drain();
}

static void sample(uint32_t number, uintptr_t pc, uint32_t times)
{
    be(number);
    while (times-- > 0)
        prof_sample(pc, 0, 0);
    be(0);
}

static struct prof_cpu_stats stats_of(uint32_t number)
{
    struct prof_cpu_stats stats;

    assert_true(prof_cpu_stats(number, &stats));
    return stats;
}

FIXTURE(NULL, world_end);

TEST(who_may_join)
{
    prof_cpu_limit = 0;
    assert_int_equal(prof_cpu_join(1), PROF_ESTATE);
    begin();
    be(CPUS);
    assert_int_equal(prof_cpu_join(0), PROF_EVALUE);
    assert_int_equal(prof_cpu_join(CPUS), PROF_EVALUE);
    assert_int_equal(prof_cpu_join(UINT32_MAX), PROF_EVALUE);
    assert_int_equal(prof_cpu_join(1), PROF_OK);
    be(CPUS);
    assert_int_equal(prof_cpu_join(1), PROF_ESTATE);
    be(0);
}

TEST(configurations)
{
    struct prof_config config = {.tsc_hz = WORLD_TSC_HZ, .cpus = 65};
    struct prof_config_problem problem;

    assert_true(prof_config_problem(&config, &problem));
    assert_string_equal(problem.field, "cpus");
    assert_int_equal(problem.most, 64);
    prof_control_forget();
    world_output_bytes = 0;
    assert_int_equal(prof_init(world_memory, memory_bytes(), &config),
                     PROF_ECONFIG);
    assert_string_equal(world_output,
                        "prof: config.cpus is 65, but must be from 0 to 64\n");
    config.cpus = 64; /* too many for that memory */
    assert_int_equal(prof_init(world_memory, memory_bytes(), &config),
                     PROF_EMEMORY);
    assert_int_equal(prof_cpu_join(1), PROF_ESTATE);
}

/* A virtual clock is about one CPU. */
TEST(no_experiments)
{
    const struct prof_causal_settings settings = {.tsc_hz = WORLD_TSC_HZ};

    begin();
    assert_int_equal(prof_causal_start(&settings), PROF_ECAUSAL_CPUS);
    assert_non_null(
        strstr(prof_strerror(PROF_ECAUSAL_CPUS), "several CPUs run"));
    begin_with(1);
    assert_int_equal(prof_causal_start(&settings), PROF_EVALUE); /* no target */
}

/* A drain that takes all of one CPU's samples and not all of another's takes
 * the rest in the next ones, and is behind as long. */
TEST(one_that_is_behind_keeps_no_other_waiting)
{
    begin();
    join(1);
    join(2);
    prof_drain_state.most = 30; /* 11 of each */
    for (uint32_t round = 0; round < 40; round++) {
        sample(1, 0x3000, 20);
        sample(2, 0x4000, 1);
        prof_drain();
        assert_true(prof_drain_is_behind());
        assert_int_equal(stats_of(1).queued, 9);
        assert_int_equal(stats_of(2).queued, 0);
        prof_drain();
        assert_false(prof_drain_is_behind());
    }
    assert_int_equal(stats_of(1).unresolved, 40 * 20);
    assert_int_equal(stats_of(2).unresolved, 40);
    assert_int_equal(world_stats().overflowed, 0);
}

TEST(each_has_its_account)
{
    struct prof_stats all;

    begin();
    join(1);
    join(2);
    sample(0, 0x2000, 10);
    sample(1, 0x3000, 20);
    sample(1, 0x9004, 3); /* idle */
    sample(2, 0x2000, 1);
    sample(CPUS, 0x2000, 7); /* nobody's */
    assert_int_equal(stats_of(1).queued, 23);
    prof_drain();
    all = world_stats();
    assert_int_equal(all.ticks, 34);
    assert_int_equal(all.unresolved, 31);
    assert_int_equal(all.idle, 3);
    assert_int_equal(stats_of(0).unresolved, 10);
    assert_int_equal(stats_of(1).unresolved, 20);
    assert_int_equal(stats_of(1).idle, 3);
    assert_int_equal(stats_of(1).ticks, 23);
    assert_int_equal(stats_of(2).ticks, 1);
    assert_int_equal(world_drained(0x2000).samples, 11);
    assert_int_equal(world_drained(0x3000).samples, 20);
    assert_false(prof_cpu_stats(CPUS, &(struct prof_cpu_stats){0}));
    prof_reset();
    assert_int_equal(stats_of(1).ticks, 0);
    assert_int_equal(world_stats().ticks, 0);
}

/* Each full vector overflows into its own table. */
TEST(a_full_vector_is_its_own)
{
    begin();
    join(1);
    sample(1, 0x3000, 1000);
    sample(0, 0x2000, 3);
    prof_drain();
    prof_drain();
    assert_int_equal(stats_of(1).ticks, 1000);
    assert_int_equal(stats_of(1).unresolved + stats_of(1).queued, 1000);
    assert_true(stats_of(1).queued > 0); /* these may still get more */
    sample(1, 0x3000, 1);
    prof_drain();
    prof_drain();
    assert_int_equal(stats_of(1).ticks, 1001);
    assert_int_equal(stats_of(1).unresolved + stats_of(1).dropped, 1001);
    assert_int_equal(stats_of(1).queued, 0);
    assert_int_equal(stats_of(0).unresolved, 3);
    assert_true(world_stats().overflowed > 0);
}

TEST(leaving)
{
    begin();
    join(1);
    sample(1, 0x3000, 4);
    be(1);
    prof_cpu_leave();
    be(CPUS);
    assert_int_equal(prof_cpu_join(1), PROF_ESTATE); /* samples are queued */
    be(0);
    prof_drain();
    prof_drain();
    assert_false(stats_of(1).joined);
    assert_int_equal(stats_of(1).ticks, 4);
    assert_int_equal(stats_of(1).unresolved, 4);
    sample(1, 0x3000, 4);
    assert_int_equal(stats_of(1).ticks, 4);
    join(1);
    sample(1, 0x3000, 2);
    prof_drain();
    assert_int_equal(stats_of(1).unresolved, 6);
}

TEST(stopping)
{
    begin();
    join(1);
    prof_stop();
    sample(1, 0x3000, 4);
    assert_int_equal(stats_of(1).ticks, 0);
    join(2); /* while it is stopped */
    sample(2, 0x3000, 4);
    assert_int_equal(prof_start(), 0);
    sample(1, 0x3000, 4);
    sample(2, 0x3000, 3);
    prof_drain();
    assert_int_equal(stats_of(1).unresolved, 4);
    assert_int_equal(stats_of(2).unresolved, 3);
}

/* Packets of each CPU have its number and count from 0; all have one UUID. */
TEST(packets_have_their_cpu)
{
    uint32_t next[CPUS] = {0};

    begin();
    join(1);
    for (uint32_t i = 0; i < 4; i++) {
        sample(0, 0x2000, 40);
        sample(1, 0x3000, 40);
        prof_drain();
        prof_hello();
    }
    prof_transport_end(0);
    for (uint32_t i = 0; i < packet_count; i++) {
        assert_in_range(packets[i].cpu, 0, 1);
        assert_int_equal(packets[i].sequence, next[packets[i].cpu]++);
        assert_memory_equal(packets[i].uuid, packets[0].uuid,
                            sizeof packets[0].uuid);
    }
    assert_true(next[0] >= 4 && next[1] >= 4);
}

TEST(one_cpu_is_shown)
{
    assert_int_equal(prof_option("prof.cpu=64"), PROF_EVALUE);
    assert_int_equal(prof_option("prof.cpu=1"), 0);
    begin();
    join(1);
    sample(0, 0x2000, 10);
    sample(1, 0x3000, 20);
    prof_drain();
    assert_int_equal(world_stats().ticks, 20);
    assert_int_equal(world_stats().unresolved, 20);
    world_output_bytes = 0;
    prof_report();
    assert_non_null(strstr(world_output, "--- profile: CPU 1: 20 samples"));
    assert_null(strstr(world_output, "0x00002000"));
    assert_int_equal(stats_of(0).unresolved, 10);
    prof_options_in_force.cpu = PROF_CPU_ALL;
}

TEST(table_has_a_row_for_each)
{
    begin();
    join(2);
    sample(0, 0x2000, 10);
    sample(2, 0x9004, 20);
    prof_drain();
    prof_report();
    assert_non_null(strstr(world_output, "    CPU     samples       busy"));
    assert_non_null(strstr(world_output, "\n      0          10   100.00 %"));
    assert_null(strstr(world_output, "\n      1 "));
    assert_non_null(
        strstr(world_output, "\n      2          20     0.00 %   100.00 %"));
    begin_with(1);
    sample(0, 0x2000, 10);
    prof_drain();
    world_output_bytes = 0;
    prof_report();
    assert_null(strstr(world_output, "    CPU     samples"));
}

static void sample_both(void)
{
    sample(0, 0x2000, 1);
    sample(2, 0x3000, 3);
}

/* Samples that come while a table is written are in none of its rows. */
TEST(rows_add_up_while_samples_come)
{
    begin();
    join(2);
    sample(0, 0x2000, 10);
    sample(2, 0x3000, 20);
    world_on_write = sample_both;
    prof_report();
    world_on_write = NULL;
    assert_true(stats_of(0).ticks > 10 && stats_of(2).ticks > 20);
    assert_non_null(strstr(world_output, " 30    all ticks since the start\n"));
    assert_non_null(strstr(world_output, "\n      0          10   100.00 %"));
    assert_non_null(strstr(world_output, "\n      2          20   100.00 %"));
    prof_reset();
    assert_int_equal(stats_of(0).ticks, 0);
    world_output_bytes = 0;
    sample(2, 0x3000, 2);
    prof_report();
    assert_non_null(strstr(world_output, "\n      2           2   100.00 %"));
}

/* ---- which cache lines are written by whom */

enum { BY_INTERRUPT = 1, BY_DRAIN = 2 };

static unsigned char before[sizeof prof_cpus], *memory_before;
static unsigned char state_lines[sizeof prof_cpus / PROF_CACHE_LINE + 1];
static unsigned char memory_lines[1 << 16];

static void remember(void)
{
    memcpy(before, prof_cpus, sizeof before);
    memcpy(memory_before, world_memory, memory_bytes());
}

static void note(unsigned char *lines, const void *now, const void *then,
                 size_t bytes, unsigned char by)
{
    uintptr_t first = (uintptr_t)now / PROF_CACHE_LINE;

    for (size_t i = 0; i < bytes; i++)
        if (((const unsigned char *)now)[i] != ((const unsigned char *)then)[i])
            lines[((uintptr_t)now + i) / PROF_CACHE_LINE - first] |= by;
}

static void note_writes(unsigned char by)
{
    note(state_lines, prof_cpus, before, sizeof before, by);
    note(memory_lines, world_memory, memory_before, memory_bytes(), by);
}

/* What the interrupt of CPU 1 writes, and what the drain does on CPU 0, differ
 * in all lines, of the CPU's state and of the vectors, while these have room:
 * both sides go around them several times. And CPU 1 writes to no line of
 * CPU 2's. */
TEST(no_line_has_two_writers)
{
    uint32_t of_interrupt = 0, of_drain = 0;
    uintptr_t first = (uintptr_t)&prof_cpus[1] / PROF_CACHE_LINE -
                      (uintptr_t)prof_cpus / PROF_CACHE_LINE;

    begin();
    join(1);
    memory_before = malloc(memory_bytes());
    memset(state_lines, 0, sizeof state_lines);
    memset(memory_lines, 0, sizeof memory_lines);
    for (uint32_t round = 0; round < 10 * ENTRIES; round++) {
        uintptr_t stack[16] = {0};

        be(1);
        prof_stack_set((uintptr_t)stack, (uintptr_t)(stack + 16));
        stack[5] = (uintptr_t)&stack[8];
        stack[6] = 0x2000 + round % 7;
        remember();
        prof_sample(0x3000 + round % 5, (uintptr_t)stack, (uintptr_t)&stack[5]);
        note_writes(BY_INTERRUPT);
        be(0);
        remember();
        if (round % 3 == 0)
            prof_drain();
        note_writes(BY_DRAIN);
    }
    free(memory_before);
    for (size_t i = 0; i < sizeof state_lines; i++) {
        assert_int_not_equal(state_lines[i], BY_INTERRUPT | BY_DRAIN);
        of_interrupt += (state_lines[i] & BY_INTERRUPT) != 0;
        of_drain += (state_lines[i] & BY_DRAIN) != 0;
        if (state_lines[i] != 0)
            assert_in_range(i, first,
                            first + sizeof prof_cpus[0] / PROF_CACHE_LINE - 1);
    }
    for (size_t i = 0; i < sizeof memory_lines; i++)
        assert_int_not_equal(memory_lines[i], BY_INTERRUPT | BY_DRAIN);
    assert_true(of_interrupt >= 2); /* or nothing was seen at all */
    assert_int_equal(of_drain, 2);  /* the tails of both vectors */
}
