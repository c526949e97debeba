/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The parts of a causal profile by themselves: virtual clock, agents, the
 * estimate of a gain, and wrong calls. Held events: held_events_test.c.
 */

#include "../unit.h"

#include <prof/gain.h>
#include "causal/causal.h"
#include "causal/virtual_clock.h"
#include "sample/cpu_state.h"

#include <prof/error.h>
#include <prof/port.h>

/* ---- virtual clock */

TEST(time_in_the_target_passes_slower)
{
    struct prof_virtual_clock clock = {0};

    prof_virtual_speed_up(&clock, 1000, PROF_ONE / 2);
    assert_int_equal(prof_virtual_time(&clock, 1500), 1500);
    prof_virtual_enter(&clock, 2000);
    assert_int_equal(prof_virtual_time(&clock, 2400), 2200);
    prof_virtual_enter(&clock, 2400); /* by itself */
    prof_virtual_leave(&clock, 2600, 0);
    assert_int_equal(prof_virtual_time(&clock, 3000), 2500);
    prof_virtual_except(&clock, 400); /* in an interrupt */
    prof_virtual_leave(&clock, 3000, 0);
    assert_int_equal(clock.delay, 300);
    assert_int_equal(clock.in_target, 600);
    assert_int_equal(prof_virtual_time(&clock, 4000), 3700);
    assert_int_equal(prof_virtual_to_real(&clock, 3700), 4000);
    prof_virtual_leave(&clock, 5000, 0); /* was not entered */
    assert_int_equal(clock.delay, 300);
}

TEST(another_speed_begins_at_once)
{
    struct prof_virtual_clock clock = {0};

    prof_virtual_speed_up(&clock, 0, PROF_ONE / 2);
    prof_virtual_enter(&clock, 0);
    prof_virtual_speed_up(&clock, 1000, PROF_ONE / 4);
    assert_int_equal(clock.delay, 500);
    prof_virtual_speed_up(&clock, 2000, 0);
    assert_int_equal(clock.delay, 750);
    prof_virtual_left(&clock, 9000);
    assert_int_equal(clock.delay, 750);
    assert_int_equal(clock.nested, 0);
    prof_virtual_speed_up(&clock, 9000, PROF_ONE);
    assert_int_equal(clock.speedup, PROF_SPEEDUP_MAX);
}

/* A target of 3 cycles at 25 %: 0.75 cycles each time. */
TEST(fractions_of_a_cycle_are_kept)
{
    struct prof_virtual_clock clock = {0};
    uint64_t now = 0;

    prof_virtual_speed_up(&clock, 0, PROF_ONE / 4);
    for (unsigned i = 0; i < 1000; i++) {
        prof_virtual_enter(&clock, now);
        prof_virtual_leave(&clock, now + 3, 0);
        now += 100;
    }
    assert_int_equal(clock.delay, 750);
}

TEST(long_times_do_not_overflow)
{
    struct prof_virtual_clock clock = {0};
    const uint64_t hour = 3600ull * 4000000000u;

    prof_virtual_speed_up(&clock, 0, PROF_ONE / 2);
    prof_virtual_enter(&clock, 0);
    assert_int_equal(prof_virtual_time(&clock, hour), hour / 2);
    prof_virtual_leave(&clock, hour, 0);
    assert_int_equal(clock.delay, hour / 2);
}

/* ---- agents */

static struct prof_moment moment(uint64_t real, uint64_t virtual_time)
{
    return (struct prof_moment){real, virtual_time};
}

TEST(a_parallel_device_takes_as_long)
{
    struct prof_agent disk;
    struct prof_request a, b;

    prof_agent_init(&disk, PROF_AGENT_PARALLEL, 0);
    prof_agent_submit(&disk, &a, moment(1000, 900));
    prof_agent_submit(&disk, &b, moment(1100, 1000));
    assert_int_equal(prof_agent_answer(&disk, &b, 1200), 1100);
    assert_int_equal(prof_agent_answer(&disk, &a, 1500), 1400);
}

/* Two requests, 100 each; virtually the second is submitted when the first is
 * still being served, and really as well. */
