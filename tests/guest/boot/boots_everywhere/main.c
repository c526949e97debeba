/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the loader leaves is found, whoever the loader is: QEMU itself or GRUB,
 * at both widths. The boot module is the file `initrd`: 1000 numbered lines.
 */

#include "guest/tap.h"

#include <arch/boot.h>
#include <arch/cpu.h>
#include <kernel/service.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MODULE_LINES 1000u
#define LINE_BYTES 17u
#define PAGE_BYTES 4096u
#define MIB (1u << 20)
#define LEAST_MIB 120u /* of the 128 that the machine has */
#define MOST_MIB 128u
#define PIECE_BYTES (64u * 1024)

/* QEMU's own note of what it was given with -initrd; 0 where GRUB boots. */
#define FW_CFG_SELECTOR 0x510
#define FW_CFG_DATA 0x511
#define FW_CFG_INITRD_SIZE 0x0b

static bool word_came;

bool service_option(const char *key, const char *value)
{
    word_came = strcmp(key, "boots.word") == 0 && strcmp(value, "through") == 0;
    return word_came;
}

static bool loaded_by_qemu(void)
{
    uint8_t any = 0;

    __asm__ volatile("outw %0, %1"
                     :
                     : "a"((uint16_t)FW_CFG_INITRD_SIZE),
                       "Nd"((uint16_t)FW_CFG_SELECTOR));
    for (unsigned i = 0; i < sizeof(uint32_t); i++)
        any |= arch_in8(FW_CFG_DATA);
    return any != 0;
}

static void test_loader(void)
{
    const char *wide = loaded_by_qemu() ? "pvh" : "multiboot2";
    const char *expected = sizeof(void *) == 4 ? "multiboot" : wide;

    tap_note("booted by %s with \"%s\"", arch_boot.loader,
             arch_boot.command_line);
    tap_ok(strcmp(arch_boot.loader, expected) == 0,
           "the loader's protocol is known by its name");
    tap_ok(strstr(arch_boot.command_line, "boots.word=through") != NULL,
           "the command line is there");
    tap_ok(!arch_boot.command_line_cut, "the command line is complete");
    tap_ok(word_came, "the service is given its option");
}

static bool fine(size_t i)
{
    const struct arch_region *region = &arch_boot.region[i];

    return region->begin < region->end && region->begin % PAGE_BYTES == 0 &&
           region->end % PAGE_BYTES == 0 &&
           (i == 0 || region[-1].end < region->begin);
}

static bool overlap(struct arch_region a, uintptr_t begin, uintptr_t end)
{
    return a.begin < end && begin < a.end;
}

static void test_memory(void)
{
    struct arch_region heap = arch_heap_region();
    const struct arch_module *module = &arch_boot.module[0];
    size_t bytes = 0;
    bool all_fine = true, inside = false;

    for (size_t i = 0; i < arch_boot.region_count; i++) {
        const struct arch_region *region = &arch_boot.region[i];

        all_fine = all_fine && fine(i);
        bytes += region->end - region->begin;
        inside |= region->begin <= heap.begin && heap.end <= region->end;
    }
    tap_ok(arch_boot.memory_map, "there is a memory map");
    tap_is_equal(arch_boot.regions_ignored, 0, "no memory is ignored");
    tap_ok(all_fine, "regions are whole pages, rise and do not touch");
    tap_is_between((long long)(bytes / MIB), LEAST_MIB, MOST_MIB,
                   "regions come to the machine's RAM, MiB");
    tap_ok(inside, "the heap lies in a region");
    tap_ok(!overlap(heap, (uintptr_t)image_begin, (uintptr_t)image_end) &&
               !overlap(heap, module->begin, module->end),
           "the heap holds neither image nor module");
}

static bool module_is_sound(void)
{
    char line[LINE_BYTES + 1];
    size_t bytes = 0;
    const char *text = service_module(0, &bytes);

    if (text == NULL || bytes != MODULE_LINES * LINE_BYTES)
        return false;
    for (unsigned i = 0; i < MODULE_LINES; i++) {
        snprintf(line, sizeof line, "module line %04u\n", i + 1);
        if (memcmp(text + i * LINE_BYTES, line, LINE_BYTES) != 0)
            return false;
    }
    return true;
}

static void fill_heap(void)
{
    unsigned char *piece;

    while ((piece = malloc(PIECE_BYTES)) != NULL)
        memset(piece, 0xee, PIECE_BYTES);
}

static void test_module(void)
{
    size_t bytes;

    tap_is_equal((long long)arch_boot.module_count, 1, "there is one module");
    tap_is_equal(arch_boot.modules_ignored, 0, "no module is ignored");
    tap_note("its name is \"%s\"", arch_boot.module[0].name);
    tap_ok(module_is_sound(), "the module's bytes are the file's");
    tap_ok(service_module(1, &bytes) == NULL, "there is no second module");
    fill_heap();
    tap_ok(module_is_sound(), "a full heap has not touched the module");
}

int service_main(void)
{
    tap_plan(15);
    test_loader();
    test_memory();
    test_module();
    return tap_end();
}
