/* SPDX-License-Identifier: Apache-2.0 */

/*
 * What the accounts say of timers like KVM's: of periods that it does not keep,
 * of ticks that it holds back, delivers in bursts, merges or loses, each beside
 * a host that takes time.
 */

#include "../unit.h"

#include "profiler_world.h"

#include "base/options.h"
#include "control/control.h"
#include "kvm_timer.h"
#include "stream_checker.h"

#define MS 1000000ull
#define SECOND 1000000000ull

static const struct prof_tick own = {.kind = PROF_TICK_OWN_PIT, .vector = 34};
static const struct prof_tick shared = {
    .kind = PROF_TICK_PIT, .vector = 32, .kernel_divisor = 11932};

static const struct kvm_host qemu = {.late_ns = 20000};
static const struct kvm_host kvm_now = {
    .min_period_ns = 200000, .reinject = true, .late_ns = 20000};
static const struct kvm_host kvm_before = {
    .min_period_ns = 500000, .reinject = true, .late_ns = 20000};
static const struct kvm_host kvm_discards = {.min_period_ns = 200000,
                                             .late_ns = 20000};

static struct kvm_host busy(struct kvm_host host)
{
    host.steal_every_us = 10000;
    host.steal_us = 3000;
    return host;
}

static bool is_said(void)
{
    return strstr(world_output, " ticks once in") != NULL;
}

/* (value) is within (percent) of (right). */
static void assert_about(uint64_t value, uint64_t right, uint64_t percent)
{
    uint64_t off = value > right ? value - right : right - value;

    if (off * 100 > right * percent)
        fail_msg("%llu is not about %llu", (unsigned long long)value,
                 (unsigned long long)right);
}

static void assert_below(uint64_t value, uint64_t limit)
{
    if (value >= limit)
        fail_msg("%llu is not below %llu", (unsigned long long)value,
                 (unsigned long long)limit);
}

static void set_default(void)
{
    prof_options_in_force.jitter_percent = PROF_JITTER_DEFAULT;
    unit_seed = 1;
}

static void end(void)
{
    prof_stop();
    set_default();
    prof_options_in_force.hz = PROF_HZ_DEFAULT;
    world_end();
    prof_lapic_test = NULL;
}

FIXTURE(set_default, end);

/* Of the first second. */
#define PART_UNTIL_SUSPECTED (SECOND / 1000)

/* A second is enough, and the time before is no theft either. */
static void expect_floor_of(struct prof_tick tick, struct kvm_host host,
                            uint32_t hz, uint32_t rate_mhz)
{
    struct prof_stats stats;
    uint64_t begin, ticks;

    kvm_start(host, tick, hz);
    begin = kvm.now;
    kvm_run(1000);
    assert_true(is_said());
    assert_about(prof_rate_mhz(), rate_mhz, 4);
    stats = world_stats();
    assert_below(stats.stolen_cycles, PART_UNTIL_SUSPECTED);
    assert_about(stats.elapsed_cycles, kvm.now - begin, 2);
    prof_reset();
    ticks = kvm.ticks;
    begin = kvm.now;
    world_output_bytes = 0;
    world_output[0] = '\0';
    kvm_run(2000);
    assert_false(is_said()); /* one line */
    assert_about(kvm.ticks - ticks,
                 (kvm.now - begin) * prof_rate_mhz() / 1000 / SECOND, 2);
    stats = world_stats();
    assert_below(stats.missed, 20);
    assert_int_equal(stats.stolen_cycles, 0);
    end();
}

static void expect_floor(struct kvm_host host, uint32_t hz, uint32_t rate_mhz)
{
    expect_floor_of(own, host, hz, rate_mhz);
}

