/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ARCH_BOOT_H
#define ARCH_BOOT_H

/*
 * What the loader passed to the image, in one form for Multiboot 1 (i386),
 * Multiboot 2 and PVH (x86_64). It is copied out of the loader's memory before
 * that memory is reused. Only the contents of modules and the symbol table stay
 * where they are; the heap avoids them.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ARCH_REGIONS_MAX 64u
#define ARCH_MODULES_MAX 8u
#define ARCH_COMMAND_LINE_MAX 2048u
#define ARCH_MODULE_NAME_MAX 256u

/* Addresses of RAM from here on are ignored: i386 maps 32 bits, less a page, so
 * that an end of 4 GiB does not overflow to 0. */
#ifdef __x86_64__
#define ARCH_RAM_END ((uint64_t)256 << 30)
#else
#define ARCH_RAM_END (((uint64_t)1 << 32) - 4096)
#endif

/* Usable RAM, half-open, below ARCH_RAM_END, whole pages, no overlaps. */
struct arch_region {
    uintptr_t begin;
    uintptr_t end;
};

/* A file that the loader put into memory, half-open. */
struct arch_module {
    uintptr_t begin;
    uintptr_t end;
    char name[ARCH_MODULE_NAME_MAX]; /* from the loader, may be "" */
};

/*
 * The image's ELF symbol table and its names (.symtab, .strtab), half-open,
 * where the loader has put them into memory. They stay there; the heap avoids
 * them. All 0: the loader gave none (QEMU's -kernel), or the image has none.
 */
struct arch_symbols {
    struct arch_region table;
    struct arch_region names;
    size_t entry_bytes; /* of the table */
};

struct arch_boot {
    const char *loader;        /* "multiboot", "multiboot2" or "pvh" */
    bool memory_map;           /* false: none given, regions are a fallback */
    const char *memory_source; /* for the boot message */
    bool command_line_cut;     /* longer than ARCH_COMMAND_LINE_MAX - 1 */
    unsigned regions_ignored;  /* above ARCH_RAM_END or beyond the maximum */
    unsigned modules_ignored;  /* the same */
    size_t region_count;
    size_t module_count;
    struct arch_region region[ARCH_REGIONS_MAX];
    struct arch_module module[ARCH_MODULES_MAX];
    struct arch_symbols symbols;
    /* Of ACPI's root pointer (RSDP), where the loader gave it; 0: look where
     * the firmware of a PC has it. */
    uintptr_t acpi_root;
    char command_line[ARCH_COMMAND_LINE_MAX];
};

/* Filled before kernel_main() runs; read-only afterwards. */
extern struct arch_boot arch_boot;

/*
 * The largest free range of RAM below 4 GiB, without the image, modules,
 * symbols and page tables: this is where the heap begins. Contexts: after arch
 * start-up.
 */
struct arch_region arch_heap_region(void);

/*
 * The lowest free range of RAM at or above (from) that has at least (bytes)
 * bytes; empty if there is none. There are no more than ARCH_FREE_MAX in all.
 * Contexts: after arch start-up.
 */
#define ARCH_FREE_MAX (ARCH_REGIONS_MAX + ARCH_MODULES_MAX + 4u)
struct arch_region arch_free_region(uintptr_t from, size_t bytes);

/*
 * Defined by the kernel. Called once on the boot stack, with paging, IDT and
 * FPU ready and interrupts off. Does not return.
 */
void kernel_main(void) __attribute__((noreturn));

/*
 * Bounds of the image, defined by the linker script. All are page-aligned.
 * Only the addresses of these objects are meaningful.
 */
extern char image_begin[], image_end[];
extern char text_begin[], text_end[];
extern char rodata_begin[], rodata_end[];
extern char data_begin[], data_end[]; /* .data and .bss */
extern char boot_stack_bottom[], boot_stack_top[];
extern char fault_stack_bottom[], fault_stack_top[];
extern char nmi_stack_bottom[], nmi_stack_top[];

#endif
