/* SPDX-License-Identifier: Apache-2.0 */

/* The heap map; its rules are in map.h. */

#include "map.h"

#include "memory.h"

#define FIRST_CAPACITY 256u

static uint32_t place_of(const struct prof_map *map, uintptr_t key)
{
    uint32_t mixed = (uint32_t)key * 0x9e3779b1u;

    return (mixed ^ mixed >> 15) & (map->capacity - 1);
}

/* The cell that holds (key) or, where it is new, the free one for it. */
static struct prof_cell *cell_for(const struct prof_map *map, uintptr_t key)
{
    uint32_t at = place_of(map, key);

    while (map->cells[at].count != 0 && map->cells[at].key != key)
        at = (at + 1) & (map->capacity - 1);
    return &map->cells[at];
}

static void wipe(struct prof_cell *cells, uint32_t capacity)
{
    for (uint32_t i = 0; i < capacity; i++)
        cells[i].count = 0;
}

/* Moves everything into a piece of (capacity) cells. False: refused. */
static bool grow(struct prof_map *map, uint32_t capacity)
{
    struct prof_map bigger = {.capacity = capacity, .used = map->used};
    size_t bytes = (size_t)capacity * sizeof *bigger.cells;

    if (capacity == 0 || bytes / sizeof *bigger.cells != capacity)
        return false;
    bigger.cells = prof_memory(bytes);
    if (bigger.cells == NULL) {
        map->refusals++;
        return false;
    }
    wipe(bigger.cells, capacity);
    for (uint32_t i = 0; i < map->capacity; i++)
        if (map->cells[i].count != 0)
            *cell_for(&bigger, map->cells[i].key) = map->cells[i];
    if (map->cells != NULL)
        prof_port_free(map->cells);
    map->cells = bigger.cells;
    map->capacity = capacity;
    return true;
}

bool prof_map_reserve(struct prof_map *map)
{
    if (map->capacity == 0)
        return grow(map, FIRST_CAPACITY);
    if (map->used < map->capacity / 4 * 3)
        return true;
    if (grow(map, map->capacity * 2))
        return true;
    /* One cell stays free for good: it is what ends a search. */
    return map->used + 1 < map->capacity;
}

struct prof_cell *prof_map_find(const struct prof_map *map, uintptr_t key)
{
    struct prof_cell *cell;

    if (map->capacity == 0)
        return NULL;
    cell = cell_for(map, key);
    return cell->count != 0 ? cell : NULL;
}

struct prof_cell *prof_map_add(struct prof_map *map, uintptr_t key,
                               uintptr_t owner, uint64_t count, uint64_t cycles)
{
    struct prof_cell *cell = cell_for(map, key);

    if (cell->count == 0) {
        *cell = (struct prof_cell){.key = key, .owner = owner};
        map->used++;
    }
    cell->count += count;
    cell->cycles += cycles;
    return cell;
}

void prof_map_clear(struct prof_map *map)
{
    wipe(map->cells, map->capacity);
    map->used = 0;
    map->refusals = 0;
}