TEST(a_floor_under_the_period_is_found_within_a_second)
{
    expect_floor(kvm_now, 20000, 3330000);
    expect_floor(kvm_now, 10000, 3330000);
    expect_floor(kvm_now, 5000, 3330000);
    expect_floor(kvm_discards, 20000, 3330000);
    expect_floor(kvm_before, 20000, 1330000);
    expect_floor(kvm_before, 2000, 1330000);
}

TEST(without_jitter_the_rate_is_that_of_the_floor)
{
    prof_options_in_force.jitter_percent = 0;
    expect_floor(kvm_now, 20000, 4980000);
    prof_options_in_force.jitter_percent = 0;
    expect_floor(kvm_before, 5000, 1990000);
}

TEST(the_line_says_what_is_kept)
{
    kvm_start(kvm_now, own, 20000);
    kvm_run(1000);
    assert_non_null(strstr(
        world_output, "prof: the PIT ticks once in 200 us at most, whatever it "
                      "is programmed to (KVM's does): sampling at 33"));
}

/* No shorter period is programmed from then on, whatever is asked for. */
TEST(no_rate_goes_below_a_floor_that_is_known)
{
    kvm_start(kvm_now, own, 20000);
    kvm_run(1000);
    assert_int_equal(prof_set_rate(20000), PROF_OK);
    assert_about(prof_rate_mhz(), 3330000, 4);
    for (int i = 0; i < 100; i++) {
        kvm_run(20);
        assert_true(kvm_ns_of(kvm.count) >= 199000);
    }
    assert_true(prof_period_varies());
    assert_int_equal(prof_set_rate(1000), PROF_OK);
    assert_about(prof_rate_mhz(), 1000000, 1);
}

TEST(a_timer_that_keeps_its_period_is_left_alone)
{
    static const uint32_t rates[] = {20000, 10000, 5000, 2000, 1000};

    for (size_t i = 0; i < COUNT(rates); i++) {
        uint64_t asked;

        kvm_start(qemu, own, rates[i]);
        asked = prof_rate_mhz();
        kvm_run(3000);
        assert_false(is_said());
        assert_int_equal(prof_rate_mhz(), asked);
        end();
        kvm_start(kvm_now, own, 2000); /* 250 us and more */
        kvm_run(3000);
        assert_false(is_said());
        end();
    }
}

/* A host that takes a third of the time is no floor, and its time is stolen. */
TEST(theft_is_no_floor)
{
    static const uint32_t rates[] = {20000, 5000, 2000};

    for (size_t i = 0; i < COUNT(rates); i++)
        for (uint64_t seed = 1; seed <= 10; seed++) {
            uint64_t asked;

            unit_seed = seed;
            kvm_start(busy(qemu), own, rates[i]);
            asked = prof_rate_mhz();
            kvm_run(3000);
            assert_false(is_said());
            assert_int_equal(prof_rate_mhz(), asked);
            assert_about(world_stats().stolen_cycles, kvm.stolen, 12);
            end();
        }
}

TEST(a_floor_is_found_beside_theft)
{
    for (uint64_t seed = 1; seed <= 20; seed++) {
        uint64_t stolen, taken;

        unit_seed = seed;
        kvm_start(busy(seed % 2 == 0 ? kvm_now : kvm_discards), own, 20000);
        kvm_run(1000);
        assert_true(is_said());
        assert_about(prof_rate_mhz(), 3330000, 6);
        prof_drain();
        stolen = world_stats().stolen_cycles;
        taken = kvm.stolen;
        kvm_run(3000);
        assert_about(world_stats().stolen_cycles - stolen, kvm.stolen - taken,
                     15);
        end();
    }
}

/* Of the kernel's ticks none is lost. */
TEST(the_kernel_has_its_ticks)
{
    uint64_t begin, ticks;

    kvm_start(kvm_now, shared, 20000);
    kvm_run(1000);
    assert_true(is_said());
    begin = kvm.now;
    ticks = kvm.kernel_ticks;
    kvm_run(3000);
    assert_about(kvm.kernel_ticks - ticks, (kvm.now - begin) / (10 * MS), 1);
    prof_stop();
    assert_int_equal(kvm.count, shared.kernel_divisor);
}