TEST(a_queue_serves_one_after_the_other)
{
    struct prof_agent disk;
    struct prof_request a, b, c;

    prof_agent_init(&disk, PROF_AGENT_SERVERS, 1);
    prof_agent_submit(&disk, &a, moment(1000, 1000));
    prof_agent_submit(&disk, &b, moment(1090, 1010));
    assert_int_equal(prof_agent_answer(&disk, &a, 1100), 1100);
    assert_int_equal(prof_agent_answer(&disk, &b, 1200), 1200);
    /* it was idle really; virtually too, for less long */
    prof_agent_submit(&disk, &c, moment(1500, 1300));
    assert_int_equal(prof_agent_answer(&disk, &c, 1600), 1400);
}

/* Answers in another order than that of a queue: no crash, and a time. */
TEST(a_queue_out_of_order)
{
    struct prof_agent disk;
    struct prof_request request[3];

    prof_agent_init(&disk, PROF_AGENT_SERVERS, 1);
    for (unsigned i = 0; i < 3; i++)
        prof_agent_submit(&disk, &request[i], moment(1000 + i, 1000 + i));
    assert_int_equal(prof_agent_answer(&disk, &request[2], 1100), 1100);
    assert_int_equal(prof_agent_answer(&disk, &request[0], 1200), 1200);
    assert_int_equal(prof_agent_answer(&disk, &request[1], 1300), 1300);
    prof_agent_init(&disk, PROF_AGENT_SERVERS, 1000);
    assert_int_equal(disk.of.queue.servers, PROF_AGENT_SERVERS_MAX);
    prof_agent_init(&disk, PROF_AGENT_SERVERS, 0);
    assert_int_equal(disk.of.queue.servers, 1);
}

TEST(a_closed_peer_answers)
{
    struct prof_agent peer;

    prof_agent_init(&peer, PROF_AGENT_CLOSED, 0);
    assert_int_equal(prof_agent_packet(&peer, 1000, 950), 950); /* the first */
    prof_agent_sent(&peer, moment(1100, 1000));
    assert_int_equal(prof_agent_packet(&peer, 1150, 1050), 1050);
    /* a second packet, without having heard from us again */
    assert_int_equal(prof_agent_packet(&peer, 1160, 1055), 1060);
    /* sent after it arrived, and before it was found */
    prof_agent_sent(&peer, moment(1300, 1150));
    assert_int_equal(prof_agent_packet(&peer, 1200, 1080), 1100);
}

TEST(an_open_peer_keeps_its_intervals)
{
    struct prof_agent peer;

    prof_agent_init(&peer, PROF_AGENT_OPEN, 0);
    assert_int_equal(prof_agent_packet(&peer, 1000, 900), 900);
    prof_agent_sent(&peer, moment(1100, 950));
    assert_int_equal(prof_agent_packet(&peer, 1200, 1000), 1100);
}

/* ---- gains */

static void fill(struct prof_progress_sum groups[PROF_GAIN_GROUPS],
                 uint32_t used, uint64_t cycles, uint64_t spread,
                 uint32_t experiments)
{
    for (uint32_t i = 0; i < PROF_GAIN_GROUPS; i++)
        groups[i] = (struct prof_progress_sum){0};
    for (uint32_t i = 0; i < used; i++)
        groups[i] = (struct prof_progress_sum){
            cycles + (i % 2 != 0 ? spread : -spread), 100, experiments};
}

/* Both sides are slow at the same times, or at other times. */
TEST(pairs_are_left_out_at_once)
{
    struct prof_progress_sum normal[PROF_GAIN_GROUPS], faster[PROF_GAIN_GROUPS];
    struct prof_gain gain;

    fill(normal, 16, 1000000, 10000, 1);
    fill(faster, 16, 800000, 8000, 1);
    assert_int_equal(prof_gain_of(normal, faster, &gain), 0);
    assert_in_range(gain.ppm, 199990, 200010);
    assert_in_range(gain.interval_ppm, 0, 20);
    fill(faster, 16, 800000, (uint64_t)-8000, 1);
    assert_int_equal(prof_gain_of(normal, faster, &gain), 0);
    assert_in_range(gain.interval_ppm, 10500, 11000);
    fill(faster, 16, 800000, 8000, 1);
    faster[15].experiments++; /* one side is ahead */
    assert_int_equal(prof_gain_of(normal, faster, &gain), 0);
    assert_in_range(gain.interval_ppm, 0, 20);
    faster[15].experiments++; /* no pairs any more */
    assert_int_equal(prof_gain_of(normal, faster, &gain), 0);
    assert_in_range(gain.interval_ppm, 7000, 8500);
    fill(faster, 16, 800000, (uint64_t)-8000, 1);
    normal[3].visits = 0; /* nor here */
    assert_int_equal(prof_gain_of(normal, faster, &gain), 0);
    assert_in_range(gain.interval_ppm, 7000, 8500);
}

