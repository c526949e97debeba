/* SPDX-License-Identifier: Apache-2.0 */

#include "fleet/mixes.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

static int by_number(const void *one, const void *other)
{
    const struct mix *a = one, *b = other;

    return (a->number > b->number) - (a->number < b->number);
}

static int by_name(const void *one, const void *other)
{
    return strcmp(*(char *const *)one, *(char *const *)other);
}

/* ---- names */

/* Cuts (text) into its lines, at least one, and writes them to (lines); returns
 * how many there are. */
static size_t cut(char *text, char **lines)
{
    static char unknown[] = MIXES_UNKNOWN;
    size_t count = 0;

    if (*text == '\0')
        text = unknown;
    for (char *end; (end = strchr(text, '\n')) != NULL; text = end + 1) {
        *end = '\0';
        lines[count++] = text;
    }
    lines[count++] = text;
    return count;
}

static size_t lines_in(const struct store_answer *names)
{
    size_t count = 0;

    for (size_t i = 0; i < names->rows; ++i) {
        ++count;
        for (const char *at = store_value(names, i, 1);
             (at = strchr(at, '\n')) != NULL; ++at)
            ++count;
    }
    return count;
}

static size_t function_of(const struct mixes *mixes, char *name)
{
    char **found = bsearch(&name, mixes->functions, mixes->function_count,
                           sizeof *mixes->functions, by_name);

    return (size_t)(found - mixes->functions);
}

/* Makes the list of functions of all (lines). */
static void sort_functions(struct mixes *mixes, char **lines, size_t count)
{
    memcpy(mixes->functions, lines, count * sizeof *lines);
    qsort(mixes->functions, count, sizeof *lines, by_name);
    for (size_t i = 0; i < count; ++i)
        if (i == 0 || strcmp(mixes->functions[i], mixes->functions[i - 1]) != 0)
            lines[mixes->function_count++] = mixes->functions[i];
    memcpy(mixes->functions, lines, mixes->function_count * sizeof *lines);
}

/* Its functions are (count) lines; members are used up to (used). */
static size_t take_members(struct mixes *mixes, struct mix *mix, char **lines,
                           size_t count, size_t used)
{
    mix->first = used;
    for (size_t i = 0; i < count; ++i) {
        size_t at = mix->first;

        mix->leaf = function_of(mixes, lines[i]);
        while (at < used && mixes->members[at] != mix->leaf)
            ++at;
        if (at == used)
            mixes->members[used++] = mix->leaf;
    }
    mix->count = used - mix->first;
    return used;
}

static void take_names(struct mixes *mixes)
{
    struct store_answer names = mixes->names;
    size_t count = lines_in(&names) + 1, at = 0, used = 0;
    char none[] = "";
    char **lines = xreallocarray(NULL, count, sizeof *lines);
    char **all = xreallocarray(NULL, count, sizeof *all);

    mixes->list = xreallocarray(NULL, names.rows + 1, sizeof *mixes->list);
    mixes->functions = xreallocarray(NULL, count, sizeof *mixes->functions);
    mixes->members = xreallocarray(NULL, count, sizeof *mixes->members);
    for (size_t i = 0; i <= names.rows; ++i) {
        struct mix *mix = &mixes->list[mixes->count++];
        char *text = i > 0 ? names.values[(i - 1) * names.columns + 1] : none;

        *mix = (struct mix){.number = i > 0 ? store_u64(&names, i - 1, 0) : 0};
        mix->first = at; /* of the lines */
        mix->count = cut(text, lines + at);
        at += mix->count;
    }
    memcpy(all, lines, count * sizeof *lines);
    sort_functions(mixes, all, count);
    free(all);
    for (size_t i = 0; i < mixes->count; ++i) {
        struct mix *mix = &mixes->list[i];

        used = take_members(mixes, mix, lines + mix->first, mix->count, used);
    }
    free(lines);
    qsort(mixes->list, mixes->count, sizeof *mixes->list, by_number);
}

/* ---- guests */

/* The next number of an array, which the store writes as "[1,2,3]". */
static bool next_number(const char **rest, uint64_t *number)
{
    const char *at = *rest;

    *number = 0;
    if (*at == '[' || *at == ',')
        ++at;
    *rest = at;
    for (; *at >= '0' && *at <= '9'; ++at)
        *number = 10 * *number + (uint64_t)(*at - '0');
    if (at == *rest)
        return false;
    *rest = at;
    return true;
}

static size_t place_of(const struct mixes *mixes, uint64_t number)
{
    struct mix wanted = {.number = number};
    const struct mix *found = bsearch(&wanted, mixes->list, mixes->count,
                                      sizeof *mixes->list, by_number);

    return found != NULL ? (size_t)(found - mixes->list) : 0;
}

/* The parts of a row, up to the end of the shortest list; (room) is how many
 * fit. */
static void take_guest(struct mixes *mixes, const struct store_answer *answer,
                       size_t row, size_t *used, size_t *room)
{
    struct mixes_guest *guest = &mixes->guests[mixes->guest_count++];
    const char *rest[3];
    bool counted = answer->columns > 3;
    uint64_t number, weight, samples = 0;

    *guest = (struct mixes_guest){.number = store_u64(answer, row, 0),
                                  .first = *used};
    for (unsigned i = 0; i < 2u + counted; ++i)
        rest[i] = store_value(answer, row, 1 + i);
    while (next_number(&rest[0], &number) && next_number(&rest[1], &weight) &&
           (!counted || next_number(&rest[2], &samples))) {
        if (*used == *room) {
            *room = 2 * *room + 1024;
            mixes->parts =
                xreallocarray(mixes->parts, *room, sizeof *mixes->parts);
        }
        mixes->parts[(*used)++] =
            (struct mixes_part){place_of(mixes, number), weight, samples};
        guest->weight += weight;
        guest->samples += samples;
    }
    guest->count = *used - guest->first;
}

void mixes_make(struct mixes *mixes, struct store_answer guests,
                struct store_answer names)
{
    size_t used = 0, room = 0;

    *mixes = (struct mixes){.names = names};
    take_names(mixes);
    mixes->guests = xreallocarray(NULL, guests.rows + 1, sizeof *mixes->guests);
    for (size_t row = 0; row < guests.rows; ++row)
        take_guest(mixes, &guests, row, &used, &room);
    store_answer_free(&guests);
}

void mixes_free(struct mixes *mixes)
{
    free(mixes->list);
    free(mixes->functions);
    free(mixes->members);
    free(mixes->guests);
    free(mixes->parts);
    store_answer_free(&mixes->names);
}

void mixes_shares(const struct mixes *mixes, const struct mixes_guest *guest,
                  bool total, double *shares)
{
    memset(shares, 0, mixes->function_count * sizeof *shares);
    if (guest->weight == 0)
        return;
    /* weights at first: they are exact */
    for (size_t i = 0; i < guest->count; ++i) {
        const struct mixes_part *part = &mixes->parts[guest->first + i];
        const struct mix *mix = &mixes->list[part->mix];

        if (!total)
            shares[mix->leaf] += (double)part->weight;
        for (size_t j = 0; total && j < mix->count; ++j)
            shares[mixes->members[mix->first + j]] += (double)part->weight;
    }
    for (size_t i = 0; i < mixes->function_count; ++i)
        shares[i] /= (double)guest->weight;
}
