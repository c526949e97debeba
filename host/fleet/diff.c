/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two builds of a service. What is compared is guests: the share of a function
 * in each, of its sampled time. Guests of one build differ, by load and by
 * where they run, much more than their samples scatter: a test over samples
 * would find every such difference.
 */

#include "fleet/fleet.h"

#include "base/json.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/text.h"
#include "fleet/statistics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ALPHA 0.05

/* The builds that are compared: those asked for, or the two first seen last. */
static void choose(const struct fleet *fleet, struct fleet_diff *diff)
{
    size_t count, base, now;
    struct fleet_build *builds = fleet_builds(fleet, &count);

    if (count < 2)
        die("%s: %s: %s at that time; diff needs two builds",
            store_name(fleet->store), fleet->service,
            count == 0 ? "no guests" : "one build");
    if (fleet->build_count == 1)
        die_usage("diff needs two builds, or none for the last two");
    base = count - 2;
    now = count - 1;
    for (size_t i = 0; i < count && fleet->build_count == 2; ++i) {
        if (strcmp(builds[i].id, fleet->builds[0]) == 0)
            base = i;
        if (strcmp(builds[i].id, fleet->builds[1]) == 0)
            now = i;
    }
    if (base == now)
        die_usage("%.12s is compared with itself", builds[now].id);
    diff->base = builds[base];
    diff->now = builds[now];
    free(builds);
}

/* Guests of (build) that have samples. */
static uint64_t sampled(const struct fleet_guests *guests,
                        const struct fleet_build *build)
{
    uint64_t count = 0;

    for (size_t i = 0; i < guests->count; ++i)
        count += guests->list[i].account.attributed > 0 &&
                 strcmp(guests->list[i].build, build->id) == 0;
    return count;
}

static void judge(struct fleet_change *change)
{
    struct welch welch = statistics_welch(
        change->base.mean, change->base.variance, change->base.guests,
        change->now.mean, change->now.variance, change->now.guests);

    change->t = welch.t;
    change->freedom = welch.freedom;
    change->p = welch.p;
}

static void mark(struct fleet_change *changes, size_t count)
{
    for (size_t i = 0; i < count; ++i)
        changes[i].significant = changes[i].p * (double)count < ALPHA;
}

static int by_surety(const void *one, const void *other)
{
    const struct fleet_change *a = one, *b = other;
    double x = fabs(a->t), y = fabs(b->t);

    if (a->p != b->p)
        return (a->p > b->p) - (a->p < b->p);
    return x != y ? (x < y) - (x > y) : strcmp(a->name, b->name);
}

/* ---- functions */

struct sums {
    double share, square; /* of the guests' shares */
};

