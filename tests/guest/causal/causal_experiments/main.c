/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Experiments in random order while a program runs, as a user sees them: the
 * gains, the table, and what is said where nothing can be said. QEMU counts
 * instructions, so all figures repeat.
 */

#include "guest/tap.h"

#include "causal/machine.h"

#include "causal/programs.h"

#include <kernel/service.h>
#include <prof/error.h>

#define WARM_UP 200u
#define TRUTH_VISITS 1500u
#define VISITS 6000u
#define LATENCY_VISITS 24000u
#define PPM 1e6
#define ERROR_MAX 10000 /* ppm: a percentage point */
#define INTERVAL_MAX 150000
#define P50_ERROR 0.05
#define P99_ERROR 0.25 /* a few bursts make it, in either run its own */

static const uint32_t cpu_bound[8] = {16, 10, 30, 5, 20};
static const uint32_t half_loaded[8] = {1, 10, 15, 0, 50};
static const uint32_t disk_bound[8] = {4, 10, 30, 5, 20, 100, 1};

static PROF_TARGET(unused, "never called");
static PROF_PROGRESS(unreached, "never reached");

static char disk_text[] = "disk: as fast as now";
static struct prof_assumption of_disk = PROF_ASSUMPTION(disk_text);
static struct prof_assumption of_network =
    PROF_ASSUMPTION("network: peers wait for answers");

static struct prof_causal_settings settings = {
    .speedups = 1,
    .speedup = {PROF_ONE / 2},
    .cycles_min = 500000,
    .visits_min = 20,
};

/* Time for a visit if F really takes (shorter) less. */
static double period(const struct program *program, const uint32_t *parameter,
                     uint32_t shorter)
{
    struct sim *sim = sim_new(program, parameter);
    uint64_t begin;
    double cycles;

    sim->target = F;
    sim->shorter = shorter;
    sim_run(sim, WARM_UP);
    begin = sim_virtual(sim);
    sim_run(sim, WARM_UP + TRUTH_VISITS);
    cycles = (double)(sim_virtual(sim) - begin) / TRUTH_VISITS;
    sim_free(sim);
    return cycles;
}

static struct prof_causal_stats stats(void)
{
    struct prof_causal_stats now;

    prof_causal_stats(&now);
    return now;
}

/* Runs experiments for (visits). */
static void experiment(const struct program *program, const uint32_t *parameter,
                       uint32_t visits)
{
    struct sim *sim;

    tap_is_equal(prof_causal_start(&settings), 0, "experiments begin");
    sim = sim_new(program, parameter);
    for (unsigned i = 0; i < PEERS_MAX; i++)
        prof_agent_assume(&sim->peers[i], &of_network);
    sim->target = F;
    sim_run(sim, visits);
    prof_causal_stop();
    sim_free(sim);
}

static void predicts(const struct program *program, const uint32_t *parameter)
{
    double normal = period(program, parameter, 0);
    double faster = period(program, parameter, PROF_ONE / 2);
    int truth = (int)lround(PPM * (1 - faster / normal));
    struct prof_gain gain = {0};
    int error;

    experiment(program, parameter, VISITS);
    error = prof_causal_gain(&part_f, 0, &visit, &gain);
    tap_is_equal(error, 0, "there is a gain");
    tap_note("%s: truth %d ppm, predicted %d +- %u, %u experiments",
             program->name, truth, (int)gain.ppm, (unsigned)gain.interval_ppm,
             (unsigned)stats().experiments);
    tap_ok(abs(gain.ppm - truth) <= (int)gain.interval_ppm + ERROR_MAX,
           "it is the truth");
    tap_ok(gain.interval_ppm < INTERVAL_MAX, "and its interval says something");
    tap_is_equal(prof_causal_gain(&part_f, 0, &unreached, &gain), PROF_ESTATE,
                 "none of a point that was not reached");
}

/* Four requests at a time, and room for one. */
static void no_room_for_held_events(void)
{
    struct sim *sim;
    bool all;

    settings.held = 1;
    tap_is_equal(prof_causal_start(&settings), 0, "experiments begin");
    sim = sim_new(&disk, disk_bound);
    sim->target = F;
    sim_run(sim, 500);
    all = sim_has_all_peers(sim, disk_bound[PEERS]);
    prof_causal_stop();
    sim_free(sim);
    tap_ok(all, "each peer still has its answers");
    tap_ok(stats().held_refused > 0, "without room an event is not held");
    tap_ok(stats().abandoned >= stats().held_refused,
           "and its experiment is abandoned");
    settings.held = 0;
}

static bool about(double got, double wanted, double part)
{
    return fabs(got - wanted) <= part * wanted;
}

struct latencies {
    double p50, p99;
};

/* If F really takes (shorter) less, while nothing is faster. */
static struct latencies latencies_of(uint32_t shorter)
{
    struct latencies found;
    struct sim *sim;

