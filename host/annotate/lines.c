/* SPDX-License-Identifier: Apache-2.0 */
/* From instructions to source lines. */

#include "annotate/annotate.h"
#include "base/memory.h"
#include "image/dwarf.h"

#include <stdlib.h>
#include <string.h>

#define GAP_MAX 8u /* lines without code that are shown between others */

/* The names of (count) inlined functions, as one string. */
static uint32_t chain(struct names *names, const struct dwarf_frame *frames,
                      size_t count)
{
    char *text = xstrdup("");
    size_t used = 0;
    uint32_t number;

    for (size_t i = 0; i < count; ++i) {
        const char *name = names->readable(frames[i].function);
        size_t bytes = strlen(name);

        text = xreallocarray(text, used + bytes + 2, 1);
        if (i > 0)
            text[used++] = '\n';
        memcpy(text + used, name, bytes + 1);
        used += bytes;
    }
    number = names_put(names, text);
    free(text);
    return number;
}

static void find_line(struct names *names, struct annotate_code *code)
{
    struct dwarf_frame frames[NAMES_INLINED_MAX];
    uint64_t linked = code->address;
    struct dwarf *dwarf = names_dwarf(names, &linked);
    size_t count =
        dwarf != NULL ? dwarf_at(dwarf, linked, frames, NAMES_INLINED_MAX) : 0;

    if (count == 0)
        return;
    if (frames[0].file != NULL && frames[0].line > 0) {
        code->file = names_put(names, frames[0].file);
        code->line = (uint32_t)frames[0].line;
    }
    code->inlined = chain(names, frames, count - 1);
}

static void put_line(struct annotate_function *function,
                     const struct annotate_line *line)
{
    vector_reserve_one(&function->lines, function->line_count, sizeof *line);
    function->lines[function->line_count++] = *line;
}

static int by_position(const void *left, const void *right)
{
    const struct annotate_line *a = left, *b = right;

    if (a->file != b->file)
        return a->file < b->file ? -1 : 1;
    return (a->line > b->line) - (a->line < b->line);
}

/* One entry for each instruction, sorted; then those of one line are merged,
 * and small gaps are filled. */
static void list_lines(struct annotate_function *function)
{
    struct annotate_line *all =
        xreallocarray(NULL, function->code_count, sizeof *all);

    for (size_t i = 0; i < function->code_count; ++i) {
        const struct annotate_code *code = &function->code[i];

        all[i] =
            (struct annotate_line){code->file, code->line, true, code->self};
    }
    qsort(all, function->code_count, sizeof *all, by_position);
    for (size_t i = 0; i < function->code_count; ++i) {
        struct annotate_line *last =
            function->line_count > 0
                ? &function->lines[function->line_count - 1]
                : NULL;

        if (last != NULL && by_position(last, &all[i]) == 0) {
            model_count_add(&last->self, &all[i].self);
            continue;
        }
        if (last != NULL && last->file == all[i].file &&
            all[i].line - last->line <= GAP_MAX + 1) {
            struct annotate_line gap = {.file = last->file};

            for (gap.line = last->line + 1; gap.line < all[i].line; ++gap.line)
                put_line(function, &gap);
        }
        put_line(function, &all[i]);
    }
    free(all);
}

/* Orders a file's lines by number. */
struct stretch {
    struct annotate_line *lines;
    size_t count;
    uint64_t samples;
};

static int by_samples(const void *left, const void *right)
{
    const struct stretch *a = left, *b = right;

    if (a->samples != b->samples)
        return a->samples < b->samples ? 1 : -1;
    return (a->lines->file > b->lines->file) -
           (a->lines->file < b->lines->file);
}

/* Puts the hottest file first. */
static void order_files(struct annotate_function *function)
{
    struct annotate_line *ordered =
        xreallocarray(NULL, function->line_count, sizeof *ordered);
    struct stretch *files = NULL;
    size_t count = 0, used = 0;

    for (size_t i = 0; i < function->line_count; ++i) {
        struct annotate_line *line = &function->lines[i];

        if (i == 0 || line->file != line[-1].file) {
            vector_reserve_one(&files, count, sizeof *files);
            files[count++] = (struct stretch){.lines = line};
        }
        ++files[count - 1].count;
        files[count - 1].samples += line->self.samples;
    }
    if (count > 0)
        qsort(files, count, sizeof *files, by_samples);
    for (size_t i = 0; i < count; used += files[i++].count)
        memcpy(ordered + used, files[i].lines,
               files[i].count * sizeof *ordered);
    free(files);
    free(function->lines);
    function->lines = ordered;
}

void annotate_find_lines(struct annotate *annotate)
{
    for (size_t i = 0; i < annotate->shown; ++i) {
        struct annotate_function *function = &annotate->functions[i];

        for (size_t j = 0; j < function->code_count; ++j)
            find_line(&annotate->view->names, &function->code[j]);
        list_lines(function);
        order_files(function);
    }
}
