/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chrome's Trace Event JSON. A sample is a stretch of time with a stack;
 * consecutive samples with the same callers are one slice of those callers. So
 * a function's slices last as long as our report says, and each records how
 * many samples it has.
 *
 * A slice is an event at its beginning and one at its end: with complete events
 * ("X") that begin and end together, viewers do not know which called which.
 * Samples that are only known in sum get a lane of their own, where the lumps
 * are laid end to end.
 */

#include "export/export.h"

#include "base/json_put.h"
#include "base/memory.h"
#include "export/chrome_tasks.h"
#include "profile/samples.h"

#include <inttypes.h>
#include <prof/format.h>
#include <stdlib.h>
#include <string.h>

#define CLOCKS_PER_US (PROF_CLOCK_HZ / 1000000)

struct slice {
    uint32_t function;
    uint64_t samples;
};

/* What the viewer shows as one thread. */
struct lane {
    bool is_named;
    uint64_t end;
    struct slice *slices; /* open ones, the outermost first */
    size_t depth;
};

struct chrome {
    struct view *view;
    struct samples samples;
    FILE *out;
    struct lane *lanes; /* two for each track: samples, lumps */
};

/* Starts an event at the end of the lane. */
static void put_event(const struct chrome *chrome, uint32_t lane,
                      const char *phase)
{
    uint64_t clocks = chrome->lanes[lane].end - chrome->view->model.begin;

    fprintf(chrome->out,
            ",\n{\"ph\":\"%s\",\"pid\":1,\"tid\":%u,\"ts\":%" PRIu64 ".%u",
            phase, (unsigned)lane + 1, clocks / CLOCKS_PER_US,
            (unsigned)(clocks % CLOCKS_PER_US));
}

static void name_lane(struct chrome *chrome, uint32_t number)
{
    const char *name = chrome->samples.tracks[number / 2].name;
    size_t room = strlen(name) + sizeof ", at unknown moments";
    char *text = xreallocarray(NULL, room, 1);

    snprintf(text, room, "%s%s", name,
             number % 2 == 0 ? "" : ", at unknown moments");
    fprintf(chrome->out,
            ",\n{\"ph\":\"M\",\"pid\":1,\"tid\":%u,\"name\":\"thread_name\","
            "\"args\":{\"name\":",
            (unsigned)number + 1);
    json_put(chrome->out, text);
    fputs("}}", chrome->out);
    chrome->lanes[number].is_named = true;
    free(text);
}

/* Ends all slices of a lane except the outermost (depth). */
static void end_slices(struct chrome *chrome, uint32_t number, size_t depth)
{
    struct lane *lane = &chrome->lanes[number];

    while (lane->depth > depth) {
        put_event(chrome, number, "E");
        fprintf(chrome->out, ",\"args\":{\"samples\":%" PRIu64 "}}",
                lane->slices[--lane->depth].samples);
    }
}

static void begin_slice(struct chrome *chrome, uint32_t number,
                        uint32_t function)
{
    struct lane *lane = &chrome->lanes[number];

    put_event(chrome, number, "B");
    fputs(",\"name\":", chrome->out);
    json_put(chrome->out, names_text(&chrome->view->names, function));
    putc('}', chrome->out);
    vector_reserve_one(&lane->slices, lane->depth, sizeof *lane->slices);
    lane->slices[lane->depth++] = (struct slice){function, 0};
}

static void take(void *owner, const struct sample *sample)
{
    static struct frame frames[VIEW_FRAMES_MAX];
    struct chrome *chrome = owner;
    uint32_t number = 2 * sample->track + sample->is_lump;
    struct lane *lane = &chrome->lanes[number];
    size_t depth = view_frames(chrome->view, sample->node, frames), same = 0;

    if (!lane->is_named)
        name_lane(chrome, number);
    if (sample->time > lane->end &&
        sample->time - lane->end > sample->count.clocks) {
        end_slices(chrome, number, 0);
        lane->end = sample->time - sample->count.clocks;
    }
    while (same < depth && same < lane->depth &&
           lane->slices[same].function == frames[depth - 1 - same].function)
        ++same;
    end_slices(chrome, number, same);
    while (lane->depth < depth)
        begin_slice(chrome, number, frames[depth - 1 - lane->depth].function);
    for (size_t i = 0; i < depth; ++i)
        lane->slices[i].samples += sample->count.samples;
    lane->end += sample->count.clocks;
}

static void open_lanes(struct chrome *chrome)
{
    uint32_t lanes = 2 * chrome->samples.track_count;

    chrome->lanes = xreallocarray(NULL, lanes, sizeof *chrome->lanes);
    for (uint32_t i = 0; i < lanes; ++i)
        chrome->lanes[i] = (struct lane){.end = chrome->view->model.begin};
}

static void close_lanes(struct chrome *chrome)
{
    for (uint32_t i = 0; i < 2 * chrome->samples.track_count; ++i) {
        end_slices(chrome, i, 0);
        free(chrome->lanes[i].slices);
    }
    free(chrome->lanes);
}

bool export_chrome(struct view *view, FILE *out)
{
    struct chrome chrome = {.view = view, .out = out};

    samples_open(&chrome.samples, view);
    open_lanes(&chrome);
    fputs("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n"
          "{\"ph\":\"M\",\"pid\":1,\"tid\":1,\"name\":\"process_name\","
          "\"args\":{\"name\":\"guest\"}}",
          out);
    samples_each(&chrome.samples, take, &chrome);
    close_lanes(&chrome);
    chrome_put_tasks(out, view, 2 * chrome.samples.track_count + 1);
    fputs("\n]}\n", out);
    samples_close(&chrome.samples);
    return ferror(out) == 0;
}
