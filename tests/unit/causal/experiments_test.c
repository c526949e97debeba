/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Experiments, short and in random order, in one run of a program: do their
 * intervals contain the truth? Fifty programs are made from a seed; at 32 bits
 * the first twelve of them, two of each kind, unless FULL=1 is in the
 * environment.
 */

#include "../unit.h"

#include "../../causal/simulation.h"

#include "../../causal/programs.h"

#include "causal/experiments.h"

#define PROGRAMS (sizeof(void *) == 8 || unit_is_full() ? 50u : 12u)
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
    uint32_t inside = 0, all_of_them = 0, programs = PROGRAMS;

    for (uint32_t number = 0; number < programs; number++) {
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

/* ---- rotation */

#define TARGETS 6u
#define QUIET 0u
#define NOISY 1u
#define RESTS 5u
#define EXPERIMENTS 3000u

static uint32_t drawn[TARGETS], at_speedup[TARGETS][SPEEDUPS];
static uint32_t ended_so[PROF_EXPERIMENT_EARLY + 1]; /* by the reason */

static void ended(const struct prof_experiment_record *record,
                  const uint32_t *visits)
{
    (void)visits;
    ended_so[record->end]++;
    drawn[record->target]++;
    at_speedup[record->target][record->speedup]++;
}

/* Visits take 100 us on average; those of experiments with a target differ by
 * as much as it is noisy. The greatest interval of (target), in per cent. */
static double widest(const struct prof_experiments *all, uint32_t target)
{
    double found = 0;

    for (uint32_t i = 1; i < SPEEDUPS; i++) {
        struct prof_gain gain;

        assert_int_equal(prof_gain_of(prof_experiments_sums(all, target, 0, 0),
                                      prof_experiments_sums(all, target, i, 0),
                                      &gain),
                         0);
        found = fmax(found, gain.interval_ppm / 1e4);
    }
    return found;
}

static void *rotate(struct prof_experiments *all, bool rotates, uint32_t count)
{
    struct prof_experiment_settings of = settings;
    struct prof_virtual_clock clock = {0};
    uint64_t now = 1000;
    double length = 0;
    uint32_t last = UINT32_MAX;
    void *memory;

    of.targets = TARGETS;
    of.rotates = rotates;
    of.ended = ended;
    memset(drawn, 0, sizeof drawn);
    memset(at_speedup, 0, sizeof at_speedup);
    memory = malloc(prof_experiments_bytes(&of));
    prof_experiments_init(all, &of, &clock, now, memory);
    while (all->done < count) {
        double noise = all->target == NOISY ? 0.2 : 0.02;

        if (rotates && all->done >= count / 10)
            prof_experiments_rest(all, RESTS, true);
        if (last != (uint32_t)all->done) {
            last = (uint32_t)all->done;
            length = 100 * US * (1 + noise * (unit_part() - 0.5));
        }
        now += (uint64_t)length;
        prof_experiments_visit(all, 0, now);
    }
    all->clock = NULL;
    return memory;
}

TEST(most_experiments_are_where_intervals_are_wide)
{
    struct prof_experiments all;
    double alike, rotating;
    void *memory = rotate(&all, false, EXPERIMENTS);

    for (uint32_t i = 0; i < TARGETS; i++)
        assert_in_range(drawn[i], EXPERIMENTS / TARGETS * 8 / 10,
                        EXPERIMENTS / TARGETS * 12 / 10);
    alike = widest(&all, NOISY);
    free(memory);
    memory = rotate(&all, true, EXPERIMENTS);
    rotating = widest(&all, NOISY);
    for (uint32_t i = 0; i < TARGETS; i++)
        printf("target %u: %u experiments, +- %.3f %%\n", i, drawn[i],
               widest(&all, i));
    printf("without rotation: +- %.3f %%\n", alike);
    assert_true(drawn[NOISY] > 2 * drawn[QUIET]);
    assert_true(rotating < 0.85 * alike);
    free(memory);
}

/* ---- blocks */

#define GAIN 0.1 /* at each speed-up */

struct host {
    double part;    /* of its speed that it loses and gets back, */
    double seconds; /* each so many */
    double noise;   /* of each visit, at random */
};

/* Experiments with one target on such a host. */
static void *experiments_on(const struct host *host,
                            struct prof_experiments *all, uint32_t count)
{
    struct prof_experiment_settings of = settings;
    struct prof_virtual_clock clock = {0};
    uint64_t now = 1000;
    void *memory;

    of.weighs = true;
    memory = malloc(prof_experiments_bytes(&of));
    prof_experiments_init(all, &of, &clock, now, memory);
    while (all->done < count) {
        double at = (double)now / (host->seconds * 1e6 * US);
        double length = 100 * US * (1 + host->part * sin(6.2831853 * at)) *
                        (1 + host->noise * (unit_part() - 0.5));

        now += (uint64_t)(all->speedup == 0 ? length : length * (1 - GAIN));
        prof_experiments_visit(all, 0, now);
    }
    all->clock = NULL;
    return memory;
}

static struct prof_gain gain_at(const struct prof_experiments *all,
                                uint32_t speedup)
{
    struct prof_gain gain;

    assert_int_equal(prof_gain_of(prof_experiments_sums(all, 0, 0, 0),
                                  prof_experiments_sums(all, 0, speedup, 0),
                                  &gain),
                     0);
    return gain;
}

/* A host that is up to half as slow again for seconds makes no interval wide:
 * experiments at normal speed and faster ones have the same part of it. */
TEST(what_the_host_steals_for_long_is_in_both_of_a_pair)
{
    static const struct host hosts[] = {
        {0.5, 3, 0}, {0.5, 0.7, 0.02}, {0.3, 20, 0.1}};

    for (size_t i = 0; i < COUNT(hosts); i++) {
        struct prof_experiments all;
        void *memory = experiments_on(&hosts[i], &all, 2000);

        for (uint32_t j = 1; j < SPEEDUPS; j++) {
            struct prof_gain gain = gain_at(&all, j);

            printf("host %zu, %u %%: %.3f +- %.3f %%\n", i, 25 * j,
                   gain.ppm / 1e4, gain.interval_ppm / 1e4);
            assert_true(fabs(gain.ppm / 1e6 - GAIN) <=
                        2 * gain.interval_ppm / 1e6);
            assert_true(gain.interval_ppm < 10000);
        }
        free(memory);
    }
}

/* A block is the same forwards and backwards, and has each speed-up twice. */
TEST(a_block_is_a_palindrome)
{
    struct prof_experiment_settings of = settings;
    struct prof_virtual_clock clock = {0};
    struct prof_experiments all;
    uint32_t seen[2 * SPEEDUPS], orders = 0, last = 0;
    uint64_t now = 0;
    void *memory = malloc(prof_experiments_bytes(&of));

    prof_experiments_init(&all, &of, &clock, now, memory);
    for (uint32_t block = 0; block < 100; block++) {
        uint32_t sum = 0, order = 0;

        for (uint32_t i = 0; i < 2 * SPEEDUPS; i++) {
            uint64_t done = all.done;

            seen[i] = all.speedup;
            sum += 1u << 4 * all.speedup;
            order = order * 4 + all.speedup;
            while (all.done == done)
                prof_experiments_visit(&all, 0, now += (uint64_t)(100 * US));
        }
        for (uint32_t i = 0; i < SPEEDUPS; i++)
            assert_int_equal(seen[i], seen[2 * SPEEDUPS - 1 - i]);
        assert_int_equal(sum, 0x2222);
        orders += order != last;
        last = order;
    }
    assert_true(orders > 80);
    free(memory);
}

/* One that is abandoned is tried again, so that none lacks its pair. */
TEST(abandoned_experiments_are_tried_again)
{
    struct prof_experiment_settings of = settings;
    struct prof_virtual_clock clock = {0};
    struct prof_experiments all;
    uint64_t now = 0;
    void *memory = malloc(prof_experiments_bytes(&of));

    prof_experiments_init(&all, &of, &clock, now, memory);
    for (uint32_t i = 0; i < 400; i++) {
        uint32_t speedup = all.speedup;
        uint64_t done = all.done;

        if (i % 3 == 0)
            prof_experiments_abandon(&all, now);
        assert_int_equal(all.speedup, speedup);
        while (all.done == done)
            prof_experiments_visit(&all, 0, now += (uint64_t)(100 * US));
    }
    for (uint32_t i = 1; i < SPEEDUPS; i++)
        for (uint32_t j = 0; j < PROF_GAIN_GROUPS; j++)
            assert_int_equal(
                prof_experiments_sums(&all, 0, i, 0)[j].experiments,
                prof_experiments_sums(&all, 0, 0, 0)[j].experiments);
    assert_int_equal(all.abandoned, 134);
    free(memory);
}

/* A full room ends experiments, and lets traffic through. What is fixed stays
 * so. */
TEST(what_is_fixed_stays_so)
{
    struct prof_experiment_settings of = settings;
    struct prof_virtual_clock clock = {0};
    struct prof_experiments all;
    void *memory = malloc(prof_experiments_bytes(&of));

    prof_experiments_init(&all, &of, &clock, 0, memory);
    prof_experiments_fix(&all, 0, PROF_ONE / 2, 0);
    prof_experiments_abandon(&all, 1);
    assert_int_equal(clock.speedup, PROF_ONE / 2);
    prof_experiments_pause(&all, 2);
    assert_int_equal(clock.speedup, 0);
    prof_experiments_abandon(&all, 3);
    prof_experiments_resume(&all, 4);
    assert_int_equal(clock.speedup, PROF_ONE / 2);
    assert_int_equal(all.abandoned, 0);
    free(memory);
}

/* With more of them intervals become as narrow as is asked. */
TEST(experiments_reach_a_width)
{
    static const struct host host = {0.2, 1, 2};
    struct prof_experiments all;
    void *memory = experiments_on(&host, &all, 24);

    assert_false(prof_experiments_reach(&all, 1));
    free(memory);
    memory = experiments_on(&host, &all, 4000);
    assert_true(prof_experiments_reach(&all, 1));
    for (uint32_t i = 1; i < SPEEDUPS; i++)
        assert_true(gain_at(&all, i).interval_ppm < 10500);
    free(memory);
}

/* Each target in turn, at each speed-up. */
TEST(none_is_forgotten)
{
    struct prof_experiments all;
    void *memory = rotate(&all, true, EXPERIMENTS);

    for (uint32_t i = 0; i < RESTS; i++) {
        assert_true(drawn[i] > EXPERIMENTS / TARGETS / 10);
        for (uint32_t j = 1; j < SPEEDUPS; j++)
            assert_in_range(at_speedup[i][j], at_speedup[i][0] - 2,
                            at_speedup[i][0] + 2);
    }
    free(memory);
}

/* The first two take part alone until neither interval is wider than 2 %. */
TEST(others_come_when_the_first_are_narrow)
{
    struct prof_experiment_settings of = settings;
    struct prof_virtual_clock clock = {0};
    struct prof_experiments all;
    uint32_t alone = 0;
    void *memory;

    of.targets = TARGETS;
    of.rotates = true;
    of.first = 2;
    of.narrow = 2;
    memory = malloc(prof_experiments_bytes(&of));
    prof_experiments_init(&all, &of, &clock, 1000, memory);
    for (uint64_t now = 1000; all.done < EXPERIMENTS;) {
        double noise = all.target == NOISY ? 0.2 : 0.02;

        now += (uint64_t)(100 * US * (1 + noise * (unit_part() - 0.5)));
        prof_experiments_visit(&all, 0, now);
        if (all.target < 2 || alone != 0)
            continue;
        alone = (uint32_t)all.done;
        assert_true(widest(&all, 0) < 2.1);
        assert_true(widest(&all, NOISY) < 2.1);
    }
    assert_in_range(alone, 4 * SPEEDUPS, EXPERIMENTS / 2);
    assert_int_equal(all.taking_part, TARGETS);
    free(memory);
}

static bool may_be_faster;

static bool known(uint32_t target)
{
    (void)target;
    return may_be_faster;
}

/* What is measured before is at normal speed, and void. */
TEST(nothing_counts_before_a_target_is_known)
{
    struct prof_experiment_settings of = settings;
    struct prof_virtual_clock clock = {0};
    struct prof_experiments all;
    void *memory = malloc(prof_experiments_bytes(&of));
    uint64_t now = 1000;

    of.known = known;
    of.ended = ended;
    memset(ended_so, 0, sizeof ended_so);
    may_be_faster = false;
    prof_experiments_init(&all, &of, &clock, now, memory);
    while (all.done < 20) {
        assert_int_equal(clock.speedup, 0);
        prof_experiments_visit(&all, 0, now += (uint64_t)(100 * US));
    }
    assert_int_equal(ended_so[PROF_EXPERIMENT_EARLY], 20);
    for (uint32_t i = 0; i < PROF_GAIN_GROUPS; i++)
        assert_int_equal(prof_experiments_sums(&all, 0, 0, 0)[i].experiments,
                         0);
    may_be_faster = true;
    while (all.done < 100)
        prof_experiments_visit(&all, 0, now += (uint64_t)(100 * US));
    /* the one that was going on was not known, either */
    assert_int_equal(ended_so[PROF_EXPERIMENT_EARLY], 21);
    assert_int_equal(ended_so[PROF_EXPERIMENT_COUNTS], 79);
    free(memory);
}

/* But for what does not run; and if that is all, they go on. */
TEST(what_does_not_run_is_not_drawn)
{
    struct prof_virtual_clock clock = {0};
    struct prof_experiments all;
    void *memory = rotate(&all, true, EXPERIMENTS);

    assert_in_range(drawn[RESTS], 1, EXPERIMENTS / 10);
    for (uint32_t i = 0; i < TARGETS; i++)
        prof_experiments_rest(&all, i, true);
    all.clock = &clock;
    for (uint64_t now = all.began; all.done < EXPERIMENTS + 100; now += 10000)
        prof_experiments_visit(&all, 0, now);
    free(memory);
}

/* One that began in a call of the profiler, whose time was taken out at its
 * end: virtual time is before that for a while. */
TEST(what_has_not_begun_yet_is_not_overdue)
{
    const struct prof_experiments all = {
        .settings = {.cycles_max = 1000},
        .began = 500,
    };

    assert_false(prof_experiments_overdue(&all, 400));
    assert_false(prof_experiments_overdue(&all, 1499));
    assert_true(prof_experiments_overdue(&all, 1500));
}
