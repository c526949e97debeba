/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prediction beside truth: programs of which a part really is faster, beside
 * the same in which it is so on the virtual clock only. QEMU counts
 * instructions, so all figures repeat.
 *
 * causal.visits=N sets how many requests are measured, causal.speedups=N how
 * many of 50, 25 and 75 %.
 */

#include "guest/tap.h"

#include "causal/machine.h"

#include "causal/programs.h"

#include <kernel/service.h>
#include <stdio.h>
#include <string.h>

#define PROGRAMS 12u
#define SPEEDUPS_MAX 3u
#define ERROR_MAX 100 /* of the gain: 1/100 percentage points */
#define WARM_UP 200u

static const struct {
    const struct program *program;
    uint32_t parameter[8];
} works[PROGRAMS] = {
    {&closed, {16, 10, 30, 5, 20}},      {&background, {3, 20, 10, 5, 120}},
    {&disk, {4, 10, 30, 5, 20, 500}},    {&disk, {4, 10, 30, 5, 20, 100, 1}},
    {&disk, {12, 20, 20, 5, 20, 60, 2}}, {&pipeline, {12, 15, 20, 8, 30, 300}},
    {&doorbell, {24, 8, 10, 0, 20, 80}}, {&hedge, {8, 20, 15, 12, 20, 100}},
    {&open_loop, {1, 10, 15, 0, 50}},    {&open_loop, {1, 20, 25, 0, 50}},
    {&tick, {1, 30, 20, 0, 100}},        {&bucket, {1, 20, 10, 0, 60}},
};

static uint32_t visits = 500, speedups = 1;

struct run {
    double period; /* virtual time between visits */
    double latency;
};

enum how { REALLY, VIRTUALLY, NAIVELY };

static struct run run(unsigned work, enum how how, uint32_t speedup)
{
    const struct prof_causal_settings settings = {.tsc_hz = clock_tsc_hz()};
    struct sim *sim;
    struct run result;
    uint64_t begin;
    double latency;

    prof_causal_start(&settings);
    prof_causal_fix(&part_f, how == REALLY ? 0 : speedup);
    sim = sim_new(works[work].program, works[work].parameter);
    sim->target = F;
    sim->shorter = how == REALLY ? speedup : 0;
    sim->only_now = how == NAIVELY;
    sim_run(sim, WARM_UP);
    begin = sim_virtual(sim);
    latency = sim->latency;
    sim_run(sim, WARM_UP + visits);
    result.period = (double)(sim_virtual(sim) - begin) / visits;
    result.latency = (sim->latency - latency) / visits;
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

static void compare(unsigned work, uint32_t percent)
{
    uint32_t speedup = PROF_ONE / 100 * percent;
    struct run normal = run(work, REALLY, 0);
    struct run really = run(work, REALLY, speedup);
    struct run virtually = run(work, VIRTUALLY, speedup);
    struct run naively = run(work, NAIVELY, speedup);
    int truth = gain(normal.period, really.period);
    int predicted = gain(normal.period, virtually.period);
    char texts[5][16], what[80];

    tap_note("%-18s %2u %%: truth %s, predicted %s, naive %s; latency %s, %s",
             works[work].program->name, (unsigned)percent,
             text(truth, texts[0]), text(predicted, texts[1]),
             text(gain(normal.period, naively.period), texts[2]),
             text(gain(normal.latency, really.latency), texts[3]),
             text(gain(normal.latency, virtually.latency), texts[4]));
    snprintf(what, sizeof what,
             "%s, %u %%: predicted within a percentage point",
             works[work].program->name, (unsigned)percent);
    tap_ok(abs(predicted - truth) <= ERROR_MAX, what);
}

bool service_option(const char *key, const char *value)
{
    uint32_t number = (uint32_t)strtoul(value, NULL, 10);

    if (strcmp(key, "causal.visits") == 0)
        visits = number;
    else if (strcmp(key, "causal.speedups") == 0)
        speedups = number;
    else
        return false;
    return visits != 0 && speedups != 0 && speedups <= SPEEDUPS_MAX;
}

int service_main(void)
{
    static const uint32_t percent[SPEEDUPS_MAX] = {50, 25, 75};

    prof_causal_add_progress(&visit);
    prof_causal_add_target(&part_f);
    tap_plan(PROGRAMS * speedups);
    for (unsigned i = 0; i < PROGRAMS; i++)
        for (unsigned j = 0; j < speedups; j++)
            compare(i, percent[j]);
    return tap_end();
}
