/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Firefox Profiler's "processed profile", version 56 of the format, which
 * newer viewers upgrade. Each track is a thread with tables of its own for
 * stacks, frames and functions; the strings are shared and come last.
 *
 * Tables are columns, one JSON array after the other, so that the samples are
 * walked over once for each of their columns and never kept. A stack is its
 * caller's stack and a frame, a frame is a line of a function; each is written
 * once and referred to by number.
 */

#include "export/export.h"

#include "base/json.h"
#include "base/memory.h"
#include "image/names.h"
#include "profile/samples.h"
#include "trace/metadata.h"

#include <inttypes.h>
#include <prof/format.h>
#include <stdlib.h>

#define FORMAT_VERSION 56
#define CLOCKS_PER_MS (PROF_CLOCK_HZ / 1000)

struct firefox_stack {
    uint32_t prefix; /* its caller's row + 1, 0 = none */
    uint32_t frame;
};

struct firefox {
    struct view *view;
    struct samples samples;
    FILE *out;
    struct strings strings; /* of the whole profile */

    /* tables of the thread being written */
    uint32_t *stack_of_node;
    struct firefox_stack *stacks;
    struct index stack_keys; /* (prefix, frame) */
    struct frame *frames;
    struct index frame_keys; /* (function, line) */
    uint32_t *functions;     /* numbers of names */
    struct index function_keys;
};

/* ---- tables of a thread */

enum category { CATEGORY_OTHER, CATEGORY_IDLE, CATEGORY_CODE };

/* Frames without a category use the first grey one. */
static void put_categories(FILE *out)
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
    return index_add_row(&firefox->function_keys, name, &firefox->functions,
                         &name, sizeof name);
}

static uint32_t frame_of(struct firefox *firefox, struct frame frame)
{
    function_of(firefox, frame.function);
    return index_add_row(&firefox->frame_keys,
                         index_pair(frame.function, frame.line),
                         &firefox->frames, &frame, sizeof frame);
}

static uint32_t stack_of(struct firefox *firefox, struct firefox_stack stack)
{
    return index_add_row(&firefox->stack_keys,
                         index_pair(stack.prefix, stack.frame),
                         &firefox->stacks, &stack, sizeof stack);
}

/* Builds the tables of a track from the selected cells. */
static void make_tables(struct firefox *firefox, uint32_t track)
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

/* One of (count) cells of a column: a number, null where it is UINT32_MAX. */
static void put_number(FILE *out, uint32_t i, uint32_t number)
{
    if (i > 0)
        putc(',', out);
    if (number != UINT32_MAX)
        fprintf(out, "%u", (unsigned)number);
    else
        fputs("null", out);
}

static void put_stacks(const struct firefox *firefox)
{
    uint32_t count = firefox->stack_keys.count;
    FILE *out = firefox->out;

    fputs("\"stackTable\":{\"frame\":[", out);
    for (uint32_t i = 0; i < count; ++i)
        put_number(out, i, firefox->stacks[i].frame);
    fputs("],\n\"prefix\":[", out);
    for (uint32_t i = 0; i < count; ++i)
        put_number(out, i, firefox->stacks[i].prefix - 1);
    fprintf(out, "],\"length\":%u},\n", (unsigned)count);
}