TEST(a_gain_and_its_interval)
{
    static const struct {
        struct {
            uint32_t used;
            uint64_t cycles, spread;
        } normal, faster;
        int error;
        int32_t ppm, within; /* of the gain */
        int32_t interval, most;
    } rows[] = {
        {{16, 1000000, 0}, {16, 800000, 0}, 0, 200000, 0, 0, 0},
        /* sd 1 % of either: of the ratio 0.8 * sqrt(2) * 1 % / sqrt(15), times
           Student's 2.602 */
        {{16, 1000000, 10000}, {16, 800000, 8000}, 0, 200000, 1000, 7450, 7750},
        {{16, 800000, 8000},
         {16, 1000000, 10000},
         0,
         -250000,
         1000,
         0,
         INT32_MAX},
        {{16, 1000, 0},
         {PROF_GAIN_GROUPS_MIN - 1, 1000, 0},
         PROF_ESTATE,
         0,
         INT32_MAX,
         0,
         INT32_MAX},
        /* hours */
        {{16, 1ull << 49, 0}, {16, 1ull << 48, 0}, 0, 500000, 1, 0, INT32_MAX},
    };
    struct prof_progress_sum normal[PROF_GAIN_GROUPS], faster[PROF_GAIN_GROUPS];
    struct prof_gain gain;

    for (size_t i = 0; i < COUNT(rows); i++) {
        fill(normal, rows[i].normal.used, rows[i].normal.cycles,
             rows[i].normal.spread, 1);
        fill(faster, rows[i].faster.used, rows[i].faster.cycles,
             rows[i].faster.spread, 2);
        assert_int_equal(prof_gain_of(normal, faster, &gain), rows[i].error);
        assert_int_equal(gain.groups, rows[i].faster.used);
        if (rows[i].error != 0)
            continue;
        assert_true(labs((long)gain.ppm - rows[i].ppm) <= rows[i].within);
        assert_in_range(gain.interval_ppm, rows[i].interval, rows[i].most);
    }
    fill(normal, 16, 1, 0, 1); /* a moment, and hours */
    assert_int_equal(prof_gain_of(normal, faster, &gain), 0);
    assert_true(gain.ppm <= -2000000000);
}

/* Billions of visits in a few experiments: those that would wrap the sum are
 * not added, and the gain stays. */
TEST(visits_do_not_overflow)
{
    struct prof_progress_sum normal[PROF_GAIN_GROUPS] = {{0}};
    struct prof_progress_sum faster[PROF_GAIN_GROUPS] = {{0}};
    const uint32_t visits = 1u << 28; /* 15 of them fit */
    struct prof_gain gain;

    for (uint32_t i = 0; i < 40; i++) {
        prof_gain_add(normal, (uint64_t)visits * 1000, visits);
        prof_gain_add(faster, (uint64_t)visits * 800, visits);
        if (i < PROF_GAIN_GROUPS_MIN)
            continue;
        assert_int_equal(prof_gain_of(normal, faster, &gain), 0);
        assert_in_range(gain.ppm, 199990, 200010);
    }
    assert_int_equal(normal[14].experiments, 1);
    assert_int_equal(normal[15].experiments, 0);
}

/* ---- wrong calls */

static PROF_PROGRESS(point, "point");
static PROF_TARGET(target, "target");

TEST(wrong_calls_are_refused)
{
    const struct prof_causal_settings good = {.tsc_hz = 1000000000};
    const struct prof_causal_settings wrong[] = {
        {.tsc_hz = good.tsc_hz, .speedups = 1, .speedup = {PROF_ONE}},
        {.tsc_hz = good.tsc_hz, .speedups = PROF_CAUSAL_SPEEDUPS_MAX + 1},
        {.tsc_hz = good.tsc_hz, .held = UINT32_MAX},
        {.tsc_hz = 0},
    };
    struct prof_gain gain;

    assert_int_equal(prof_causal_start(&good), PROF_EVALUE);
    prof_causal_add_target(&target);
    assert_int_equal(prof_causal_start(&good), PROF_EVALUE);
    prof_causal_add_progress(&point);
    for (size_t i = 0; i < COUNT(wrong); i++)
        assert_int_equal(prof_causal_start(&wrong[i]), PROF_EVALUE);
    assert_int_equal(prof_causal_fix(&target, 0), PROF_ESTATE);
    assert_int_equal(prof_causal_gain(&target, 0, &point, &gain), PROF_EVALUE);
    assert_false(prof_causal_hold(0, &gain));
    prof_causal_report();
    prof_causal_stop();
}

