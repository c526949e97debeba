/* SPDX-License-Identifier: Apache-2.0 */
/* Long runs, with what samples hit in them; freezes; the parts of the account.
 */

#include "base/log.h"
#include "base/memory.h"
#include "base/printable.h"
#include "cli/loop_print.h"

#include <prof/format.h>
#include <stdio.h>
#include <stdlib.h>

const char *const loop_histograms[OCCUPANCY_HISTOGRAMS] = {
    [OCCUPANCY_RUN] = "run",
    [OCCUPANCY_DELAY] = "delay",
    [OCCUPANCY_LIFE] = "wall",
};

const char *const loop_parts[OCCUPANCY_PARTS] = {
    [OCCUPANCY_TASKS] = "tasks",
    [OCCUPANCY_CALLBACKS] = "callbacks",
    [OCCUPANCY_OTHERS] = "sites without room",
    [OCCUPANCY_LOOP] = "the loop itself",
    [OCCUPANCY_PROFILER] = "the profiler's drain",
    [OCCUPANCY_IDLE] = "idle",
    [OCCUPANCY_INTERRUPTS] = "interrupts",
    [OCCUPANCY_SAMPLER] = "the sampler",
    [OCCUPANCY_STOLEN] = "stolen by the host",
    [OCCUPANCY_WALL] = "wall time",
};

const char *const loop_part_keys[OCCUPANCY_PARTS] = {
    [OCCUPANCY_TASKS] = "tasks",           [OCCUPANCY_CALLBACKS] = "callbacks",
    [OCCUPANCY_OTHERS] = "others",         [OCCUPANCY_LOOP] = "loop",
    [OCCUPANCY_PROFILER] = "profiler",     [OCCUPANCY_IDLE] = "idle",
    [OCCUPANCY_INTERRUPTS] = "interrupts", [OCCUPANCY_SAMPLER] = "sampler",
    [OCCUPANCY_STOLEN] = "stolen",         [OCCUPANCY_WALL] = "wall",
};

static const struct occupancy_run *all_runs;

static int by_cycles(const void *left, const void *right)
{
    const struct occupancy_run *a = &all_runs[*(const uint32_t *)left];
    const struct occupancy_run *b = &all_runs[*(const uint32_t *)right];

    if (a->cycles != b->cycles)
        return a->cycles > b->cycles ? -1 : 1;
    return (a > b) - (a < b);
}

uint32_t *loop_longest_runs(const struct loop_print *print)
{
    uint32_t count = print->occupancy.run_count;
    uint32_t *runs = xreallocarray(NULL, count + 1u, sizeof *runs);

    for (uint32_t i = 0; i < count; ++i)
        runs[i] = i;
    all_runs = print->occupancy.runs;
    if (count > 0)
        qsort(runs, count, sizeof *runs, by_cycles);
    return runs;
}

const char *loop_function(struct loop_print *print, uint64_t address)
{
    struct names *names = &print->view.names;
    size_t count;
    const struct frame *frame = names_at(names, address, false, &count);

    return names_text(names, frame[count - 1].function);
}

size_t loop_stack(struct loop_print *print,
                  const struct occupancy_freeze *freeze, const char **functions)
{
    struct names *names = &print->view.names;
    size_t count = 0, here;

    for (; count < OCCUPANCY_STACK && freeze->stack[count] != 0; ++count) {
        const struct frame *frame =
            names_at(names, freeze->stack[count], count > 0, &here);

        functions[count] = names_text(names, frame[here - 1].function);
    }
    return count;
}

static double seconds(const struct loop_print *print, uint64_t clock)
{
    uint64_t begin = print->view.model.begin;

    return clock > begin ? (double)(clock - begin) / PROF_CLOCK_HZ : 0;
}

static void print_run(struct loop_print *print, const struct occupancy_run *run)
{
    printf("%11.3f %11.3f %8u  ", loop_ms(print, run->cycles),
           seconds(print, run->time), (unsigned)run->task);
    loop_print_site(print, run->site);
    for (unsigned i = 0;
         i < OCCUPANCY_FUNCTIONS && run->functions[i].address != 0; ++i) {
        double part = run->functions[i].samples;

        printf("%s %.0f %% in ", i == 0 ? ":" : ",",
               run->samples > 0 ? 100 * part / run->samples : 0);
        printable_put(stdout, loop_function(print, run->functions[i].address));
    }
    putchar('\n');
}

static void print_freeze(struct loop_print *print,
                         const struct occupancy_freeze *freeze)
{
    const char *functions[OCCUPANCY_STACK];
    size_t count = loop_stack(print, freeze, functions);

    printf("%11.3f %11.3f %8u  ", loop_ms(print, freeze->cycles),
           seconds(print, freeze->time), (unsigned)freeze->task);
    loop_print_site(print, freeze->site);
    if (freeze->outer != freeze->site) {
        fputs(" in ", stdout);
        loop_print_site(print, freeze->outer);
    }
    putchar('\n');
    for (size_t i = 0; i < count; ++i) {
        printf("%34s", "");
        printable_put(stdout, functions[i]);
        putchar('\n');
    }
}

void loop_print_runs(struct loop_print *print)
{
    const struct occupancy *occupancy = &print->occupancy;
    uint32_t *runs = loop_longest_runs(print);
    unsigned long rows = print->rows > 0 ? print->rows : -1ul;

    if (occupancy->run_count > 0 && !log_quiet)
        puts("\n# long runs\n#        ms        at s     task  site, and where "
             "samples hit");
    for (uint32_t i = 0; i < occupancy->run_count && i < rows; ++i)
        print_run(print, &occupancy->runs[runs[i]]);
    if (occupancy->freeze_count > 0 && !log_quiet)
        puts("\n# freezes\n#    ms yet        at s     task  site, and its "
             "stack");
    for (uint32_t i = 0; i < occupancy->freeze_count && i < rows; ++i)
        print_freeze(print, &occupancy->freezes[i]);
    free(runs);
}
