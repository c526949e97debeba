/* SPDX-License-Identifier: Apache-2.0 */

/*
 * An image in which nothing was embedded. By GRUB it has the names of the
 * loader's symbol table: the same functions that are embedded otherwise, in the
 * table and in the panic at its end, and after all of the heap was overwritten.
 * By QEMU's -kernel it has addresses.
 */

#include "guest/guest.h"
#include "guest/tap.h"

#include <arch/boot.h>
#include <kernel/panic.h>
#include <kernel/service.h>
#include <prof/error.h>
#include <prof/symbols.h>
#include <stdlib.h>
#include <string.h>

#define FUNCTIONS_MAX 8192u
#define NAME_MAX 512u

/* The first table, which the kernel opens, is empty (ldflags). */
int __wrap_prof_symbols_open(const void *table, size_t bytes,
                             const void *build_id, size_t build_id_bytes);
int __real_prof_symbols_open(const void *table, size_t bytes,
                             const void *build_id, size_t build_id_bytes);

int __wrap_prof_symbols_open(const void *table, size_t bytes,
                             const void *build_id, size_t build_id_bytes)
{
    static bool again;

    if (!again)
        bytes = 0;
    again = true;
    return __real_prof_symbols_open(table, bytes, build_id, build_id_bytes);
}

static struct function {
    struct prof_symbol symbol;
    uint32_t hash; /* of its name */
} functions[FUNCTIONS_MAX];

/* All functions in the code. */
static size_t list(struct function *all)
{
    size_t count = 0;
    uintptr_t at = (uintptr_t)text_begin;

    while (at < (uintptr_t)text_end && count < FUNCTIONS_MAX) {
        struct function *f = &all[count];
        char name[NAME_MAX];

        if (!prof_symbol_find(at, &f->symbol)) {
            at++;
            continue;
        }
        prof_symbol_name(&f->symbol, name, sizeof name);
        f->hash = 0;
        for (const char *byte = name; *byte != '\0'; byte++)
            f->hash = f->hash * 31 + (unsigned char)*byte;
        at = f->symbol.start + f->symbol.size;
        count++;
    }
    return count;
}

/* Functions that are not as they were among (count). */
static size_t differences(const char *when, size_t count)
{
    static struct function now[FUNCTIONS_MAX];
    size_t others = 0, found = list(now);

    if (found != count)
        tap_note("%s: %u functions, not %u", when, (unsigned)found,
                 (unsigned)count);
    for (size_t i = 0; i < count && i < found; i++) {
        char name[NAME_MAX];

        if (now[i].symbol.start == functions[i].symbol.start &&
            now[i].symbol.size == functions[i].symbol.size &&
            now[i].hash == functions[i].hash)
            continue;
        prof_symbol_name(&now[i].symbol, name, sizeof name);
        if (others++ < 10)
            tap_note("%s: %s, at 0x%x of 0x%x, not 0x%x of 0x%x", when, name,
                     (unsigned)now[i].symbol.start,
                     (unsigned)now[i].symbol.size,
                     (unsigned)functions[i].symbol.start,
                     (unsigned)functions[i].symbol.size);
    }
    return others + (found != count);
}

/* Overwrites all memory that the heap gives. */
static size_t fill_heap(void)
{
    struct block {
        struct block *next;
    } *blocks = NULL;
    size_t filled = 0;

    for (size_t bytes = (size_t)64 << 20; bytes >= 4096;) {
        struct block *block = malloc(bytes);

        if (block == NULL) {
            bytes /= 2;
            continue;
        }
        memset(block, 0xa5, bytes);
        block->next = blocks;
        blocks = block;
        filled += bytes;
    }
    while (blocks != NULL) {
        struct block *next = blocks->next;

        free(blocks);
        blocks = next;
    }
    return filled;
}

static bool is_apart(const struct arch_region *a)
{
    const struct arch_region heap = arch_heap_region();

    return a->end > a->begin && (a->end <= heap.begin || a->begin >= heap.end);
}

/* At few addresses: each of them has rows of its own where there are no names.
 */
__attribute__((noinline)) static void work(void)
{
    uint64_t begin = arch_tsc();

    while (arch_tsc() - begin < 200 * GUEST_MS)
        guest_loop(64);
}

__attribute__((noinline)) static void fail(void)
{
    panic("out of luck");
}

static void open_the_loaders(void)
{
    const struct arch_symbols *given = &arch_boot.symbols;
    const struct prof_elf_symbols symbols = {
        .symbols = (void *)given->table.begin,
        .symbols_bytes = given->table.end - given->table.begin,
        .entry_bytes = given->entry_bytes,
        .strings = (const char *)given->names.begin,
        .strings_bytes = given->names.end - given->names.begin,
        .code_begin = (uintptr_t)text_begin,
        .code_end = (uintptr_t)text_end,
    };

    (void)prof_symbols_elf(&symbols);
}

static void try_the_loaders(void)
{
    size_t count = list(functions), bytes;

    tap_ok(is_apart(&arch_boot.symbols.table), "the heap avoids the symbols");
    tap_ok(is_apart(&arch_boot.symbols.names), "the heap avoids their names");
    tap_ok(count > 100 && count <= prof_symbols_count(), "it has functions");
    bytes = fill_heap();
    tap_ok(bytes > 8u << 20, "the heap was overwritten");
    tap_is_equal((long long)differences("after the heap was full", count), 0,
                 "the names are still there");
    tap_is_equal(prof_symbols_embedded(), PROF_OK, "one was embedded, too");
    tap_is_equal((long long)differences("embedded", count), 0,
                 "it has the same functions");
    open_the_loaders();
    tap_is_equal((long long)differences("opened again", count), 0,
                 "a sorted table can be opened");
}

int service_main(void)
{
    prof_set_rate(1000);
    prof_start();
    work();
    prof_stop();
    prof_report();
    if (arch_boot.symbols.table.begin != 0) {
        tap_plan(8);
        try_the_loaders();
    }
    fail();
    return 1;
}