/* Stopped in the middle of a target, and with an event that is held. */
TEST(a_stop_at_any_time)
{
    const struct prof_causal_settings settings = {.tsc_hz = 1000000000};
    struct prof_causal_stats stats;
    uint64_t due, begin;
    int event;

    prof_causal_add_progress(&point);
    prof_causal_add_target(&target);
    assert_int_equal(prof_causal_start(&settings), 0);
    assert_int_equal(prof_causal_fix(&target, PROF_ONE / 2), 0);
    prof_target_enter(&target);
    assert_true(prof_causal_hold(UINT64_MAX, &event));
    prof_causal_stop();
    prof_target_leave(&target); /* which has no effect any more */
    assert_int_equal(prof_causal_start(&settings), PROF_ESTATE);
    assert_true(prof_causal_next(&due));
    assert_int_equal(due, 0);
    assert_ptr_equal(prof_causal_take(), &event);
    assert_int_equal(prof_causal_start(&settings), 0);
    assert_int_equal(prof_causal_fix(&target, PROF_ONE / 2), 0);
    prof_causal_stats(&stats);
    due = stats.delay_cycles;
    prof_target_enter(&target);
    begin = __builtin_ia32_rdtsc();
    while (__builtin_ia32_rdtsc() - begin < 100000)
        ; /* the profiler's own calls would not be the target's time */
    prof_target_leave(&target);
    prof_causal_stats(&stats);
    assert_true(stats.delay_cycles > due);
    prof_causal_stop();
}

/* Cycles that virtual time lags by more after some time in the target, during
 * which the statistics of the event loop take (taken) cycles out of the count
 * of those in interrupts. */
static uint64_t lag_of_a_visit(uint64_t taken)
{
    struct prof_causal_stats before, after;

    prof_causal_stats(&before);
    prof_cpus[0].interrupt_cycles = taken;
    prof_target_enter(&target);
    for (volatile unsigned i = 0; i < 100000; i++)
        continue;
    prof_cpus[0].interrupt_cycles -= taken;
    prof_cpus[0].taken_cycles += taken;
    prof_target_leave(&target);
    prof_causal_stats(&after);
    return after.delay_cycles - before.delay_cycles;
}

/* The statistics of the event loop take cycles out of the sampler's sum of
 * those in interrupts. Virtual time goes on. */
TEST(interrupts_may_be_counted_elsewhere)
{
    const struct prof_causal_settings settings = {.tsc_hz = 1000000000};

    prof_causal_add_progress(&point);
    prof_causal_add_target(&target);
    assert_int_equal(prof_causal_start(&settings), 0);
    assert_int_equal(prof_causal_fix(&target, PROF_ONE / 2), 0);
    assert_int_not_equal(lag_of_a_visit(0), 0);
    assert_int_not_equal(lag_of_a_visit(1000000), 0);
    prof_causal_stop();
}

static uint64_t spin(void)
{
    const uint64_t begin = prof_tsc();

    while (prof_tsc() - begin < 1000000)
        continue;
    return prof_tsc() - begin;
}

/* Work that is left out is interrupted by the sampler, as is the target before:
 * that is subtracted from the target's time once. A host that runs this late
 * makes all of it longer. */
TEST(interrupts_of_what_is_left_out_are_left_out_once)
{
    const struct prof_causal_settings settings = {.tsc_hz = 1000000000};
    const uint64_t before = prof_causal.clock.in_target, taken = 400000;
    uint64_t in_target, least, began;

    prof_causal_add_progress(&point);
    prof_causal_add_target(&target);
    assert_int_equal(prof_causal_start(&settings), 0);
    assert_int_equal(prof_causal_fix(&target, 0), 0);
    prof_target_enter(&target);
    least = spin();
    prof_cpus[0].interrupt_cycles += taken;
    began = prof_tsc();
    prof_causal_leave_out_begin();
    (void)spin();
    prof_cpus[0].interrupt_cycles += taken;
    (void)prof_causal_time();
    prof_cpus[0].interrupt_cycles += taken / 2;
    prof_causal_leave_out(prof_tsc() - began);
    least += spin();
    prof_target_leave(&target);
    in_target = prof_causal.clock.in_target - before;
    assert_true(in_target >= least - taken - taken / 4);
    prof_cpus[0].interrupt_cycles = 0;
    prof_causal_stop();
}

