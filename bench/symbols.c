/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How large a symbol table is with its names raw and packed, and how long it
 * takes to make and to ask: symbols NAME < LINES, where LINES are what nm -S
 * prints. The tables are those that embed would write, and the answers those
 * of the profiler's own reader. Prints one row; bench/symbols.sh has the head.
 */

#include "../tools/embed/embed.h"

#include <prof/symbols.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define QUESTIONS 200000u
#define NAMES 20000u
#define TURNS 25u

static double seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* Takes what is code and has a size; a version ("@@...") is not the name. */
static bool read_line(char *line, struct function *f)
{
    char type, name[65536];
    unsigned long long start, size;

    if (sscanf(line, "%llx %llx %c %65535s", &start, &size, &type, name) != 4 ||
        strchr("TtWwVi", type) == NULL || size == 0)
        return false;
    name[strcspn(name, "@")] = '\0';
    *f = (struct function){start, size, UINT64_MAX, strdup(name), 0, false};
    return f->name != NULL;
}

static struct image read_symbols(const char *path)
{
    struct image image = {.path = path, .bits = 8 * sizeof(void *)};
    static char line[70000];
    size_t room = 0;

    image.build_id_bytes = 1;
    while (fgets(line, sizeof line, stdin) != NULL) {
        struct functions *all = &image.symbols;

        if (all->count == room) {
            room = 2 * room + 1024;
            all->at = realloc(all->at, room * sizeof *all->at);
            if (all->at == NULL)
                embed_fail(path, "no memory");
        }
        all->count += read_line(line, &all->at[all->count]);
    }
    qsort(image.symbols.at, image.symbols.count, sizeof *image.symbols.at,
          select_compare);
    return image;
}

/* Addresses of functions in an order that no cache foresees. */
static uintptr_t *questions(const struct image *image)
{
    uintptr_t *all = embed_alloc(QUESTIONS, sizeof *all);
    uint64_t seed = 1;

    for (uint32_t i = 0; i < QUESTIONS; ++i) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        all[i] =
            (uintptr_t)image->symbols.at[(seed >> 33) % image->symbols.count]
                .start;
    }
    return all;
}

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
    double begin = seconds();
    uint32_t sum = 0;

    for (uint32_t i = 0; i < QUESTIONS; ++i)
        sum += prof_symbol_find(asked[i], &found) ? found.index : 0;
    __asm__ volatile("" : : "r"(sum));
    return (seconds() - begin) * 1e9 / QUESTIONS;
}

static double name_ns(const uintptr_t *asked)
{
    struct prof_symbol found = {0};
    char name[4096];
    double begin = seconds();

    for (uint32_t i = 0; i < NAMES; ++i) {
        if (prof_symbol_find(asked[i], &found))
            prof_symbol_name(&found, name, sizeof name);
    }
    return (seconds() - begin) * 1e9 / NAMES;
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
    struct image image = read_symbols(argc > 1 ? argv[1] : "symbols");
    struct table raw = table_make(&image, NAMES_RAW), packed;
    uintptr_t *asked = questions(&image);
    const struct prof_symtab *head;
    double raw_ns, begin = seconds();
    uint32_t names, other;

    packed = table_make(&image, NAMES_PACKED);
    begin = seconds() - begin;
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
