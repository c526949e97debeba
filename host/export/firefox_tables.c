/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tables of a thread. A stack is its caller's stack and a frame, a frame is a
 * line of a function; each is written once and referred to by number.
 */

#include "export/firefox.h"

#include "base/memory.h"
#include "image/names.h"

#include <stdlib.h>

enum category { CATEGORY_OTHER, CATEGORY_IDLE, CATEGORY_CODE };

/* Frames without a category use the first grey one. */
void firefox_put_categories(FILE *out)
{
    static const char *const categories[][2] = {
        [CATEGORY_OTHER] = {"Unknown", "grey"},
        [CATEGORY_IDLE] = {"Idle", "transparent"},
        [CATEGORY_CODE] = {"Code", "blue"},
    };

    putc('[', out);
    for (size_t i = 0; i < sizeof categories / sizeof categories[0]; ++i)
        fprintf(out,
                "%s{\"name\":\"%s\",\"color\":\"%s\","
                "\"subcategories\":[\"Other\"]}",
                i > 0 ? "," : "", categories[i][0], categories[i][1]);
    putc(']', out);
}

static enum category category_of(const struct view *view, uint32_t function)
{
    for (uint32_t i = 0; i < MODEL_PSEUDOS; ++i) {
        if (view->pseudo_names[i] == function)
            return i == MODEL_IDLE ? CATEGORY_IDLE : CATEGORY_OTHER;
    }
    return CATEGORY_CODE;
}

static uint32_t function_of(struct firefox *firefox, uint32_t name)
{
    bool is_new;
    uint32_t number = index_add(&firefox->function_keys, name, &is_new);

    if (is_new) {
        vector_reserve_one(&firefox->functions, number,
                           sizeof *firefox->functions);
        firefox->functions[number] = name;
    }
    return number;
}

static uint32_t frame_of(struct firefox *firefox, struct frame frame)
{
    bool is_new;
    uint32_t number = index_add(
        &firefox->frame_keys, index_pair(frame.function, frame.line), &is_new);

    if (is_new) {
        vector_reserve_one(&firefox->frames, number, sizeof *firefox->frames);
        firefox->frames[number] = frame;
        function_of(firefox, frame.function);
    }
    return number;
}

static uint32_t stack_of(struct firefox *firefox, struct firefox_stack stack)
{
    bool is_new;
    uint32_t number = index_add(&firefox->stack_keys,
                                index_pair(stack.prefix, stack.frame), &is_new);

    if (is_new) {
        vector_reserve_one(&firefox->stacks, number, sizeof *firefox->stacks);
        firefox->stacks[number] = stack;
    }
    return number;
}

void firefox_make_tables(struct firefox *firefox, uint32_t track)
{
    static struct frame frames[VIEW_FRAMES_MAX];
    const struct samples *samples = &firefox->samples;
    struct view *view = firefox->view;

    firefox->stack_of_node = xreallocarray(NULL, model_nodes(&view->model),
                                           sizeof *firefox->stack_of_node);
    for (uint32_t i = 0; i < model_cells(&view->model); ++i) {
        const struct model_cell *cell = &view->model.cells[i];
        struct firefox_stack stack = {0};
        size_t depth;

        if (samples_cell_track(samples, i) != track)
            continue;
        depth = view_frames(view, cell->node, frames);
        for (; depth > 0; --depth) {
            stack.frame = frame_of(firefox, frames[depth - 1]);
            stack.prefix = 1 + stack_of(firefox, stack);
        }
        firefox->stack_of_node[cell->node] = stack.prefix - 1;
    }
}

/* A column with the same value in all rows. */
static void put_same(FILE *out, const char *name, const char *cell,
                     uint32_t count)
{
    fprintf(out, "\"%s\":[", name);
    for (uint32_t i = 0; i < count; ++i)
        fprintf(out, "%s%s", i > 0 ? "," : "", cell);
    fputs("],", out);
}

static void put_stacks(const struct firefox *firefox)
{
    uint32_t count = firefox->stack_keys.count;
    FILE *out = firefox->out;

    fputs("\"stackTable\":{\"frame\":[", out);
    for (uint32_t i = 0; i < count; ++i)
        fprintf(out, "%s%u", i > 0 ? "," : "",
                (unsigned)firefox->stacks[i].frame);
    fputs("],\n\"prefix\":[", out);
    for (uint32_t i = 0; i < count; ++i) {
        uint32_t prefix = firefox->stacks[i].prefix;

        fputs(i > 0 ? "," : "", out);
        if (prefix > 0)
            fprintf(out, "%u", (unsigned)prefix - 1);
        else
            fputs("null", out);
    }
    fprintf(out, "],\"length\":%u},\n", (unsigned)count);
}

