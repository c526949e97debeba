/* SPDX-License-Identifier: Apache-2.0 */

#include "aggregate/addresses.h"

#include "aggregate/accounts.h"
#include "aggregate/functions.h"
#include "aggregate/image.h"
#include "sample/cpu_state.h"
#include "unwind/prologue.h"

#include <prof/config.h>
#include <prof/symbols.h>

#define CALLER_MAX ((1u << 26) - 1) /* the bit field; no stack is as large */

#define FRAMED_MAX (UINT32_MAX >> 1)

/* Addresses looked at for pending samples in a drain. */
#define LOOKS_MAX 2000u

struct prof_table prof_addresses;

uint32_t *prof_address_slot(uintptr_t address)
{
    return prof_table_slot(&prof_addresses, sizeof(struct prof_address), 0,
                           address);
}

uint32_t prof_address_in(uint32_t *slot, uintptr_t address)
{
    uint32_t function, number = *slot;
    struct prof_address *added;

    if (number != 0)
        return number;
    function = prof_function_of(address);
    if (function == 0)
        return 0;
    number = prof_table_add(&prof_addresses, sizeof *added, slot, 0, address);
    if (number == 0)
        return 0;
    added = prof_address_at(number);
    added->record.link = function;
    added->class = prof_function_is_named(prof_function_at(function))
                       ? PROF_CLASS_ATTRIBUTED
                       : PROF_CLASS_UNRESOLVED;
    if (prof_is_user(address))
        added->class = PROF_CLASS_USER;
    return number;
}

uint32_t prof_address_calling_function(uintptr_t address)
{
    const struct prof_address *known;
    struct prof_symbol symbol;
    uint32_t number;

    if (!PROF_WITH_CALLERS)
        return 0;
    number = prof_address_in(prof_address_slot(address), address);
    if (number == 0)
        return 0;
    known = prof_address_at(number);
    if ((known->class == PROF_CLASS_UNRESOLVED ||
         prof_function_at(known->record.link)->record.key == address) &&
        prof_symbol_find(address - 1, &symbol))
        return prof_function_of(address - 1);
    return known->record.link;
}

static struct prof_range range_of(const struct prof_function *function)
{
    return (struct prof_range){function->record.key,
                               function->record.key + function->bytes};
}

/* What is known of the frame of (function). */
__attribute__((noinline)) static uint32_t
frame_of(struct prof_function *function)
{
    struct prof_range range;

    if (function->framed == 0) {
        range = range_of(function);
        function->framed =
            prof_prologue_learn(&range, &prof_image.text) & FRAMED_MAX;
    }
    return function->framed;
}

/* Implements prof_prologue_known(). */
static uint32_t known_caller(uintptr_t pc, const struct prof_range *range)
{
    uint32_t number = *prof_table_find_slot(&prof_functions, 0, range->begin);

    return prof_prologue_caller(pc, range, &prof_image.text,
                                number != 0 ? frame_of(prof_function_at(number))
                                            : 0);
}

bool prof_address_without_top(struct prof_address *address)
{
    struct prof_function *function = prof_function_at(address->record.link);
    uintptr_t offset = address->record.key - function->record.key;

    if (!PROF_WITH_CALLERS || (address->class == PROF_CLASS_ATTRIBUTED &&
                               offset < frame_of(function)))
        return false;
    address->caller = PROF_CALLER_BY_FRAME;
    address->pending = 0;
    return true;
}

uint32_t prof_address_caller(struct prof_address *address)
{
    uint32_t word = PROF_PROLOGUE_FRAME;
    struct prof_range range;

    if (!PROF_WITH_CALLERS || address->caller != PROF_CALLER_UNKNOWN)
        return address->caller;
    if (address->class == PROF_CLASS_ATTRIBUTED) {
        range = range_of(prof_function_at(address->record.link));
        word = known_caller(address->record.key, &range);
    }
    if (word == PROF_PROLOGUE_FRAME)
        address->caller = PROF_CALLER_BY_FRAME;
    else
        address->caller = (PROF_CALLER_IN_WORD + word) & CALLER_MAX;
    if (address->caller >= PROF_CALLER_IN_WORD + PROF_FRAMES_KEPT)
        prof_accounts_of(PROF_CPU_FIRST)->caller_unreachable +=
            address->pending;
    address->pending = 0;
    return address->caller;
}

/* The next address to be looked at. Those before it that have pending samples
 * again are few; reports take care of them. */
static uint32_t next_address;

void prof_addresses_open(void)
{
    prof_addresses = PROF_TABLE(struct prof_address);
    next_address = 0;
    if (PROF_WITH_CALLERS)
        prof_prologue_known = known_caller;
}

void prof_addresses_catch_up(uint32_t most, uint32_t steps)
{
    uint32_t before = prof_prologue_steps, looks = LOOKS_MAX;

    for (; PROF_WITH_CALLERS && most > 0 && looks > 0 &&
           next_address < prof_addresses.used &&
           prof_prologue_steps - before < steps;
         next_address++, looks--) {
        struct prof_address *address = prof_address_at(next_address);

        if (address->pending == 0)
            continue;
        (void)prof_address_caller(address);
        most--;
    }
}
