/* SPDX-License-Identifier: Apache-2.0 */
/* From sums to curves, and what they are like. */

#include "base/memory.h"
#include "causal/causal.h"

#include <stdlib.h>
#include <string.h>

#define PPM 1e6

const char *causal_target_name(const struct causal *causal, uint32_t target)
{
    return strings_text(&causal->strings, causal->targets[target].name);
}

const char *causal_point_name(const struct causal *causal, uint32_t point)
{
    return strings_text(&causal->strings, causal->points[point]);
}

const char *causal_kind_name(const struct causal *causal, uint32_t kind)
{
    return strings_text(&causal->strings, causal->kinds[kind]);
}

/* The share of (target) at normal speed; negative if it is not known. */
static double share_of_target(const struct causal *causal, uint32_t target)
{
    const struct causal_target *of = &causal->targets[target];

    return of->real == 0 ? -1 : (double)of->in_target / (double)of->real;
}

uint64_t causal_missing(const struct causal *causal)
{
    uint64_t said = causal->is.experiments + causal->is.abandoned;

    return said > causal->record_count ? said - causal->record_count : 0;
}

/* A stream can say anything; sums must not overflow. */
static bool is_sane(const struct prof_progress_sum *groups)
{
    for (unsigned i = 0; i < PROF_GAIN_GROUPS; ++i)
        if (groups[i].cycles >> 50 != 0)
            return false;
    return true;
}

static uint64_t visits_of(const struct prof_progress_sum *groups)
{
    uint64_t visits = 0;

    for (unsigned i = 0; i < PROF_GAIN_GROUPS; ++i)
        visits += groups[i].visits;
    return visits;
}

/* (normal) and (faster) may be NULL, as may (target); it widens the interval if
 * it is known by samples. */
static void gain_of(const struct prof_progress_sum *normal,
                    const struct prof_progress_sum *faster,
                    const struct causal_target *target,
                    struct causal_value *value)
{
    struct prof_gain gain;

    if (normal == NULL || faster == NULL || !is_sane(normal) ||
        !is_sane(faster) || prof_gain_of(normal, faster, &gain) != 0)
        return;
    if (target != NULL && target->accrual != 0)
        prof_gain_widen(&gain, target->visits);
    value->known = true;
    value->gain = gain.ppm / PPM;
    value->interval = gain.interval_ppm / PPM;
    value->groups = gain.groups;
}

static void value_of(const struct causal *causal, uint32_t target,
                     uint32_t point, uint32_t speedup,
                     struct causal_value *value)
{
    value->speedup = causal->speedups[speedup] / (double)PROF_ONE;
    gain_of(causal_groups(causal, target, 0, point),
            causal_groups(causal, target, speedup, point),
            &causal->targets[target], value);
}

void causal_none(const struct causal *causal, uint32_t point,
                 struct causal_value *value)
{
    struct prof_progress_sum halves[2][PROF_GAIN_GROUPS] = {{{0}}};

    *value = (struct causal_value){0};
    for (uint32_t target = 0; target < causal->target_numbers.count; ++target) {
        const struct prof_progress_sum *groups =
            causal_groups(causal, target, 0, point);

        if (groups == NULL)
            continue;
        if (visits_of(halves[0]) + visits_of(halves[1]) + visits_of(groups) >
            UINT32_MAX)
            return;
        for (unsigned i = 0; i < PROF_GAIN_GROUPS; ++i)
            prof_gain_sum(&halves[i % 2][i / 2], &groups[i]);
        if (!is_sane(halves[0]) || !is_sane(halves[1]))
            return;
    }
    gain_of(halves[0], halves[1], NULL, value);
}

bool causal_rates(const struct causal *causal, struct prof_rates *rates)
{
    const uint32_t point = index_find(&causal->point_numbers, 0);
    struct prof_progress_sum sums[PROF_RATES][PROF_GAIN_GROUPS] = {{{0}}};
    struct prof_progress_sum *during = sums[PROF_RATE_DURING];

    memcpy(sums, causal->pace, sizeof causal->pace);
    if (point == INDEX_NONE || !is_sane(sums[PROF_RATE_BEFORE]) ||
        !is_sane(sums[PROF_RATE_AFTER]))
        return false;
    for (uint32_t target = 0; target < causal->target_numbers.count; ++target) {
        const struct prof_progress_sum *groups =
            causal_groups(causal, target, 0, point);

        for (unsigned i = 0; groups != NULL && i < PROF_GAIN_GROUPS; ++i)
            prof_gain_sum(&during[i], &groups[i]);
        if (!is_sane(during))
            return false;
    }
    return prof_rates_of(sums, causal->tsc_hz, rates) == 0;
}

