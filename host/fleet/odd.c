/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Guests that differ from the others: by how far each is from the median, in
 * median absolute deviations, which a few odd guests do not move. Where all
 * guests are alike, their deviation is 0 and any difference would be infinitely
 * large: so it is at least what chance makes, and at least what matters.
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

#define ALIKE 1e-12 /* shares, which are sums of fractions */

static const struct {
    const char *name;
    const char *explains;
    double least; /* a smaller deviation than that matters to nobody */
    bool is_low;  /* odd, too, where it is smaller than the others' */
} measures[FLEET_MEASURES] = {
    [FLEET_BUSY] = {"busy", "busy", 0.005, true},
    [FLEET_MIX] = {"mix", "of its samples in other stacks than the mean's",
                   0.005, false},
    [FLEET_LOST] = {"lost", "of its ticks lost", 0.001, false},
    [FLEET_DELAY] = {"delay", "p99 of the event loop's delay", 0.25, true},
};

const char *fleet_measure_name(enum fleet_measure measure)
{
    return measures[measure].name;
}

static int by_number(const void *key, const void *element)
{
    uint64_t number = *(const uint64_t *)key;
    const struct fleet_odd_guest *odd = element;

    return (number > odd->guest->number) - (number < odd->guest->number);
}

static int in_order(const void *one, const void *other)
{
    const struct fleet_odd_guest *a = one, *b = other;

    return (a->guest->number > b->guest->number) -
           (a->guest->number < b->guest->number);
}

static uint64_t sampled(const struct fleet_guests *guests)
{
    uint64_t count = 0;

    for (size_t i = 0; i < guests->count; ++i)
        count += guests->list[i].account.attributed > 0;
    return count;
}

static struct fleet_odd_guest *find_odd_guest(const struct fleet_odd *odd,
                                              uint64_t number)
{
    return bsearch(&number, odd->list, odd->count, sizeof *odd->list,
                   by_number);
}

/* Sets the mean share of each stack, in all guests that were sampled. */
static void take_means(struct fleet_odd *odd)
{
    const struct mixes *mixes = &odd->mixes;
    double guests = (double)sampled(&odd->guests);

    odd->means = xreallocarray(NULL, mixes->count, sizeof *odd->means);
    memset(odd->means, 0, mixes->count * sizeof *odd->means);
    for (size_t row = 0; row < mixes->guest_count; ++row) {
        const struct mixes_guest *guest = &mixes->guests[row];
        const struct mixes_part *parts = mixes->parts + guest->first;

        for (size_t i = 0; guest->weight > 0 && i < guest->count; ++i)
            odd->means[parts[i].mix] +=
                (double)parts[i].weight / (double)guest->weight;
    }
    for (size_t i = 0; i < mixes->count && guests > 0; ++i)
        odd->means[i] /= guests;
}

/* What chance adds to the distance of a guest, times the square root of
 * 2 pi samples. */
static double chance_in(const struct fleet_odd *odd)
{
    double sum = 0;

    for (size_t i = 0; i < odd->mixes.count; ++i) {
        double mean = fmin(1, odd->means[i]);

        sum += sqrt(mean * (1 - mean));
    }
    return sum;
}

/* How far the mix of each guest is from the mean one: half of the sum of
 * |share - mean| over all stacks. Each stack that the guest does not have adds
 * its mean, and all of these add up to 1. */
static void take_mixes(struct fleet_odd *odd)
{
    const struct mixes *mixes = &odd->mixes;
    double chance;

    take_means(odd);
    chance = chance_in(odd);
    for (size_t row = 0; row < mixes->guest_count; ++row) {
        const struct mixes_guest *mix = &mixes->guests[row];
        struct fleet_odd_guest *guest = find_odd_guest(odd, mix->number);
        double far = 1, samples;

        if (guest == NULL || mix->weight == 0)
            continue;
        guest->mix = mix;
        for (size_t i = 0; i < mix->count; ++i) {
            const struct mixes_part *part = &mixes->parts[mix->first + i];
            double share = (double)part->weight / (double)mix->weight;
            double mean = odd->means[part->mix];

            far += fabs(share - mean) - mean;
        }
        samples = fmax(1, (double)fleet_stored(guest->guest));
        far = far / 2 - chance / sqrt(2 * M_PI * samples);
        guest->values[FLEET_MIX] = fmax(0, far);
    }
}

static void take_values(struct fleet_odd *odd)
{
    const struct fleet_guests *guests = &odd->guests;

    odd->count = guests->count;
    odd->list = xreallocarray(NULL, odd->count + 1, sizeof *odd->list);
    for (size_t i = 0; i < odd->count; ++i) {
        const struct fleet_guest *guest = &guests->list[i];

        odd->list[i] = (struct fleet_odd_guest){.guest = guest};
        odd->list[i].values[FLEET_BUSY] = fleet_busy(&guest->account);
        odd->list[i].values[FLEET_MIX] = NAN;
        odd->list[i].values[FLEET_LOST] = fleet_lost(&guest->account);
        /* by its order of magnitude: bins of histograms grow with it */
        odd->list[i].values[FLEET_DELAY] =
            guest->has_delay ? log2(fmax(1, (double)guest->delay_99)) : NAN;
    }
    qsort(odd->list, odd->count, sizeof *odd->list, in_order);
}

