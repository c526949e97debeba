/* SPDX-License-Identifier: Apache-2.0 */
/* parasite timeline: what asynchronous programs wait for, as a page. */

#include "timeline/timeline.h"

#include "base/log.h"
#include "base/memory.h"
#include "base/number.h"
#include "base/output.h"
#include "cli/arguments.h"
#include "cli/commands.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { KEY_TITLE = 512 };

struct request {
    const char *inputs[TIMELINE_TRACES_MAX];
    size_t count;
    const char *output;
    const char *title;
};

static const char help_text[] =
    "Draw the tasks and promises of a trace on an axis of time: one HTML page "
    "that needs no network. Several traces share the axis."
    "\vFor example:\n"
    "  parasite timeline x.trace -o x.html\n"
    "  parasite timeline client.trace server.trace -o both.html";

static const struct argp_option options[] = {
    {"output", 'o', "FILE", 0, "write to FILE (timeline.html); - is stdout", 0},
    {"title", KEY_TITLE, "TEXT", 0, "the title (the trace's name)", 0},
    {0},
};

static error_t parse(int key, char *word, struct argp_state *state)
{
    struct request *request = state->input;

    switch (key) {
    case 'o':
        request->output = word;
        break;
    case KEY_TITLE:
        request->title = word;
        break;
    case ARGP_KEY_ARG:
        if (request->count == TIMELINE_TRACES_MAX)
            die_usage("more than %u traces", TIMELINE_TRACES_MAX);
        request->inputs[request->count++] = word;
        break;
    default:
        return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

static void write_out(const struct timeline *timeline, const char *path)
{
    FILE *out = strcmp(path, "-") == 0 ? stdout : fopen(path, "wb");
    uint64_t events = 0, objects = 0;
    char event_text[NUMBER_TEXT_MAX], object_text[NUMBER_TEXT_MAX];

    if (out == NULL)
        die("%s: cannot be written: %s", path, strerror(errno));
    if (!output_close(out, timeline_write_page(timeline, out)))
        die("%s: cannot be written: %s", path, strerror(errno));
    for (size_t i = 0; i < timeline->count; ++i) {
        events += timeline->traces[i].tasks.events;
        objects += tasks_objects(&timeline->traces[i].tasks) - TASKS_SPECIAL;
    }
    if (!log_quiet && strcmp(path, "-") != 0)
        log_summary("[ %s: wrote %s, %s events of %s objects ]", log_name, path,
                    number_count(events, event_text),
                    number_count(objects, object_text));
}

int command_timeline(int argc, char **argv)
{
    static const struct argp argp = {
        options, parse, "[TRACE...]", help_text, NULL, 0, 0};
    struct request request = {.output = "timeline.html"};
    struct timeline timeline = {0};

    arguments_parse(&argp, argc, argv, &request);
    if (request.count == 0)
        request.inputs[request.count++] = "x.trace";
    for (size_t i = 0; i < request.count; ++i)
        if (!timeline_add(&timeline, request.inputs[i], request.inputs[i]))
            die("%s: no events of tasks; the guest records them with "
                "prof.trace=stream",
                request.inputs[i]);
    timeline_finish(&timeline);
    timeline.title = request.title != NULL ? request.title : request.inputs[0];
    write_out(&timeline, request.output);
    timeline_free(&timeline);
    return 0;
}
