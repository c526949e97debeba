/* SPDX-License-Identifier: Apache-2.0 */

/* The function map, row by row, for whoever wants more than the report. */

#include "state.h"

void prof_visit(void (*visit)(const struct prof_row *row, void *context),
                void *context)
{
    const struct prof_map *map = &prof_state.functions;

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
