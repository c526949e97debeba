/* SPDX-License-Identifier: Apache-2.0 */
/* parasite timeline: what asynchronous programs wait for, as a page. */

#include "timeline/clocks.h"
#include "timeline/timeline.h"

#include "base/log.h"
#include "base/memory.h"
#include "base/output.h"
#include "base/text.h"
#include "cli/arguments.h"
#include "profile/view.h"

#include <prof/format.h>
#include <stdlib.h>
#include <string.h>

static struct request {
    const char *inputs[TIMELINE_TRACES_MAX];
    size_t count;
    const char *output;
    const char *title;
    const char *image;
    struct svg_range range;
    const char *shifts[TIMELINE_TRACES_MAX];
    size_t shift_count;
    bool svg;
    bool has_range;
} request = {.range.to = UINT64_MAX};

static const char help_text[] =
    "Draw the tasks and promises of a trace on an axis of time: one HTML page "
    "that needs no network. Several traces share the axis."
    "\vFor example:\n"
    "  parasite timeline x.trace -o x.html\n"
    "  parasite timeline client.trace server.trace -o both.html\n"
    "  parasite timeline --from 1.5 --to 1.52 x.trace -o x.svg";

static uint64_t clocks_of(const char *text)
{
    char *end;
    double seconds = strtod(text, &end);

    if (end == text || *end != '\0' || !(seconds >= 0) || seconds > 1e9)
        die_usage("'%s' is not a number of seconds", text);
    return (uint64_t)(seconds * PROF_CLOCK_HZ + 0.5);
}

static void set_from(char *word)
{
    request.range.from = clocks_of(word);
    request.has_range = true;
}

static void set_to(char *word)
{
    request.range.to = clocks_of(word);
    request.has_range = true;
}

static void add_shift(char *word)
{
    if (request.shift_count == TIMELINE_TRACES_MAX)
        die_usage("more than %u times --shift", TIMELINE_TRACES_MAX);
    request.shifts[request.shift_count++] = word;
}

static bool add_trace(char *word)
{
    if (request.count == TIMELINE_TRACES_MAX)
        die_usage("more than %u traces", TIMELINE_TRACES_MAX);
    request.inputs[request.count++] = word;
    return true;
}

static const struct argument options[] = {
    {"output", 'o', "FILE",
     "write to FILE.html or FILE.svg (timeline.html); - is stdout",
     .text = &request.output},
    {"image", 'k', "ELF",
     "the image, for names of samples (the one the trace remembers)",
     .text = &request.image},
    {"svg", 0, NULL, "draw a static SVG picture, for documents",
     .flag = &request.svg},
    {"from", 0, "SECONDS", "the picture begins here (0)", .take = set_from},
    {"to", 0, "SECONDS", "and ends here (the end of the trace)",
     .take = set_to},
    {"shift", 0, "TRACE=SECONDS",
     "add SECONDS, which may be below 0, to the times of TRACE",
     .take = add_shift},
    {"quiet", 'q', NULL, "no messages except errors", .flag = &log_quiet},
    {"title", 0, "TEXT", "the title (the trace's name)",
     .text = &request.title},
    {0},
};

static const struct command_line line = {options, "[TRACE...]", help_text,
                                         .take = add_trace};

static void check_output(void)
{
    arguments_choose_output(&request.output, "timeline", &request.svg);
    if (request.has_range && !request.svg)
        die_usage("--from and --to are for a picture; the page has buttons");
    if (request.range.to <= request.range.from)
        die_usage("--to must be after --from");
}

static void write_out(const struct timeline *timeline)
{
    const char *path = request.output;
    FILE *out = output_open(path);
    uint64_t events = 0, objects = 0;
    bool fine;
    char event_text[NUMBER_TEXT_MAX], object_text[NUMBER_TEXT_MAX];

    fine = request.svg ? timeline_write_svg(timeline, &request.range, out)
                       : timeline_write_page(timeline, out);
    output_close(out, path, fine);
    for (size_t i = 0; i < timeline->count; ++i) {
        events += timeline->traces[i].tasks.events;
        objects += tasks_real_objects(&timeline->traces[i].tasks);
    }
    if (!log_quiet && strcmp(path, "-") != 0)
        log_summary("[ %s: wrote %s, %s events of %s objects ]", log_name, path,
                    number_count(events, event_text),
                    number_count(objects, object_text));
}