/* At the kernel's own rate the timer is not ours to slow down. */
TEST(a_kernel_faster_than_the_floor_is_sampled_as_it_comes)
{
    const struct prof_tick fast = {
        .kind = PROF_TICK_PIT, .vector = 32, .kernel_divisor = 119};
    struct prof_stats stats;

    prof_options_in_force.jitter_percent = 0;
    kvm_start(kvm_now, fast, 10000);
    kvm_run(1000);
    assert_true(is_said());
    assert_about(prof_rate_mhz(), 5000000, 4);
    assert_int_equal(kvm.count, 119);
    assert_int_equal(kvm.programmed, 1); /* by the kernel */
    kvm_run(2000);
    stats = world_stats();
    assert_int_equal(stats.stolen_cycles, 0);
    assert_below(stats.missed, 50);
}

/* ---- ticks that are held back */

/* The ticks that were due and those in the accounts are the same number. */
static void expect_all_accounted(uint64_t percent)
{
    struct prof_stats stats = world_stats();
    uint64_t due = kvm.expired;

    assert_about(stats.ticks + stats.missed, due, percent);
}

TEST(held_ticks_come_in_a_burst_and_are_not_missed)
{
    struct prof_stats stats;

    prof_options_in_force.jitter_percent = 0; /* nothing is dropped */
    kvm_start(kvm_now, own, 1000);
    for (int i = 0; i < 50; i++) {
        kvm_run(30);
        kvm_steal(12 * MS + MS / 2);
    }
    kvm_run(100);
    stats = world_stats();
    assert_int_equal(kvm.coalesced, 0);
    assert_int_equal(kvm.dropped, 0);
    assert_int_equal(stats.ticks, kvm.expired);
    assert_below(stats.missed, 3);
}

/* Of such a burst the first tick alone has waited for the host: the others come
 * when they are acknowledged. */
TEST(a_burst_leaves_the_stolen_time_stolen)
{
    prof_options_in_force.jitter_percent = 0;
    kvm_start(kvm_now, own, 1000);
    for (int i = 0; i < 50; i++) {
        kvm_run(30);
        kvm_steal(12 * MS + MS / 2);
    }
    kvm_run(100);
    assert_about(world_stats().stolen_cycles, kvm.stolen, 12);
}

/* A new period forgets what was held back. */
TEST(held_ticks_are_dropped_with_the_period)
{
    kvm_start(busy(kvm_now), own, 3000);
    kvm_run(4000);
    assert_true(kvm.dropped > 20);
    assert_true(world_stats().missed > kvm.dropped / 2);
    assert_about(world_stats().stolen_cycles, kvm.stolen, 15);
}

TEST(discarded_ticks_are_missed)
{
    prof_options_in_force.jitter_percent = 0;
    kvm_start(busy(kvm_discards), own, 1000);
    kvm_run(4000);
    assert_true(kvm.coalesced > 100);
    assert_int_equal(world_stats().ticks, kvm.expired - kvm.coalesced);
    expect_all_accounted(2);
    assert_about(world_stats().stolen_cycles, kvm.stolen, 20);
}

/* Held ticks are too many at once, and no reason to suspect the timer or to
 * program it again. */
TEST(a_burst_does_not_disturb_the_timer)
{
    prof_options_in_force.jitter_percent = 0;
    kvm_start(busy(kvm_now), own, 3000);
    kvm_run(4000);
    assert_null(strstr(world_output, "reprogrammed"));
    assert_int_equal(kvm.programmed, 1);
}

/* The period as it was measured is too long, by as much as a busy host makes of
 * it: so ticks seem to be too many, and the timer is looked at closely, while
 * the host takes most of a period between two looks. */
