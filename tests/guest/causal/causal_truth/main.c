/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prediction beside truth: programs of which a part really is faster, beside
 * the same in which it is so on the virtual clock only. QEMU counts
 * instructions, so all figures repeat.
 *
 * causal.visits=N sets how many requests are measured, causal.speedups=N how
 * many of 50, 25 and 75 %, causal.first=N from which program on,
 * of 16: with 16 only what experiments cost is measured.
 */

#include "guest/tap.h"

#include "causal/machine.h"

#include "causal/programs.h"

#include <kernel/service.h>
#include <stdio.h>
#include <string.h>

#define PROGRAMS 16u
#define SPEEDUPS_MAX 3u
#define ERROR_MAX 100     /* of the gain: 1/100 percentage points */
#define P99_ERROR_MAX 300 /* 1/100 per cent */
#define VISITS_ENOUGH 4000
#define P99_VISITS_ENOUGH 20000
#define WARM_UP 200u
#define FEW 500u
/* instructions of a request with one answer, and with two */
#define OVERHEAD_MAX 1150
#define OVERHEAD_2_MAX 1950

static PROF_TARGET(all_disks, "disk");
static PROF_TARGET(all_peers, "network");

/* What becomes faster. */
enum what { PART_F, DISKS, NETWORK };

static const struct {
    enum what what;
    const struct program *program;
    uint32_t parameter[8];
} works[PROGRAMS] = {
    {PART_F, &closed, {16, 10, 30, 5, 20}},
    {PART_F, &background, {3, 20, 10, 5, 120}},
    {PART_F, &disk, {4, 10, 30, 5, 20, 500}},
    {PART_F, &disk, {4, 10, 30, 5, 20, 100, 1}},
    {PART_F, &disk, {12, 20, 20, 5, 20, 60, 2}},
    {PART_F, &pipeline, {12, 15, 20, 8, 30, 300}},
    {PART_F, &doorbell, {24, 8, 10, 0, 20, 80}},
    {PART_F, &hedge, {8, 20, 15, 12, 20, 100}},
    {PART_F, &open_loop, {1, 10, 15, 0, 50}},
    {PART_F, &open_loop, {1, 20, 25, 0, 50}},
    {PART_F, &tick, {1, 30, 20, 0, 100}},
    {PART_F, &bucket, {1, 20, 10, 0, 60}},
    {DISKS, &disk, {4, 10, 30, 5, 20, 500}},
    {DISKS, &disk, {4, 10, 30, 5, 20, 100, 1}},
    {DISKS, &pipeline, {12, 15, 20, 8, 30, 300}},
    {NETWORK, &disk, {4, 10, 30, 5, 300, 50}},
};

static uint32_t visits = 500, speedups = 1, first;

struct run {
    double period; /* virtual time between visits */
    double p99;    /* of requests */
};

enum how { REALLY, VIRTUALLY, NAIVELY };

/* (what) becomes faster, in (sim) or on the virtual clock. */
static void make_faster(struct sim *sim, enum what what, enum how how,
                        uint32_t speedup)
{
    struct prof_target *const targets[] = {&part_f, &all_disks, &all_peers};
    uint32_t real = how == REALLY ? speedup : 0;

    sim->target = F;
    sim->shorter = what == PART_F ? real : 0;
    sim->device_shorter = what == DISKS ? real : 0;
    sim->peer_shorter = what == NETWORK ? real : 0;
    sim->only_now = how == NAIVELY;
    for (unsigned i = 0; i < DEVICES_MAX; i++)
        prof_agent_target(&sim->devices[i].agent, &all_disks);
    for (unsigned i = 0; i < PEERS_MAX; i++)
        prof_agent_target(&sim->peers[i], &all_peers);
    prof_causal_fix(targets[what], how == REALLY ? 0 : speedup);
}

static struct run run(unsigned work, enum how how, uint32_t speedup)
{
    const struct prof_causal_settings settings = {.tsc_hz = clock_tsc_hz()};
    struct sim *sim;
    struct run result;
    uint64_t begin;

    prof_causal_start(&settings);
    sim = sim_new(works[work].program, works[work].parameter);
    make_faster(sim, works[work].what, how, speedup);
    sim->warm_up = WARM_UP;
    sim_run(sim, WARM_UP);
    begin = sim_virtual(sim);
    sim_run(sim, WARM_UP + visits);
    result.period = (double)(sim_virtual(sim) - begin) / visits;
    result.p99 = sim_quantile(sim, visits, 990);
    prof_causal_stop();
    sim_free(sim);
    return result;
}

/* By how much (faster) is: 1/100 per cent. */
static int gain(double normal, double faster)
{
    return (int)lround(10000 * (1 - faster / normal));
}

static const char *text(int hundredths, char to[16])
{
    unsigned size = (unsigned)(hundredths < 0 ? -hundredths : hundredths);

    snprintf(to, 16, "%s%u.%02u", hundredths < 0 ? "-" : "", size / 100,
             size % 100);
    return to;
}

static void heading(void)
{
    tap_note("%-18s %-12s %-34s %s", "", "", " gain, %", " p99, us");
    tap_note("%-18s %-8s %3s %8s %8s %7s %8s %8s %8s %7s", "program", "faster",
             "%", "truth", "predict", "error", "naive", "truth", "predict",
             "error %");
}

static void show(unsigned work, uint32_t percent, const int of_gain[3],
                 const struct run p99[2], int p99_error)
{
    static const char *const faster[] = {"F", "disk", "network"};
    char texts[7][16];

    tap_note(
        "%-18s %-8s %3u %8s %8s %7s %8s %8s %8s %7s", works[work].program->name,
        faster[works[work].what], (unsigned)percent, text(of_gain[0], texts[0]),
        text(of_gain[1], texts[1]), text(of_gain[1] - of_gain[0], texts[2]),
        text(of_gain[2], texts[3]),
        text((int)lround(p99[0].p99 / US * 100), texts[4]),
        text((int)lround(p99[1].p99 / US * 100), texts[5]),
        text(p99_error, texts[6]));
}

