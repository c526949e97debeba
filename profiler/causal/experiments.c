/* SPDX-License-Identifier: Apache-2.0 */
#include "causal/experiments.h"

#include "base/cpu.h"

/* At one place of a block. After these it has no pair there. */
#define TRIES_MAX 3u

static size_t series(const struct prof_experiment_settings *settings)
{
    return (size_t)settings->targets * settings->speedups * settings->points;
}

size_t prof_experiments_bytes(const struct prof_experiment_settings *settings)
{
    return series(settings) * PROF_GAIN_GROUPS *
               sizeof(struct prof_progress_sum) +
           settings->targets * sizeof(struct prof_target_share) +
           (settings->points + settings->targets) * sizeof(uint32_t) +
           settings->speedups;
}

struct prof_progress_sum *
prof_experiments_sums(const struct prof_experiments *all, uint32_t target,
                      uint32_t speedup, uint32_t point)
{
    const struct prof_experiment_settings *settings = &all->settings;

    return all->sums +
           ((size_t)(target * settings->speedups + speedup) * settings->points +
            point) *
               PROF_GAIN_GROUPS;
}

/* 0 to (below) - 1. Source: Marsaglia, Xorshift RNGs, J. Stat. Soft. 8 (2003),
 * 13, 17, 5; the high bits, which are the better ones. */
static uint32_t draw(struct prof_experiments *all, uint32_t below)
{
    all->random ^= all->random << 13;
    all->random ^= all->random >> 17;
    all->random ^= all->random << 5;
    return (uint32_t)((uint64_t)all->random * below >> 32);
}

/* To be called after each change of what (enough) depends on. An experiment
 * begins to count at the visit that ends the one before, hence one more. */
__attribute__((noinline)) static void set_enough(struct prof_experiments *all)
{
    if (all->fixed || all->paused)
        all->enough = UINT32_MAX;
    else
        all->enough = all->counts ? all->wanted : all->wanted + 1;
}

/* What follows does not count yet. */
__attribute__((noinline)) static void set_speed(struct prof_experiments *all,
                                                uint64_t now, uint32_t speedup)
{
    prof_virtual_speed_up(all->clock, now, speedup);
    all->counts = false;
    set_enough(all);
}

static void count_from(struct prof_experiments *all, uint64_t now, uint64_t at)
{
    all->began = at;
    all->began_real = now;
    all->began_in_target = prof_virtual_in_target(all->clock, now);
    for (uint32_t i = 0; i < all->settings.points; i++)
        all->visits[i] = 0;
}

/* ---- which target is next */

#define PERCENT_PPM 10000u
#define WIDTH_UNIT 500u /* ppm of an interval */
#define WIDTH_MAX 400u  /* 20 %, or nothing is known yet */
#define WEIGHT_MAX (WIDTH_MAX * WIDTH_MAX)

/* Of the first point, which paces all experiments. */
static uint32_t weight_of(const struct prof_experiments *all, uint32_t target)
{
    uint32_t widest = 1;

    for (uint32_t speedup = 1; speedup < all->settings.speedups; speedup++) {
        struct prof_gain gain;
        uint32_t width = WIDTH_MAX;

        if (prof_gain_of(prof_experiments_sums(all, target, 0, 0),
                         prof_experiments_sums(all, target, speedup, 0),
                         &gain) == 0 &&
            gain.interval_ppm / WIDTH_UNIT < WIDTH_MAX)
            width = gain.interval_ppm / WIDTH_UNIT;
        if (width > widest)
            widest = width;
    }
    return widest * widest;
}

void prof_experiments_rest(struct prof_experiments *all, uint32_t target,
                           bool rests)
{
    if (all->settings.rotates && rests != (all->weights[target] == 0))
        all->weights[target] = rests ? 0 : weight_of(all, target);
}

bool prof_experiments_reach(const struct prof_experiments *all,
                            uint32_t percent)
{
    const uint32_t widest = percent * (PERCENT_PPM / WIDTH_UNIT);

    for (uint32_t i = 0; i < all->settings.targets; i++)
        if (all->weights[i] > widest * widest)
            return false;
    return true;
}

/* Another target takes part when what the others lack is little. */
static void widen(struct prof_experiments *all)
{
    const uint32_t narrow = all->settings.narrow * (PERCENT_PPM / WIDTH_UNIT);

    for (uint32_t i = 0; i < all->taking_part; i++)
        if (all->weights[i] > narrow * narrow)
            return;
    if (all->taking_part < all->settings.targets)
        all->taking_part++;
}

static uint32_t draw_target(struct prof_experiments *all)
{
    uint32_t sum = 0, drawn, target = 0, targets;

    widen(all);
    targets = all->taking_part;
    for (uint32_t i = 0; i < targets && all->settings.rotates; i++)
        sum += all->weights[i];
    if (sum == 0)
        return draw(all, targets);
    for (drawn = draw(all, sum); drawn >= all->weights[target]; target++)
        drawn -= all->weights[target];
    return target;
}

static bool is_known(const struct prof_experiments *all)
{
    return all->settings.known == NULL || all->settings.known(all->target);
}

static void begin_block(struct prof_experiments *all)
{
    const struct prof_experiment_settings *settings = &all->settings;

    all->target = settings->rotates ? draw_target(all)
                                    : (all->target + 1) % settings->targets;
    for (uint32_t i = 0; i < settings->speedups; i++) {
        uint32_t at = draw(all, i + 1);

        all->order[i] = all->order[at];
        all->order[at] = (uint8_t)i;
    }
    all->number = all->target + 1;
    all->place = 0;
    all->known = is_known(all);
}

