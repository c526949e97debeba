/* SPDX-License-Identifier: Apache-2.0 */
/* Walks over all samples. Whether a sample is selected depends on its cell only
 * and is decided once for each. */

#include "profile/samples.h"

#include "base/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *name_of(struct view *view, const struct model_cell *cell)
{
    const char *task = names_text(&view->names, view_task(view, cell->task));
    size_t room = strlen(task) + sizeof " [cpu 4294967295]";
    char *name = xreallocarray(NULL, room, 1);

    snprintf(name, room, "%s [cpu %u]", task, (unsigned)cell->cpu);
    return name;
}

/* The track of (cell), created if it is the first of its (task, cpu). */
static uint32_t track_of(struct samples *samples, const struct model_cell *cell)
{
    uint32_t *number = &samples->track_numbers[index_find(
        &samples->view->model.cell_tasks, index_pair(cell->task, cell->cpu))];

    if (*number == SAMPLES_NONE && samples->track_count == SAMPLES_TRACKS_MAX)
        return SAMPLES_TRACKS_MAX - 1;
    if (*number == SAMPLES_NONE) {
        *number = samples->track_count++;
        vector_reserve_one(&samples->tracks, *number, sizeof *samples->tracks);
        samples->tracks[*number] = (struct track){
            .task = cell->task,
            .cpu = cell->cpu,
            .name = name_of(samples->view, cell),
        };
    }
    return *number;
}

void samples_open(struct samples *samples, struct view *view)
{
    struct view_stack stack = {0};
    uint32_t cells = model_cells(&view->model);
    uint32_t pairs = view->model.cell_tasks.count;

    *samples = (struct samples){.view = view};
    samples->track_numbers =
        xreallocarray(NULL, pairs, sizeof *samples->track_numbers);
    samples->cell_tracks =
        xreallocarray(NULL, cells, sizeof *samples->cell_tracks);
    for (uint32_t i = 0; i < pairs; ++i)
        samples->track_numbers[i] = SAMPLES_NONE;
    for (uint32_t i = 0; i < cells; ++i)
        samples->cell_tracks[i] = SAMPLES_NONE;
    while (view_next(view, &stack)) {
        uint32_t track = track_of(samples, stack.cell);

        samples->cell_tracks[stack.number] = track;
        samples->tracks[track].samples += stack.cell->count.samples;
    }
}

static void take_event(void *owner, const struct event *event, uint32_t node,
                       uint64_t clocks, const struct model_cpu *cpu)
{
    struct samples *samples = owner;
    bool is_lump =
        event->kind == PROF_EVENT_OVERFLOW || event->kind == PROF_EVENT_DROP;
    struct sample sample = {
        .time = event->time,
        .node = node,
        .is_lump = is_lump,
        .count = {.samples = event_samples(event), .clocks = clocks},
    };
    uint32_t cell;

    if (!is_lump && event->kind != PROF_EVENT_SAMPLE &&
        event->kind != PROF_EVENT_IDLE)
        return;
    cell = model_cell_of(&samples->view->model, node, cpu->task, cpu->cpu);
    if (cell == INDEX_NONE) /* the file changed since the first reading */
        return;
    sample.node = samples->view->model.cells[cell].node;
    sample.track = samples->cell_tracks[cell];
    if (sample.track != SAMPLES_NONE)
        samples->take(samples->owner, &sample);
}

/* Nodes have the same numbers each time the same packets are read. */
void samples_each(struct samples *samples,
                  void (*take)(void *owner, const struct sample *sample),
                  void *owner)
{
    samples->take = take;
    samples->owner = owner;
    view_again(samples->view, (struct model_watch){take_event, samples});
}

void samples_close(struct samples *samples)
{
    for (uint32_t i = 0; i < samples->track_count; ++i)
        free(samples->tracks[i].name);
    free(samples->tracks);
    free(samples->track_numbers);
    free(samples->cell_tracks);
}
