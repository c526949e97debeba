/* SPDX-License-Identifier: Apache-2.0 */
/* A list of symbols: lines of "ADDRESS TYPE NAME", as /proc/kallsyms and nm
 * have them. Functions are those of the types t and w; each ends where the next
 * symbol begins. */

#include "base/memory.h"
#include "image/image.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_BYTES_MAX 512
#define LAST_BYTES 4096u /* of the last function, if nothing follows */

struct line {
    uint64_t address;
    char type;
    char name[NAME_BYTES_MAX];
};

static bool parse_symbol(const char *text, struct line *line)
{
    char address[17];

    if (sscanf(text, "%16[0-9a-fA-F] %c %511s", address, &line->type,
               line->name) != 3 ||
        !isalpha((unsigned char)line->type))
        return false;
    line->address = strtoull(address, NULL, 16);
    return true;
}

/* What may end a function: those of constants and sections do not. */
static bool is_place(char type)
{
    return strchr("tTwWdDbBrR", type) != NULL;
}

static int by_start(const void *left, const void *right)
{
    const struct image_symbol *a = left, *b = right;

    if (a->start != b->start)
        return a->start < b->start ? -1 : 1;
    return strcmp(a->name, b->name);
}

/* Ends each symbol at the next address, and keeps one function of each. */
static void keep_functions(struct image *image)
{
    size_t kept = 0;
    uint64_t next = 0;

    for (size_t i = image->count; i-- > 0;) {
        struct image_symbol *symbol = &image->functions[i];

        symbol->end = next != 0 ? next
                      : symbol->start < UINT64_MAX - LAST_BYTES
                          ? symbol->start + LAST_BYTES
                          : UINT64_MAX;
        if (i == 0 || image->functions[i - 1].start != symbol->start)
            next = symbol->start;
    }
    for (size_t i = 0; i < image->count; ++i) {
        struct image_symbol *symbol = &image->functions[i];

        if (symbol->name[0] == '\0' ||
            (kept > 0 && image->functions[kept - 1].start == symbol->start))
            free((char *)symbol->name);
        else
            image->functions[kept++] = *symbol;
    }
    image->count = kept;
}

static void put_symbol(struct image *image, const struct line *line)
{
    bool is_function = strchr("tTwW", line->type) != NULL;

    if (strcmp(line->name, "_stext") == 0)
        image->begin = line->address;
    else if (strcmp(line->name, "_etext") == 0)
        image->end = line->address;
    VECTOR_ADD(image->functions, image->count,
               (struct image_symbol){line->address, 0,
                                     xstrdup(is_function ? line->name : "")});
}

bool image_open_list(struct image *image, const char *path)
{
    FILE *in = fopen(path, "re");
    char text[2 * NAME_BYTES_MAX];
    struct line line;
    bool fine = in != NULL;

    while (fine && fgets(text, sizeof text, in) != NULL) {
        fine = parse_symbol(text, &line);
        if (fine && line.address != 0 && line.address != UINT64_MAX &&
            is_place(line.type))
            put_symbol(image, &line);
    }
    if (in != NULL)
        fclose(in);
    if (image->count > 0)
        qsort(image->functions, image->count, sizeof *image->functions,
              by_start);
    keep_functions(image);
    image->is_list = true;
    if (image->count > 0 && image->begin >= image->end) {
        image->begin = image->functions[0].start;
        image->end = image->functions[image->count - 1].end;
    }
    return fine && image->count > 0;
}
