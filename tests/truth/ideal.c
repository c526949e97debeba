/* SPDX-License-Identifier: Apache-2.0 */

/* Samplers to compare with; see ideal.h. */

#include "ideal.h"

#include "truth.h"

#include <inttypes.h>
#include <stdlib.h>

#define SAME 32u /* samples until the period changes */
#define STRATA 16u

static struct ideal {
    uint64_t random;
    uint64_t due;     /* truth_clock() at the next sample */
    uint64_t last;    /* and at the one before */
    uint64_t period;  /* now */
    uint32_t left;    /* samples until it changes */
    uint32_t turn;    /* periods so far */
    uint32_t shuffle; /* the order of the parts of their range */
} ideals[IDEALS];

static uint32_t samples[IDEALS];
static uint64_t times[IDEALS];
static uint64_t mean;
uint64_t ideals_due = UINT64_MAX;

/* Evenly in [0, below). */
static uint64_t random_below(struct ideal *ideal, uint64_t below)
{
    /* Knuth's MMIX generator; its upper bits are the random ones. */
    ideal->random = ideal->random * 6364136223846793005u + 1442695040888963407u;
    return (ideal->random >> 32) * below >> 32;
}

/* From half the mean to one and a half, one of each part of that range before
 * any comes again; see profiler/tick/jitter.c. */
static uint64_t next_period(struct ideal *ideal)
{
    static const uint8_t order[STRATA] = {0,  11, 6,  13, 3, 8,  14, 5,
                                          10, 1,  12, 7,  2, 15, 4,  9};
    uint32_t turn = ideal->turn++ % STRATA, stratum;

    if (turn == 0)
        ideal->shuffle = (uint32_t)random_below(ideal, STRATA);
    stratum = order[turn] ^ ideal->shuffle;
    return mean / 2 + (mean * stratum + random_below(ideal, mean + 1)) / STRATA;
}

static void advance(struct ideal *ideal)
{
    if (ideal->left-- == 0) {
        ideal->left = SAME - 1;
        ideal->period = next_period(ideal);
    }
    ideal->last = ideal->due;
    ideal->due += ideal->period;
}

static void find_first(void)
{
    ideals_due = UINT64_MAX;
    for (uint32_t i = 0; i < IDEALS; i++)
        if (ideals[i].due < ideals_due)
            ideals_due = ideals[i].due;
}

/* The generator is linear: numbers of seeds as near as these would be. */
static uint64_t mixed(uint64_t seed)
{
    for (int round = 0; round < 3; round++) {
        seed += 0x9e3779b97f4a7c15u;
        seed ^= seed >> 32;
        seed *= 0x9e3779b97f4a7c15u;
    }
    return seed ^ seed >> 32;
}

void ideals_begin(uint64_t period)
{
    if (period == 0)
        return;
    mean = period;
    for (uint32_t i = 0; i < IDEALS; i++) {
        ideals[i] = (struct ideal){.random = mixed(i + 1)};
        ideals[i].due = truth_clock() + random_below(&ideals[i], period);
        ideals[i].last = ideals[i].due;
        advance(&ideals[i]); /* what is before the first one is not known */
    }
    find_first();
}

void ideals_end(void)
{
    ideals_due = UINT64_MAX;
}

static void credit_total(struct function *function, uint32_t i, uint64_t time)
{
    static uint64_t stamp;

    /* a null pointer begins another sample */
    if (function == NULL) {
        stamp++;
    } else if (function->stamp != stamp) {
        function->stamp = stamp;
        if (function->ideal == NULL)
            function->ideal = calloc(1, sizeof *function->ideal);
        function->ideal->total[i]++;
        function->ideal->total_time[i] += time;
    }
}

static void take(uint32_t i, struct function *function)
{
    uint64_t time = ideals[i].due - ideals[i].last;
    size_t depth = calls_depth();

    samples[i]++;
    times[i] += time;
    credit_total(NULL, i, 0);
    credit_total(function, i, time);
    function->ideal->self[i]++;
    function->ideal->self_time[i] += time;
    while (depth-- > 0)
        credit_total(calls_caller(depth), i, time);
}

void ideals_take(uint64_t until, struct function *const *of)
{
    uint64_t now = truth_clock();

    for (uint32_t i = 0; i < IDEALS; i++)
        for (; ideals[i].due < until; advance(&ideals[i]))
            if (ideals[i].due >= now)
                take(i, of[ideals[i].due - now]);
    find_first();
}

static void print32(FILE *out, const char *name, const uint32_t *values)
{
    fprintf(out, ", \"%s\": [", name);
    for (uint32_t i = 0; i < IDEALS; i++)
        fprintf(out, "%s%" PRIu32, i > 0 ? "," : "", values[i]);
    fputc(']', out);
}

static void print64(FILE *out, const char *name, const uint64_t *values)
{
    fprintf(out, ", \"%s\": [", name);
    for (uint32_t i = 0; i < IDEALS; i++)
        fprintf(out, "%s%" PRIu64, i > 0 ? "," : "", values[i]);
    fputc(']', out);
}

void ideals_print(FILE *out)
{
    print32(out, "ideals", samples);
    print64(out, "ideal_times", times);
}

void ideal_sums_print(FILE *out, const struct ideal_sums *sums)
{
    if (sums == NULL)
        return;
    print32(out, "ideal_self", sums->self);
    print32(out, "ideal_total", sums->total);
    print64(out, "ideal_self_time", sums->self_time);
    print64(out, "ideal_total_time", sums->total_time);
}
