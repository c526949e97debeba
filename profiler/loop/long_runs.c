/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Few runs are long, so the lists are short and searched from end to end. With
 * a sampler all runs of half a period or more are noted, since time may have
 * been stolen in each: few between two drains, for idle spans end with the
 * timer's interrupt.
 */

#include "loop/calls.h"
#include "loop/loop.h"

#include <prof/symbols.h>

void prof_long_runs_open(void *memory)
{
    prof_loop_cpu_here()->long_runs = (struct prof_long_runs){
        .held_least = UINT64_MAX,
        .noted_least = UINT64_MAX,
        .noted = memory,
        .listed = (struct prof_long_run *)memory + PROF_LONG_RUNS_NOTED,
    };
}

/* ---- which runs are noted */

/* What may be the longest, or has to be noted, is looked at. */
static void set_notable(struct prof_loop_site *site)
{
    const struct prof_long_runs *runs = &prof_loop_cpu_here()->long_runs;
    uint64_t notable = runs->held_least;

    if (runs->noted_least < notable)
        notable = runs->noted_least;
    if (site->row.longest_cycles < notable)
        notable = site->row.longest_cycles + 1;
    site->notable = notable < UINT32_MAX ? (uint32_t)notable : UINT32_MAX;
    site->histograms.notable = site->notable;
    if (site->has_calls)
        site->histograms.notable = 0;
}

void prof_long_runs_set_limits(uint64_t held_least, uint64_t noted_least)
{
    prof_loop_cpu_here()->long_runs.held_least = held_least;
    prof_loop_cpu_here()->long_runs.noted_least = noted_least;
    for (uint32_t i = 0; i < prof_loop_sites_here()->site_count; i++)
        set_notable(&prof_loop_sites_here()->sites[i]);
}

static bool held_the_loop(const struct prof_long_run *run)
{
    return run->self_cycles >= prof_loop_cpu_here()->long_runs.held_least &&
           run->site->row.kind != PROF_LOOP_IDLE &&
           run->site->row.kind != PROF_LOOP_LOOP;
}

static void raise_longest_call(struct prof_loop_row *row,
                               const struct prof_long_run *run)
{
    if (run->call_tsc != 0)
        prof_calls_raise(row, run->call_cycles, run->call_tsc, run->object);
}

static void raise_longest(struct prof_loop_row *row,
                          const struct prof_long_run *run)
{
    if (run->self_cycles <= row->longest_cycles)
        return;
    row->longest_cycles = run->self_cycles;
    row->longest_tsc = run->begin_tsc;
    row->longest_object = run->object;
}

/* (run) has its final length. */
static void conclude(const struct prof_long_run *run)
{
    struct prof_loop_row *row = &run->site->row;

    raise_longest(row, run);
    raise_longest_call(row, run);
    if (held_the_loop(run)) {
        row->held++;
        row->held_cycles += run->self_cycles;
    }
}

/* The shortest of those noted gives way to a longer one. */
static struct prof_long_run *place_of_run(struct prof_long_runs *runs,
                                          uint64_t own)
{
    struct prof_long_run *shortest = &runs->noted[0];

    if (runs->count < PROF_LONG_RUNS_NOTED)
        return &runs->noted[runs->count++];
    runs->crowded = true;
    for (uint32_t i = 1; i < PROF_LONG_RUNS_NOTED; i++)
        if (runs->noted[i].self_cycles < shortest->self_cycles)
            shortest = &runs->noted[i];
    if (shortest->self_cycles >= own)
        return NULL;
    conclude(shortest);
    return shortest;
}

void prof_long_runs_add(const struct prof_long_run *added)
{
    struct prof_long_runs *runs = &prof_loop_cpu_here()->long_runs;
    struct prof_long_run *run = NULL;

    if (added->self_cycles >= runs->noted_least || held_the_loop(added))
        run = place_of_run(runs, added->self_cycles);
    if (run != NULL)
        *run = *added;
    else
        conclude(added);
    set_notable(added->site);
}

bool prof_long_runs_end_call(const struct prof_loop_site *site, uint32_t object,
                             uint64_t cycles, uint64_t tsc)
{
    struct prof_long_runs *runs = &prof_loop_cpu_here()->long_runs;
    bool any = false;

    for (uint32_t i = 0; i < runs->count; i++) {
        struct prof_long_run *run = &runs->noted[i];

        if (run->object != object || run->site != site || run->call_tsc != 0)
            continue;
        run->call_cycles = cycles;
        run->call_tsc = tsc;
        any = true;
    }
    return any;
}