static void put_lines(const struct firefox *firefox)
{
    FILE *out = firefox->out;

    fputs("\"line\":[", out);
    for (uint32_t i = 0; i < firefox->frame_keys.count; ++i) {
        struct source_line source =
            frame_source(&firefox->view->names, &firefox->frames[i]);

        put_number(out, i, source.line > 0 ? source.line : UINT32_MAX);
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
        put_number(out, i, function_of(firefox, firefox->frames[i].function));
    fputs("],\n\"category\":[", out);
    for (uint32_t i = 0; i < count; ++i)
        put_number(out, i,
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
    for (uint32_t i = 0; i < count; ++i)
        put_number(out, i, files[i] > 0 ? files[i] : UINT32_MAX);
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
        put_number(out, i,
                   strings_put(&firefox->strings,
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

static void put_tables(struct firefox *firefox)
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

/* ---- samples */

struct column {
    struct firefox *firefox;
    uint32_t track;
    void (*put)(const struct column *column, const struct sample *sample);
    uint64_t count;
};

static void put_ms(FILE *out, uint64_t clocks)
{
    fprintf(out, "%" PRIu64 ".%04u", clocks / CLOCKS_PER_MS,
            (unsigned)(clocks % CLOCKS_PER_MS));
}

static void put_stack(const struct column *column, const struct sample *sample)
{
    fprintf(column->firefox->out, "%u",
            (unsigned)column->firefox->stack_of_node[sample->node]);
}

static void put_time(const struct column *column, const struct sample *sample)
{
    put_ms(column->firefox->out,
           sample->time - column->firefox->view->model.begin);
}

static void put_weight(const struct column *column, const struct sample *sample)
{
    if (column->firefox->view->weight == MODEL_CLOCKS)
        put_ms(column->firefox->out, sample->count.clocks);
    else
        fprintf(column->firefox->out, "%" PRIu64, sample->count.samples);
}

static void put_cell(void *owner, const struct sample *sample)
{
    struct column *column = owner;

    if (sample->track != column->track)
        return;
    if (column->count++ > 0)
        putc(',', column->firefox->out);
    column->put(column, sample);
}

/* Writes a column and returns how many rows it has. */
static uint64_t put_column(struct firefox *firefox, uint32_t track,
                           const char *name,
                           void (*put)(const struct column *column,
                                       const struct sample *sample))
{
    struct column column = {firefox, track, put, 0};

    fprintf(firefox->out, "\"%s\":[", name);
    samples_each(&firefox->samples, put_cell, &column);
    fputs("],\n", firefox->out);
    return column.count;
}

static void put_samples(struct firefox *firefox, uint32_t track)
{
    bool by_time = firefox->view->weight == MODEL_CLOCKS;
    uint64_t count;

    fputs("\"samples\":{", firefox->out);
    put_column(firefox, track, "time", put_time);
    count = put_column(firefox, track, "stack", put_stack);
    if (by_time || count != firefox->samples.tracks[track].samples)
        put_column(firefox, track, "weight", put_weight);
    else
        fputs("\"weight\":null,", firefox->out);
    fprintf(firefox->out, "\"weightType\":\"%s\",\"length\":%" PRIu64 "},\n",
            by_time ? "tracing-ms" : "samples", count);
}

static void put_thread(struct firefox *firefox, uint32_t track)
{
    FILE *out = firefox->out;

    fputs(track > 0 ? ",\n{\"name\":" : "{\"name\":", out);
    json_put(out, firefox->samples.tracks[track].name);
    fprintf(out,
            ",\"processType\":\"default\",\"processName\":\"guest\","
            "\"isMainThread\":%s,\"pid\":\"1\",\"tid\":%u,"
            "\"processStartupTime\":0,\"processShutdownTime\":null,"
            "\"registerTime\":0,\"unregisterTime\":null,\"pausedRanges\":[],\n",
            track == 0 ? "true" : "false", (unsigned)track + 1);
    make_tables(firefox, track);
    put_samples(firefox, track);
    fputs("\"markers\":{\"data\":[],\"name\":[],\"startTime\":[],\"endTime\":[]"
          ",\"phase\":[],\"category\":[],\"length\":0},\n",
          out);
    put_tables(firefox);
    putc('}', out);
}

static void put_meta(const struct firefox *firefox)
{
    const struct model *model = &firefox->view->model;
    FILE *out = firefox->out;

    fprintf(out,
            "{\"meta\":{\"version\":30,\"preprocessedProfileVersion\":%d,"
            "\"product\":\"unikernel\",\"importedFrom\":\"parasite\","
            "\"oscpu\":\"%s\",\"interval\":%.6f,\"startTime\":",
            FORMAT_VERSION, metadata_arch(&model->hello),
            model->rate_mhz > 0 ? 1e6 / model->rate_mhz : 1.0);
    put_ms(out, model->hello.unix_seconds * PROF_CLOCK_HZ + model->begin);
    fputs(",\"processType\":0,\"stackwalk\":1,\"debug\":false,\"toolkit\":\"\","
          "\"symbolicated\":true,\"symbolicationNotSupported\":true,"
          "\"markerSchema\":[],\"extensions\":{\"id\":[],\"name\":[],"
          "\"baseURL\":[],\"length\":0},\"sampleUnits\":{\"time\":\"ms\","
          "\"eventDelay\":\"ms\",\"threadCPUDelta\":\"ns\"},\n\"categories\":",
          out);
    put_categories(out);
    fputs("},\n\"libs\":[],\"pages\":[],\"threads\":[\n", out);
}

static void put_strings(const struct firefox *firefox)
{
    fputs("],\n\"shared\":{\"stringArray\":[", firefox->out);
    for (uint32_t i = 0; i < strings_count(&firefox->strings); ++i) {
        fputs(i > 0 ? ",\n" : "\n", firefox->out);
        json_put(firefox->out, strings_text(&firefox->strings, i));
    }
    fputs("]}}\n", firefox->out);
}

bool export_firefox(struct view *view, FILE *out)
{
    struct firefox firefox = {.view = view, .out = out};

    samples_open(&firefox.samples, view);
    put_meta(&firefox);
    for (uint32_t i = 0; i < firefox.samples.track_count; ++i)
        put_thread(&firefox, i);
    put_strings(&firefox);
    strings_free(&firefox.strings);
    samples_close(&firefox.samples);
    return ferror(out) == 0;
}