TEST(a_period_measured_too_long_disturbs_nothing)
{
    struct kvm_host host = qemu;

    prof_options_in_force.jitter_percent = 0;
    host.steal_every_us = 1000;
    host.steal_us = 600;
    kvm_start(host, own, 1000);
    for (int i = 0; i < 2000; i++) {
        struct prof_timebase *clock = prof_clock_of(PROF_CPU_FIRST);

        clock->period = clock->nominal + clock->nominal / 12;
        clock->missed -= 1000;
        kvm_run(7);
    }
    assert_null(strstr(world_output, "reprogrammed"));
    assert_int_equal(kvm.programmed, 1);
}

/* By somebody who wants ticks a little sooner. */
TEST(a_count_that_begins_below_the_divisor_is_found)
{
    prof_options_in_force.jitter_percent = 0;
    kvm_start(qemu, own, 1000);
    kvm_run(1000);
    prof_out8(PROF_PIT_COMMAND, 0x34);
    prof_out8(0x40, (uint8_t)(WORLD_DIVISOR * 7 / 8));
    prof_out8(0x40, (uint8_t)(WORLD_DIVISOR * 7 / 8 >> 8));
    kvm_run(1000);
    assert_non_null(strstr(world_output, "the PIT was reprogrammed"));
    assert_int_equal(kvm.count, WORLD_DIVISOR);
}

/* A program that holds interrupts off delays ticks, which then come together;
 * nothing was stolen or lost but what a new period drops. */
TEST(interrupts_off_hold_ticks_back)
{
    prof_options_in_force.jitter_percent = 0;
    kvm_start(kvm_now, own, 1000);
    for (int i = 0; i < 20; i++) {
        kvm_run(30);
        kvm.interrupts = false;
        kvm_pass(5 * MS);
        kvm.interrupts = true;
    }
    kvm_run(100);
    assert_int_equal(world_stats().ticks, kvm.expired);
    assert_below(world_stats().missed, 3);
}

/* ---- the local APIC's timer, which is the kernel's */

static const struct kvm_host kvm_lapic = {
    .min_period_ns = 200000, .late_ns = 20000, .lapic = true};

/* The kernel's timer ticks every (counts), as it says. */
static void start_hook(struct kvm_host host, uint32_t counts)
{
    const struct prof_tick hook = {
        .kind = PROF_TICK_HOOK,
        .rate_mhz = (uint32_t)(PROF_PIT_HZ * 1000ull / counts)};

    kvm_start(host, hook, 1000);
    prof_out8(PROF_PIT_COMMAND, 0x34);
    prof_out8(0x40, (uint8_t)counts);
    prof_out8(0x40, (uint8_t)(counts >> 8));
}

TEST(a_kernels_timer_with_a_floor_is_measured)
{
    struct prof_stats stats;

    start_hook(kvm_lapic, 119);
    kvm_run(2000);
    assert_non_null(strstr(world_output, " Hz, as measured: "
                                         "config.tick.rate_mhz or "));
    assert_about(prof_rate_mhz(), 5000000, 4);
    stats = world_stats();
    assert_int_equal(stats.stolen_cycles, 0);
    assert_below(stats.missed, 100); /* of 10,000 */
}

TEST(one_tick_of_it_is_pending_at_most)
{
    start_hook(busy(kvm_lapic), 1193);
    kvm_run(4000);
    assert_true(kvm.coalesced > 100);
    assert_int_equal(world_stats().ticks, kvm.expired - kvm.coalesced);
    expect_all_accounted(2);
    assert_about(world_stats().stolen_cycles, kvm.stolen, 20);
}

/* ---- the local APIC's timer, which is the profiler's */

static const struct prof_tick apic = {
    .kind = PROF_TICK_LAPIC, .lapic_vector = 48, .lapic_at = 0x1000};
static const struct kvm_host kvm_lapic_before = {
    .min_period_ns = 500000, .late_ns = 20000, .lapic = true};
