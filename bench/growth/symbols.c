/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Cost of lookup by the size of the symbol table. embed makes the tables from
 * synthetic images (host/made_image.c); they are concatenated in a boot module,
 * one for each point.
 */

#include "growth.h"

#include <arch/cpu.h>
#include <kernel/service.h>
#include <prof/symbols.h>
#include <prof/symtab.h>

#define LOOKUPS 100000u
#define NAMES 20000u

static uint64_t now(void)
{
    return arch_tsc();
}

/* Somewhere in the code of the table at (head), or in a gap of it. */
static uintptr_t any_address(const struct prof_symtab *head)
{
    const uint32_t *offsets =
        (const void *)((const char *)head + head->offsets_at);
    uint32_t random = growth_random() << 1 ^ growth_random();

    return (uintptr_t)head->base + random % offsets[head->count];
}

/* What the reading of the clock takes is not the lookup's. */
static uint64_t nothing(void)
{
    uint64_t begin = now();

    return now() - begin;
}

static void measure_lookup(const struct prof_symtab *head, uint32_t x)
{
    uint64_t sum = 0, most = 0;
    struct prof_symbol symbol;
    uint32_t found = 0;

    for (uint32_t i = 0; i < LOOKUPS; i++) {
        uintptr_t address = any_address(head);
        uint64_t begin = now(), took;

        found += prof_symbol_find(address, &symbol);
        took = now() - begin - nothing();
        sum += took;
        most = took > most ? took : most;
    }
    growth_must(found > LOOKUPS / 2, "most addresses are in functions");
    growth_emit_each("symbols_lookup", x, sum, LOOKUPS);
    growth_emit("symbols_lookup_most", x, most * 100);
}

static void measure_names(uint32_t x)
{
    struct prof_symbol symbol = {0};
    static char name[4096];
    uint64_t sum = 0, bytes = 0;

    for (uint32_t i = 0; i < NAMES; i++) {
        uint64_t begin;

        symbol.index = growth_random() % prof_symbols_count();
        begin = now();
        bytes += prof_symbol_name(&symbol, name, sizeof name);
        sum += now() - begin;
    }
    growth_must(bytes > NAMES, "functions have names");
    growth_emit_each("symbols_name", x, sum, NAMES);
}

static void measure(const struct prof_symtab *head, uint32_t x)
{
    uint64_t begin = now();

    growth_must(prof_symbols_open(head, head->total_bytes, NULL, 0) == 0,
                "the table is sound");
    growth_emit("symbols_open", x, (now() - begin) * 100);
    growth_emit_each("symbols_bytes", x, head->total_bytes, x);
    measure_lookup(head, x);
    measure_names(x);
}

void growth_symbols(const struct growth_points *points)
{
    size_t bytes = 0;
    const char *module = service_module(0, &bytes), *end = module + bytes;
    bool on = arch_interrupts_save();

    for (uint32_t i = 0; i < points->count; i++) {
        const struct prof_symtab *head = (const void *)module;

        growth_must(module != NULL && end - module > (ptrdiff_t)sizeof *head &&
                        head->total_bytes <= (size_t)(end - module),
                    "a table for each point");
        measure(head, points->at[i]);
        module += head->total_bytes;
    }
    arch_interrupts_restore(on);
}
