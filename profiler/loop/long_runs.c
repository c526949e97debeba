/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Few runs are long, so the lists are short and searched from end to end.
 *
 * With a sampler all runs of half a period or more are noted, since time of a
 * period or more may have been stolen in each. That is rare enough, too: idle
 * stretches end with the timer's interrupt, and the drain comes every few ms.
 */

#include "loop/long_runs.h"

#include <prof/symbols.h>

uint64_t prof_held_least = UINT64_MAX;
uint64_t prof_noted_least = UINT64_MAX;
uint32_t prof_held_count;

static struct prof_held_run *noted; /* PROF_HELD_RUNS */
static struct prof_held_run *kept;  /* PROF_HELD_KEPT */
static bool crowded;                /* there was no room for one of them */

void prof_held_open(void *memory)
{
    noted = memory;
    kept = noted + PROF_HELD_RUNS;
}

/* ---- which runs are noted */

/* What is looked at: what may be the longest, or have to be noted. */
static void set_notable(struct prof_loop_site *site)
{
    uint64_t notable = prof_held_least;

    if (prof_noted_least < notable)
        notable = prof_noted_least;
    if (site->longest_cycles < notable)
        notable = site->longest_cycles + 1;
    site->histograms.notable =
        notable < UINT32_MAX ? (uint32_t)notable : UINT32_MAX;
}

void prof_held_set_limits(uint64_t held_least, uint64_t noted_least)
{
    prof_held_least = held_least;
    prof_noted_least = noted_least;
    for (uint32_t i = 0; i < prof_loop_sites.site_count; i++)
        set_notable(&prof_loop_sites.sites[i]);
}

static bool held_the_loop(const struct prof_held_run *run)
{
    return run->own_cycles >= prof_held_least &&
           run->site->kind != PROF_LOOP_IDLE &&
           run->site->kind != PROF_LOOP_LOOP;
}

/* (run) has its final length. */
static void conclude(const struct prof_held_run *run)
{
    struct prof_loop_site *site = run->site;

    if (run->own_cycles > site->longest_cycles) {
        site->longest_cycles = run->own_cycles;
        site->longest_tsc = run->begin_tsc;
        site->longest_object = run->object;
    }
    if (held_the_loop(run)) {
        site->held++;
        site->held_cycles += run->own_cycles;
    }
}

/* The shortest of those noted gives way to a longer one. */
static struct prof_held_run *make_room(uint64_t own)
{
    struct prof_held_run *shortest = &noted[0];

    if (prof_held_count < PROF_HELD_RUNS)
        return &noted[prof_held_count++];
    crowded = true;
    for (uint32_t i = 1; i < PROF_HELD_RUNS; i++)
        if (noted[i].own_cycles < shortest->own_cycles)
            shortest = &noted[i];
    if (shortest->own_cycles >= own)
        return NULL;
    conclude(shortest);
    return shortest;
}

void prof_held_add(const struct prof_held_run *added)
{
    struct prof_held_run *run = NULL;

    if (added->own_cycles >= prof_noted_least || held_the_loop(added))
        run = make_room(added->own_cycles);
    if (run != NULL)
        *run = *added;
    else
        conclude(added);
    set_notable(added->site);
}

/* ---- what becomes known of them */

/* The innermost one that ran at (tsc), NULL: none. */
static struct prof_held_run *at(uint64_t tsc)
{
    struct prof_held_run *inner = NULL;

    for (uint32_t i = 0; i < prof_held_count; i++)
        if (tsc - noted[i].begin_tsc < noted[i].end_tsc - noted[i].begin_tsc &&
            (inner == NULL || noted[i].begin_tsc > inner->begin_tsc))
            inner = &noted[i];
    return inner;
}

uint64_t prof_held_shorten(uint64_t tsc, uint64_t cycles, bool *found)
{
    struct prof_held_run *run = at(tsc);

    *found = run != NULL || crowded;
    if (run == NULL || crowded)
        return 0;
    cycles = prof_stolen_part(cycles, run->own_cycles);
    prof_histograms_move(&run->site->histograms, PROF_LOOP_RUN, run->own_cycles,
                         run->own_cycles - cycles);
    run->own_cycles -= cycles;
    run->node->own_cycles -= cycles;
    return cycles;
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
    struct prof_held_run *inner = at(tsc);
    struct prof_symbol symbol;

    if (inner == NULL || !held_the_loop(inner))
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
        conclude(&noted[i]);
        set_notable(noted[i].site);
        if (!held_the_loop(&noted[i]))
            continue;
        sort(&noted[i]);
        keep(&noted[i]);
        if (send != NULL)
            send(&noted[i]);
    }
    prof_held_count = 0;
    crowded = false;
}

struct prof_longest_run prof_held_longest_of(const struct prof_loop_site *site)
{
    struct prof_longest_run longest = {site->longest_cycles, site->longest_tsc,
                                       site->longest_object};

    for (uint32_t i = 0; i < prof_held_count; i++)
        if (noted[i].site == site && noted[i].own_cycles > longest.cycles)
            longest = (struct prof_longest_run){
                noted[i].own_cycles, noted[i].begin_tsc, noted[i].object};
    return longest;
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
    crowded = false;
    for (uint32_t i = 0; kept != NULL && i < PROF_HELD_KEPT; i++)
        kept[i] = (struct prof_held_run){0};
}
