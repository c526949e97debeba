/* SPDX-License-Identifier: Apache-2.0 */
/* Pauses, and when the next one is due. */

#include "attach/pauses.h"

#include "base/memory.h"

#include <stdlib.h>

#define MISSED_MAX 1000000u /* at a time */

void pauses_add(struct pauses *pauses, double seconds)
{
    vector_reserve_one(&pauses->list, pauses->count, sizeof *pauses->list);
    pauses->list[pauses->count++] = (float)seconds;
    pauses->total += seconds;
}

static int compare(const void *left, const void *right)
{
    const float *a = left, *b = right;

    return (*a > *b) - (*a < *b);
}

double pauses_part(struct pauses *pauses, double part)
{
    size_t at = (size_t)(part * (double)pauses->count);

    if (pauses->count == 0)
        return 0;
    qsort(pauses->list, pauses->count, sizeof *pauses->list, compare);
    return pauses->list[at < pauses->count ? at : pauses->count - 1];
}

void pauses_free(struct pauses *pauses)
{
    free(pauses->list);
    *pauses = (struct pauses){0};
}

/* Uniform from 0 to 1; xorshift64*. */
static double draw(struct schedule *schedule)
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
    return schedule->interval * (0.5 + draw(schedule));
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
            schedule->due = allowed + draw(schedule) * schedule->interval;
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
