/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How large a symbol table is with its names raw and packed, and how long it
 * takes to make and to ask: symbols NAME < LINES, where LINES are what nm -S
 * prints. The tables are those that embed would write, and the answers those
 * of the profiler's own reader. Prints one row; bench/symbols.sh has the head.
 */

#include "functions.h"

#include <prof/symbols.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define QUESTIONS 200000u
#define NAMES 20000u
#define TURNS 25u

/* The least of several times: other programs only make it longer. */
static double best(double (*measure)(const uintptr_t *), const uintptr_t *asked)
{
    double least = measure(asked);

    for (unsigned turn = 1; turn < TURNS; ++turn) {
        double now = measure(asked);

        least = now < least ? now : least;
    }
    return least;
}

static double lookup_ns(const uintptr_t *asked)
{
    struct prof_symbol found;
    double begin = thread_seconds();
    uint32_t sum = 0;

    for (uint32_t i = 0; i < QUESTIONS; ++i)
        sum += prof_symbol_find(asked[i], &found) ? found.index : 0;
    __asm__ volatile("" : : "r"(sum));
    return (thread_seconds() - begin) * 1e9 / QUESTIONS;
}

static double name_ns(const uintptr_t *asked)
{
    struct prof_symbol found = {0};
    char name[4096];
    double begin = thread_seconds();

    for (uint32_t i = 0; i < NAMES; ++i) {
        if (prof_symbol_find(asked[i], &found))
            prof_symbol_name(&found, name, sizeof name);
    }
    return (thread_seconds() - begin) * 1e9 / NAMES;
}

/* Opens a table, which must be sound and have each function of (image). */
static void must_open(const struct table *table, const struct image *image)
{
    struct functions chosen = select_functions(&image->symbols);
    static char name[PROF_SYMTAB_NAME_MAX + 1];
    struct prof_symbol found;

    if (prof_symbols_open(table->bytes, table->count, NULL, 0) != 0)
        embed_fail("table", "is not sound: %d", prof_symbols_error());
    for (size_t i = 0; i < chosen.count; ++i) {
        const struct function *f = &chosen.at[i];

        if (!prof_symbol_find((uintptr_t)(f->start + f->size - 1), &found) ||
            found.start != f->start || found.size != f->size ||
            prof_symbol_name(&found, name, sizeof name) >= sizeof name ||
            strcmp(name, f->name) != 0)
            embed_fail("table", "%s is not found", f->name);
    }
    free(chosen.at);
}

/* Bytes of the names by themselves, as C strings. */
static size_t plain_bytes(const struct image *image)
{
    struct functions chosen = select_functions(&image->symbols);
    size_t bytes = 0;

    for (size_t i = 0; i < chosen.count; ++i)
        bytes += strlen(chosen.at[i].name) + 1;
    free(chosen.at);
    return bytes;
}

int main(int argc, char **argv)
{
    struct image image = functions_read(argc > 1 ? argv[1] : "symbols");
    struct table raw = table_make(&image, NAMES_RAW), packed;
    uintptr_t *asked = functions_ask(&image, QUESTIONS, false);
    const struct prof_symtab *head;
    double raw_ns, begin = thread_seconds();
    uint32_t names, other;

    packed = table_make(&image, NAMES_PACKED);
    begin = thread_seconds() - begin;
    must_open(&raw, &image);
    raw_ns = best(name_ns, asked);
    must_open(&packed, &image);
    head = (const void *)packed.bytes;
    other = head->tokens_at - head->gaps_at + 2 * head->count;
    names = head->names_bytes + head->tokens_bytes - 2 * head->count;
    printf("%-18s %7u %9zu %9u %5.1f %9zu %9zu %5.2f %6.2f %6.0f %6.0f %6.0f\n",
           image.path, head->count, plain_bytes(&image), names,
           100.0 * names / (double)plain_bytes(&image), raw.count, packed.count,
           (double)other / head->count, begin, best(lookup_ns, asked), raw_ns,
           best(name_ns, asked));
    return 0;
}
