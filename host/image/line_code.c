/* SPDX-License-Identifier: Apache-2.0 */
#include "image/line_code.h"

#include "base/memory.h"
#include "base/text.h"

#include <inttypes.h>
#include <prof/causal.h>
#include <stdlib.h>
#include <string.h>

#define LISTED_MAX 4u /* files of one name */
#define LINE_MAX 9999999u

/* ---- what is asked for */

struct line_name {
    const char *file; /* (bytes) of it */
    size_t bytes;
    uint32_t line;
};

/* Splits "FILE:LINE". */
static bool parse_line(const char *text, struct line_name *name)
{
    const char *colon = strrchr(text, ':');
    uint32_t line = 0;

    if (colon == NULL || colon == text || colon[-1] == ':' || colon[1] == '\0')
        return false;
    for (const char *at = colon + 1; *at != '\0'; ++at) {
        if (*at < '0' || *at > '9')
            return false;
        if (line <= LINE_MAX)
            line = line * 10 + (uint32_t)(*at - '0');
    }
    *name = (struct line_name){text, (size_t)(colon - text), line};
    return true;
}

bool line_code_is_line(const char *text)
{
    struct line_name name;

    return parse_line(text, &name);
}

/* Whether (path) ends with the whole names of (name). */
static bool is_called(const char *path, const struct line_name *name)
{
    size_t bytes = strlen(path);
    const char *end = path + bytes - name->bytes;

    return bytes >= name->bytes && memcmp(end, name->file, name->bytes) == 0 &&
           (end == path || end[-1] == '/');
}

/* ---- sets of ranges */

static int by_begin(const void *left, const void *right)
{
    const struct code_range *a = left, *b = right;

    return (a->begin > b->begin) - (a->begin < b->begin);
}

static void add_range(struct code_ranges *ranges, uint64_t begin, uint64_t end)
{
    if (begin < end)
        VECTOR_ADD(ranges->at, ranges->count, (struct code_range){begin, end});
}

static void merge(struct code_ranges *ranges)
{
    size_t kept = 0;

    if (ranges->count == 0)
        return;
    qsort(ranges->at, ranges->count, sizeof *ranges->at, by_begin);
    for (size_t i = 1; i < ranges->count; ++i) {
        struct code_range *last = &ranges->at[kept];
        const struct code_range *next = &ranges->at[i];

        if (next->begin > last->end)
            ranges->at[++kept] = *next;
        else if (next->end > last->end)
            last->end = next->end;
    }
    ranges->count = kept + 1;
}

/* ---- lines */

/* The number of the only source of this name; 0, with the reason in (why). */
static uint32_t find_source(const struct line_code *code,
                            const struct line_name *name, char *why)
{
    uint32_t found = 0;
    size_t count = 0;
    char all[IMAGE_WHY_MAX] = "";

    for (uint32_t i = 0; i < code->source_count; ++i) {
        size_t used = strlen(all);

        if (!is_called(code->sources[i], name))
            continue;
        found = i + 1;
        if (strlen(code->sources[i]) == name->bytes)
            return found;
        if (++count <= LISTED_MAX)
            snprintf(all + used, sizeof all - used, "%s%s",
                     count > 1 ? ", " : "", code->sources[i]);
    }
    if (count == 0)
        snprintf(why, IMAGE_WHY_MAX, "%.*s: %s has no code of such a file",
                 (int)name->bytes, name->file, code->image);
    else if (count > 1)
        snprintf(why, IMAGE_WHY_MAX,
                 "%.*s: %zu files are called so, name more of the path: "
                 "%.380s%s",
                 (int)name->bytes, name->file, count, all,
                 count > LISTED_MAX ? ", ..." : "");
    return count == 1 ? found : 0;
}

static void say_no_code(const struct line_code *code, uint32_t source,
                        uint32_t line, char *why)
{
    uint32_t before = 0, after = 0;
    const char *path = code->sources[source - 1];

    for (size_t i = 0; i < code->piece_count; ++i) {
        const struct code_piece *piece = &code->pieces[i];

        if (piece->source != source)
            continue;
        if (piece->line < line && piece->line > before)
            before = piece->line;
        if (piece->line > line && (after == 0 || piece->line < after))
            after = piece->line;
    }
    if (before != 0 && after != 0)
        snprintf(why, IMAGE_WHY_MAX,
                 "%s: no code at line %u; the nearest lines that have are %u "
                 "and %u",
                 path, line, before, after);
    else
        snprintf(why, IMAGE_WHY_MAX,
                 "%s: no code at line %u; the nearest line that has is %u",
                 path, line, before != 0 ? before : after);
}

static enum line_code_result find_line(const struct line_code *code,
                                       const struct line_name *name,
                                       struct code_ranges *ranges, char *why)
{
    uint32_t source = find_source(code, name, why);

