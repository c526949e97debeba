/* SPDX-License-Identifier: Apache-2.0 */
/* Pauses, and when the next one is due. */

#include "attach/pauses.h"

#include <math.h>
#include <stddef.h>

#define LEAST 1e-7          /* seconds, of a histogram */
#define MISSED_MAX 1000000u /* at a time */

void pauses_add(struct pauses *pauses, double seconds)
{
    double octaves = seconds > LEAST ? log2(seconds / LEAST) : 0;
    size_t bucket = (size_t)(octaves * PAUSES_OCTAVE);

    ++pauses->buckets[bucket < PAUSES_BUCKETS ? bucket : PAUSES_BUCKETS - 1];
    ++pauses->count;
    pauses->total += seconds;
    if (seconds > pauses->worst)
        pauses->worst = seconds;
}

double pauses_part(const struct pauses *pauses, double part)
{
    double wanted = part * (double)pauses->count;
    uint64_t below = 0;

    for (size_t i = 0; i + 1 < PAUSES_BUCKETS; ++i) {
        double bound = LEAST * exp2((double)(i + 1) / PAUSES_OCTAVE);

        below += pauses->buckets[i];
        if (below > 0 && (double)below >= wanted)
            return bound < pauses->worst ? bound : pauses->worst;
    }
    return pauses->worst;
}

/* Uniform from 0 to 1; xorshift64*. */
static double draw_interval(struct schedule *schedule)
{
    uint64_t x = schedule->random;

    x ^= x >> 12;
    x ^= x << 25;
    x ^= x >> 27;
    schedule->random = x;
    return (double)(x * 0x2545f4914f6cdd1dull >> 11) / (double)(1ull << 53);
}

static double vary(struct schedule *schedule)
{
    return schedule->interval * (0.5 + draw_interval(schedule));
}

void schedule_begin(struct schedule *schedule, double now, uint64_t seed)
{
    schedule->began = now;
    schedule->random = seed | 1;
    schedule->due = now + vary(schedule);
}

uint32_t schedule_next(struct schedule *schedule, double now, double paused)
{
    uint32_t missed = 0;
    double allowed;

    schedule->due += vary(schedule);
    if (schedule->budget > 0) {
        allowed = schedule->began + paused / schedule->budget;
        if (allowed > schedule->due)
            schedule->due =
                allowed + draw_interval(schedule) * schedule->interval;
    }
    while (schedule->due < now && missed < MISSED_MAX) {
        schedule->due += vary(schedule);
        ++missed;
    }
    return missed;
}

void schedule_resume(struct schedule *schedule, double now)
{
    schedule->due = now + vary(schedule);
}
