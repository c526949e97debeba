/* SPDX-License-Identifier: Apache-2.0 */

/* The maps, row by row, for whoever wants more than the report. */

#include "place.h"
#include "state.h"

void prof_visit(void (*visit)(const struct prof_row *row, void *context),
                void *context)
{
    const struct prof_map *map = &prof_state.functions;

    prof_place_settle();
    for (uint32_t i = 0; i < map->capacity; i++) {
        const struct prof_cell *cell = &map->cells[i];
        const struct prof_row row = {
            .address = cell->key,
            .samples = cell->count,
            .cycles = cell->cycles,
            .named = cell->owner != 0,
        };

        if (cell->count != 0)
            visit(&row, context);
    }
}

/* Addresses of one stack: its frames, a caller without one, the sample. */
#define ADDRESSES_MAX (PROF_DEPTH_MAX + 2)

void prof_visit_stacks(void (*visit)(const struct prof_stack_row *row,
                                     void *context),
                       void *context)
{
    const struct prof_node *nodes = prof_state.stacks.nodes;
    uintptr_t addresses[ADDRESSES_MAX];

    prof_place_settle();
    for (uint32_t i = 1; i < prof_state.stacks.used; i++) {
        struct prof_stack_row row = {
            .addresses = addresses,
            .samples = nodes[i].samples,
            .cycles = nodes[i].cycles,
            .first_tsc = nodes[i].first_tsc,
            .last_tsc = nodes[i].last_tsc,
        };

        if (row.samples == 0)
            continue;
        for (uint32_t node = i; node != 0 && row.count < ADDRESSES_MAX;
             node = nodes[node].parent)
            addresses[row.count++] = nodes[node].address;
        visit(&row, context);
    }
}
