/* SPDX-License-Identifier: Apache-2.0 */

/* CPUs that join, leave and are in trouble while NMIs come, on a made-up
 * machine (nmi_world.h). */

#include "nmi_world.h"

/* ---- joining */

TEST(one_that_shares_a_bit_waits_for_its_gate)
{
    begin(9);
    own_table(8);
    assert_int_equal(prof_start(), 0);
    run(4);
    always = true;
    join(8);
    always = false;
    for (int i = 0; i < 3; i++) {
        now += WORLD_PERIOD;
        raise();
    }
    expect_none_for_the_kernel();
    poll(8); /* too early */
    raise();
    prof_drain();
    assert_int_equal(cpus[8].kicked, 1);
    assert_int_equal(ticks_in(8, 8), 0);
    poll(8);
    assert_int_equal(ticks_in(8, 8), 8);
    expect_none_for_the_kernel();
    leave(8);
    assert_int_equal(cpus[8].logical, 0);
    run(8);
    join(8);
    run(4);
    poll(8);
    assert_int_equal(ticks_in(8, 8), 8);
    expect_none_for_the_kernel();
}

/* The stub is in the common gate: it ignores what comes too early. */
TEST(one_that_shares_a_bit_and_the_gate_need_not_wait)
{
    begin(9);
    assert_int_equal(prof_start(), 0);
    run(4);
    always = true;
    join(8);
    always = false;
    now += WORLD_PERIOD;
    raise();
    assert_int_equal(prof_cpus[8].ticks, 0);
    assert_true(prof_cpus[8].nmi.duplicates > 0);
    prof_drain();
    assert_int_equal(cpus[8].kicked, 0);
    assert_int_equal(ticks_in(8, 8), 8);
    expect_none_for_the_kernel();
}

static void expect_several(bool own)
{
    begin(4);
    for (uint32_t i = 1; own && i < 4; i++)
        own_table(i);
    assert_int_equal(prof_start(), 0);
    run(4);
    always = true;
    for (uint32_t i = 1; i < 4; i++)
        join(i);
    prof_drain();
    prof_drain();
    always = false;
    expect_none_for_the_kernel();
    for (uint32_t i = 0; i < 4; i++)
        assert_int_equal(ticks_in(i, 8), 8);
    expect_none_for_the_kernel();
}

TEST(several_join_before_one_drain)
{
    expect_several(false);
    expect_several(true);
}

TEST(some_join_before_sampling_begins)
{
    begin(10);
    own_table(3);
    own_table(9);
    join(1);
    join(3);
    prof_drain();
    join(9);
    assert_true(cpus[9].logical != 0); /* it need not wait */
    always = true;
    assert_int_equal(prof_start(), 0);
    always = false;
    run(4);
    for (uint32_t i = 0; i < 10; i++)
        assert_int_equal(ticks_in(i, 8),
                         i == 0 || i == 1 || i == 3 || i == 9 ? 8 : 0);
    expect_none_for_the_kernel();
    prof_stop();
    run(4);
    expect_none_for_the_kernel();
    assert_int_equal(prof_start(), 0);
    assert_int_equal(ticks_in(9, 8), 8);
    expect_none_for_the_kernel();
}

/* The first CPU, while another one is about to join. */
static void start_meanwhile(void)
{
    uint32_t joining = here;
    struct prof_cpu *cpu = prof_cpu_hosted;

    be(0);
    assert_int_equal(prof_start(), 0);
    here = joining;
    prof_cpu_hosted = cpu;
    now += WORLD_PERIOD;
    raise();
}

/* Before each register that it accesses, and after the last one. */
TEST(sampling_begins_while_one_joins)
{
    for (int after = 1; after < 20; after++) {
        begin(9);
        own_table(8);
        meanwhile = start_meanwhile;
        accesses = after;
        join(8);
        if (meanwhile != NULL)
            start_meanwhile();
        meanwhile = NULL;
        run(4);
        if (cpus[8].kicked != 0)
            poll(8);
        assert_int_equal(ticks_in(8, 8), 8);
        expect_none_for_the_kernel();
    }
}

TEST(a_gate_that_cannot_be_taken_gets_none)
{
    begin(3);
    own_table(1);
    cpus[1].has_gate = false;
    assert_int_equal(prof_start(), 0);
    join(1);
    join(2);
    run(8);
    assert_int_equal(ticks_in(1, 8), 0);
    assert_int_equal(ticks_in(2, 8), 8);
    prof_stop();
    assert_int_equal(prof_start(), 0);
    assert_int_equal(ticks_in(1, 8), 0);
    expect_none_for_the_kernel();
}

/* What is not sampled is the kernel's. */
TEST(nmis_are_the_kernels_before_and_after)
{
    begin(2);
    join(1);
    assert_int_equal(prof_cpus[1].nmi.near, PROF_NMI_STOPPED);
    assert_int_equal(prof_start(), 0);
    run(4);
    assert_true(prof_cpus[1].nmi.near < WORLD_PERIOD);
    prof_stop();
    assert_int_equal(prof_cpus[0].nmi.near, PROF_NMI_STOPPED);
    assert_int_equal(prof_cpus[1].nmi.near, PROF_NMI_STOPPED);
}

/* ---- troubles */

