/* SPDX-License-Identifier: Apache-2.0 */
#include <prof/gain.h>

#include "base/cpu.h"

#include <prof/error.h>

#define MILLION 1000000u
#define LIMIT 2000000000
#define PERIOD_SHIFT 8 /* periods are in 1/256 cycles */

#define NORMAL_SQUARE 541u /* 2.326^2, 98 % as below, in 1/100 */

/* Student's t for 98 %, two-sided, by degrees of freedom, in 1/1000. With that
 * for 95 %, 94 to 96 % of the intervals of fifty programs contain the truth,
 * since a program remembers more than one experiment. */
static const uint16_t student[PROF_GAIN_GROUPS] = {
    0,    31821, 6965, 4541, 3747, 3365, 3143, 2998,
    2896, 2821,  2764, 2718, 2681, 2650, 2624, 2602,
};

/* All groups are full: each two become one. */
static void merge(struct prof_progress_sum *groups)
{
    for (unsigned i = 0; i < PROF_GAIN_GROUPS / 2; i++) {
        const struct prof_progress_sum *a = &groups[2 * i];
        const struct prof_progress_sum *b = &groups[2 * i + 1];

        groups[i] = (struct prof_progress_sum){
            a->cycles + b->cycles,
            a->visits + b->visits,
            a->experiments + b->experiments,
        };
    }
    for (unsigned i = PROF_GAIN_GROUPS / 2; i < PROF_GAIN_GROUPS; i++)
        groups[i] = (struct prof_progress_sum){0};
}

/* The group to add to: all before it have as many experiments as the first. */
static struct prof_progress_sum *group_of(struct prof_progress_sum *groups)
{
    for (unsigned i = 0; i < PROF_GAIN_GROUPS; i++)
        if (groups[i].experiments == 0 ||
            groups[i].experiments < groups[0].experiments)
            return &groups[i];
    merge(groups);
    return &groups[PROF_GAIN_GROUPS / 2];
}

void prof_gain_add(struct prof_progress_sum groups[PROF_GAIN_GROUPS],
                   uint64_t cycles, uint32_t visits)
{
    struct prof_progress_sum *group;
    uint32_t room = UINT32_MAX;

    for (unsigned i = 0; i < PROF_GAIN_GROUPS; i++)
        room -= groups[i].visits;
    if (visits > room)
        return;
    group = group_of(groups);
    group->cycles += cycles;
    group->visits += visits;
    group->experiments++;
}

void prof_gain_sum(struct prof_progress_sum *to,
                   const struct prof_progress_sum *what)
{
    to->cycles += what->cycles;
    to->visits += what->visits;
    to->experiments += what->experiments;
}

/* Returns the number of groups with visits. */
static uint32_t sum_of(const struct prof_progress_sum *groups,
                       struct prof_progress_sum *sum)
{
    uint32_t used = 0;

    *sum = (struct prof_progress_sum){0};
    for (unsigned i = 0; i < PROF_GAIN_GROUPS; i++) {
        prof_gain_sum(sum, &groups[i]);
        used += groups[i].visits != 0;
    }
    return used;
}

static uint64_t period(const struct prof_progress_sum *sum)
{
    return prof_divide(sum->cycles << PERIOD_SHIFT, sum->visits);
}

/* 1 - faster / normal in ppm. */
static int32_t saved(const struct prof_progress_sum *normal,
                     const struct prof_progress_sum *faster)
{
    uint64_t of_normal = period(normal), of_faster = period(faster), ratio;

    while (of_normal > UINT32_MAX) {
        of_normal >>= 1;
        of_faster >>= 1;
    }
    if (of_normal == 0 || of_faster > UINT64_MAX / MILLION)
        return -LIMIT;
    ratio = prof_divide(of_faster * MILLION, (uint32_t)of_normal);
    if (ratio > LIMIT)
        return -LIMIT;
    return (int32_t)MILLION - (int32_t)ratio;
}

static uint64_t square(int64_t x)
{
    uint32_t size = (uint32_t)(x < 0 ? -x : x);

    return (uint64_t)size * size;
}

uint32_t prof_gain_root(uint64_t x)
{
    uint64_t low = 0, bit = 1ull << 62;

    while (bit > x)
        bit >>= 2;
    for (; bit != 0; bit >>= 2) {
        if (x >= low + bit) {
            x -= low + bit;
            low = (low >> 1) + bit;
        } else {
            low >>= 1;
        }
    }
    return (uint32_t)low;
}

/* Estimates, in each of which one group was left out. */
struct results {
    int32_t at[PROF_GAIN_GROUPS];
    uint32_t count;
};