    if (source == 0)
        return LINE_CODE_BAD;
    for (size_t i = 0; i < code->piece_count; ++i) {
        const struct code_piece *piece = &code->pieces[i];

        if (piece->source == source && piece->line == name->line)
            add_range(ranges, piece->begin, piece->end);
    }
    merge(ranges);
    if (ranges->count == 0)
        say_no_code(code, source, name->line, why);
    return ranges->count != 0 ? LINE_CODE_FOUND : LINE_CODE_BAD;
}

/* ---- functions */

/* Whether (shown), perhaps with arguments, is the function (name). */
static bool is_function(const char *shown, const char *name)
{
    size_t bytes = strlen(name);

    return strncmp(shown, name, bytes) == 0 &&
           (shown[bytes] == '\0' || shown[bytes] == '(');
}

static bool is_within(const struct code_ranges *ranges,
                      const struct code_piece *piece)
{
    for (size_t i = 0; i < ranges->count; ++i)
        if (piece->begin >= ranges->at[i].begin &&
            piece->end <= ranges->at[i].end)
            return true;
    return false;
}

static int by_number(const void *left, const void *right)
{
    const uint32_t *a = left, *b = right;

    return (*a > *b) - (*a < *b);
}

/* How many different numbers there are. */
static size_t count_copies(uint32_t *copies, size_t count)
{
    size_t different = 0;

    if (count > 0)
        qsort(copies, count, sizeof *copies, by_number);
    for (size_t i = 0; i < count; ++i)
        different += i == 0 || copies[i] != copies[i - 1];
    return different;
}

/* One that was inlined into itself only is that function. */
static enum line_code_result find_function(const struct line_code *code,
                                           const char *name,
                                           struct code_ranges *ranges)
{
    uint32_t *copies = NULL;
    size_t count = 0;

    for (int inlined = 0; inlined < 2; ++inlined) {
        for (size_t i = 0; i < code->piece_count; ++i) {
            const struct code_piece *piece = &code->pieces[i];

            if (piece->function == NULL || piece->inlined != (inlined != 0) ||
                !is_function(piece->function, name) ||
                (inlined != 0 && is_within(ranges, piece)))
                continue;
            add_range(ranges, piece->begin, piece->end);
            ranges->itself = ranges->itself || inlined == 0;
            if (inlined != 0)
                VECTOR_ADD(copies, count, piece->copy);
        }
    }
    ranges->inlined = count_copies(copies, count);
    free(copies);
    merge(ranges);
    return ranges->inlined != 0 ? LINE_CODE_FOUND : LINE_CODE_SYMBOL;
}

enum line_code_result line_code_find(const struct line_code *code,
                                     const char *text,
                                     struct code_ranges *ranges, char *why)
{
    enum line_code_result result;
    struct line_name name;

    *ranges = (struct code_ranges){0};
    if (!parse_line(text, &name)) {
        result = find_function(code, text, ranges);
    } else if (code->piece_count == 0) {
        snprintf(why, IMAGE_WHY_MAX,
                 "%s: %s has no debug information, which says where a line is: "
                 "compile it with -g",
                 text, code->image);
        result = LINE_CODE_BAD;
    } else {
        result = find_line(code, &name, ranges, why);
    }
    if (result != LINE_CODE_FOUND) {
        free(ranges->at);
        ranges->at = NULL;
        ranges->count = 0;
    }
    return result;
}

/* ---- words */

char **line_code_words(const struct code_ranges *ranges, const char *text,
                       size_t room, size_t *count, char *why)
{
    char **words = NULL, *word = NULL;
    size_t used = 0;

    *count = 0;
    if (ranges->count > PROF_TARGET_RANGES_MAX) {
        snprintf(why, IMAGE_WHY_MAX,
                 "%s: its code is in %zu places, and the guest takes %u at "
                 "most",
                 text, ranges->count, PROF_TARGET_RANGES_MAX);
        return NULL;
    }
    for (size_t i = 0; i < ranges->count; ++i) {
        const struct code_range *range = &ranges->at[i];
        char place[40];
        size_t bytes =
            (size_t)snprintf(place, sizeof place, "%" PRIx64 "+%" PRIx64,
                             range->begin, range->end - range->begin);

        if (strlen(text) + 1 + bytes >= room) {
            snprintf(why, IMAGE_WHY_MAX, "%s: the name is too long", text);
            line_code_free_words(words, *count);
            return NULL;
        }
        if (word == NULL || used + 1 + bytes >= room) {
            word = xreallocarray(NULL, room, 1);
            used = (size_t)snprintf(word, room, "%s@", text);
            VECTOR_ADD(words, *count, word);
        } else {
            word[used++] = ',';
        }
        memcpy(word + used, place, bytes + 1);
        used += bytes;
    }
    return words;
}

void line_code_free_words(char **words, size_t count)
{
    for (size_t i = 0; i < count; ++i)
        free(words[i]);
    free(words);
}

void line_code_free(struct line_code *code)
{
    for (size_t i = 0; i < code->source_count; ++i)
        free(code->sources[i]);
    for (size_t i = 0; i < code->piece_count; ++i)
        free((char *)code->pieces[i].function);
    free(code->sources);
    free(code->pieces);
    *code = (struct line_code){0};
}
