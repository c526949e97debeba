/* SPDX-License-Identifier: Apache-2.0 */
#include "causal/regimes.h"

#include "base/cpu.h"

#define SEED 2463534242u
#define LEAST_PART 10u /* one in so many is in the smaller cluster */
#define LEAST_GAP 10u  /* one part in so many of the lower mean, between them */
/* One part in so many of the variance is within them at most. Any cut of an
 * even distribution leaves 0.25 of it, of a normal one 0.36. */
#define MOST_WITHIN 10u
#define BITS 24u /* of a value: sums of squares fit into 64 bits */
#define PERCENT 100u

/* Of sorted values, those below a cut or above it. */
struct cluster {
    uint64_t sum, squares;
    uint32_t count;
};

/* Source: Marsaglia, Xorshift RNGs, J. Stat. Soft. 8 (2003). */
static uint32_t draw(uint32_t *random, uint32_t below)
{
    if (*random == 0)
        *random = SEED;
    *random ^= *random << 13;
    *random ^= *random >> 17;
    *random ^= *random << 5;
    return (uint32_t)((uint64_t)*random * below >> 32);
}

void prof_regimes_add(struct prof_regimes_sample *sample, uint64_t cycles,
                      uint32_t visits)
{
    uint32_t at = sample->seen;
    uint64_t each;

    if (visits == 0 || sample->seen == UINT32_MAX)
        return;
    sample->seen++;
    if (at >= PROF_REGIMES_SAMPLE)
        at = draw(&sample->random, sample->seen);
    if (at >= PROF_REGIMES_SAMPLE)
        return;
    each = prof_divide(cycles, visits);
    sample->cycles[at] = each > UINT32_MAX ? UINT32_MAX : (uint32_t)each;
}

static void add_value(struct cluster *cluster, uint32_t value)
{
    cluster->sum += value;
    cluster->squares += (uint64_t)value * value;
    cluster->count++;
}

/* Of (all) that is not in (part). */
static struct cluster rest_of(const struct cluster *all,
                              const struct cluster *part)
{
    return (struct cluster){all->sum - part->sum, all->squares - part->squares,
                            all->count - part->count};
}

/* The sum of squares of the distances from the mean. */
static uint64_t spread(const struct cluster *cluster)
{
    return prof_divide(cluster->squares * cluster->count -
                           cluster->sum * cluster->sum,
                       cluster->count);
}

/* Copies the sample, sorted, in (BITS) bits. Returns by how much it was shifted
 * for that. */
static uint32_t sort(const struct prof_regimes_sample *sample, uint32_t *values)
{
    uint32_t shift = 0;

    for (uint32_t i = 0; i < PROF_REGIMES_SAMPLE; i++) {
        uint32_t at = i;

        for (; at != 0 && values[at - 1] > sample->cycles[i]; at--)
            values[at] = values[at - 1];
        values[at] = sample->cycles[i];
    }
    while (values[PROF_REGIMES_SAMPLE - 1] >> shift >> BITS != 0)
        shift++;
    for (uint32_t i = 0; i < PROF_REGIMES_SAMPLE; i++)
        values[i] >>= shift;
    return shift;
}

static bool are_apart(const struct cluster *all, const struct cluster *low)
{
    const struct cluster high = rest_of(all, low);
    const uint32_t fewer = low->count < high.count ? low->count : high.count;
    /* means, times both counts */
    const uint64_t of_low = low->sum * high.count,
                   of_high = high.sum * low->count;

    return fewer * LEAST_PART >= all->count &&
           (of_high - of_low) * LEAST_GAP > of_low &&
           (spread(low) + spread(&high)) * MOST_WITHIN < spread(all);
}

bool prof_regimes_find(const struct prof_regimes_sample *sample,
                       struct prof_regimes *found)
{
    uint32_t values[PROF_REGIMES_SAMPLE], shift;
    struct cluster all = {0}, below = {0}, low = {0}, high;
    uint64_t least = UINT64_MAX;

    if (sample->seen < PROF_REGIMES_SAMPLE)
        return false;
    shift = sort(sample, values);
    for (uint32_t i = 0; i < PROF_REGIMES_SAMPLE; i++)
        add_value(&all, values[i]);
    for (uint32_t i = 0; i + 1 < PROF_REGIMES_SAMPLE; i++) {
        uint64_t both;

        add_value(&below, values[i]);
        high = rest_of(&all, &below);
        both = spread(&below) + spread(&high);
        if (both >= least)
            continue;
        least = both;
        low = below;
    }
    if (!are_apart(&all, &low))
        return false;
    high = rest_of(&all, &low);
    *found = (struct prof_regimes){
        {prof_divide(low.sum << shift, low.count),
         prof_divide(high.sum << shift, high.count)},
        (low.count * PERCENT + all.count / 2) / all.count,
    };
    return true;
}
