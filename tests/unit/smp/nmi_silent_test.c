/* SPDX-License-Identifier: Apache-2.0 */

/* No NMIs of the PIT come, as the PIT waits, or as the entry was overwritten,
 * on a made-up machine of several CPUs (nmi_world.h); NMIs of other code may
 * still come to all CPUs but the first. */

#include "nmi_world.h"

/* More than a second. */
TEST(a_silence_is_counted_and_reported)
{
    begin(2);
    assert_int_equal(prof_start(), 0);
    run(100);
    assert_int_equal(world_stats().tick.nmi_again, 0);
    for (int i = 0; i < 11; i++) {
        now += WORLD_TSC_HZ / 10;
        prof_drain();
    }
    assert_int_equal(world_stats().tick.nmi_again, 1);
    assert_int_equal(lines_with("prof: the last NMI came a second ago; the PIT "
                                "is programmed at each one from now on\n"),
                     1);
    assert_int_equal(prof_cpus[0].nmi.again, 1);
    run(100);
    assert_true(prof_running());
    prof_report();
    assert_int_equal(lines_with("1 times no NMI came for a second"), 1);
}

/* That KVM's PIT waits is known from the start. The first CPU programs it in
 * each of its NMIs, and no other one does. */
static void expect_programmed_by_one_cpu(void)
{
    uint32_t counts;

    kvm = reinjects = true;
    begin(4);
    for (uint32_t i = 1; i < 4; i++)
        join(i);
    assert_int_equal(prof_start(), 0);
    run(8);
    counts = counts_by[0];
    for (uint32_t i = 0; i < 4; i++)
        assert_int_equal(ticks_in(i, 64), 64);
    assert_int_equal(counts_by[0] - counts, 4 * 64);
    for (uint32_t i = 1; i < 4; i++)
        assert_int_equal(counts_by[i], 0);
    assert_int_equal(world_stats().tick.nmi_again, 0);
    expect_none_for_the_kernel();
}

TEST(kvms_pit_is_programmed_by_one_cpu)
{
    expect_programmed_by_one_cpu();
}

TEST(where_kvm_looks_like_hyper_v_as_well)
{
    kvm_at = 0x100;
    expect_programmed_by_one_cpu();
}

/* NMIs of somebody else's for all but the first CPU, in (ms); the first one
 * drains. */
static void others_come(uint32_t ms)
{
    for (uint32_t i = 0; i < ms; i += 10) {
        now += WORLD_TSC_HZ / 100;
        raise();
        for (uint32_t cpu = 1; cpu < cpu_count; cpu++)
            deliver_to_gate(cpu);
        prof_drain();
    }
}

/* Nobody says that it is KVM's. Others' NMIs do not make it look alive. */
TEST(a_silence_is_seen_while_others_nmis_come)
{
    uint32_t ticks;

    reinjects = true;
    begin(3);
    join(1);
    join(2);
    assert_int_equal(prof_start(), 0);
    ticks = prof_cpus[2].ticks;
    others_come(900);
    assert_int_equal(world_stats().tick.nmi_again, 0);
    assert_int_equal(prof_cpus[0].ticks, 1); /* before the silence */
    assert_in_range(prof_cpus[2].ticks - ticks, 80, 91);
    others_come(300);
    assert_int_equal(world_stats().tick.nmi_again, 1);
    assert_int_equal(lines_with("prof: the last NMI came a second ago"), 1);
    run(8);
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(ticks_in(i, 64), 64);
    run(4 * SECOND);
    assert_int_equal(lines_with(QUIET), 0);
    assert_true(prof_running());
    expect_none_for_the_kernel();
}

/* A kernel sets up its I/O APIC, again and again, while others' NMIs come: the
 * entry names all CPUs each time. */
TEST(an_entry_that_is_overwritten_names_all_again)
{
    begin_with_three();
    for (uint32_t i = 1; i < 4; i++) {
        entry_low = PROF_IOAPIC_MASKED;
        entry_high = 0;
        others_come(30);
        assert_int_equal(entry_low & PROF_IOAPIC_MASKED, 0);
        assert_int_equal(entry_high >> PROF_IOAPIC_TO_SHIFT, 7);
        assert_int_equal(world_stats().tick.nmi_taken_back, i);
        run(4);
        for (uint32_t cpu = 0; cpu < 3; cpu++)
            assert_int_equal(ticks_in(cpu, 8), 8);
    }
    assert_int_equal(lines_with("entry of the PIT was overwritten"), 3);
    prof_stop();
    assert_int_equal(entry_low, PROF_IOAPIC_MASKED); /* as the kernel's was */
    expect_none_for_the_kernel();
}

/* Programming it does not help: it is cut off. The last one, as NMIs are given
 * up for good. */
TEST(a_silence_that_lasts_is_given_up_while_others_nmis_come)
{
    begin_with_three();
    reinjects = waits_for_count = true;
    for (int i = 0; i < 400 && prof_running(); i++) {
        others_come(10);
        waits_for_count = true;
    }
    assert_false(prof_running());
    assert_int_equal(world_stats().tick.nmi_again, 1);
    assert_int_equal(lines_with("prof: no timer to sample by"), 1);
    expect_none_for_the_kernel();
    others_come(10); /* which are the kernel's again */
    assert_int_equal(cpus[0].kernels, 0);
    assert_int_equal(cpus[1].kernels, 1);
    assert_int_equal(cpus[2].kernels, 1);
}