/* Draws with the samples of the first trace, if it has any. */
static void draw_with_samples(struct timeline *timeline)
{
    struct view *first = timeline->traces[0].view;
    struct flame flame = {.by_time = true};

    first->image_path = request.image;
    for (size_t i = 0; i < timeline->count; ++i) {
        const struct timeline_trace *trace = &timeline->traces[i];

        if (i == 0 || trace->tasks.stacks > 0)
            view_open_names(trace->view);
        if (trace->tasks.stacks > 0)
            waits_add(&timeline->waits, i, &trace->tasks, trace->view);
    }
    flame_add(&flame, first, FLAME_NEW, NULL);
    if (flame_nodes(&flame) > 0) {
        flame_finish(&flame);
        timeline->samples = &flame;
    }
    write_out(timeline);
    flame_free(&flame);
}

static void shift_traces(struct timeline *timeline)
{
    for (size_t i = 0; i < request.shift_count; ++i) {
        const char *word = request.shifts[i], *mark = strrchr(word, '=');
        size_t bytes = mark != NULL ? (size_t)(mark - word) : 0, found = 0;
        char *end = NULL;
        double seconds = mark != NULL ? strtod(mark + 1, &end) : 0;

        if (mark == NULL || end == mark + 1 || *end != '\0' ||
            !(seconds >= -1e9 && seconds <= 1e9))
            die_usage("--shift %s: is not TRACE=SECONDS", word);
        for (size_t j = 0; j < timeline->count; ++j) {
            const char *name = timeline->traces[j].name;

            if (strncmp(name, word, bytes) != 0 || name[bytes] != '\0')
                continue;
            timeline->traces[j].moved = (int64_t)(seconds * PROF_CLOCK_HZ);
            ++found;
        }
        if (found == 0)
            die_usage("--shift %s: there is no such trace", word);
    }
}

static void say_clocks(const struct timeline *timeline)
{
    char how[CLOCKS_TEXT_MAX];

    for (size_t i = 0; timeline->count > 1 && i < timeline->count; ++i) {
        const struct timeline_trace *trace = &timeline->traces[i];

        if (i > 0)
            log_info("%s: %s%s", trace->name, clocks_text(trace, how),
                     trace->how == TIMELINE_PACKETS ? ""
                                                    : "; --shift corrects it");
        if (trace->shift != 0)
            log_info("%s: moved by %.7f s", trace->name,
                     (double)trace->shift / PROF_CLOCK_HZ);
    }
}

static void say_missing(const struct timeline *timeline)
{
    char text[TASKS_TEXT_MAX];

    for (size_t i = 0; i < timeline->count; ++i)
        if (tasks_missing_text(&timeline->traces[i].tasks, text))
            log_info("%s: %s", timeline->traces[i].name, text);
}

int command_timeline(int argc, char **argv)
{
    struct timeline timeline = {0};

    arguments_parse(&line, argc, argv);
    if (request.count == 0)
        request.inputs[request.count++] = "x.trace";
    check_output();
    timeline.has_views = !request.svg;
    for (size_t i = 0; i < request.count; ++i)
        if (!timeline_add(&timeline, request.inputs[i], request.inputs[i]))
            die("%s: no events of tasks; the guest records them with "
                "prof.trace=stream",
                request.inputs[i]);
    shift_traces(&timeline);
    timeline_finish(&timeline);
    say_clocks(&timeline);
    say_missing(&timeline);
    timeline.title =
        request.title != NULL ? request.title : path_name(request.inputs[0]);
    if (request.svg)
        write_out(&timeline);
    else
        draw_with_samples(&timeline);
    timeline_free(&timeline);
    return 0;
}
