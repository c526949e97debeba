/* SPDX-License-Identifier: Apache-2.0 */

#include "aggregate/functions.h"

#include <prof/config.h>
#include <prof/name.h>
#include <prof/symbols.h>

struct prof_table prof_functions;

/* The function found last. New addresses are often in the same one. */
static struct prof_range last;
static uint32_t last_number;

void prof_functions_open(void)
{
    prof_functions = PROF_TABLE(struct prof_function);
    last_number = 0;
}

uint32_t prof_function_of(uintptr_t address)
{
    struct prof_symbol symbol = {.start = address};
    uint32_t number, *slot;

    if (last_number != 0 && address >= last.begin && address < last.end)
        return last_number;
    (void)prof_symbol_find(address, &symbol);
    slot = prof_table_find_slot(&prof_functions, 0, symbol.start);
    number = *slot;
    if (number == 0) {
        number = prof_table_add(&prof_functions, sizeof(struct prof_function),
                                slot, 0, symbol.start);
        if (number != 0)
            prof_function_at(number)->bytes = (uint32_t)symbol.size;
    }
    last = (struct prof_range){symbol.start, symbol.start + symbol.size};
    last_number = number;
    return number;
}

#if PROF_WITH_CLASSES || PROF_WITH_TREES
uint32_t prof_function_named(const char *name, uint32_t after)
{
    struct prof_symbol symbol;

    for (uint32_t i = after + 1; i < prof_functions.used; i++)
        if (prof_symbol_find(prof_function_at(i)->record.key, &symbol) &&
            prof_name_is(&symbol, name))
            return i;
    return 0;
}
#endif