/* Of the estimate from all groups. */
static uint64_t variance(const struct results *results)
{
    uint64_t squares = 0;
    uint64_t sum = 0; /* LIMIT added to each: not negative */
    int64_t mean;

    for (uint32_t i = 0; i < results->count; i++)
        sum += (uint64_t)((int64_t)results->at[i] + LIMIT);
    mean = (int64_t)prof_divide(sum, results->count) - LIMIT;
    for (uint32_t i = 0; i < results->count; i++) {
        uint64_t of_one = square(results->at[i] - mean);

        squares = squares > UINT64_MAX - of_one ? UINT64_MAX : squares + of_one;
    }
    return prof_divide(squares, results->count) * (results->count - 1);
}

static struct prof_progress_sum without(const struct prof_progress_sum *all,
                                        const struct prof_progress_sum *group)
{
    return (struct prof_progress_sum){all->cycles - group->cycles,
                                      all->visits - group->visits, 0};
}

/* Variance that comes from (groups) of one side; (other) is the sum of the
 * other side's. */
static uint64_t variance_of(const struct prof_progress_sum *groups,
                            const struct prof_progress_sum *other, bool faster)
{
    struct results results = {.count = 0};
    struct prof_progress_sum all;

    sum_of(groups, &all);
    for (unsigned i = 0; i < PROF_GAIN_GROUPS; i++) {
        struct prof_progress_sum rest = without(&all, &groups[i]);

        if (groups[i].visits != 0)
            results.at[results.count++] =
                faster ? saved(other, &rest) : saved(&rest, other);
    }
    return variance(&results);
}

/* Whether groups of the same number are of the same time: experiments of both
 * sides took turns. One side may be ahead by one. */
static bool are_paired(const struct prof_progress_sum *normal,
                       const struct prof_progress_sum *faster)
{
    uint32_t ahead = 0;

    for (unsigned i = 0; i < PROF_GAIN_GROUPS; i++) {
        const uint32_t a = normal[i].experiments, b = faster[i].experiments;

        ahead += a > b ? a - b : b - a;
        if (ahead > 1 || (normal[i].visits == 0) != (faster[i].visits == 0))
            return false;
    }
    return true;
}

/* Then both are left out at once: what made both of them slow is in neither. */
static uint64_t variance_of_pairs(const struct prof_progress_sum *normal,
                                  const struct prof_progress_sum *faster)
{
    struct prof_progress_sum of_normal, of_faster;
    struct results results = {.count = 0};

    sum_of(normal, &of_normal);
    sum_of(faster, &of_faster);
    for (unsigned i = 0; i < PROF_GAIN_GROUPS; i++) {
        struct prof_progress_sum rest_normal = without(&of_normal, &normal[i]),
                                 rest_faster = without(&of_faster, &faster[i]);

        if (normal[i].visits != 0)
            results.at[results.count++] = saved(&rest_normal, &rest_faster);
    }
    return variance(&results);
}

int prof_gain_of(const struct prof_progress_sum normal[PROF_GAIN_GROUPS],
                 const struct prof_progress_sum faster[PROF_GAIN_GROUPS],
                 struct prof_gain *gain)
{
    struct prof_progress_sum of_normal, of_faster;
    uint32_t normal_used = sum_of(normal, &of_normal);
    uint32_t faster_used = sum_of(faster, &of_faster);
    uint64_t spread;

    *gain = (struct prof_gain){
        .groups = normal_used < faster_used ? normal_used : faster_used};
    if (gain->groups < PROF_GAIN_GROUPS_MIN)
        return PROF_ESTATE;
    gain->ppm = saved(&of_normal, &of_faster);
    if (are_paired(normal, faster))
        spread = variance_of_pairs(normal, faster);
    else
        spread = variance_of(faster, &of_normal, true) +
                 variance_of(normal, &of_faster, false);
    spread = prof_divide(
        (uint64_t)prof_gain_root(spread) * student[gain->groups - 1], 1000);
    gain->interval_ppm = spread > LIMIT ? LIMIT : (uint32_t)spread;
    return 0;
}

/* How many there are is a binomial. Limits keep squares within 64 bits. */
void prof_gain_widen(struct prof_gain *gain, uint64_t samples)
{
    uint64_t own =
        square(gain->interval_ppm < LIMIT ? gain->interval_ppm : LIMIT);
    uint64_t more;

    if (samples > UINT32_MAX)
        return;
    more = prof_divide(square(gain->ppm), samples == 0 ? 1 : (uint32_t)samples);
    more = more < UINT64_MAX / 1024 ? prof_divide(more * NORMAL_SQUARE, 100)
                                    : UINT64_MAX / 4;
    gain->interval_ppm = prof_gain_root(own + more);
    if (gain->interval_ppm > LIMIT)
        gain->interval_ppm = LIMIT;
}