/* Of fewer requests, both results are less certain. */
static int gain_bound(void)
{
    return visits >= VISITS_ENOUGH ? ERROR_MAX : 2 * ERROR_MAX;
}

/* 99 % are all but a few. */
static int p99_bound(void)
{
    if (visits >= P99_VISITS_ENOUGH)
        return P99_ERROR_MAX;
    return (visits >= VISITS_ENOUGH ? 3 : 12) * P99_ERROR_MAX / 2;
}

static void compare(unsigned work, uint32_t percent, double normal)
{
    uint32_t speedup = PROF_ONE / 100 * percent;
    struct run runs[2] = {run(work, REALLY, speedup),
                          run(work, VIRTUALLY, speedup)};
    int gains[3] = {gain(normal, runs[0].period), gain(normal, runs[1].period),
                    gain(normal, run(work, NAIVELY, speedup).period)};
    int p99_error = -gain(runs[0].p99, runs[1].p99);
    char what[80];

    show(work, percent, gains, runs, p99_error);
    snprintf(what, sizeof what, "%s, %u %%: gain", works[work].program->name,
             (unsigned)percent);
    tap_ok(abs(gains[1] - gains[0]) <= gain_bound(), what);
    snprintf(what, sizeof what, "%s, %u %%: p99", works[work].program->name,
             (unsigned)percent);
    tap_ok(abs(p99_error) <= p99_bound(), what);
}

/* ---- at the greatest speed-up */

static uint32_t outstanding(const struct sim *sim)
{
    uint32_t count = 0;

    for (const struct event *each = sim->world.events; each != NULL;
         each = each->world.next)
        count++;
    return count;
}

/* Whether each peer has something under way: it waits for an answer else. */
static bool all_peers_are_there(const struct sim *sim)
{
    uint64_t seen = 0;

    for (const struct event *each = sim->world.events; each != NULL;
         each = each->world.next)
        seen |= (uint64_t)1 << each->peer;
    return seen == ((uint64_t)1 << sim->parameter[PEERS]) - 1;
}

static void nothing_is_lost(unsigned work)
{
    const struct prof_causal_settings settings = {.tsc_hz = clock_tsc_hz()};
    struct prof_causal_stats stats;
    struct sim *sim;
    bool all;

    prof_causal_start(&settings);
    sim = sim_new(works[work].program, works[work].parameter);
    make_faster(sim, works[work].what, VIRTUALLY, PROF_SPEEDUP_MAX);
    sim_run(sim, FEW);
    all = works[work].program == &open_loop
              ? outstanding(sim) == sim->scratch - sim->visits
              : all_peers_are_there(sim);
    prof_causal_stats(&stats);
    prof_causal_stop();
    sim_free(sim);
    tap_ok(all && stats.held_refused == 0, "at 95 % nothing is lost");
}

/* ---- what experiments cost */

/* Instructions of a request, of a program that never waits; (on): in
 * experiments, all at normal speed. */
static double cost(unsigned work, bool on)
{
    const struct prof_causal_settings settings = {
        .tsc_hz = clock_tsc_hz(), .speedups = 1, .speedup = {1}, /* of 65,536 */
    };
    struct sim *sim;
    double cycles;
    uint64_t begin;

    if (on)
        prof_causal_start(&settings);
    sim = sim_new(works[work].program, works[work].parameter);
    sim->target = F;
    sim_run(sim, WARM_UP);
    begin = sim_time(sim).real;
    sim_run(sim, WARM_UP + FEW);
    cycles = (double)(sim_time(sim).real - begin) / FEW;
    prof_causal_stop();
    sim_free(sim);
    return cycles;
}

static void costs_little(unsigned work, int most)
{
    double without = cost(work, false), with = cost(work, true);
    int more = -gain(without, with);
    char texts[1][16];

    tap_note("%s: %u instructions of a request, in experiments %u: %s %%",
             works[work].program->name, (unsigned)without, (unsigned)with,
             text(more, texts[0]));
    tap_ok(with - without <= most, "at normal speed experiments cost little");
}

bool service_option(const char *key, const char *value)
{
    uint32_t number = (uint32_t)strtoul(value, NULL, 10);

    if (strcmp(key, "causal.visits") == 0)
        visits = number;
    else if (strcmp(key, "causal.speedups") == 0)
        speedups = number;
    else if (strcmp(key, "causal.first") == 0)
        first = number;
    else
        return false;
    return first <= PROGRAMS && visits != 0 && visits <= LATENCIES_MAX &&
           speedups != 0 && speedups <= SPEEDUPS_MAX;
}

int service_main(void)
{
    static const uint32_t percent[SPEEDUPS_MAX] = {50, 25, 75};

    prof_causal_add_progress(&visit);
    prof_causal_add_latency(&latency);
    prof_causal_add_target(&part_f);
    prof_causal_add_target(&all_disks);
    prof_causal_add_target(&all_peers);
    tap_plan((PROGRAMS - first) * (2 * speedups + 1) + 2);
    heading();
    for (unsigned i = first; i < PROGRAMS; i++) {
        double normal = run(i, REALLY, 0).period;

        for (unsigned j = 0; j < speedups; j++)
            compare(i, percent[j], normal);
        nothing_is_lost(i);
    }
    costs_little(0, OVERHEAD_MAX);
    costs_little(6, OVERHEAD_2_MAX);
    return tap_end();
}