TEST(a_sample_that_is_too_slow_on_any_cpu_halves_the_rate)
{
    begin(4);
    assert_int_equal(prof_start(), 0);
    for (uint32_t i = 1; i < 4; i++)
        join(i);
    run(200);
    assert_int_equal(world_stats().tick.nmi_slowed, 0);
    cpus[1].sample_cycles = WORLD_PERIOD / 5 * 6;
    cpus[2].sample_cycles = WORLD_PERIOD / 10 * 13;
    run(300);
    assert_int_equal(world_stats().tick.nmi_slowed, 1);
    assert_in_range(prof_rate_mhz(), 490000, 510000);
    assert_non_null(strstr(world_output, "prof: a sample on CPU 2 takes longer "
                                         "than the period, and NMIs leave"));
    assert_null(strstr(world_output, "on CPU 1"));
    run(300);
    assert_int_equal(world_stats().tick.nmi_slowed, 1);
}

/* What is counted of a CPU begins anew when it joins again. */
TEST(one_that_joins_again_is_not_slow)
{
    begin(2);
    assert_int_equal(prof_start(), 0);
    join(1);
    run(4);
    prof_cpus[1].nmi.duplicates += 50;
    run(64);
    leave(1);
    run(8);
    cpus[1].sample_cycles = WORLD_PERIOD / 10 * 7;
    join(1);
    run(100);
    assert_int_equal(world_stats().tick.nmi_slowed, 0);
}

TEST(a_destination_that_other_code_has_cleared_is_set_again)
{
    begin_with_three();
    cpus[1].logical = 0;
    run(SECOND);
    assert_int_equal(cpus[1].kicked, 0);
    run(2 * SECOND);
    assert_int_equal(cpus[1].kicked, 1);
    assert_int_equal(cpus[2].kicked, 0);
    poll(1);
    assert_int_equal(ticks_in(1, 8), 8);
    assert_int_equal(lines_with(MOVED "1 was changed"), 1);
    assert_int_equal(world_stats().tick.nmi_taken_back, 1);
    for (int again = 0; again < 2; again++) {
        cpus[1].logical = 0;
        run(3 * SECOND);
        poll(1);
        assert_int_equal(ticks_in(1, 8), 8);
    }
    assert_int_equal(world_stats().tick.nmi_taken_back, 3);
    assert_int_equal(lines_with(MOVED), 1);
    assert_int_equal(lines_with(QUIET), 0);
}

TEST(another_destination_of_the_kernels_is_used)
{
    begin_with_three();
    cpus[1].logical = 0x40000000;
    run(3 * SECOND);
    poll(1);
    run(4);
    assert_int_equal(ticks_in(1, 8), 8);
    assert_int_equal(cpus[1].logical, 0x40000000);
}

TEST(a_cpu_without_nmis_is_reported)
{
    begin_with_three();
    cpus[1].logical = 0;
    run(6 * SECOND);
    assert_int_equal(lines_with(QUIET), 1);
    assert_int_equal(lines_with("CPU 1: it does not call prof_cpu_poll()"), 1);
    poll(1); /* after all */
    assert_int_equal(ticks_in(1, 8), 8);
    cpus[1].logical = 0x11000000;
    cpus[1].format = 0;
    run(3 * SECOND);
    poll(1);
    run(3 * SECOND);
    assert_int_equal(lines_with(QUIET), 2);
    assert_int_equal(lines_with("CPU 1: logical destinations of"), 1);
    assert_int_equal(cpus[1].format, 0);
}

/* The first CPU's own, which nobody need ask. */
TEST(the_first_cpus_destination_is_set_again)
{
    begin_with_three();
    cpus[0].logical = 0;
    run(40);
    assert_int_equal(ticks_in(0, 8), 8);
    assert_int_equal(lines_with(MOVED "0 was changed"), 1);
}

TEST(one_in_a_cluster_cannot_join)
{
    begin(3);
    cpus[1].logical = 0x11000000;
    cpus[1].format = 0;
    be(1);
    assert_int_equal(prof_cpu_join(1), PROF_ELAPIC);
    be(0);
    cpus[2].format = 0; /* no destination: the kernel does not use them */
    join(2);
    assert_int_equal(cpus[2].format, FLAT);
}

/* A calibration now and then. */
TEST(one_shots_that_are_far_apart_are_forgotten)
{
    begin(2);
    assert_int_equal(prof_start(), 0);
    run(100);
    for (uint32_t i = 1; i < 6; i++) {
        now += 11ull * WORLD_TSC_HZ;
        one_shot = true;
        run(4);
        one_shot = false;
        run(100);
        assert_int_equal(world_stats().tick.pit_taken_back, i);
    }
    assert_int_equal(world_stats().tick.pit_given_up, 0);
    assert_non_null(prof_source_nmi_running());
}

/* The last one: NMIs are given up for good. */
TEST(clusters_are_refused)
{
    struct prof_config config = config_of(3);

    begin_with_three();
    assert_null(prof_source_nmi_missing(&config.tick));
    cpus[0].logical = 0x11000000;
    cpus[0].format = 0;
    assert_string_equal(prof_source_nmi_missing(&config.tick),
                        "logical destinations of local APICs are in clusters");
    run(20); /* 10 ms, and the next drain: not two seconds */
    assert_false(prof_running());
    assert_int_equal(lines_with("prof: no timer to sample by"), 1);
    assert_int_equal(cpus[0].format, 0);
}