static void put_lines(const struct firefox *firefox)
{
    FILE *out = firefox->out;

    fputs("\"line\":[", out);
    for (uint32_t i = 0; i < firefox->frame_keys.count; ++i) {
        struct source_line source =
            frame_source(&firefox->view->names, &firefox->frames[i]);

        fputs(i > 0 ? "," : "", out);
        if (source.line > 0)
            fprintf(out, "%u", (unsigned)source.line);
        else
            fputs("null", out);
        free(source.file);
    }
    fputs("],", out);
}

static void put_frames(struct firefox *firefox)
{
    uint32_t count = firefox->frame_keys.count;
    FILE *out = firefox->out;

    fputs("\"frameTable\":{\"func\":[", out);
    for (uint32_t i = 0; i < count; ++i)
        fprintf(out, "%s%u", i > 0 ? "," : "",
                (unsigned)function_of(firefox, firefox->frames[i].function));
    fputs("],\n\"category\":[", out);
    for (uint32_t i = 0; i < count; ++i)
        fprintf(out, "%s%d", i > 0 ? "," : "",
                category_of(firefox->view, firefox->frames[i].function));
    fputs("],\n", out);
    put_lines(firefox);
    put_same(out, "subcategory", "0", count);
    put_same(out, "address", "-1", count);
    put_same(out, "inlineDepth", "0", count);
    put_same(out, "nativeSymbol", "null", count);
    put_same(out, "innerWindowID", "0", count);
    put_same(out, "column", "null", count);
    fprintf(out, "\"length\":%u},\n", (unsigned)count);
}

/* The file of a function is that of its first frame. */
static void put_files(struct firefox *firefox)
{
    uint32_t count = firefox->function_keys.count;
    uint32_t *files = xreallocarray(NULL, count, sizeof *files);
    FILE *out = firefox->out;

    for (uint32_t i = firefox->frame_keys.count; i-- > 0;) {
        struct source_line source =
            frame_source(&firefox->view->names, &firefox->frames[i]);

        files[function_of(firefox, firefox->frames[i].function)] =
            strings_put(&firefox->strings, source.file);
        free(source.file);
    }
    fputs("\"fileName\":[", out);
    for (uint32_t i = 0; i < count; ++i) {
        fputs(i > 0 ? "," : "", out);
        if (files[i] > 0)
            fprintf(out, "%u", (unsigned)files[i]);
        else
            fputs("null", out);
    }
    fputs("],\n", out);
    free(files);
}

static void put_functions(struct firefox *firefox)
{
    const struct names *names = &firefox->view->names;
    uint32_t count = firefox->function_keys.count;
    FILE *out = firefox->out;

    fputs("\"funcTable\":{\"name\":[", out);
    for (uint32_t i = 0; i < count; ++i)
        fprintf(
            out, "%s%u", i > 0 ? "," : "",
            (unsigned)strings_put(&firefox->strings,
                                  names_text(names, firefox->functions[i])));
    fputs("],\n", out);
    put_files(firefox);
    put_same(out, "isJS", "false", count);
    put_same(out, "relevantForJS", "false", count);
    put_same(out, "resource", "-1", count);
    put_same(out, "lineNumber", "null", count);
    put_same(out, "columnNumber", "null", count);
    fprintf(out, "\"length\":%u},\n", (unsigned)count);
}

void firefox_put_tables(struct firefox *firefox)
{
    put_stacks(firefox);
    put_frames(firefox);
    put_functions(firefox);
    fputs("\"resourceTable\":{\"lib\":[],\"name\":[],\"host\":[],\"type\":[],"
          "\"length\":0},\n\"nativeSymbols\":{\"libIndex\":[],\"address\":[],"
          "\"name\":[],\"functionSize\":[],\"length\":0}",
          firefox->out);
    free(firefox->stack_of_node);
    free(firefox->stacks);
    free(firefox->frames);
    free(firefox->functions);
    index_free(&firefox->stack_keys);
    index_free(&firefox->frame_keys);
    index_free(&firefox->function_keys);
    firefox->stacks = NULL;
    firefox->frames = NULL;
    firefox->functions = NULL;
}
