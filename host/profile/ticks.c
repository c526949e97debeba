/* SPDX-License-Identifier: Apache-2.0 */
/* All CPUs' samples are gone through at once, as in a merge: the earliest one
 * that is left begins a tick. */

#include "profile/ticks.h"

#include "base/checked.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

static struct ticks_cpu *find_cpu(struct ticks *ticks, uint32_t cpu)
{
    if (ticks->recent < ticks->cpu_count &&
        ticks->cpus[ticks->recent].cpu == cpu)
        return &ticks->cpus[ticks->recent];
    for (size_t i = 0; i < ticks->cpu_count; ++i) {
        if (ticks->cpus[i].cpu == cpu) {
            ticks->recent = i;
            return &ticks->cpus[i];
        }
    }
    return NULL;
}

void ticks_add(struct ticks *ticks, uint32_t cpu,
               const struct ticks_sample *sample)
{
    struct ticks_cpu *to = find_cpu(ticks, cpu);

    if (to == NULL) {
        VECTOR_ADD(ticks->cpus, ticks->cpu_count,
                   (struct ticks_cpu){.cpu = cpu});
        to = &ticks->cpus[ticks->cpu_count - 1];
    }
    VECTOR_ADD(to->samples, to->count, *sample);
}

const struct ticks_sample *ticks_at(struct ticks *ticks, uint32_t cpu,
                                    uint64_t number)
{
    const struct ticks_cpu *from = find_cpu(ticks, cpu);

    return from != NULL && number < from->count ? &from->samples[number] : NULL;
}

/* ---- from tick to tick */

/* Its next sample with a time; NULL: there is none. The others pass. */
static struct ticks_sample *next_of(struct ticks *ticks, struct ticks_cpu *cpu)
{
    while (cpu->next < cpu->count &&
           cpu->samples[cpu->next].kind == TICKS_SUM) {
        struct ticks_sample *sum = &cpu->samples[cpu->next++];

        ticks->clocks = checked_add(ticks->clocks, sum->clocks);
        sum->clocks = 0;
    }
    return cpu->next < cpu->count ? &cpu->samples[cpu->next] : NULL;
}

/* When the next tick begins; false: there is none. */
static bool next_begin(struct ticks *ticks, uint64_t *begin)
{
    bool found = false;

    for (size_t i = 0; i < ticks->cpu_count; ++i) {
        const struct ticks_sample *next = next_of(ticks, &ticks->cpus[i]);

        if (next != NULL && (!found || next->time < *begin))
            *begin = next->time;
        found |= next != NULL;
    }
    return found;
}

static bool is_near(const struct ticks *ticks, const struct ticks_cpu *cpu,
                    size_t number, uint64_t begin)
{
    return number < cpu->count && cpu->samples[number].kind != TICKS_SUM &&
           checked_sub(cpu->samples[number].time, begin) <= ticks->bound;
}

/* Whether (cpu), which has no sample in the tick at (begin), should have one:
 * it is not one that joins much later, or has ended. */
static bool is_missed(const struct ticks *ticks, const struct ticks_cpu *cpu,
                      uint64_t begin)
{
    if (cpu->next == 0)
        return cpu->samples[0].time <= checked_add(begin, ticks->grace);
    return checked_add(cpu->samples[cpu->count - 1].time, ticks->grace) >=
           begin;
}

/* Takes the samples of the tick that begins at (begin). Returns whether it is
 * whole. */
static bool take_tick(struct ticks *ticks, uint64_t begin,
                      struct ticks_sample **samples, size_t *count)
{
    bool whole = true;

    *count = 0;
    for (size_t i = 0; i < ticks->cpu_count; ++i) {
        struct ticks_cpu *cpu = &ticks->cpus[i];

        if (is_near(ticks, cpu, cpu->next, begin)) {
            samples[(*count)++] = &cpu->samples[cpu->next++];
            whole = whole && !is_near(ticks, cpu, cpu->next, begin);
        } else {
            whole = whole && !is_missed(ticks, cpu, begin);
        }
    }
    return whole;
}

/* All of its samples account for the same time: that of the least. A sample
 * after ticks that did not come to its CPU accounts for more, of which the
 * others' samples say nothing. */
