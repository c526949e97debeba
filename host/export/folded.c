/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Folded stacks. Stacks that differ only in addresses inside the same
 * functions are one line. A semicolon in a name would end a frame, so it
 * becomes a colon; a line break would end the line, so it is escaped as other
 * control characters are.
 */

#include "export/export.h"

#include "base/memory.h"
#include "base/text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct lines {
    struct strings stacks;
    uint64_t *weights; /* by the stack's number */
};

struct text {
    char *chars;
    size_t used;
    size_t room;
};

static void append_name(struct text *text, const char *name)
{
    size_t bytes = PRINTABLE_ESCAPE * strlen(name);
    char *at;

    if (text->used + bytes + 2 > text->room) {
        text->room = 2 * (text->used + bytes + 2);
        text->chars = xreallocarray(text->chars, text->room, 1);
    }
    if (text->used > 0)
        text->chars[text->used++] = ';';
    at = printable(name, text->chars + text->used, bytes + 1);
    text->used += strlen(at);
    while ((at = strchr(at, ';')) != NULL)
        *at = ':';
}

static void add_line(struct lines *lines, const char *stack, uint64_t weight)
{
    uint32_t before = strings_count(&lines->stacks);
    uint32_t number = strings_put(&lines->stacks, stack);

    for (uint32_t i = before; i < strings_count(&lines->stacks); ++i) {
        vector_reserve_one(&lines->weights, i, sizeof *lines->weights);
        lines->weights[i] = 0;
    }
    lines->weights[number] += weight;
}

bool export_folded(struct view *view, FILE *out)
{
    struct lines lines = {0};
    struct text text = {0};
    struct view_stack stack = {0};

    while (view_next(view, &stack)) {
        text.used = 0;
        while (stack.depth-- > 0)
            append_name(&text, names_text(&view->names,
                                          stack.frames[stack.depth].function));
        if (text.used > 0)
            add_line(&lines, text.chars, view_amount(view, &stack.cell->count));
    }
    for (uint32_t i = 1; i < strings_count(&lines.stacks); ++i)
        fprintf(out, "%s %" PRIu64 "\n", strings_text(&lines.stacks, i),
                lines.weights[i]);
    strings_free(&lines.stacks);
    free(lines.weights);
    free(text.chars);
    return ferror(out) == 0;
}
