/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Objects in Chrome's format. What is asynchronous is "b" and "e" with an id;
 * what runs on a CPU, one after the other, is "X" on its lane; arrows are "s"
 * and "f", which viewers bind to the slices around them.
 */

#include "export/chrome_tasks.h"

#include "base/json_put.h"
#include "export/story.h"

#include <inttypes.h>
#include <prof/format.h>

#define CLOCKS_PER_US (PROF_CLOCK_HZ / 1000000)

struct chrome_tasks {
    FILE *out;
    const struct tasks *tasks;
    uint32_t first_thread;
    uint64_t arrows;
    uint32_t open; /* object that is not ended yet, TASKS_NONE */
    uint64_t end;  /* of it */
};

static void put_time(FILE *out, const char *name, uint64_t clocks)
{
    fprintf(out, ",\"%s\":%" PRIu64 ".%u", name, clocks / CLOCKS_PER_US,
            (unsigned)(clocks % CLOCKS_PER_US));
}

static void put_name(FILE *out, const char *name)
{
    fputs(",\"name\":", out);
    json_put(out, name);
}

static void begin_event(const struct chrome_tasks *chrome, const char *phase,
                        uint32_t lane, uint64_t time)
{
    fprintf(chrome->out, ",\n{\"ph\":\"%s\",\"pid\":1,\"tid\":%u", phase,
            (unsigned)(chrome->first_thread + lane));
    put_time(chrome->out, "ts", time);
}

static void put_lane(void *owner, uint32_t lane, const char *name)
{
    const struct chrome_tasks *chrome = owner;

    fprintf(chrome->out,
            ",\n{\"ph\":\"M\",\"pid\":1,\"tid\":%u,\"name\":\"thread_name\","
            "\"args\":{\"name\":",
            (unsigned)(chrome->first_thread + lane));
    json_put(chrome->out, name);
    fputs("}}", chrome->out);
}

static void put_slice(void *owner, uint32_t lane, struct story_span span,
                      const char *name)
{
    const struct chrome_tasks *chrome = owner;

    begin_event(chrome, "X", lane, span.from);
    put_time(chrome->out, "dur", span.to - span.from);
    put_name(chrome->out, name);
    putc('}', chrome->out);
}

static void put_arrow(void *owner, struct story_point from,
                      struct story_point to, const char *kind)
{
    struct chrome_tasks *chrome = owner;

    ++chrome->arrows;
    for (int i = 0; i < 2; ++i) {
        begin_event(chrome, i == 0 ? "s" : "f", i == 0 ? from.lane : to.lane,
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
    begin_event(chrome, phase, 0, time);
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

    begin_event(chrome, "C", 0, time);
    put_name(chrome->out, guest_names_text(&chrome->tasks->names, counter));
    fprintf(chrome->out, ",\"args\":{\"value\":%" PRId64 "}}", value);
}

void chrome_put_tasks(FILE *out, struct view *view, uint32_t first_thread)
{
    struct tasks tasks = {0};
    struct chrome_tasks chrome = {out, &tasks, first_thread, 0, TASKS_NONE, 0};
    struct story_sink sink = {&chrome,    put_lane,  put_slice,  put_arrow,
                              put_object, put_state, put_counter};

    tasks_read(&tasks, &view->trace);
    story_put(view, &tasks, &sink);
    end_object(&chrome);
    tasks_free(&tasks);
}