/* What chance makes of a share of that many ticks. */
static double chance_of(const struct fleet_odd *odd, enum fleet_measure measure,
                        double median, double *ticks)
{
    double middle;

    if (measure != FLEET_BUSY && measure != FLEET_LOST)
        return 0;
    for (size_t i = 0; i < odd->count; ++i)
        ticks[i] = (double)odd->list[i].guest->account.ticks;
    middle = statistics_median(ticks, odd->count);
    return middle > 0 ? sqrt(median * (1 - median) / middle) : 0;
}

static void deviate(struct fleet_odd *odd, enum fleet_measure measure,
                    double *values)
{
    size_t count = 0;
    double median, spread;

    for (size_t i = 0; i < odd->count; ++i)
        if (!isnan(odd->list[i].values[measure]))
            values[count++] = odd->list[i].values[measure];
    median = statistics_median(values, count);
    spread = statistics_mad(values, count, median);
    odd->medians[measure] = median;
    odd->spreads[measure] = NAN;
    for (size_t i = 0; i < odd->count; ++i)
        odd->list[i].deviations[measure] = NAN;
    if (count < FLEET_ODD_GUESTS)
        return;
    spread = fmax(spread, measures[measure].least);
    spread = fmax(spread, chance_of(odd, measure, median, values));
    odd->spreads[measure] = spread;
    for (size_t i = 0; i < odd->count; ++i) {
        struct fleet_odd_guest *guest = &odd->list[i];
        double deviation = (guest->values[measure] - median) / spread;

        guest->deviations[measure] = deviation;
        if (!measures[measure].is_low)
            deviation = fmax(0, deviation);
        if (fabs(deviation) > guest->most) {
            guest->most = fabs(deviation);
            guest->measure = measure;
        }
    }
}

static int by_most(const void *one, const void *other)
{
    const struct fleet_odd_guest *a = one, *b = other;

    if (a->most != b->most)
        return (a->most < b->most) - (a->most > b->most);
    return in_order(one, other);
}

/* Where a guest does more of one thing it does less of another: what it does
 * more is a little larger. */
static double change_of(const struct fleet_share *share)
{
    double change = share->own - share->mean;

    return change < 0 ? -change - 2 * ALIKE : change;
}

/* Keeps the share if it is one of those that differ most; of those that differ
 * alike, but for the order of sums, the first ones. */
static void keep_share(struct fleet_odd_guest *guest, struct fleet_share share)
{
    size_t at = guest->share_count;

    while (at > 0 &&
           change_of(&share) > change_of(&guest->shares[at - 1]) + ALIKE)
        --at;
    if (at == FLEET_ODD_SHARES)
        return;
    if (guest->share_count < FLEET_ODD_SHARES)
        ++guest->share_count;
    memmove(&guest->shares[at + 1], &guest->shares[at],
            (guest->share_count - 1 - at) * sizeof share);
    guest->shares[at] = share;
}

/* The functions in which the mixes of the first (explained) guests differ most
 * from the mean one, of those whose mix is odd. */
static void explain(struct fleet_odd *odd, size_t explained)
{
    const struct mixes *mixes = &odd->mixes;
    size_t count = mixes->function_count;
    double *means = xreallocarray(NULL, count, sizeof *means);
    double *own = xreallocarray(NULL, count, sizeof *own);

    memset(means, 0, count * sizeof *means);
    for (size_t i = 0; i < mixes->count; ++i)
        for (size_t j = 0; j < mixes->list[i].count; ++j)
            means[mixes->members[mixes->list[i].first + j]] += odd->means[i];
    for (size_t i = 0; i < odd->odd && i < explained; ++i) {
        struct fleet_odd_guest *guest = &odd->list[i];

        if (!(guest->deviations[FLEET_MIX] >= odd->above))
            continue;
        mixes_shares(mixes, guest->mix, true, own);
        for (size_t j = 0; j < count; ++j)
            if (means[j] > 0)
                keep_share(guest,
                           (struct fleet_share){.function = mixes->functions[j],
                                                .own = own[j],
                                                .mean = means[j]});
    }
    free(means);
    free(own);
}

void fleet_odd(const struct fleet *fleet, double above, size_t explained,
               struct fleet_odd *odd)
{
    /* the longest query by far; the others run beside it */
    struct store_question *question = fleet_ask_begin(fleet, "weights");
    struct store_answer weights, names;
    double *values;

    *odd = (struct fleet_odd){.above = above};
    fleet_guests(fleet, &odd->guests);
    take_values(odd);
    fleet_ask(fleet, "mix_names", &names);
    fleet_ask_end(fleet, question, &weights);
    mixes_make(&odd->mixes, weights, names);
    take_mixes(odd);
    values = xreallocarray(NULL, odd->count + 1, sizeof *values);
    for (int measure = 0; measure < FLEET_MEASURES; ++measure)
        deviate(odd, (enum fleet_measure)measure, values);
    free(values);
    qsort(odd->list, odd->count, sizeof *odd->list, by_most);
    while (odd->odd < odd->count && odd->list[odd->odd].most >= above)
        ++odd->odd;
    explain(odd, explained);
}