static const struct kvm_host qemu_lapic = {.late_ns = 20000, .lapic = true};

TEST(a_timer_of_our_own_has_that_floor)
{
    expect_floor_of(apic, kvm_lapic, 20000, 3330000);
    expect_floor_of(apic, kvm_lapic, 5000, 3330000);
    expect_floor_of(apic, kvm_lapic_before, 20000, 1330000);
    prof_options_in_force.jitter_percent = 0;
    expect_floor_of(apic, kvm_lapic, 20000, 4980000);
}

TEST(the_line_names_the_apics_timer)
{
    kvm_start(kvm_lapic, apic, 20000);
    kvm_run(1000);
    assert_non_null(strstr(world_output,
                           "prof: the local APIC's timer ticks once in 200 us "
                           "at most, whatever it is programmed to (KVM's "
                           "does): sampling at 33"));
    assert_null(strstr(world_output, "counts at"));
}

TEST(no_rate_of_it_goes_below_the_floor)
{
    kvm_start(kvm_lapic, apic, 20000);
    kvm_run(1000);
    assert_int_equal(prof_set_rate(20000), PROF_OK);
    assert_about(prof_rate_mhz(), 3330000, 4);
    for (int i = 0; i < 100; i++) {
        kvm_run(20);
        assert_true(kvm.apic_count >= 199000);
    }
    assert_true(prof_period_varies());
    prof_stop();
    assert_int_equal(prof_start(), PROF_OK);
    assert_about(prof_rate_mhz(), 3330000, 4);
    assert_int_equal(prof_set_rate(1000), PROF_OK);
    assert_about(prof_rate_mhz(), 1000000, 1);
}

TEST(an_apics_timer_without_a_floor_is_left_alone)
{
    static const uint32_t rates[] = {20000, 5000, 2000, 1000};

    for (size_t i = 0; i < COUNT(rates); i++)
        for (int taken = 0; taken < 2; taken++) {
            uint64_t asked;

            kvm_start(taken != 0 ? busy(qemu_lapic) : qemu_lapic, apic,
                      rates[i]);
            asked = prof_rate_mhz();
            kvm_run(3000);
            assert_false(is_said());
            assert_int_equal(prof_rate_mhz(), asked);
            /* theft of less than a period is not seen */
            if (taken != 0 && rates[i] >= 2000)
                assert_about(world_stats().stolen_cycles, kvm.stolen, 15);
            end();
        }
}

/* ---- stolen time by the hypervisor's own account */

static struct kvm_host saying(struct kvm_host host)
{
    host.says = true;
    return host;
}

TEST(stolen_time_is_what_the_hypervisor_says)
{
    static const uint32_t rates[] = {100, 1000, 3000};

    for (size_t i = 0; i < COUNT(rates); i++) {
        struct prof_stats stats;

        kvm_start(saying(busy(kvm_now)), own, rates[i]);
        kvm_run(4000);
        prof_drain(); /* twice: what is new waits for the next sample */
        prof_drain();
        prof_drain();
        stats = world_stats();
        assert_about(stats.stolen_cycles + stats.stolen_short_cycles,
                     kvm.stolen, 1);
        if (rates[i] >= 1000)
            assert_true(stats.stolen_cycles > stats.stolen_short_cycles);
        end();
    }
}

/* The host has taken nothing: the program has kept the ticks waiting. Without
 * that account it looks like theft, as these ticks are far from an sti. */
TEST(what_the_program_holds_off_is_not_stolen)
{
    uint64_t stolen[2];

    for (int says = 0; says < 2; says++) {
        struct kvm_host host = kvm_discards;

        prof_options_in_force.jitter_percent = 0;
        host.says = says != 0;
        kvm_start(host, own, 1000);
        for (int i = 0; i < 20; i++) {
            kvm_run(30);
            kvm.interrupts = false;
            kvm_pass(5 * MS);
            kvm.interrupts = true;
        }
        kvm_run(200);
        stolen[says] = world_stats().stolen_cycles;
        assert_true(world_stats().missed >= 60);
        end();
    }
    assert_true(stolen[0] > 60 * MS);
    assert_int_equal(stolen[1], 0);
}

