/* SPDX-License-Identifier: Apache-2.0 */
/* Names are found by a hash table of row numbers, at most half full. */

#include "folded.h"

#include <stdlib.h>
#include <string.h>

#define ROOM_FIRST 64u
#define IDLE "[idle]"

/* Slots by the names' hashes: a row's number and one, 0 = free. */
struct names {
    uint32_t *slots;
    size_t room; /* a power of two, twice that of the rows */
};

static uint32_t hash_of(const char *name)
{
    uint32_t hash = 2166136261u; /* FNV-1a */

    for (; *name != '\0'; name++)
        hash = (hash ^ (unsigned char)*name) * 16777619u;
    return hash;
}

static uint32_t *slot_of(const struct folded *folded, const struct names *names,
                         const char *name)
{
    size_t at = hash_of(name) & (names->room - 1);

    while (names->slots[at] != 0 &&
           strcmp(folded->rows[names->slots[at] - 1].name, name) != 0)
        at = (at + 1) & (names->room - 1);
    return &names->slots[at];
}

/* Makes room for one more row. */
static bool grow(struct folded *folded, struct names *names)
{
    size_t room = folded->room != 0 ? 2 * folded->room : ROOM_FIRST;
    struct folded_row *rows;
    uint32_t *slots;

    if (folded->count < folded->room)
        return true;
    rows = realloc(folded->rows, room * sizeof *rows);
    if (rows == NULL)
        return false;
    folded->rows = rows;
    folded->room = room;
    slots = calloc(2 * room, sizeof *slots);
    if (slots == NULL)
        return false;
    free(names->slots);
    *names = (struct names){slots, 2 * room};
    for (size_t i = 0; i < folded->count; i++)
        *slot_of(folded, names, rows[i].name) = (uint32_t)i + 1;
    return true;
}

static struct folded_row *row_of(struct folded *folded, struct names *names,
                                 const char *name)
{
    uint32_t *slot;

    if (!grow(folded, names))
        return NULL;
    slot = slot_of(folded, names, name);
    if (*slot == 0) {
        folded->rows[folded->count] = (struct folded_row){.name = name};
        *slot = (uint32_t)++folded->count;
    }
    return &folded->rows[*slot - 1];
}

/* The number after the last blank of (line), which is cut off; false: there is
 * none. */
static bool take_count(char *line, uint64_t *count)
{
    char *blank = strrchr(line, ' '), *end;

    if (blank == NULL || blank == line || blank[1] < '0' || blank[1] > '9')
        return false;
    *count = strtoull(blank + 1, &end, 10);
    *blank = '\0';
    return *end == '\0' && *count <= UINT32_MAX;
}

/* A function that is in a stack twice counts once. (line) is its number. */
static bool add_frames(struct folded *folded, struct names *names, char *stack,
                       uint64_t count, size_t line)
{
    struct folded_row *row = NULL;

    for (unsigned i = 0; stack != NULL && i < FOLDED_FRAMES_MAX; i++) {
        char *next = strchr(stack, ';');

        if (next != NULL)
            *next++ = '\0';
        row = row_of(folded, names, stack);
        if (row == NULL)
            return false;
        if (row->line != line)
            row->total += count;
        row->line = line;
        stack = next;
    }
    if (stack == NULL && row != NULL)
        row->self += count;
    return true;
}

static bool add_line(struct folded *folded, struct names *names, char *line,
                     size_t number)
{
    uint64_t count;

    if (!take_count(line, &count)) {
        folded->bad_lines++;
        return true;
    }
    folded->samples += count;
    if (strcmp(line, IDLE) == 0) {
        folded->idle += count;
        return true;
    }
    return add_frames(folded, names, line, count, number);
}

static int by_self(const void *a, const void *b)
{
    const struct folded_row *one = a, *other = b;

    if (one->self != other->self)
        return one->self < other->self ? 1 : -1;
    return strcmp(one->name, other->name);
}

bool folded_read(struct folded *folded, char *text, size_t count)
{
    struct names names = {NULL, 0};
    size_t number = 0;
    bool fine = true;

    *folded = (struct folded){.rows = NULL};
    text[count] = '\0';
    while (fine && count != 0) {
        char *end = memchr(text, '\n', count);
        size_t bytes = end != NULL ? (size_t)(end - text) : count;

        text[bytes] = '\0';
        if (memchr(text, '\0', bytes) != NULL)
            folded->bad_lines++;
        else if (bytes != 0)
            fine = add_line(folded, &names, text, ++number);
        bytes += end != NULL;
        text += bytes;
        count -= bytes;
    }
    free(names.slots);
    if (!fine)
        folded_free(folded);
    else if (folded->count != 0)
        qsort(folded->rows, folded->count, sizeof *folded->rows, by_self);
    return fine;
}

void folded_free(struct folded *folded)
{
    free(folded->rows);
    *folded = (struct folded){.rows = NULL};
}
