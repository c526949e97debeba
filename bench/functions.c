/* SPDX-License-Identifier: Apache-2.0 */

#include "functions.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/*
 * Accepts code symbols that have a size. A symbol version ("@@...") is not part
 * of the name. Lines of symbols without a size lack the second column; a type
 * letter such as "a" then looks like a hexadecimal number.
 */
static bool read_line(char *line, struct function *f)
{
    char type, digits[32], name[65536];
    unsigned long long start, size;

    if (sscanf(line, "%llx %31s %c %65535s", &start, digits, &type, name) !=
            4 ||
        strlen(digits) < 8 || sscanf(digits, "%llx", &size) != 1 ||
        strchr("TtWwVi", type) == NULL || size == 0)
        return false;
    name[strcspn(name, "@")] = '\0';
    *f = (struct function){start, size, UINT64_MAX, strdup(name), 0, false};
    return f->name != NULL;
}

struct image functions_read(const char *name)
{
    struct image image = {.path = name, .bits = 8 * sizeof(void *)};
    static char line[70000];
    size_t room = 0;

    image.build_id_bytes = 1;
    while (fgets(line, sizeof line, stdin) != NULL) {
        struct functions *all = &image.symbols;

        if (all->count == room) {
            room = 2 * room + 1024;
            all->at = realloc(all->at, room * sizeof *all->at);
            if (all->at == NULL)
                embed_fail(name, "no memory");
        }
        all->count += read_line(line, &all->at[all->count]);
    }
    qsort(image.symbols.at, image.symbols.count, sizeof *image.symbols.at,
          function_compare);
    return image;
}

uintptr_t *functions_ask(const struct image *image, size_t count, bool within)
{
    uintptr_t *all = embed_alloc(count, sizeof *all);
    uint64_t seed = 1;

    for (size_t i = 0; i < count; ++i) {
        const struct function *f;

        seed = seed * 6364136223846793005u + 1442695040888963407u;
        f = &image->symbols.at[(seed >> 33) % image->symbols.count];
        all[i] = (uintptr_t)(f->start + (within ? (seed >> 20) % f->size : 0));
    }
    return all;
}

double thread_seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}