/* The next experiment of the block, or of another. */
static void go_on(struct prof_experiments *all)
{
    all->tries = 0;
    if (++all->place == 2 * all->settings.speedups || !all->known)
        begin_block(all);
}

static void begin_experiment(struct prof_experiments *all, uint64_t now,
                             uint64_t at)
{
    const uint32_t speedups = all->settings.speedups;
    const uint32_t place =
        all->place < speedups ? all->place : 2 * speedups - 1 - all->place;

    all->speedup = all->known ? all->order[place] : 0;
    set_speed(all, now, all->settings.speedup[all->speedup]);
    count_from(all, now, at);
}

static void record(struct prof_experiments *all, uint64_t cycles,
                   uint64_t inside)
{
    if (all->speedup == 0) {
        all->shares[all->target].inside += inside;
        all->shares[all->target].cycles += cycles;
    }
    for (uint32_t point = 0; point < all->settings.points; point++)
        prof_gain_add(
            prof_experiments_sums(all, all->target, all->speedup, point),
            cycles, all->visits[point]);
    if (all->settings.rotates || all->settings.weighs)
        all->weights[all->target] = weight_of(all, all->target);
    all->done++;
}

static void record_end(const struct prof_experiments *all, uint64_t now,
                       enum prof_experiment_end end)
{
    uint64_t at = prof_virtual_time(all->clock, now);
    const struct prof_experiment_record record = {
        .number = (uint32_t)(all->done + all->abandoned),
        .target = all->target,
        .speedup = all->speedup,
        .end = end,
        .virtual_time = at - all->began,
        .real_time = now - all->began_real,
        .in_target =
            prof_virtual_in_target(all->clock, now) - all->began_in_target,
    };

    if (all->settings.ended != NULL)
        all->settings.ended(&record, all->visits);
}

void prof_experiments_init(struct prof_experiments *all,
                           const struct prof_experiment_settings *settings,
                           struct prof_virtual_clock *clock, uint64_t now,
                           void *memory)
{
    *all = (struct prof_experiments){
        .settings = *settings,
        .clock = clock,
        .sums = memory,
        .random = settings->seed | 1,
        .wanted = settings->visits_min,
        .target = settings->targets - 1, /* the first one is next */
        .taking_part = settings->targets,
    };
    if (settings->rotates && settings->first != 0 &&
        settings->first < settings->targets)
        all->taking_part = settings->first;
    all->shares =
        (void *)(all->sums + series(&all->settings) * PROF_GAIN_GROUPS);
    all->visits = (void *)(all->shares + all->settings.targets);
    prof_clear_words(memory, (size_t)((char *)all->visits - (char *)memory) /
                                 sizeof(void *));
    all->weights = all->visits + all->settings.points;
    for (uint32_t i = 0; i < all->settings.targets; i++)
        all->weights[i] = WEIGHT_MAX;
    all->order = (void *)(all->weights + all->settings.targets);
    begin_block(all);
    begin_experiment(all, now, prof_virtual_time(clock, now));
}

/* How many visits an experiment takes is decided before it begins: if it ended
 * when something has happened, what happens then would be counted too often. */
static void adapt(struct prof_experiments *all, uint64_t cycles)
{
    if (cycles < all->settings.cycles_min)
        all->wanted += all->wanted;
    else if (cycles / 4 > all->settings.cycles_min &&
             all->wanted / 2 >= all->settings.visits_min)
        all->wanted /= 2;
}

bool prof_experiments_visited(struct prof_experiments *all, uint64_t now)
{
    uint64_t at = prof_virtual_time(all->clock, now);

    if (all->fixed || all->paused) /* after 2^32 visits */
        return false;
    if (!all->counts && all->visits[0] > all->wanted) {
        all->counts = true;
        set_enough(all);
        count_from(all, now, at);
    }
    if (!all->counts || all->visits[0] < all->wanted)
        return false;
    if (all->known)
        record(all, at - all->began,
               prof_virtual_in_target(all->clock, now) - all->began_in_target);
    else
        all->done++;
    record_end(all, now,
               all->known ? PROF_EXPERIMENT_COUNTS : PROF_EXPERIMENT_EARLY);
    adapt(all, at - all->began);
    go_on(all);
    begin_experiment(all, now, at);
    return true;
}

void prof_experiments_fix(struct prof_experiments *all, uint32_t target,
                          uint32_t speedup, uint64_t now)
{
    all->fixed = true;
    all->target = target;
    all->number = target + 1;
    all->fixed_speedup = speedup;
    set_speed(all, now, speedup);
}

void prof_experiments_pause(struct prof_experiments *all, uint64_t now)
{
    all->paused = true;
    set_speed(all, now, 0);
}

void prof_experiments_resume(struct prof_experiments *all, uint64_t now)
{
    all->paused = false;
    if (all->fixed)
        set_speed(all, now, all->fixed_speedup);
    else
        begin_experiment(all, now, prof_virtual_time(all->clock, now));
}

static void abandon(struct prof_experiments *all, uint64_t now,
                    enum prof_experiment_end end)
{
    all->abandoned++;
    record_end(all, now, end);
    if (all->wanted / 2 >= all->settings.visits_min)
        all->wanted /= 2;
    if (++all->tries == TRIES_MAX)
        go_on(all);
    begin_experiment(all, now, prof_virtual_time(all->clock, now));
}

void prof_experiments_abandon(struct prof_experiments *all, uint64_t now)
{
    if (!all->fixed && !all->paused)
        abandon(all, now, PROF_EXPERIMENT_FULL);
}

bool prof_experiments_check(struct prof_experiments *all, uint64_t now,
                            uint64_t at)
{
    if (!prof_experiments_overdue(all, at))
        return false;
    abandon(all, now, PROF_EXPERIMENT_SLOW);
    return true;
}