/* While an agent is the target, the loop looks after each handler whether it
 * has to wait. Where it has not, the time since the handler is its own. A
 * second begin of a handler only gives it another kind. */
TEST(only_what_was_waited_is_left_out_after_a_handler)
{
    const struct prof_causal_settings settings = {.tsc_hz = 1000000000};
    static PROF_TARGET(served, "served");
    static struct prof_agent agent;
    static const char kind, other_kind;
    uint64_t delay;

    prof_agent_init(&agent, PROF_AGENT_PARALLEL, 0);
    prof_agent_target(&agent, &served);
    prof_causal_add_progress(&point);
    prof_causal_add_target(&served);
    assert_int_equal(prof_causal_start(&settings), 0);
    assert_int_equal(prof_causal_fix(&served, PROF_ONE / 2), 0);
    prof_causal_turn();
    prof_handler_begin(&kind);
    prof_handler_begin(&other_kind);
    assert_ptr_equal(prof_causal.work->kind, &other_kind);
    prof_handler_end();
    assert_null(prof_causal.work->kind);
    (void)spin();
    delay = prof_causal.clock.delay;
    assert_false(prof_causal_owes());
    assert_int_equal(prof_causal.clock.delay, delay);
    prof_causal_stop();
}

/* ---- a report by way of an agent */

static struct prof_assumption assumption = PROF_ASSUMPTION("it is so");
static struct prof_agent printer, other;
static bool prints;
static char printed[8192];

static void ask(struct prof_agent *agent)
{
    struct prof_request request;

    prof_agent_submit(agent, &request, prof_causal_now());
    (void)prof_agent_answer(agent, &request, prof_causal_now().real);
}

void prof_port_write(const char *text, size_t bytes)
{
    if (!prints)
        return;
    ask(&printer);
    assert_true(strlen(printed) + bytes < sizeof printed);
    strncat(printed, text, bytes);
}

static void report(void)
{
    printed[0] = '\0';
    prints = true;
    prof_causal_report();
    prints = false;
}

#define NONE_OF "\nmodel check: none of "

/* ---- what is waited for */

/* The loop turns for a while, and then an event is handled: that of (agent), or
 * of a timer. */
static void wait_for(struct prof_agent *agent)
{
    const uint64_t until = prof_tsc() + 20000;
    static char event;

    while (prof_tsc() < until)
        prof_causal_turn();
    if (agent != NULL) {
        ask(agent);
        assert_true(prof_causal_hold(0, &event));
        assert_ptr_equal(prof_causal_take(), &event);
    }
    prof_handler_begin(&event);
}

static void end_wait(void)
{
    prof_handler_end();
    prof_causal_turn();
    prof_progress(&point);
}

/* Of (kind) and (name) in all experiments; NULL: all of the kind. */
static uint64_t waited(enum prof_limit kind, const char *name)
{
    const struct prof_waited_names *names = prof_causal.names;
    uint64_t all = 0;

    for (uint32_t i = 0; i < prof_causal.experiments.settings.speedups; i++) {
        const struct prof_limit_sum *sum = prof_causal_limit_sum(0, i);

        if (name == NULL)
            all += sum->cycles[kind];
        for (uint32_t j = 0; j < names->count && name != NULL; j++)
            if (names->of[j].kind == kind &&
                strcmp(names->of[j].name, name) == 0)
                all += sum->named[j];
    }
    return all;
}

static void check_parts(void)
{
    struct prof_part parts[PROF_PARTS_MAX];
    uint32_t count, ppm = 0;

    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(prof_causal_parts(&target, i, parts, &count), 0);
        assert_true(count > 2);
        for (uint32_t j = 0; j < count; j++) {
            assert_true(j == 0 || parts[j].ppm <= parts[j - 1].ppm);
            ppm += parts[j].ppm;
        }
    }
    assert_in_range(ppm, 3 * 1000000 - 3 * PROF_PARTS_MAX, 3 * 1000000);
}

static bool is_said(void)
{
    report();
    return strstr(printed, "% waiting for ") != NULL;
}

