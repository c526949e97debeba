/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Experiments, short and in random order, in one run of a program: do their
 * intervals contain the truth? Fifty programs are made from a seed.
 */

#include "../unit.h"

#include "../../causal/simulation.h"

#include "../../causal/programs.h"

#include "causal/experiments.h"

#define PROGRAMS 50u
#define SPEEDUPS 4u
#define WARM_UP 5000u
#define VISITS 60000u

struct work {
    const struct program *program;
    uint32_t parameter[8];
};

static uint32_t between(uint32_t low, uint32_t high, uint32_t what,
                        uint32_t number)
{
    return low +
           (uint32_t)(sim_uniform(100 + what, number, 7) * (high - low + 1));
}

static struct work work_of(uint32_t number)
{
    static const struct program *const programs[] = {
        &closed, &background, &disk, &pipeline, &doorbell, &hedge};
    struct work work = {programs[number % 6], {0}};

    work.parameter[PEERS] = between(2, 24, 0, number);
    work.parameter[OF_F] = between(4, 40, 1, number);
    work.parameter[OF_G] = between(4, 40, 2, number);
    work.parameter[OF_H] = between(2, 20, 3, number);
    work.parameter[ROUND_TRIP] = between(10, 200, 4, number);
    work.parameter[DISK] = between(30, 400, 5, number);
    if (work.program == &disk)
        work.parameter[SERVERS] = between(0, 3, 6, number);
    return work;
}

static double period_of(const struct work *work, uint32_t real)
{
    struct sim *sim = sim_new(work->program, work->parameter);
    uint64_t begin;
    double period;

    sim->target = F;
    sim->shorter = real;
    sim_run(sim, WARM_UP);
    begin = sim_virtual(sim);
    sim_run(sim, WARM_UP + VISITS);
    period = (double)(sim_virtual(sim) - begin) / VISITS;
    sim_free(sim);
    return period;
}

static const struct prof_experiment_settings settings = {
    .targets = 1,
    .points = 1,
    .speedups = SPEEDUPS,
    .speedup = {0, PROF_ONE / 4, PROF_ONE / 2, PROF_ONE / 4 * 3},
    .cycles_min = (uint64_t)(2000 * US),
    .visits_min = 50,
    .cycles_max = (uint64_t)(1e6 * US),
    .seed = 1,
};

static void visited(void *context, uint64_t now)
{
    prof_experiments_visit(context, 0, now);
}

static void *experiment(const struct work *work, struct prof_experiments *all)
{
    struct sim *sim = sim_new(work->program, work->parameter);
    void *memory = malloc(prof_experiments_bytes(&settings));

    sim->target = F;
    sim_run(sim, WARM_UP);
    prof_experiments_init(all, &settings, &sim->world.clock, sim->world.now,
                          memory);
    sim->world.context = all;
    sim->world.visited = visited;
    sim_run(sim, WARM_UP + VISITS);
    sim_free(sim);
    all->clock = NULL;
    return memory;
}

TEST(intervals_contain_the_truth)
{
    uint32_t inside = 0, all_of_them = 0;

    for (uint32_t number = 0; number < PROGRAMS; number++) {
        struct work work = work_of(number);
        double normal = period_of(&work, 0);
        struct prof_experiments all;
        void *memory = experiment(&work, &all);

        for (uint32_t i = 1; i < SPEEDUPS; i++) {
            double truth =
                100 * (1 - period_of(&work, settings.speedup[i]) / normal);
            struct prof_gain gain;
            double predicted, interval;
            bool in;

            assert_int_equal(prof_gain_of(prof_experiments_sums(&all, 0, 0, 0),
                                          prof_experiments_sums(&all, 0, i, 0),
                                          &gain),
                             0);
            predicted = gain.ppm / 1e4;
            interval = gain.interval_ppm / 1e4;
            in = fabs(predicted - truth) <= interval;
            inside += in;
            all_of_them++;
            printf("%2u %-18s %2u %%: truth %6.2f, predicted %6.2f +- %5.2f%s "
                   "(%u)\n",
                   number, work.program->name, 25 * i, truth, predicted,
                   interval, in ? "" : " OUTSIDE", (unsigned)all.done);
        }
        free(memory);
    }
    printf("%u of %u\n", inside, all_of_them);
    assert_true(inside * 100 >= all_of_them * 95);
}
