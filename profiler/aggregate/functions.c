/* SPDX-License-Identifier: Apache-2.0 */

/* The function table; see functions.h. */

#include "aggregate/functions.h"

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
    uint32_t number;

    if (last_number != 0 && address >= last.begin && address < last.end)
        return last_number;
    (void)prof_symbol_find(address, &symbol);
    number = *prof_table_slot(&prof_functions, sizeof(struct prof_function), 0,
                              symbol.start);
    if (number == 0 && prof_table_reserve(&prof_functions)) {
        number = prof_table_add(&prof_functions, 0, symbol.start);
        prof_function_at(number)->bytes = (uint32_t)symbol.size;
    }
    last = (struct prof_range){symbol.start, symbol.start + symbol.size};
    last_number = number;
    return number;
}