static uint64_t experiments_with(const struct causal *causal, uint32_t target,
                                 uint32_t point)
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i < causal->speedup_count; ++i) {
        const struct prof_progress_sum *groups =
            causal_groups(causal, target, i, point);

        for (unsigned j = 0; groups != NULL && j < PROF_GAIN_GROUPS; ++j)
            sum += groups[j].experiments;
    }
    return sum;
}

static int by_speedup(const void *a, const void *b)
{
    const struct causal_value *left = a, *right = b;

    return (left->speedup > right->speedup) - (left->speedup < right->speedup);
}

/* The greatest speed-up of which something is known. */
static const struct causal_value *last_known(const struct causal_curve *curve)
{
    for (uint32_t i = curve->count; i > 0; --i)
        if (curve->values[i - 1].known)
            return &curve->values[i - 1];
    return NULL;
}

static bool is_reached(const struct causal *causal, uint32_t point)
{
    for (uint32_t target = 0; target < causal->target_numbers.count; ++target)
        for (uint32_t i = 0; i < causal->speedup_count; ++i) {
            const struct prof_progress_sum *groups =
                causal_groups(causal, target, i, point);

            for (unsigned j = 0; groups != NULL && j < PROF_GAIN_GROUPS; ++j)
                if (groups[j].visits != 0)
                    return true;
        }
    return false;
}

/* Why nothing is known, in the same order as the guest. */
static enum causal_shape reason(const struct causal *causal, bool reached)
{
    if (causal->is.experiments != 0 && !reached)
        return CAUSAL_NOT_REACHED;
    return causal->is.refused > causal->is.experiments ? CAUSAL_TOO_MUCH
                                                       : CAUSAL_TOO_FEW;
}

/* (reached): whether the point is. */
static void make_curve(const struct causal *causal, uint32_t target,
                       uint32_t point, bool reached, struct causal_curve *curve)
{
    const struct causal_target *of = &causal->targets[target];
    const struct causal_value *last;

    *curve = (struct causal_curve){
        .target = target,
        .point = point,
        .share = share_of_target(causal, target),
        .experiments = experiments_with(causal, target, point),
    };
    for (uint32_t i = 1; i < causal->speedup_count; ++i)
        value_of(causal, target, point, i, &curve->values[curve->count++]);
    qsort(curve->values, curve->count, sizeof *curve->values, by_speedup);
    last = last_known(curve);
    if (last != NULL && last->speedup > 0)
        curve->slope = last->gain / last->speedup;
    if (reached && curve->experiments == 0 &&
        (of->accrual == 0 || of->visits != 0))
        curve->shape = CAUSAL_TO_COME;
    else if (of->visits == 0 && curve->share <= 0)
        curve->shape = CAUSAL_NOT_CALLED;
    else if (last == NULL)
        curve->shape = reason(causal, reached);
    else
        causal_judge(curve);
}

void causal_curve(const struct causal *causal, uint32_t target, uint32_t point,
                  struct causal_curve *curve)
{
    make_curve(causal, target, point, is_reached(causal, point), curve);
}

static int by_slope(const void *a, const void *b)
{
    const struct causal_curve *left = a, *right = b;
    bool of_left = last_known(left) != NULL,
         of_right = last_known(right) != NULL;

    if (of_left != of_right)
        return of_left ? -1 : 1;
    if (left->slope != right->slope)
        return left->slope > right->slope ? -1 : 1;
    return (left->target > right->target) - (left->target < right->target);
}

struct causal_curve *causal_curves(const struct causal *causal, uint32_t point)
{
    struct causal_curve *curves =
        xreallocarray(NULL, causal->target_numbers.count + 1, sizeof *curves);
    bool reached = is_reached(causal, point);

    for (uint32_t i = 0; i < causal->target_numbers.count; ++i)
        make_curve(causal, i, point, reached, &curves[i]);
    qsort(curves, causal->target_numbers.count, sizeof *curves, by_slope);
    return curves;
}
