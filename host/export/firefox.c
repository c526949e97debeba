/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Firefox Profiler's "processed profile", version 56 of the format, which
 * newer viewers upgrade. Each track is a thread with tables of its own for
 * stacks, frames and functions; the strings are shared and come last.
 *
 * Tables are columns, one JSON array after the other, so that the samples are
 * walked over once for each of their columns and never kept.
 */

#include "export/export.h"

#include "base/json_put.h"
#include "export/firefox.h"
#include "trace/metadata.h"

#include <inttypes.h>
#include <prof/format.h>
#include <stdlib.h>

#define FORMAT_VERSION 56
#define CLOCKS_PER_MS (PROF_CLOCK_HZ / 1000)

/* One column of a thread's samples, while it is written. */
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
    if (column->firefox->view->by_time)
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
    bool by_time = firefox->view->by_time;
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
    firefox_make_tables(firefox, track);
    put_samples(firefox, track);
    fputs("\"markers\":{\"data\":[],\"name\":[],\"startTime\":[],\"endTime\":[]"
          ",\"phase\":[],\"category\":[],\"length\":0},\n",
          out);
    firefox_put_tables(firefox);
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
    firefox_put_categories(out);
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