static const struct fleet_guest *find_guest(const struct fleet_guests *guests,
                                            const char *build, uint64_t number)
{
    size_t low = 0, high = guests->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct fleet_guest *guest = &guests->list[middle];
        int order = strcmp(guest->build, build);

        if (order == 0)
            order = (guest->number > number) - (guest->number < number);
        if (order == 0)
            return guest;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

/* Adds the guest's samples to those of all functions in them. */
static void count_samples(struct fleet_diff *diff,
                          const struct mixes_guest *guest)
{
    const struct mixes *mixes = &diff->mixes;

    for (size_t i = 0; i < guest->count; ++i) {
        const struct mixes_part *part = &mixes->parts[guest->first + i];
        const struct mix *mix = &mixes->list[part->mix];

        for (size_t j = 0; j < mix->count; ++j)
            diff->functions[mixes->members[mix->first + j]].samples +=
                part->samples;
    }
}

/* (sums) has one of each function for the base, and then one for the new
 * build. */
static void add_up(struct fleet_diff *diff, const struct fleet_guests *guests,
                   struct sums *sums)
{
    const struct mixes *mixes = &diff->mixes;
    size_t count = mixes->function_count;
    double *shares = xreallocarray(NULL, count, sizeof *shares);

    for (size_t row = 0; row < mixes->guest_count; ++row) {
        const struct mixes_guest *guest = &mixes->guests[row];
        struct sums *side = sums;

        if (find_guest(guests, diff->now.id, guest->number) != NULL)
            side += count;
        else if (find_guest(guests, diff->base.id, guest->number) == NULL)
            continue; /* without an account */
        mixes_shares(mixes, guest, diff->by == FLEET_BY_TOTAL, shares);
        for (size_t i = 0; i < count; ++i) {
            side[i].share += shares[i];
            side[i].square += shares[i] * shares[i];
        }
        count_samples(diff, guest);
    }
    free(shares);
}

static void compare_functions(struct fleet_diff *diff,
                              const struct fleet_guests *guests)
{
    size_t count = diff->mixes.function_count;
    uint64_t base_guests = sampled(guests, &diff->base);
    uint64_t now_guests = sampled(guests, &diff->now);
    struct sums *sums = xreallocarray(NULL, count, 2 * sizeof *sums);

    memset(sums, 0, count * 2 * sizeof *sums);
    diff->functions = xreallocarray(NULL, count, sizeof *diff->functions);
    for (size_t i = 0; i < count; ++i)
        diff->functions[i] =
            (struct fleet_change){.name = diff->mixes.functions[i],
                                  .base.guests = base_guests,
                                  .now.guests = now_guests};
    add_up(diff, guests, sums);
    for (size_t i = 0; i < count; ++i) {
        struct fleet_change change = diff->functions[i];
        const struct sums *base = &sums[i], *now = &sums[count + i];

        statistics_of_sums(base->share, base->square, base_guests,
                           &change.base.mean, &change.base.variance);
        statistics_of_sums(now->share, now->square, now_guests,
                           &change.now.mean, &change.now.variance);
        if (change.base.mean == 0 && change.now.mean == 0)
            continue; /* not seen, or only called through, by self time */
        judge(&change);
        diff->functions[diff->count++] = change;
    }
    free(sums);
    mark(diff->functions, diff->count);
    qsort(diff->functions, diff->count, sizeof *diff->functions, by_surety);
}

/* ---- what the accounts and the event loop say of each guest */

static double busy_of(const struct fleet_guest *guest)
{
    return fleet_busy(&guest->account);
}

static double lost_of(const struct fleet_guest *guest)
{
    return fleet_lost(&guest->account);
}

static double delay_of(const struct fleet_guest *guest)
{
    return guest->has_delay ? (double)guest->delay_99 : NAN;
}

static const struct {
    const char *name;
    double (*value)(const struct fleet_guest *guest);
    bool is_ns;
} measures[] = {
    {"busy", busy_of, false},
    {"lost", lost_of, false},
    {"p99 of the event loop's delay", delay_of, true},
};
#define MEASURES (sizeof measures / sizeof measures[0])

static struct fleet_sample sample_of(const struct fleet_guests *guests,
                                     const struct fleet_build *build,
                                     size_t measure)
{
    struct fleet_sample sample = {0};
    double squares = 0;

    /* with the mean taken off first: times have many digits */
    for (int pass = 0; pass < 2; ++pass) {
        double sum = 0;

        sample.guests = 0;
        for (size_t i = 0; i < guests->count; ++i) {
            const struct fleet_guest *guest = &guests->list[i];
            double value = measures[measure].value(guest);

            if (isnan(value) || strcmp(guest->build, build->id) != 0)
                continue;
            ++sample.guests;
            sum += value;
            squares +=
                pass == 0 ? 0 : (value - sample.mean) * (value - sample.mean);
        }
        if (pass == 0 && sample.guests > 0)
            sample.mean = sum / (double)sample.guests;
    }
    if (sample.guests > 1)
        sample.variance = squares / (double)(sample.guests - 1);
    return sample;
}

static void compare_measures(struct fleet_diff *diff,
                             const struct fleet_guests *guests)
{
    diff->measures = xreallocarray(NULL, MEASURES, sizeof *diff->measures);
    for (size_t i = 0; i < MEASURES; ++i) {
        struct fleet_change *change = &diff->measures[i];

        *change = (struct fleet_change){
            .name = measures[i].name,
            .base = sample_of(guests, &diff->base, i),
            .now = sample_of(guests, &diff->now, i),
        };
        judge(change);
    }
    diff->measure_count = MEASURES;
    mark(diff->measures, MEASURES);
}

void fleet_diff(const struct fleet *fleet, enum fleet_order by,
                struct fleet_diff *diff)
{
    struct fleet both = *fleet;
    struct fleet_guests guests;

    *diff = (struct fleet_diff){.by = by};
    choose(fleet, diff);
    memcpy(both.builds[0], diff->base.id, FLEET_BUILD_HEX);
    memcpy(both.builds[1], diff->now.id, FLEET_BUILD_HEX);
    both.build_count = 2;
    fleet_guests(&both, &guests);
    fleet_mixes(&both, &diff->mixes);
    compare_measures(diff, &guests);
    compare_functions(diff, &guests);
    fleet_guests_free(&guests);
}

void fleet_diff_free(struct fleet_diff *diff)
{
    free(diff->measures);
    free(diff->functions);
    mixes_free(&diff->mixes);
}

/* ---- the table */

static void print_change(const struct fleet_change *change, bool is_ns,
                         FILE *out)
{
    char base[FLEET_NS_MAX], now[FLEET_NS_MAX];
    double before = change->base.mean, after = change->now.mean;

    if (is_ns)
        fprintf(out, "%9s  %9s  ", fleet_ns_text(before, base),
                fleet_ns_text(after, now));
    else
        fprintf(out, "%7.2f %%  %7.2f %%  ", 100 * before, 100 * after);
    if (before > 0)
        fprintf(out, "%+8.1f %%", 100 * (after - before) / before);
    else
        fprintf(out, "%10s", after > 0 ? "new" : "-");
    if (isinf(change->t))
        fprintf(out, "  %7s", change->t > 0 ? "inf" : "-inf");
    else
        fprintf(out, "  %7.1f", change->t);
    fprintf(out, "  %c  ", change->significant ? '*' : ' ');
    printable_put(out, change->name);
    putc('\n', out);
}

void fleet_diff_print(const struct fleet *fleet, const struct fleet_diff *diff,
                      size_t rows, FILE *out)
{
    size_t significant = 0;

    fleet_print_head(fleet, out);
    fprintf(out,
            "# base: build %.12s, %llu guests; new: build %.12s, %llu guests\n",
            diff->base.id, (unsigned long long)diff->base.guests, diff->now.id,
            (unsigned long long)diff->now.guests);
    fprintf(out, "%9s  %9s  %10s  %7s\n", "base", "new", "change", "t");
    for (size_t i = 0; i < diff->measure_count; ++i)
        if (diff->measures[i].base.guests > 0 ||
            diff->measures[i].now.guests > 0)
            print_change(&diff->measures[i], measures[i].is_ns, out);
    fprintf(out, "share of the guest's sampled time, %s\n",
            diff->by == FLEET_BY_SELF ? "without what the function calls"
                                      : "with what the function calls");
    for (size_t i = 0; i < diff->count; ++i) {
        significant += diff->functions[i].significant;
        if (rows == 0 || i < rows)
            print_change(&diff->functions[i], false, out);
    }
    if (rows > 0 && diff->count > rows)
        fprintf(out, "and %zu more functions\n", diff->count - rows);
    fprintf(out,
            "* %zu of %zu functions changed significantly (Welch's t over "
            "guests, 5 %% for the whole table)\n",
            significant, diff->count);
    if (diff->base.guests < 2 || diff->now.guests < 2)
        fputs("a build with fewer than two guests cannot be compared\n", out);
}

/* ---- as JSON */

static json_t *sample_json(const struct fleet_sample *sample)
{
    json_t *object = json_object();

    json_set(object, "guests", json_count(sample->guests));
    json_set(object, "mean", fleet_real(sample->mean));
    json_set(object, "deviation", fleet_real(sqrt(sample->variance)));
    return object;
}

static json_t *change_json(const char *key, const struct fleet_change *change)
{
    json_t *object = json_object();

    json_set(object, key, json_text(change->name));
    json_set(object, "base", sample_json(&change->base));
    json_set(object, "new", sample_json(&change->now));
    json_set(object, "t", fleet_real(change->t));
    json_set(object, "degrees_of_freedom", fleet_real(change->freedom));
    json_set(object, "p", fleet_real(change->p));
    json_set(object, "significant", json_boolean(change->significant));
    return object;
}

static json_t *build_json(const struct fleet_build *build)
{
    json_t *object = json_object();

    json_set(object, "build", json_text(build->id));
    json_set(object, "guests", json_count(build->guests));
    json_set(object, "first", json_count(build->first));
    json_set(object, "last", json_count(build->last));
    return object;
}

json_t *fleet_diff_json(const struct fleet *fleet,
                        const struct fleet_diff *diff)
{
    json_t *object = fleet_json(fleet), *list = json_array();
    json_t *rows = json_array();

    for (size_t i = 0; i < diff->measure_count; ++i)
        json_array_append_new(list, change_json("measure", &diff->measures[i]));
    for (size_t i = 0; i < diff->count; ++i) {
        json_t *row = change_json("function", &diff->functions[i]);

        json_set(row, "samples", json_count(diff->functions[i].samples));
        json_array_append_new(rows, row);
    }
    json_set(object, "base", build_json(&diff->base));
    json_set(object, "new", build_json(&diff->now));
    json_set(object, "by",
             json_text(diff->by == FLEET_BY_SELF ? "self" : "total"));
    json_set(object, "measures", list);
    json_set(object, "functions", rows);
    return object;
}