static void count_tick(struct ticks *ticks, struct ticks_sample **samples,
                       size_t count, uint64_t begin)
{
    uint64_t last = begin, clocks = samples[0]->clocks;
    size_t busy = 0;

    for (size_t i = 0; i < count; ++i) {
        last = samples[i]->time > last ? samples[i]->time : last;
        clocks = samples[i]->clocks < clocks ? samples[i]->clocks : clocks;
        busy += samples[i]->kind != TICKS_IDLE;
    }
    ticks->ticks++;
    for (size_t i = 0; i < count; ++i) {
        samples[i]->clocks = clocks;
        samples[i]->tick = (uint32_t)ticks->ticks;
    }
    ticks->joined += count;
    ticks->joined_clocks =
        checked_add(ticks->joined_clocks, checked_mul(clocks, count));
    ticks->skews[last - begin]++;
    ticks->busy[busy] = checked_add(ticks->busy[busy], clocks);
}

static void list_tick(struct ticks *ticks, struct ticks_sample **samples,
                      size_t count)
{
    struct ticks_one one = {.clocks = samples[0]->clocks,
                            .count = (uint32_t)count};

    for (size_t i = 0; i < count; ++i)
        one.busy += samples[i]->kind != TICKS_IDLE;
    vector_reserve_one(&ticks->list, ticks->ticks - 1, sizeof one);
    ticks->list[ticks->ticks - 1] = one;
}

void ticks_join(struct ticks *ticks, ticks_weigh *weigh)
{
    struct ticks_sample **samples =
        xreallocarray(NULL, ticks->cpu_count + 1, sizeof(void *));
    uint64_t begin = 0;
    size_t count;

    ticks->skews = xreallocarray(NULL, ticks->bound + 1, sizeof *ticks->skews);
    memset(ticks->skews, 0, (ticks->bound + 1) * sizeof *ticks->skews);
    ticks->busy =
        xreallocarray(NULL, ticks->cpu_count + 1, sizeof *ticks->busy);
    memset(ticks->busy, 0, (ticks->cpu_count + 1) * sizeof *ticks->busy);
    while (next_begin(ticks, &begin)) {
        bool whole = take_tick(ticks, begin, samples, &count);

        ticks->samples += count;
        for (size_t i = 0; i < count; ++i)
            ticks->clocks = checked_add(ticks->clocks, samples[i]->clocks);
        if (whole) {
            count_tick(ticks, samples, count, begin);
            if (weigh != NULL)
                weigh(samples, count);
            else
                list_tick(ticks, samples, count);
        } else {
            for (size_t i = 0; i < count; ++i)
                samples[i]->clocks = 0;
        }
    }
    free(samples);
}

/* ---- weights */

static size_t count_of(struct ticks_sample **samples, size_t count,
                       enum ticks_kind kind)
{
    size_t found = 0;

    for (size_t i = 0; i < count; ++i)
        found += samples[i]->kind == kind;
    return found;
}

void ticks_by_latency(struct ticks_sample **samples, size_t count)
{
    size_t busy = count - count_of(samples, count, TICKS_IDLE);
    size_t among = busy > 0 ? busy : count;

    for (size_t i = 0; i < count; ++i) {
        if (busy > 0 && samples[i]->kind == TICKS_IDLE)
            samples[i]->clocks = 0;
        else
            samples[i]->clocks =
                checked_add(samples[i]->clocks, among / 2) / among;
    }
}

void ticks_by_blame(struct ticks_sample **samples, size_t count)
{
    size_t in = count_of(samples, count, TICKS_IN);
    size_t busy = count_of(samples, count, TICKS_BUSY);
    enum ticks_kind to = busy > 0 ? TICKS_BUSY : TICKS_IDLE;
    size_t left = busy > 0 ? busy : count - in;
    uint64_t clocks = 0;

    for (size_t i = 0; i < count; ++i)
        if (samples[i]->kind == TICKS_IN)
            clocks = checked_add(clocks, samples[i]->clocks);
    if (left == 0)
        return;
    for (size_t i = 0; i < count; ++i) {
        bool gets = samples[i]->kind == to;

        samples[i]->clocks = gets ? clocks / left : 0;
        clocks -= samples[i]->clocks;
        left -= gets;
    }
}

/* ---- the result */

uint64_t ticks_skew(const struct ticks *ticks, double share)
{
    uint64_t seen = 0, skew = 0;

    for (; skew < ticks->bound; ++skew) {
        seen += ticks->skews[skew];
        if ((double)seen >= share * (double)ticks->ticks)
            break;
    }
    return skew;
}

void ticks_free(struct ticks *ticks)
{
    for (size_t i = 0; i < ticks->cpu_count; ++i)
        free(ticks->cpus[i].samples);
    free(ticks->cpus);
    free(ticks->skews);
    free(ticks->busy);
    free(ticks->list);
    *ticks = (struct ticks){0};
}