void fleet_odd_free(struct fleet_odd *odd)
{
    mixes_free(&odd->mixes);
    free(odd->means);
    free(odd->list);
    fleet_guests_free(&odd->guests);
}

/* ---- the table */

static void print_value(enum fleet_measure measure, double value, FILE *out)
{
    char text[FLEET_NS_MAX];

    if (measure == FLEET_DELAY)
        fputs(fleet_ns_text(exp2(value), text), out);
    else
        fprintf(out, "%.2f %%", 100 * value);
}

/* Whether (guest) is odd by (measure), too. */
static bool is_odd(const struct fleet_odd *odd,
                   const struct fleet_odd_guest *guest,
                   enum fleet_measure measure)
{
    double deviation = guest->deviations[measure];

    return deviation >= odd->above ||
           (measures[measure].is_low && -deviation >= odd->above);
}

static void print_guest(const struct fleet_odd *odd,
                        const struct fleet_odd_guest *guest, FILE *out)
{
    char name[FLEET_NAME_MAX];

    fprintf(out, "%s (build %.12s)\n", fleet_guest_name(guest->guest, name),
            guest->guest->build);
    for (int i = 0; i < FLEET_MEASURES; ++i) {
        enum fleet_measure measure = (enum fleet_measure)i;

        if (!is_odd(odd, guest, measure))
            continue;
        fprintf(out, "%8.1f deviations: ", guest->deviations[i]);
        print_value(measure, guest->values[i], out);
        fprintf(out, " %s, median ", measures[i].explains);
        print_value(measure, odd->medians[i], out);
        putc('\n', out);
        for (size_t j = 0; measure == FLEET_MIX && j < guest->share_count;
             ++j) {
            const struct fleet_share *share = &guest->shares[j];

            fprintf(out, "%24.2f %% in ", 100 * share->own);
            printable_put(out, share->function);
            fprintf(out, ", mean of all %.2f %%\n", 100 * share->mean);
        }
    }
}

void fleet_odd_print(const struct fleet *fleet, const struct fleet_odd *odd,
                     size_t rows, FILE *out)
{
    fleet_print_head(fleet, out);
    if (odd->count < FLEET_ODD_GUESTS) {
        fprintf(out, "%zu guest%s: too few, it takes %u\n", odd->count,
                odd->count == 1 ? "" : "s", FLEET_ODD_GUESTS);
        return;
    }
    for (size_t i = 0; i < odd->odd && (rows == 0 || i < rows); ++i)
        print_guest(odd, &odd->list[i], out);
    if (rows > 0 && odd->odd > rows)
        fprintf(out, "and %zu more\n", odd->odd - rows);
    fprintf(out, "%zu of %zu guests deviate by %g or more\n", odd->odd,
            odd->count, odd->above);
}

/* ---- as JSON */

static double value_of(enum fleet_measure measure, double value)
{
    return measure == FLEET_DELAY ? exp2(value) : value;
}

static json_t *odd_guest_json(const struct fleet_odd *odd,
                              const struct fleet_odd_guest *guest)
{
    json_t *object = json_object(), *shares = json_array();
    char number[FLEET_NUMBER_MAX];

    json_set(object, "guest",
             json_text(fleet_number_text(guest->guest->number, number)));
    json_set(object, "host", json_text(guest->guest->host));
    json_set(object, "target", json_text(guest->guest->target));
    json_set(object, "build", json_text(guest->guest->build));
    json_set(object, "odd", json_boolean(guest->most >= odd->above));
    json_set(object, "by", json_text(measures[guest->measure].name));
    for (int i = 0; i < FLEET_MEASURES; ++i) {
        json_t *one = json_object();

        json_set(one, "value",
                 fleet_real(value_of((enum fleet_measure)i, guest->values[i])));
        json_set(one, "deviations", fleet_real(guest->deviations[i]));
        json_set(object, measures[i].name, one);
    }
    for (size_t i = 0; i < guest->share_count; ++i) {
        json_t *share = json_object();

        json_set(share, "function", json_text(guest->shares[i].function));
        json_set(share, "share", fleet_real(guest->shares[i].own));
        json_set(share, "mean", fleet_real(guest->shares[i].mean));
        json_array_append_new(shares, share);
    }
    json_set(object, "functions", shares);
    return object;
}

json_t *fleet_odd_json(const struct fleet *fleet, const struct fleet_odd *odd)
{
    json_t *object = fleet_json(fleet), *list = json_array();
    json_t *medians = json_object();

    for (int i = 0; i < FLEET_MEASURES; ++i)
        json_set(medians, measures[i].name,
                 fleet_real(value_of((enum fleet_measure)i, odd->medians[i])));
    for (size_t i = 0; i < odd->count; ++i)
        json_array_append_new(list, odd_guest_json(odd, &odd->list[i]));
    json_set(object, "above", fleet_real(odd->above));
    json_set(object, "odd", json_count(odd->odd));
    json_set(object, "medians", medians);
    json_set(object, "guests", list);
    return object;
}
