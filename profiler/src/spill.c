/* SPDX-License-Identifier: Apache-2.0 */

/* The overflow table; what it is for and who may touch what: spill.h. */

#include "spill.h"

/* Spreads code addresses, which differ mostly in their low bits. */
static uint32_t slot_of(uintptr_t pc)
{
    return ((uint32_t)pc * 0x9e3779b1u) >> 25;
}

_Static_assert(PROF_SPILL_SLOTS == 1u << 7, "slot_of() yields seven bits");

static void clear(struct prof_slot *slots)
{
    for (uint32_t i = 0; i < PROF_SPILL_SLOTS; i++)
        slots[i].count = 0;
}

void prof_spill_open(struct prof_spill *spill, struct prof_slot *first,
                     struct prof_slot *second)
{
    clear(first);
    clear(second);
    *spill = (struct prof_spill){.half = {first, second}};
}

void prof_spill_add(struct prof_spill *spill, uintptr_t pc, uint64_t cycles)
{
    struct prof_slot *slots = spill->half[spill->turn];
    uint32_t at = slot_of(pc);

    for (uint32_t probe = 0; probe < PROF_SPILL_PROBES; probe++) {
        struct prof_slot *slot = &slots[(at + probe) % PROF_SPILL_SLOTS];

        if (slot->count == 0) {
            slot->pc = pc;
            slot->cycles = 0;
        } else if (slot->pc != pc) {
            continue;
        }
        slot->count++;
        slot->cycles += cycles;
        spill->waiting++;
        return;
    }
    spill->dropped++;
    spill->dropped_cycles += cycles;
}

struct prof_slot *prof_spill_take(struct prof_spill *spill)
{
    struct prof_slot *taken = spill->half[spill->turn];

    spill->turn ^= 1;
    spill->waiting = 0;
    return taken;
}
