/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Few runs are long, so the lists are short and searched from end to end.
 */

#include "loop/held.h"

#include <prof/symbols.h>

uint64_t prof_held_least = UINT64_MAX;
uint32_t prof_held_count;

static struct prof_held_run *noted; /* PROF_HELD_RUNS */
static struct prof_held_run *kept;  /* PROF_HELD_KEPT */

void prof_held_open(void *memory)
{
    noted = memory;
    kept = noted + PROF_HELD_RUNS;
}

uint32_t prof_held_notable(uint64_t longest)
{
    uint64_t notable = prof_held_least;

    if (longest < notable)
        notable = longest + 1;
    return notable < UINT32_MAX ? (uint32_t)notable : UINT32_MAX;
}

/* The shortest of those noted gives way to a longer one. */
static struct prof_held_run *make_room(uint64_t own)
{
    struct prof_held_run *shortest = &noted[0];

    if (prof_held_count < PROF_HELD_RUNS)
        return &noted[prof_held_count++];
    for (uint32_t i = 1; i < PROF_HELD_RUNS; i++)
        if (noted[i].own_cycles < shortest->own_cycles)
            shortest = &noted[i];
    return shortest->own_cycles < own ? shortest : NULL;
}

void prof_held_add(struct prof_loop_site *site, uint64_t begin, uint64_t end,
                   uint64_t own, uint32_t object)
{
    struct prof_held_run *run = make_room(own);

    site->held++;
    site->held_cycles += own;
    if (run != NULL)
        *run = (struct prof_held_run){.site = site,
                                      .begin_tsc = begin,
                                      .end_tsc = end,
                                      .own_cycles = own,
                                      .object = object};
}

/* Counts a sample in (function). If there is no room, the rarest one gives way
 * and leaves its count: so no count is too small. */
static void count(struct prof_held_run *run, uintptr_t function)
{
    uint32_t rarest = 0;

    run->samples++;
    for (uint32_t i = 0; i < PROF_HELD_FUNCTIONS; i++) {
        if (run->functions[i].function == function) {
            run->functions[i].samples++;
            return;
        }
        if (run->functions[i].samples < run->functions[rarest].samples)
            rarest = i;
    }
    run->functions[rarest].function = function;
    run->functions[rarest].samples++;
}

void prof_held_put_sample(uint64_t tsc, uintptr_t pc)
{
    struct prof_held_run *inner = NULL;
    struct prof_symbol symbol;

    for (uint32_t i = 0; i < prof_held_count; i++)
        if (tsc - noted[i].begin_tsc < noted[i].end_tsc - noted[i].begin_tsc &&
            (inner == NULL || noted[i].begin_tsc > inner->begin_tsc))
            inner = &noted[i];
    if (inner == NULL)
        return;
    count(inner, prof_symbol_find(pc, &symbol) ? symbol.start : pc);
    inner->site->held_samples++;
}

/* The most frequent first. */
static void sort(struct prof_held_run *run)
{
    for (uint32_t i = 1; i < PROF_HELD_FUNCTIONS; i++)
        for (uint32_t j = i;
             j > 0 && run->functions[j].samples > run->functions[j - 1].samples;
             j--) {
            const __typeof__(run->functions[0]) other = run->functions[j];

            run->functions[j] = run->functions[j - 1];
            run->functions[j - 1] = other;
        }
}

static void keep(const struct prof_held_run *run)
{
    uint32_t at = PROF_HELD_KEPT;

    while (at > 0 && kept[at - 1].own_cycles < run->own_cycles)
        at--;
    if (at == PROF_HELD_KEPT)
        return;
    for (uint32_t i = PROF_HELD_KEPT - 1; i > at; i--)
        kept[i] = kept[i - 1];
    kept[at] = *run;
}

void prof_held_finish(void (*send)(const struct prof_held_run *run))
{
    for (uint32_t i = 0; i < prof_held_count; i++) {
        sort(&noted[i]);
        keep(&noted[i]);
        if (send != NULL)
            send(&noted[i]);
    }
    prof_held_count = 0;
}

const struct prof_held_run *prof_held_longest(uint32_t number)
{
    return kept != NULL && number < PROF_HELD_KEPT && kept[number].site != NULL
               ? &kept[number]
               : NULL;
}

void prof_held_reset(void)
{
    prof_held_count = 0;
    for (uint32_t i = 0; kept != NULL && i < PROF_HELD_KEPT; i++)
        kept[i] = (struct prof_held_run){0};
}
