/* SPDX-License-Identifier: Apache-2.0 */

/* The function table; see functions.h. */

#include "profile/functions.h"

#include <prof/symbols.h>

struct prof_table prof_functions;

uint32_t prof_function_of(uintptr_t address)
{
    struct prof_symbol symbol = {.start = address};
    uint32_t number;

    (void)prof_symbol_find(address, &symbol);
    number = prof_table_find(&prof_functions, 0, symbol.start);
    if (number == 0 && prof_table_reserve(&prof_functions)) {
        number = prof_table_add(&prof_functions, 0, symbol.start);
        prof_function_at(number)->bytes = (uint32_t)symbol.size;
    }
    return number;
}
