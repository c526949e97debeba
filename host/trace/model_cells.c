/* SPDX-License-Identifier: Apache-2.0 */
/* The cells of a model, as many as there may be. */

#include "trace/model.h"

#include "base/checked.h"
#include "base/memory.h"

static uint32_t find(const struct model *model, uint32_t node, uint32_t task,
                     uint32_t cpu)
{
    uint32_t where = index_find(&model->cell_tasks, index_pair(task, cpu));

    return where != INDEX_NONE
               ? index_find(&model->cell_keys, index_pair(where, node))
               : INDEX_NONE;
}

static uint32_t find_or_add(struct model *model, uint32_t node, uint32_t task,
                            uint32_t cpu)
{
    uint32_t where = index_add(&model->cell_tasks, index_pair(task, cpu), NULL);
    bool is_new;
    uint32_t number =
        index_add(&model->cell_keys, index_pair(where, node), &is_new);

    if (is_new) {
        vector_reserve_one(&model->cells, number, sizeof *model->cells);
        model->cells[number] =
            (struct model_cell){.node = node, .task = task, .cpu = cpu};
    }
    return number;
}

uint32_t model_cell_of(const struct model *model, uint32_t node, uint32_t task,
                       uint32_t cpu)
{
    uint32_t cell = find(model, node, task, cpu);

    if (cell == INDEX_NONE && model->unkept_samples > 0)
        return model->unkept_cell;
    return cell;
}

void model_add_to_cell(struct model *model, uint32_t node,
                       const struct model_cpu *cpu, uint64_t samples,
                       uint64_t clocks)
{
    bool is_full = model_cells(model) >= MODEL_CELLS_MAX ||
                   model->cell_tasks.count >= MODEL_PLACES_MAX;
    struct model_count *count;
    uint32_t cell = is_full ? find(model, node, cpu->task, cpu->cpu)
                            : find_or_add(model, node, cpu->task, cpu->cpu);

    if (cell == INDEX_NONE) {
        cell = find_or_add(model, MODEL_UNDEFINED, 0, model->cpus[0].cpu);
        model->unkept_cell = cell;
        model->unkept_samples += samples;
    }
    count = &model->cells[cell].count;
    count->samples = checked_add(count->samples, samples);
    count->clocks = checked_add(count->clocks, clocks);
}
