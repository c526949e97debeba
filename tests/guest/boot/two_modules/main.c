/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two boot modules, the files `initrd` and `initrd2`: the service is given
 * each with its own bytes, and the heap takes neither. PVH is left out, which
 * QEMU gives one module only.
 */

#include "guest/tap.h"

#include <arch/boot.h>
#include <kernel/service.h>
#include <stdlib.h>
#include <string.h>

#define PIECE_BYTES (64u * 1024)

static const char *const texts[] = {"the first of two modules\n",
                                    "and the second, which is longer\n"};

static bool is_sound(size_t index)
{
    size_t bytes = 0;
    const char *text = service_module(index, &bytes);

    return text != NULL && bytes == strlen(texts[index]) &&
           memcmp(text, texts[index], bytes) == 0;
}

static bool overlap(size_t index, uintptr_t begin, uintptr_t end)
{
    const struct arch_module *module = &arch_boot.module[index];

    return module->begin < end && begin < module->end;
}

static bool ends_with(const char *text, const char *end)
{
    size_t bytes = strlen(text), end_bytes = strlen(end);

    return bytes >= end_bytes && strcmp(text + bytes - end_bytes, end) == 0;
}

static void fill_heap(void)
{
    unsigned char *piece;

    while ((piece = malloc(PIECE_BYTES)) != NULL)
        memset(piece, 0xee, PIECE_BYTES);
}

int service_main(void)
{
    struct arch_region heap = arch_heap_region();
    const struct arch_module *second = &arch_boot.module[1];
    size_t bytes;

    tap_plan(8);
    tap_note("\"%s\" and \"%s\" by %s", arch_boot.module[0].name, second->name,
             arch_boot.loader);
    tap_is_equal((long long)arch_boot.module_count, 2, "there are two modules");
    tap_is_equal(arch_boot.modules_ignored, 0, "none is ignored");
    tap_ok(is_sound(0), "the first has the first file's bytes");
    tap_ok(is_sound(1), "the second has the second file's");
    tap_ok(ends_with(arch_boot.module[0].name, "initrd") &&
               ends_with(second->name, "initrd2"),
           "each has its own name");
    tap_ok(service_module(2, &bytes) == NULL, "there is no third");
    tap_ok(!overlap(0, heap.begin, heap.end) &&
               !overlap(1, heap.begin, heap.end) &&
               !overlap(0, second->begin, second->end),
           "they lie apart from each other and from the heap");
    fill_heap();
    tap_ok(is_sound(0) && is_sound(1), "a full heap has touched neither");
    return tap_end();
}