    prof_causal_start(&settings);
    prof_causal_fix(&part_f, 0);
    sim = sim_new(&open_loop, half_loaded);
    sim->target = F;
    sim->shorter = shorter;
    sim_run(sim, LATENCY_VISITS);
    found.p50 = sim_quantile(sim, LATENCY_VISITS, 500);
    found.p99 = sim_quantile(sim, LATENCY_VISITS, 990);
    prof_causal_stop();
    sim_free(sim);
    return found;
}

static void latencies_are(uint32_t speedup, struct latencies truth)
{
    struct prof_quantiles found;

    tap_is_equal(prof_causal_quantiles(&part_f, speedup, &latency, &found), 0,
                 "there are latencies");
    tap_note("latency, us: p50 %u, predicted %u; p99 %u, predicted %u",
             (unsigned)(truth.p50 / US), (unsigned)(found.p50 / 1000),
             (unsigned)(truth.p99 / US), (unsigned)(found.p99 / 1000));
    tap_ok(about((double)found.p50, truth.p50, P50_ERROR), "half are below");
    tap_ok(about((double)found.p99, truth.p99, P99_ERROR), "99 % are");
}

/* The traffic of an open loop is held longer and longer. */
static void an_open_loop_is_drained(void)
{
    struct latencies normal = latencies_of(0);
    struct latencies faster = latencies_of(PROF_ONE / 2);
    struct prof_gain gain = {0};

    settings.held = 128;
    experiment(&open_loop, half_loaded, LATENCY_VISITS);
    settings.held = 0;
    tap_note("drained %u times, %u experiments, %u abandoned",
             (unsigned)stats().drained, (unsigned)stats().experiments,
             (unsigned)stats().abandoned);
    tap_ok(stats().drained > 1, "traffic is let through between experiments");
    tap_is_equal((long long)stats().held_refused, 0, "before there is no room");
    tap_is_equal(prof_causal_gain(&part_f, 0, &visit, &gain), 0, "a gain");
    tap_ok(abs(gain.ppm) <= (int)gain.interval_ppm, "which is none");
    latencies_are(PROF_NORMAL_SPEED, normal);
    latencies_are(0, faster);
}

/* A disk that does many things at a time, taken for a queue. */
static void a_wrong_model_is_seen(void)
{
    static const uint32_t parallel[8] = {12, 10, 10, 5, 20, 300};
    struct sim *sim;

    tap_is_equal(prof_causal_start(&settings), 0, "experiments begin");
    sim = sim_new(&disk, parallel);
    prof_agent_init(&sim->devices[0].agent, PROF_AGENT_SERVERS, 1);
    prof_agent_assume(&sim->devices[0].agent, &of_disk);
    for (unsigned i = 0; i < PEERS_MAX; i++)
        prof_agent_assume(&sim->peers[i], &of_network);
    sim->target = F;
    sim_run(sim, 500);
    prof_causal_stop();
    tap_ok(stats().contradictions > 0,
           "a device that is no queue contradicts that it is one");
    tap_is_equal((long long)of_disk.contradictions,
                 (long long)stats().contradictions, "which is counted as its");
    tap_ok(of_network.checked > 0 && of_network.contradictions == 0,
           "and not as that of peers");
    tap_is_equal((long long)(of_disk.checked + of_network.checked),
                 (long long)stats().checked, "nor are there others");
    sim_free(sim);
    tap_is_equal(prof_causal_start(&settings), 0, "experiments begin");
    sim = sim_new(&disk, parallel);
    sim->target = F;
    sim_run(sim, 500);
    prof_causal_stop();
    tap_is_equal((long long)stats().contradictions, 0,
                 "one of the right kind does not");
    sim_free(sim);
}

int service_main(void)
{
    tap_plan(37);
    settings.tsc_hz = clock_tsc_hz();
    prof_causal_assume(&of_disk);
    prof_causal_assume(&of_network);
    prof_causal_assume(&of_disk);
    prof_causal_add_progress(&visit);
    prof_causal_add_progress(&unreached);
    prof_causal_add_latency(&latency);
    prof_causal_add_target(&part_f);
    predicts(&closed, cpu_bound);
    predicts(&disk, disk_bound);
    no_room_for_held_events();
    an_open_loop_is_drained();
    a_wrong_model_is_seen();
    prof_causal_add_target(&unused);
    disk_text[0] = 'D'; /* it may change */
    experiment(&closed, cpu_bound, VISITS);
    tap_ok(!prof_causal_running(), "experiments have ended");
    tap_is_equal(prof_causal_start(&settings), 0, "and begin again");
    tap_is_equal(prof_causal_start(&settings), PROF_ESTATE, "but not twice");
    prof_causal_stop();
    experiment(&closed, cpu_bound, VISITS);
    prof_causal_report();
    return tap_end();
}