TEST(waits_have_names)
{
    const struct prof_causal_settings settings = {
        .tsc_hz = 1000000000, .cycles_min = 1, .visits_min = 1};
    struct prof_agent disk, tape, unnamed;
    static char names[PROF_WAITED_MAX][8];
    uint64_t locks;

    prof_causal_add_target(&target);
    prof_causal_add_progress(&point);
    prof_agent_init(&disk, PROF_AGENT_PARALLEL, 0);
    prof_agent_init(&tape, PROF_AGENT_SERVERS, 1);
    prof_agent_init(&unnamed, PROF_AGENT_PARALLEL, 0);
    prof_agent_name(&disk, "disk");
    prof_agent_name(&tape, "tape");
    assert_int_equal(prof_causal_start(&settings), 0);
    /* a host that stops this process while an event is handled makes most of
     * the time CPU: then once more */
    for (unsigned i = 0; i < 400 || (!is_said() && i < 40000); i++) {
        wait_for(&disk);
        prof_causal_waited(PROF_LIMIT_TIME, "no timer"); /* it has a name */
        end_wait();
        wait_for(&tape);
        prof_causal_waited(PROF_LIMIT_LOCK, "ledger");
        end_wait();
        wait_for(&unnamed);
        end_wait();
        wait_for(NULL);
        prof_causal_waited(PROF_LIMIT_TIME, "refill");
        prof_causal_wait_known();
        prof_causal_waited(PROF_LIMIT_LOCK, "too late");
        end_wait();
    }
    assert_true(waited(PROF_LIMIT_DEVICE, "disk") != 0);
    assert_true(waited(PROF_LIMIT_DEVICE, NULL) >
                waited(PROF_LIMIT_DEVICE, "disk"));
    assert_int_equal(waited(PROF_LIMIT_DEVICE, "tape"), 0);
    assert_true(waited(PROF_LIMIT_LOCK, "ledger") != 0);
    assert_int_equal(waited(PROF_LIMIT_LOCK, "ledger"),
                     waited(PROF_LIMIT_LOCK, NULL));
    assert_true(waited(PROF_LIMIT_TIME, "refill") != 0);
    assert_int_equal(waited(PROF_LIMIT_TIME, "refill"),
                     waited(PROF_LIMIT_TIME, NULL));
    assert_int_equal(prof_causal.names->count, 4);
    check_parts();
    assert_true(is_said());
    /* beyond the room they are of their kind */
    for (unsigned i = 0; i < 100 * PROF_WAITED_MAX; i++) {
        snprintf(names[i / 100], sizeof *names, "t%u", i / 100);
        wait_for(NULL);
        prof_causal_waited(PROF_LIMIT_TIME, names[i / 100]);
        end_wait();
    }
    assert_int_equal(prof_causal.names->count, PROF_WAITED_MAX);
    assert_true(waited(PROF_LIMIT_TIME, "t0") != 0);
    assert_int_equal(waited(PROF_LIMIT_TIME, names[PROF_WAITED_MAX - 1]), 0);
    locks = waited(PROF_LIMIT_LOCK, NULL);
    for (unsigned i = 0; i < 100; i++) {
        wait_for(NULL);
        prof_causal_waited(PROF_LIMIT_LOCK, "hot");
        end_wait();
    }
    assert_true(waited(PROF_LIMIT_LOCK, NULL) > locks);
    prof_causal_stop();
}

TEST(a_report_adds_up)
{
    const struct prof_causal_settings settings = {.tsc_hz = 1000000000};
    const char *line;
    char sum[32];

    prof_causal_add_target(&target);
    prof_causal_add_progress(&point);
    prof_agent_init(&printer, PROF_AGENT_SERVERS, 1);
    prof_agent_init(&other, PROF_AGENT_PARALLEL, 0);
    prof_agent_assume(&printer, &assumption);
    prof_causal_assume(&assumption);
    assert_int_equal(prof_causal_start(&settings), 0);
    assert_int_equal(prof_causal_fix(&target, 0), 0);
    for (unsigned i = 1; i < 4; i++) {
        ask(&printer);
        ask(&other);
        ask(&other);
        report();
        /* what was printed before is in it: as much as is in the parts */
        line = strstr(printed, NONE_OF);
        assert_non_null(line);
        snprintf(sum, sizeof sum, "\n0 of %u: other agents\n", 2 * i);
        assert_non_null(strstr(printed, sum));
        snprintf(sum, sizeof sum, "\n0 of %lu: it is so\n",
                 strtoul(line + sizeof NONE_OF - 1, NULL, 10) - 2 * i);
        assert_non_null(strstr(printed, sum));
    }
    prof_causal_stop();
}