/* No tick is missed for it, so it is in the shares; but it is known. */
TEST(theft_shorter_than_a_period_is_counted)
{
    struct prof_stats stats;

    kvm_start(saying(kvm_now), own, 1000);
    for (int i = 0; i < 200; i++) {
        kvm_run(10);
        kvm_steal(MS / 10);
    }
    kvm_run(300);
    prof_drain();
    prof_drain();
    stats = world_stats();
    assert_int_equal(kvm.stolen, 20 * MS);
    assert_about(stats.stolen_short_cycles + stats.stolen_cycles, kvm.stolen,
                 1);
    assert_below(stats.stolen_cycles, 5 * MS);
    prof_report();
    assert_non_null(strstr(world_output, " s of it for less than a period at a "
                                         "time, the rest is in no share\n"));
}

TEST(the_report_names_whose_account_it_is)
{
    prof_options_in_force.jitter_percent = 0;
    kvm_start(saying(kvm_discards), own, 1000);
    kvm_run(50);
    kvm_steal(40 * MS);
    kvm_run(200);
    prof_report();
    assert_non_null(strstr(world_output, "\n0.040 s stolen, "));
    assert_non_null(strstr(world_output, " of the time, by the hypervisor's "
                                         "own account; it is in no share\n"));
    assert_null(strstr(world_output, "did not run the guest"));
}

/* After each HELLO, so that a later reader knows it, too. */
TEST(the_stream_says_whose_account_it_is)
{
    for (int says = 0; says < 2; says++) {
        unsigned hellos;

        kept_count = 0;
        kvm_start(says ? saying(kvm_discards) : kvm_discards, own, 1000);
        prof_transport_use(&keeper);
        kvm_run(100);
        prof_hello();
        kvm_run(100);
        prof_transport_end(0);
        prof_transport_use(NULL);
        see_all();
        hellos = count_of(PROF_EVENT_HELLO);
        assert_true(hellos > 1);
        assert_int_equal(count_of(PROF_EVENT_STEAL_CLOCK), says ? hellos : 0);
    }
}

/* After a migration the account may begin anew. */
TEST(an_account_that_goes_back_steals_nothing)
{
    kvm_start(saying(kvm_now), own, 1000);
    kvm_steal_time.steal_ns = 1ull << 50;
    kvm_run(300);
    prof_reset();
    kvm_steal_time.steal_ns = 5;
    kvm_run(300);
    assert_int_equal(world_stats().stolen_cycles, 0);
    assert_int_equal(world_stats().stolen_short_cycles, 0);
}

TEST(the_account_may_wrap_around)
{
    struct prof_stats stats;

    kvm_steal_time.steal_ns = UINT64_MAX - 10 * MS;
    kvm_start(saying(kvm_discards), own, 1000);
    kvm_run(50);
    kvm_steal(40 * MS);
    assert_below(kvm_steal_time.steal_ns, 40 * MS);
    kvm_run(300);
    stats = world_stats();
    assert_int_equal(stats.stolen_cycles + stats.stolen_short_cycles, 40 * MS);
}

/* While it is being written it is left for the next drain. */
TEST(an_account_that_is_being_written_waits)
{
    struct prof_stats stats;

    kvm_start(saying(kvm_discards), own, 1000);
    kvm_run(50);
    kvm_steal_time.version++;
    kvm_steal(40 * MS);
    kvm_run(10);
    assert_int_equal(world_stats().stolen_cycles, 0);
    kvm_steal_time.version++;
    kvm_run(300);
    stats = world_stats();
    assert_int_equal(stats.stolen_cycles + stats.stolen_short_cycles, 40 * MS);
}
