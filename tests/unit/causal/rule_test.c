/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Prediction beside truth: programs of which a part is faster on the virtual
 * clock, beside the same in which it really is.
 */

#include "../unit.h"

#include "../../causal/simulation.h"

#include "../../causal/programs.h"

#define VISITS 20000u
#define WARM_UP 500u
#define ERROR_MAX 0.3 /* percentage points of the gain */

struct run {
    double period;  /* cycles of virtual time between visits */
    double latency; /* the mean, cycles */
};

struct work {
    const struct program *program;
    uint32_t parameter[8];
};

static struct run run(const struct work *work, uint32_t speedup, uint32_t real,
                      bool naive)
{
    struct sim *sim = sim_new(work->program, work->parameter);
    struct run result;
    uint64_t begin;
    double latency;

    sim->target = work->parameter[PART] == 0 ? F : work->parameter[PART];
    sim->shorter = real;
    sim->only_now = naive;
    prof_virtual_speed_up(&sim->world.clock, sim->world.now, speedup);
    sim_run(sim, WARM_UP);
    begin = sim_virtual(sim);
    latency = sim->latency;
    sim_run(sim, WARM_UP + VISITS);
    result.period = (double)(sim_virtual(sim) - begin) / VISITS;
    result.latency = (sim->latency - latency) / VISITS;
    sim_free(sim);
    return result;
}

/* By how many per cent it is faster. */
static double gain(double normal, double faster)
{
    return 100 * (1 - faster / normal);
}

static const struct work works[] = {
    {&closed, {16, 10, 30, 5, 20}},
    {&background, {3, 20, 10, 5, 120}},
    {&disk, {4, 10, 30, 5, 20, 500}},
    {&disk, {4, 10, 30, 5, 20, 100, 1}},
    {&disk, {12, 20, 20, 5, 20, 60, 2}},
    {&pipeline, {12, 15, 20, 8, 30, 300}},
    {&doorbell, {24, 8, 10, 0, 20, 80}},
    {&hedge, {8, 20, 15, 12, 20, 100}},
    {&open_loop, {1, 10, 15, 0, 50}},
    {&open_loop, {1, 20, 25, 0, 50}},
    {&tick, {1, 30, 20, 0, 100}},
    {&bucket, {1, 20, 10, 0, 60}},
    {&hidden, {2, 40, 30, 10, 20, 150}},
    {&hidden, {2, 40, 30, 10, 20, 150, 0, G}},
};

TEST(a_prediction_is_the_truth)
{
    unsigned naive_wrong = 0;

    for (unsigned i = 0; i < COUNT(works); i++) {
        struct run normal = run(&works[i], 0, 0, false);

        for (uint32_t percent = 25; percent <= 75; percent += 25) {
            uint32_t speedup = PROF_ONE / 100 * percent;
            struct run truth = run(&works[i], 0, speedup, false);
            struct run virtual = run(&works[i], speedup, 0, false);
            struct run naive = run(&works[i], speedup, 0, true);

            double error = gain(normal.period, virtual.period) -
                           gain(normal.period, truth.period);

            if (fabs(gain(normal.period, naive.period) -
                     gain(normal.period, truth.period)) > 10 * ERROR_MAX)
                naive_wrong++;
            printf("%-18s %2u %%: truth %6.2f, predicted %6.2f, naive %6.2f; "
                   "latency %6.2f, %6.2f\n",
                   works[i].program->name, percent,
                   gain(normal.period, truth.period),
                   gain(normal.period, virtual.period),
                   gain(normal.period, naive.period),
                   gain(normal.latency, truth.latency),
                   gain(normal.latency, virtual.latency));
            assert_true(fabs(error) <= ERROR_MAX);
        }
    }
    /* what would be seen without the rule: these programs are not easy */
    assert_true(naive_wrong >= 10);
}
