/* SPDX-License-Identifier: Apache-2.0 */
/* Runs of samples with interrupts off. Samples that are not selected, the
 * profiler's own among them, end a run as those with interrupts on do. */

#include "profile/stretches.h"

#include "base/checked.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

static uint64_t length_of(const struct weigh_stretch *stretch)
{
    return checked_sub(stretch->last, stretch->first);
}

/* Keeps (stretch) if it is one of the longest. */
static void keep(struct weighed *weighed, const struct weigh_stretch *stretch)
{
    size_t at = weighed->stretch_count;

    while (at > 0 &&
           length_of(&weighed->stretches[at - 1]) < length_of(stretch))
        --at;
    if (at == WEIGH_STRETCHES)
        return;
    weighed->stretch_count += weighed->stretch_count < WEIGH_STRETCHES;
    memmove(&weighed->stretches[at + 1], &weighed->stretches[at],
            (weighed->stretch_count - at - 1) * sizeof *stretch);
    weighed->stretches[at] = *stretch;
}

/* Ends the run, with the time of the sample (after) it, 0 = unknown. */
static void end_run(struct stretches *stretches, struct stretches_run *run,
                    uint64_t after)
{
    struct weigh_stretch *stretch = &run->stretch;

    if (stretch->samples > 0) {
        stretch->after = after;
        if (run->depth > 0)
            stretch->function = run->functions[run->depth - 1];
        if (run->depth > 1)
            stretch->caller = run->functions[run->depth - 2];
        keep(stretches->weighed, stretch);
    }
    stretch->samples = 0;
}

static void begin_run(struct stretches_run *run, uint64_t time, uint32_t cpu,
                      const struct frame *frames, size_t depth)
{
    if (depth > run->room) {
        run->functions =
            xreallocarray(run->functions, depth, sizeof *run->functions);
        run->room = depth;
    }
    for (size_t i = 0; i < depth; ++i)
        run->functions[i] = frames[depth - 1 - i].function;
    run->depth = depth;
    run->stretch = (struct weigh_stretch){
        .cpu = cpu, .before = run->previous, .first = time};
}

static void add_to_run(struct stretches_run *run, uint64_t time,
                       const struct frame *frames, size_t depth)
{
    size_t common = 0;

    while (common < depth && common < run->depth &&
           run->functions[common] == frames[depth - 1 - common].function)
        ++common;
    run->depth = common;
    run->stretch.last = time;
    run->stretch.samples++;
}

static struct stretches_run *run_of(struct stretches *stretches, uint32_t cpu)
{
    static const struct stretches_run none;
    uint32_t number = index_add_row(&stretches->cpus, cpu, &stretches->runs,
                                    &none, sizeof none);

    return &stretches->runs[number];
}

bool stretches_take(void *owner, const struct event *event, uint32_t node,
                    const struct model_cpu *cpu, struct model_count *count)
{
    static struct frame frames[VIEW_FRAMES_MAX];
    struct stretches *stretches = owner;
    struct stretches_run *run = run_of(stretches, cpu->cpu);
    bool has_time =
        event->kind != PROF_EVENT_OVERFLOW && event->kind != PROF_EVENT_DROP;
    bool is_off = cpu->irqs_off && has_time;
    size_t depth = 0;

    (void)count;
    if (cpu->gaps != run->gaps) { /* what came between is not known */
        end_run(stretches, run, 0);
        run->previous = 0;
        run->gaps = cpu->gaps;
    }
    if (is_off) {
        depth = view_sample_frames(stretches->view, node, cpu->task, frames);
        is_off =
            view_wants(stretches->view, cpu->task, cpu->cpu, frames, depth);
    }
    if (!is_off)
        end_run(stretches, run, has_time ? event->time : 0);
    else if (run->stretch.samples == 0)
        begin_run(run, event->time, cpu->cpu, frames, depth);
    if (is_off)
        add_to_run(run, event->time, frames, depth);
    run->previous = has_time ? event->time : 0;
    return true;
}

void stretches_end(struct stretches *stretches)
{
    for (uint32_t i = 0; i < stretches->cpus.count; ++i) {
        end_run(stretches, &stretches->runs[i], 0);
        free(stretches->runs[i].functions);
    }
    free(stretches->runs);
    index_free(&stretches->cpus);
}
