/* SPDX-License-Identifier: Apache-2.0 */

/* New stacks, and pages for them at addresses where there is no RAM. */

#include "context.h"

#include "cpu_bits.h"
#include "paging.h"

#include <arch/context.h>
#include <stddef.h>

#define X87_CONTROL_DEFAULT 0x037fu /* as after fninit */

/* ---- pages */

static void clear(uint64_t *table)
{
    for (size_t i = 0; i < PAGE_ENTRIES; i++)
        table[i] = 0;
}

/* The table of small pages for (address), made if there is none: in place of a
 * large page, whose translation the CPU may have cached. */
static uint64_t *table_of(uintptr_t address, void *(*page)(void))
{
    uint64_t *entry = paging_directory_entry(address, page);
    uint64_t *table;

    if (entry == NULL)
        return NULL;
    if ((*entry & PAGE_PRESENT) != 0 && (*entry & PAGE_LARGE) == 0)
        return (uint64_t *)(uintptr_t)(*entry & PAGE_ADDRESS);
    table = page();
    if (table == NULL)
        return NULL;
    clear(table);
    *entry = (uintptr_t)table | PAGE_PRESENT | PAGE_WRITABLE;
    cpu_set_cr3(cpu_cr3());
    return table;
}

bool arch_map(uintptr_t address, const void *memory, void *(*page)(void))
{
    uint64_t *table = table_of(address, page);

    if (table == NULL)
        return false;
    table[address / PAGE_BYTES % PAGE_ENTRIES] =
        (uintptr_t)memory | PAGE_PRESENT | PAGE_WRITABLE | paging_no_execute;
    __asm__ volatile("invlpg (%0)" : : "r"(address) : "memory");
    return true;
}

/* ---- stacks */

uintptr_t arch_context_new(uintptr_t top, void (*entry)(void))
{
    struct context *context = (struct context *)top - 1;

    _Static_assert(sizeof *context <= ARCH_CONTEXT_BYTES, "too large");
    *context = (struct context){
        .mxcsr = MXCSR_DEFAULT,
        .x87_control = X87_CONTROL_DEFAULT,
        .bx = (uintptr_t)entry,
        .return_address = (uintptr_t)arch_context_begin,
    };
    return (uintptr_t)context;
}
