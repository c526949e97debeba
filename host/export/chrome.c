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

#include "base/json.h"
#include "base/memory.h"
#include "export/story.h"
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

static void put_clocks(FILE *out, const char *name, uint64_t clocks)
{
    fprintf(out, ",\"%s\":%" PRIu64 ".%u", name, clocks / CLOCKS_PER_US,
            (unsigned)(clocks % CLOCKS_PER_US));
}

static void put_name(FILE *out, const char *name)
{
    fputs(",\"name\":", out);
    json_put(out, name);
}

static void put_thread(FILE *out, uint32_t thread, const char *name)
{
    fprintf(out,
            ",\n{\"ph\":\"M\",\"pid\":1,\"tid\":%u,\"name\":\"thread_name\","
            "\"args\":{\"name\":",
            (unsigned)thread);
    json_put(out, name);
    fputs("}}", out);
}

static void begin_event(FILE *out, const char *phase, uint32_t thread,
                        uint64_t clocks)
{
    fprintf(out, ",\n{\"ph\":\"%s\",\"pid\":1,\"tid\":%u", phase,
            (unsigned)thread);
    put_clocks(out, "ts", clocks);
}

static void put_event(const struct chrome *chrome, uint32_t lane,
                      const char *phase)
{
    begin_event(chrome->out, phase, lane + 1,
                chrome->lanes[lane].end - chrome->view->model.begin);
}

static void name_lane(struct chrome *chrome, uint32_t number)
{
    const char *name = chrome->samples.tracks[number / 2].name;
    size_t room = strlen(name) + sizeof ", at unknown moments";
    char *text = xreallocarray(NULL, room, 1);

    snprintf(text, room, "%s%s", name,
             number % 2 == 0 ? "" : ", at unknown moments");
    put_thread(chrome->out, number + 1, text);
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
    put_name(chrome->out, names_text(&chrome->view->names, function));
    putc('}', chrome->out);
    VECTOR_ADD(lane->slices, lane->depth, (struct slice){function, 0});
}

static void take_sample(void *owner, const struct sample *sample)
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

/*
 * ---- objects
 *
 * What is asynchronous is "b" and "e" with an id; what runs on a CPU, one after
 * the other, is "X" on its lane; arrows are "s" and "f", which viewers bind to
 * the slices around them.
 */

struct chrome_tasks {
    FILE *out;
    const struct tasks *tasks;
    uint32_t first_thread;
    uint64_t arrows;
    uint32_t open; /* object that is not ended yet, TASKS_NONE */
    uint64_t end;  /* of it */
};

static void begin_task_event(const struct chrome_tasks *chrome,
                             const char *phase, uint32_t lane, uint64_t time)
{
    begin_event(chrome->out, phase, chrome->first_thread + lane, time);
}

static void put_lane(void *owner, uint32_t lane, const char *name)
{
    const struct chrome_tasks *chrome = owner;

    put_thread(chrome->out, chrome->first_thread + lane, name);
}

static void put_slice(void *owner, uint32_t lane, struct story_span span,
                      const char *name)
{
    const struct chrome_tasks *chrome = owner;

    begin_task_event(chrome, "X", lane, span.from);
    put_clocks(chrome->out, "dur", span.to - span.from);
    put_name(chrome->out, name);
    putc('}', chrome->out);
}

static void put_arrow(void *owner, struct story_point from,
                      struct story_point to, const char *kind)
{
    struct chrome_tasks *chrome = owner;

    ++chrome->arrows;
    for (int i = 0; i < 2; ++i) {
        begin_task_event(chrome, i == 0 ? "s" : "f",
                         i == 0 ? from.lane : to.lane,
                         i == 0 ? from.time : to.time);
        fprintf(chrome->out, ",\"cat\":\"arrow\",\"id\":%" PRIu64 "%s",
                chrome->arrows, i == 0 ? "" : ",\"bp\":\"e\"");
        put_name(chrome->out, kind);
        putc('}', chrome->out);
    }
}

/* An end of an asynchronous slice of (object). */
static void put_async(const struct chrome_tasks *chrome, const char *phase,
                      uint32_t object, uint64_t time, const char *name)
{
    begin_task_event(chrome, phase, 0, time);
    fprintf(chrome->out, ",\"cat\":\"%s\",\"id\":%u",
            tasks_kind_word(chrome->tasks->objects[object].kind),
            (unsigned)chrome->tasks->objects[object].id);
    put_name(chrome->out, name);
}

static void end_object(struct chrome_tasks *chrome)
{
    char name[TASKS_TEXT_MAX];

    if (chrome->open == TASKS_NONE)
        return;
    put_async(chrome, "e", chrome->open, chrome->end,
              tasks_title(chrome->tasks, chrome->open, name));
    fprintf(chrome->out, ",\"args\":{\"ended\":\"%s\"}}",
            tasks_end_word(chrome->tasks->objects[chrome->open].ending));
    chrome->open = TASKS_NONE;
}

static void put_object(void *owner, uint32_t object, struct story_span span,
                       const char *name)
{
    struct chrome_tasks *chrome = owner;
    const struct tasks_object *about = &chrome->tasks->objects[object];
    const struct guest_names *names = &chrome->tasks->names;
    char creator[TASKS_TEXT_MAX];

    end_object(chrome);
    put_async(chrome, "b", object, span.from, name);
    fputs(",\"args\":{\"creator\":", chrome->out);
    json_put(chrome->out, tasks_title(chrome->tasks, about->creator, creator));
    fputs(",\"file\":", chrome->out);
    json_put(chrome->out, guest_names_file(names, about->site));
    fprintf(chrome->out, ",\"line\":%u}}",
            (unsigned)guest_names_line(names, about->site));
    chrome->open = object;
    chrome->end = span.to;
}

static void put_state(void *owner, uint32_t object, struct story_span span,
                      const char *name)
{
    const struct chrome_tasks *chrome = owner;

    put_async(chrome, "b", object, span.from, name);
    putc('}', chrome->out);
    put_async(chrome, "e", object, span.to, name);
    putc('}', chrome->out);
}

static void put_counter(void *owner, uint32_t counter, uint64_t time,
                        int64_t value)
{
    const struct chrome_tasks *chrome = owner;

    begin_task_event(chrome, "C", 0, time);
    put_name(chrome->out, guest_names_text(&chrome->tasks->names, counter));
    fprintf(chrome->out, ",\"args\":{\"value\":%" PRId64 "}}", value);
}

/* Objects as asynchronous events, lanes as threads from (first_thread) on. */
static void put_tasks(FILE *out, struct view *view, uint32_t first_thread)
{
    const struct tasks *tasks = view_tasks(view);
    struct chrome_tasks chrome = {out, tasks, first_thread, 0, TASKS_NONE, 0};
    struct story_sink sink = {&chrome,    put_lane,  put_slice,  put_arrow,
                              put_object, put_state, put_counter};

    story_put(view, tasks, &sink);
    end_object(&chrome);
}

/* ---- the file */

bool export_chrome(struct view *view, FILE *out)
{
    struct chrome chrome = {.view = view, .out = out};

    samples_open(&chrome.samples, view);
    open_lanes(&chrome);
    fputs("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n"
          "{\"ph\":\"M\",\"pid\":1,\"tid\":1,\"name\":\"process_name\","
          "\"args\":{\"name\":\"guest\"}}",
          out);
    samples_each(&chrome.samples, take_sample, &chrome);
    close_lanes(&chrome);
    put_tasks(out, view, 2 * chrome.samples.track_count + 1);
    fputs("\n]}\n", out);
    samples_close(&chrome.samples);
    return ferror(out) == 0;
}
