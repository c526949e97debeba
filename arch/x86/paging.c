/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Page permissions:
 *
 *   page 0                     none, to catch null pointers
 *   guard page below a stack   none, to catch stack overflows
 *   text                       read, execute
 *   rodata                     read
 *   the rest below 4 GiB       read, write
 *   RAM above (x86_64)         read, write
 *
 * Only text is executable if the CPU supports NX. Memory up to the end of the
 * image is mapped by 4 KiB pages, the rest by 2 MiB pages. The tables of the
 * small pages are placed in the first free RAM above the image, with the
 * directories of what is above 4 GiB.
 */

#include "paging.h"

#include "boot_heap.h"
#include "cpu_bits.h"
#include "emergency_console.h"
#include <arch/boot.h>
#include <arch/cpu_number.h>
#include <arch/context.h>
#include <arch/features.h>
#include <stdbool.h>
#include <stddef.h>

#define LARGE_PAGE_BYTES ((uintptr_t)2 << 20)
#define DIRECTORY_BYTES ((uint64_t)1 << 30)

uint64_t page_directories[PAGE_DIRECTORIES][PAGE_ENTRIES]
    __attribute__((aligned(4096)));
uint64_t page_pointers[PAGE_ENTRIES] __attribute__((aligned(4096)));
uint64_t paging_no_execute;

static bool within(uintptr_t page, const char *begin, const char *end)
{
    return page >= (uintptr_t)begin && page < (uintptr_t)end;
}

/* Guards are one page each. */
static bool is_guard(uintptr_t page)
{
    const uintptr_t above = page + PAGE_BYTES;

    return above == (uintptr_t)boot_stack_bottom ||
           above == (uintptr_t)fault_stack_bottom ||
           above == (uintptr_t)nmi_stack_bottom;
}

/* The table entry of (page), with the permissions listed above. */
static uint64_t small_page(uintptr_t page)
{
    if (page == 0 || is_guard(page))
        return 0;
    if (within(page, text_begin, text_end))
        return page | PAGE_PRESENT;
    if (within(page, rodata_begin, rodata_end))
        return page | PAGE_PRESENT | paging_no_execute;
    return page | PAGE_PRESENT | PAGE_WRITABLE | paging_no_execute;
}

/* Enables NX. Returns the bit for table entries, 0 if the CPU lacks NX. */
static uint64_t no_execute_on(void)
{
    if (!arch_cpu_has(ARCH_CPU_NX))
        return 0;
    cpu_set_msr(MSR_EFER, cpu_msr(MSR_EFER) | EFER_NXE);
    return PAGE_NO_EXECUTE;
}

static uint64_t *allocate_tables(size_t count)
{
    uintptr_t begin = boot_heap_find((uintptr_t)image_end, count * PAGE_BYTES);

    if (begin == 0) {
        emergency_print("boot: no free RAM above the image for page tables\n");
        emergency_exit(EMERGENCY_EXIT_NO_BOOT);
    }
    boot_heap_reserve((struct arch_region){begin, begin + count * PAGE_BYTES});
    return (uint64_t *)begin;
}

/*
 * On x86_64 these tables are in use while they are written. This is safe: each
 * entry changes from one identity mapping to another, and a table is complete
 * before the directory points to it.
 */
void paging_start(void)
{
    const size_t count =
        ((uintptr_t)image_end + LARGE_PAGE_BYTES - 1) / LARGE_PAGE_BYTES;
    uint64_t *small = allocate_tables(count + paging_high_pages());
    uint64_t *large = &page_directories[0][0];

    paging_no_execute = no_execute_on();
    for (size_t i = 0; i < count * PAGE_ENTRIES; i++)
        small[i] = small_page(i * PAGE_BYTES);
    for (size_t i = 0; i < PAGE_DIRECTORIES * PAGE_ENTRIES; i++)
        large[i] = i < count
                       ? (uintptr_t)(small + i * PAGE_ENTRIES) | PAGE_PRESENT |
                             PAGE_WRITABLE
                       : (uint64_t)i * LARGE_PAGE_BYTES | PAGE_PRESENT |
                             PAGE_WRITABLE | PAGE_LARGE | paging_no_execute;
    paging_map_high(small + count * PAGE_ENTRIES);

    cpu_set_cr4(cpu_cr4() | CR4_PAE);
    cpu_set_cr3(paging_root());
    cpu_set_cr0(cpu_cr0() | CR0_PG | CR0_WP);
}

#if ARCH_CPUS_MAX > 1

/* A large page becomes small ones that map the same. */
bool paging_guard(uintptr_t address, void *(*page)(void))
{
    uint64_t *entry = &page_directories[0][address / LARGE_PAGE_BYTES];
    uint64_t *table;

    if ((*entry & PAGE_LARGE) != 0) {
        table = page();
        if (table == NULL)
            return false;
        for (uint64_t i = 0; i < PAGE_ENTRIES; i++)
            table[i] = (*entry & ~PAGE_LARGE) + i * PAGE_BYTES;
        *entry = (uintptr_t)table | PAGE_PRESENT | PAGE_WRITABLE;
    }
    table = (uint64_t *)(uintptr_t)(*entry & PAGE_ADDRESS);
    table[address / PAGE_BYTES % PAGE_ENTRIES] = 0;
    cpu_set_cr3(cpu_cr3());
    return true;
}

#endif

/* ---- addresses where there is no RAM (<arch/context.h>) */

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