/* The innermost noted run at (tsc), NULL: none. */
static struct prof_long_run *run_at(const struct prof_long_runs *runs,
                                    uint64_t tsc)
{
    struct prof_long_run *inner = NULL;

    for (uint32_t i = 0; i < runs->count; i++) {
        struct prof_long_run *run = &runs->noted[i];

        if (tsc - run->begin_tsc < run->end_tsc - run->begin_tsc &&
            (inner == NULL || run->begin_tsc > inner->begin_tsc))
            inner = run;
    }
    return inner;
}

/* ---- steal
 *
 * Whoever ran in the middle of the stolen time has had it all. A late
 * hypervisor may deliver the tick after it has let the guest run on: then the
 * gap between samples is longer than what ran in its middle, which loses what
 * it has. With less than half of the gap, this says nothing.
 */

/* How many of (cycles) that were stolen can be taken out of (own) cycles. */
__attribute__((noinline)) static uint64_t part_of(uint64_t cycles, uint64_t own)
{
    if (own >= cycles)
        return cycles;
    return own >= cycles / 2 ? own : 0;
}

/* The last long interrupt. */
static uint64_t shorten_interrupt(struct prof_loop_cpu *cpu, uint64_t tsc,
                                  uint64_t cycles)
{
    uint64_t own = cpu->long_irq_exit - cpu->long_irq_enter;

    if (tsc - cpu->long_irq_enter >= own)
        return 0;
    cycles = part_of(cycles, own);
    cpu->taken_out_irq_cycles += cycles;
    cpu->long_irq_exit = cpu->long_irq_enter;
    return cycles;
}

/* (cycles) of (run) were not its task's, which may have ended since. */
static void shorten_call(struct prof_long_runs *runs, struct prof_long_run *run,
                         uint64_t cycles)
{
    uint64_t before = run->call_cycles, tsc = run->call_tsc;

    if (tsc == 0) {
        prof_calls_shorten(run->site, run->object, cycles);
        return;
    }
    prof_histograms_move(&run->site->histograms, PROF_LOOP_SELF, before,
                         before - cycles);
    run->site->row.sums[PROF_LOOP_SELF].cycles -= cycles;
    for (uint32_t i = 0; i < runs->count; i++)
        if (runs->noted[i].call_tsc == tsc)
            runs->noted[i].call_cycles = before - cycles;
}

/* A run that has paused. */
static uint64_t shorten_run(struct prof_long_runs *runs,
                            struct prof_long_run *run, uint64_t cycles)
{
    cycles = part_of(cycles, run->self_cycles);
    prof_histograms_move(&run->site->histograms, PROF_LOOP_RUN,
                         run->self_cycles, run->self_cycles - cycles);
    run->self_cycles -= cycles;
    run->node->self_cycles -= cycles;
    if (prof_loop_calls_on != 0)
        shorten_call(runs, run, cycles);
    return cycles;
}

/* The innermost of the frames on the stack that had begun by (tsc); (now) is
 * the time of the last rebase. */
static uint64_t shorten_frame(struct prof_loop_frame *at, uint64_t tsc,
                              uint64_t cycles, uint64_t now)
{
    uint32_t depth = 0;
    uint64_t before;

    while (at->outer != NULL && depth++ < PROF_LOOP_DEPTH_MAX &&
           prof_loop_begun(at) > tsc)
        at = at->outer;
    cycles = part_of(cycles, prof_loop_so_far(at, now));
    before = prof_loop_was_rebased(at) ? at->before : 0;
    if (before > cycles)
        before = cycles;
    if (before != 0)
        at->before -= before;
    at->start += (uint32_t)(cycles - before);
    return cycles;
}

/* Whoever ran in the (middle) loses it. Returns what it lost. */
static uint64_t take_out(struct prof_loop_cpu *cpu, uint64_t middle,
                         uint64_t cycles, uint64_t now)
{
    bool on = prof_interrupts_save();
    struct prof_long_run *run = run_at(&cpu->long_runs, middle);
    uint64_t taken = shorten_interrupt(cpu, middle, cycles);

    if (taken == 0 && !cpu->long_runs.crowded)
        taken = run != NULL ? shorten_run(&cpu->long_runs, run, cycles)
                            : shorten_frame(cpu->top, middle, cycles, now);
    cpu->taken_out_cycles += taken;
    if (taken != 0)
        prof_guard_shorten(middle, taken);
    prof_interrupts_restore(on);
    return taken;
}

