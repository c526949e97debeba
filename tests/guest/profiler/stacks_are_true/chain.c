/* SPDX-License-Identifier: Apache-2.0 */

/* Call stacks to be compared; see chain.h. */

#include "chain.h"

#include <kernel/console.h>
#include <prof/prof.h>
#include <prof/symbols.h>

bool chain_is_equal(const struct chain *a, const struct chain *b)
{
    if (a->count != b->count)
        return false;
    for (uint32_t i = 0; i < a->count; i++)
        if (a->addresses[i] != b->addresses[i])
            return false;
    return true;
}

static void show(const char *what, const struct chain *chain)
{
    for (uint32_t i = 0; i < chain->count; i++) {
        struct prof_symbol symbol = {.start = 0};
        char name[64] = "?";

        if (prof_symbol_find(chain->addresses[i] - (i > 0), &symbol))
            prof_symbol_name(&symbol, name, sizeof name);
        console_line("# %s %u: 0x%lx %s+0x%lx", what, (unsigned)i,
                     (unsigned long)chain->addresses[i], name,
                     (unsigned long)(chain->addresses[i] - symbol.start));
    }
}

void chain_show(const struct chain *got, const struct chain *wanted)
{
    show("got", got);
    show("wanted", wanted);
}

static void keep(const struct prof_stack_row *row, void *context)
{
    struct chain *chain = context;

    /* Two of them would be one too many: a chain that fits to nothing. */
    chain->count = chain->count == 0 ? row->count : CHAIN_MAX;
    for (uint32_t i = 0; i < row->count; i++)
        chain->addresses[i] = row->addresses[i];
}

struct chain chain_sampled(uintptr_t pc, uintptr_t sp, uintptr_t fp)
{
    struct chain chain = {.count = 0};

    prof_reset();
    prof_sample(pc, sp, fp);
    prof_drain();
    prof_visit_stacks(keep, &chain);
    return chain;
}

struct chain chain_of_frames(uintptr_t fp)
{
    struct chain chain = {.count = 0};

    for (; fp != 0; fp = *(const uintptr_t *)fp) {
        uintptr_t address = ((const uintptr_t *)fp)[1];

        if (address == 0)
            break;
        chain.addresses[chain.count++] = address;
    }
    return chain;
}
