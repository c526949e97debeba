/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* asprintf() */

#include "image/targets.h"

#include "base/log.h"
#include "base/memory.h"
#include "image/image.h"
#include "image/line_code.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OPTION "prof.target="
#define EXACT "prof.accrue=entry" /* no target is learnt from samples */

static const char blanks[] = " \t\r\n";

/* One image is read once. */
static struct {
    const char *path;
    struct image image;
    struct line_code code;
} read_last;

static const struct line_code *code_of(const char *path)
{
    if (read_last.path == path)
        return &read_last.code;
    if (read_last.path != NULL) {
        line_code_free(&read_last.code);
        image_close(&read_last.image);
    }
    read_last.path = path;
    image_open(&read_last.image, path);
    line_code_read(&read_last.code, &read_last.image);
    return &read_last.code;
}

static void say_what(const char *name, const struct code_ranges *ranges)
{
    uint64_t bytes = 0;
    char what[64] = "";

    for (size_t i = 0; i < ranges->count; ++i)
        bytes += ranges->at[i].end - ranges->at[i].begin;
    if (ranges->inlined > 0)
        snprintf(what, sizeof what, "%zu inlined %s%s, ", ranges->inlined,
                 ranges->inlined == 1 ? "copy" : "copies",
                 ranges->itself ? " and the function itself" : "");
    log_info("target %s: %s%" PRIu64 " bytes of code in %zu %s, learnt from "
             "samples",
             name, what, bytes, ranges->count,
             ranges->count == 1 ? "place" : "places");
}

/* Puts (prefix) before (word), which is freed. */
static char *with_prefix(const char *prefix, char *word)
{
    char *both;

    if (asprintf(&both, "%s%s", prefix, word) < 0)
        die("out of memory");
    free(word);
    return both;
}

static char **one_word(const char *prefix, const char *name, size_t *count)
{
    char **words = NULL;

    *count = 0;
    VECTOR_ADD(words, *count, with_prefix(prefix, xstrdup(name)));
    return words;
}

char **targets_words(const char *image, const char *prefix, const char *name,
                     size_t *count)
{
    struct code_ranges ranges;
    enum line_code_result result;
    char why[IMAGE_WHY_MAX], **words;

    if (strchr(name, '@') != NULL ||
        (image == NULL && !line_code_is_line(name)))
        return one_word(prefix, name, count);
    if (image == NULL)
        die("%s: only the image says which code a line has: give it with -k",
            name);
    result = line_code_find(code_of(image), name, &ranges, why);
    if (result == LINE_CODE_BAD)
        die("%s", why);
    if (result == LINE_CODE_SYMBOL)
        return one_word(prefix, name, count);
    words = line_code_words(&ranges, name, TARGETS_WORD_MAX - strlen(prefix),
                            count, why);
    if (words == NULL)
        die("%s", why);
    say_what(name, &ranges);
    free(ranges.at);
    for (size_t i = 0; i < *count; ++i)
        words[i] = with_prefix(prefix, words[i]);
    return words;
}

/* Writes (word), of (bytes) bytes, or what stands for it. */
static void write_word(FILE *out, const char *image, const char *word,
                       size_t bytes, bool exact)
{
    char *name, **words;
    size_t count;

    if (bytes <= strlen(OPTION) || strncmp(word, OPTION, strlen(OPTION)) != 0) {
        fprintf(out, "%.*s", (int)bytes, word);
        return;
    }
    name = strndup(word + strlen(OPTION), bytes - strlen(OPTION));
    if (name == NULL)
        die("out of memory");
    words = exact && !line_code_is_line(name)
                ? one_word(OPTION, name, &count)
                : targets_words(image, OPTION, name, &count);
    for (size_t i = 0; i < count; ++i) {
        fprintf(out, "%s%s", i > 0 ? " " : "", words[i]);
        free(words[i]);
    }
    free(words);
    free(name);
}

char *targets_of_line(const char *image, const char *line)
{
    bool exact = strstr(line, EXACT) != NULL;
    char *made = NULL;
    size_t bytes;
    FILE *out = open_memstream(&made, &bytes);

    if (out == NULL)
        die("out of memory");
    while (*line != '\0') {
        size_t gap = strspn(line, blanks);
        size_t word = strcspn(line + gap, blanks);

        fprintf(out, "%.*s", (int)gap, line);
        if (word > 0)
            write_word(out, image, line + gap, word, exact);
        line += gap + word;
    }
    if (fclose(out) != 0)
        die("out of memory");
    return made;
}