void prof_loop_put_stolen(uint64_t tsc, uint64_t cycles)
{
    struct prof_loop_cpu *cpu = prof_loop_cpu_here();
    uint64_t middle = tsc - cycles / 2, now = prof_loop_put_rebase();
    uint64_t idle, taken;

    if (middle < cpu->opened_tsc) {
        cpu->stolen_cycles_reset += cycles;
        return;
    }
    if (middle < cpu->read_tsc)
        return;
    prof_utilisation_mark(now);
    idle = prof_utilisation_idle(now);
    taken = take_out(cpu, middle, cycles, now);
    prof_utilisation_stolen(tsc, taken, prof_utilisation_idle(now) != idle);
}

/* ---- samples */

/* Counts a sample in (function). If there is no room, the rarest one gives way
 * and leaves its count: so no count is too small. */
static void count_sample(struct prof_long_run *run, uintptr_t function)
{
    uint32_t rarest = 0;

    run->samples++;
    for (uint32_t i = 0; i < PROF_LONG_RUNS_FUNCTIONS; i++) {
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

void prof_long_runs_put_sample(uint64_t tsc, uintptr_t pc)
{
    struct prof_long_run *inner = run_at(&prof_loop_cpu_here()->long_runs, tsc);
    struct prof_symbol symbol;

    if (inner == NULL || !held_the_loop(inner))
        return;
    count_sample(inner, prof_symbol_find(pc, &symbol) ? symbol.start : pc);
    inner->site->row.held_samples++;
}

/* The most frequent first. */
static void sort_functions(struct prof_long_run *run)
{
    for (uint32_t i = 1; i < PROF_LONG_RUNS_FUNCTIONS; i++)
        for (uint32_t j = i;
             j > 0 && run->functions[j].samples > run->functions[j - 1].samples;
             j--) {
            const __typeof__(run->functions[0]) other = run->functions[j];

            run->functions[j] = run->functions[j - 1];
            run->functions[j - 1] = other;
        }
}

static void list_run(struct prof_long_run *listed,
                     const struct prof_long_run *run)
{
    uint32_t at = PROF_LONG_RUNS_LISTED;

    while (at > 0 && listed[at - 1].self_cycles < run->self_cycles)
        at--;
    if (at == PROF_LONG_RUNS_LISTED)
        return;
    for (uint32_t i = PROF_LONG_RUNS_LISTED - 1; i > at; i--)
        listed[i] = listed[i - 1];
    listed[at] = *run;
}

void prof_long_runs_finish(void (*send)(const struct prof_long_run *run))
{
    struct prof_long_runs *runs = &prof_loop_cpu_here()->long_runs;

    for (uint32_t i = 0; i < runs->count; i++) {
        struct prof_long_run *run = &runs->noted[i];

        conclude(run);
        set_notable(run->site);
        if (!held_the_loop(run))
            continue;
        sort_functions(run);
        list_run(runs->listed, run);
        if (send != NULL)
            send(run);
    }
    runs->count = 0;
    runs->crowded = false;
}

void prof_long_runs_include(struct prof_loop_row *row)
{
    const struct prof_long_runs *runs = &prof_loop_cpu_here()->long_runs;

    for (uint32_t i = 0; i < runs->count; i++)
        if (runs->noted[i].site->row.number == row->number) {
            raise_longest(row, &runs->noted[i]);
            raise_longest_call(row, &runs->noted[i]);
        }
}

const struct prof_long_run *prof_long_runs_listed(uint32_t number)
{
    const struct prof_loop_cpu *cpu = prof_loop_cpu_here();
    const struct prof_long_run *listed = cpu->long_runs.listed;

#if PROF_CPUS_MAX > 1
    if (cpu->viewed != NULL)
        listed = cpu->viewed->listed;
#endif
    return number < PROF_LONG_RUNS_LISTED && listed[number].site != NULL
               ? &listed[number]
               : NULL;
}

void prof_long_runs_reset(void)
{
    struct prof_long_runs *runs = &prof_loop_cpu_here()->long_runs;

    runs->count = 0;
    runs->crowded = false;
    for (uint32_t i = 0; i < PROF_LONG_RUNS_LISTED; i++)
        runs->listed[i] = (struct prof_long_run){0};
}
