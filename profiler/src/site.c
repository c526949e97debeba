/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Instructions cannot be read backwards. So it is first asked what the bytes
 * before the address would be if they were what we look for, which they mostly
 * are not; and then, from the function's beginning, whether an instruction
 * begins there.
 */

#include "site.h"

#include "code.h"
#include "state.h"

#include <prof/name.h>
#include <prof/symbols.h>

#define EXIT_BYTES_MAX 3u /* of an instruction that may exit */

/* Opcodes (Intel SDM vol. 2, appendix A). */
#define STI 0xfb
#define POPF 0x9d
#define HLT 0xf4
#define JMP_SHORT 0xeb

static const uint8_t *code_at(uintptr_t address)
{
    return (const uint8_t *)address;
}

/* Whether the instruction at (bytes) leaves the guest. */
static bool leaves(const uint8_t *bytes)
{
    while (*bytes == 0x66 || *bytes == 0xf2 || *bytes == 0xf3)
        bytes++;
    if (bytes[0] == 0x0f) /* cpuid, wrmsr, rdmsr */
        return bytes[1] == 0xa2 || bytes[1] == 0x30 || bytes[1] == 0x32;
    return bytes[0] == HLT || (bytes[0] & 0xf4) == 0xe4 ||
           (bytes[0] & 0xfc) == 0x6c; /* hlt; in and out; ins and outs */
}

/* Whether an instruction begins at (address), from (begin) on. */
static bool begins(uintptr_t begin, uintptr_t address)
{
    while (begin < address) {
        uint32_t length = prof_code_at(code_at(begin)).length;

        if (length == 0)
            return false;
        begin += length;
    }
    return begin == address;
}

/* Whether the (bytes) bytes before (pc) would be one instruction. */
static bool is_one(uintptr_t pc, uint32_t bytes)
{
    return prof_code_at(code_at(pc - bytes)).length == bytes;
}

/* Some emulators take interrupts only after jumps, and so drivers may have one
 * to the next instruction behind an access: looks through those. */
static uintptr_t before_jumps(uintptr_t pc, uintptr_t begin)
{
    while (pc - begin >= 2 && code_at(pc)[-2] == JMP_SHORT &&
           code_at(pc)[-1] == 0 && begins(begin, pc - 2))
        pc -= 2;
    return pc;
}

static bool follows_exit(uintptr_t pc, uintptr_t begin)
{
    for (uint32_t n = 1; n <= EXIT_BYTES_MAX && n <= pc - begin; n++)
        if (leaves(code_at(pc - n)) && is_one(pc, n) && begins(begin, pc - n))
            return true;
    return false;
}

/* What waits for the interrupt itself, as hlt does, was not kept waiting. */
static bool follows_opening(uintptr_t pc, uintptr_t begin)
{
    if (pc - begin >= 1 && code_at(pc)[-1] == POPF && begins(begin, pc - 1))
        return true;
    for (uint32_t n = 1; n <= PROF_CODE_BYTES_MAX && n < pc - begin; n++)
        if (code_at(pc - n)[-1] == STI && code_at(pc - n)[0] != HLT &&
            is_one(pc, n) && begins(begin, pc - n - 1))
            return true;
    return false;
}

/* Whether (pc) and the instructions from (begin) to there may be read. */
static bool is_readable(uintptr_t pc, uintptr_t begin)
{
    const struct prof_range *text = &prof_state.config.text;

    return begin >= text->begin && begin <= pc && pc < text->end &&
           text->end - pc >= PROF_CODE_BYTES_MAX;
}

uint32_t prof_site_at(uintptr_t pc, uintptr_t begin)
{
    uint32_t bits = 0;
    uintptr_t before;

    if (!is_readable(pc, begin))
        return 0;
    before = before_jumps(pc, begin);
    if (leaves(code_at(pc)) || follows_exit(before, begin))
        bits |= PROF_SITE_EXITS;
    if (follows_opening(before, begin))
        bits |= PROF_SITE_OPENS;
    return bits;
}

bool prof_site_opens(uintptr_t pc)
{
    const struct prof_range *idle = &prof_state.config.idle;
    struct prof_symbol symbol;

    if ((pc >= idle->begin && pc < idle->end) || !prof_symbol_find(pc, &symbol))
        return false;
    return (prof_site_at(pc, symbol.start) & PROF_SITE_OPENS) != 0;
}

/* The bits of an address's cell; where it was not looked at, it is now. In the
 * function (named), 0 where there is none, all is the hypervisor's. */
static uint32_t bits_of(struct prof_cell *address, uintptr_t named)
{
    if (address->site == 0 && address->class == PROF_CLASS_ATTRIBUTED)
        address->site =
            PROF_SITE_KNOWN | (prof_site_at(address->key, address->owner) & 3u);
    return named != 0 && address->owner == named
               ? address->site | PROF_SITE_EXITS
               : address->site;
}

/* Where the function prof.vmm begins, 0 where it has not been seen. */
static uintptr_t named_function(void)
{
    static uintptr_t known;
    const struct prof_map *map = &prof_state.functions;
    struct prof_symbol symbol;

    if (prof_options()->vmm[0] == '\0' || known != 0)
        return known;
    for (uint32_t i = 0; i < map->capacity && known == 0; i++)
        if (map->cells[i].count != 0 &&
            prof_symbol_find(map->cells[i].key, &symbol) &&
            prof_name_is(&symbol, prof_options()->vmm))
            known = symbol.start;
    return known;
}

/* Adds the samples of (address), whose bits are (bits). */
static void add(struct prof_site_sum *sum, const struct prof_cell *address,
                uint32_t bits)
{
    if ((bits & PROF_SITE_EXITS) != 0) {
        sum->exits += address->count;
        sum->exits_cycles += address->cycles;
    }
    if ((bits & PROF_SITE_OPENS) != 0) {
        sum->opens += address->count;
        sum->opens_cycles += address->cycles;
    }
}

struct prof_site_sum prof_site_sum_all(void)
{
    const struct prof_map *map = &prof_state.addresses;
    struct prof_site_sum sum = {0};
    uintptr_t named = named_function();

    for (uint32_t i = 0; i < map->capacity; i++) {
        struct prof_cell *cell = &map->cells[i];
        uint32_t bits;

        if (cell->count == 0)
            continue;
        bits = bits_of(cell, named) & (PROF_SITE_EXITS | PROF_SITE_OPENS);
        if (bits == 0)
            continue;
        add(&sum, cell, bits);
        prof_map_find(&prof_state.functions, cell->owner)->site |= bits & 7u;
    }
    return sum;
}

struct prof_site_sum prof_site_sum(const struct prof_cell *function)
{
    const struct prof_map *map = &prof_state.addresses;
    struct prof_site_sum sum = {0};
    uintptr_t named = named_function();

    for (uint32_t i = 0; function->site != 0 && i < map->capacity; i++) {
        struct prof_cell *cell = &map->cells[i];

        if (cell->count != 0 && cell->owner == function->key)
            add(&sum, cell, bits_of(cell, named));
    }
    return sum;
}
