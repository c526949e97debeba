/* SPDX-License-Identifier: Apache-2.0 */
/* parasite flame: a flame graph, as a page or as a picture. */

#include "flame/sides.h"
#include "profile/weigh.h"

#include "base/log.h"
#include "base/memory.h"
#include "base/output.h"
#include "base/text.h"
#include "cli/arguments.h"
#include "trace/metadata.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct {
    struct view view;
    const char *base;
    const char *other; /* the second of two traces, or NULL */
    const char *output;
    const char *title;
    regex_t exits;
    bool has_exits;
    bool svg;
    bool wait;
} request = {.view.input = "x.trace"};

static const char help_text[] =
    "Draw a flame graph: one HTML page that needs no network, or a picture."
    "\vFor example:\n"
    "  parasite flame x.trace -o x.html\n"
    "  parasite flame --diff before.trace after.trace -o change.html\n"
    "  parasite flame --wait x.trace -o wait.html\n"
    "  parasite flame inside.trace outside.trace -o both.html\n"
    "  parasite flame --latency x.trace -o latency.html\n"
    "  parasite flame -X '^\\[idle\\]$' x.trace -o x.svg";

static void set_exits(char *word)
{
    if (regcomp(&request.exits, word, REG_EXTENDED | REG_NOSUB) != 0)
        die_usage("'%s' is not a regular expression", word);
    request.has_exits = true;
}

static bool take_trace(char *word)
{
    if (!request.view.has_input)
        return false; /* the view's */
    if (request.other != NULL)
        die_usage("three traces: '%s', '%s' and '%s'?", request.view.input,
                  request.other, word);
    request.other = word;
    return true;
}

static const struct argument options[] = {
    {"output", 'o', "FILE",
     "write to FILE.html or FILE.svg (flame.html); - is stdout",
     .text = &request.output},
    {"svg", 0, NULL, "draw a static SVG picture, for documents",
     .flag = &request.svg},
    {"diff", 0, "BASE", "show what changed since the trace BASE",
     .text = &request.base},
    {"title", 0, "TEXT", "the title (the trace's name)",
     .text = &request.title},
    {"task", 0, NULL,
     "stacks go on with the sites that created the task that was hit",
     .flag = &request.view.by_task},
    {"wait", 0, NULL,
     "draw what tasks waited for, instead of samples: the sites that created "
     "the task, the functions in which it was suspended, if the guest recorded "
     "them (prof.trace_stacks=32), why and for what, and whether it waited or "
     "was ready",
     .flag = &request.wait},
    {"exits", 0, "REGEX",
     "count functions that match REGEX entirely as time in the hypervisor, "
     "for those that only access device memory",
     .take = set_exits},
    {0},
};

static const struct command_line line = {options,
                                         "[TRACE...]",
                                         help_text,
                                         .take = take_trace,
                                         .child = &weigh_options,
                                         .child_owner = &request.view};

static void check_options(void)
{
    /* Waits are not samples: they have neither a CPU nor code, and how much of
     * a change is chance is not known. */
    if (request.wait &&
        (request.base != NULL || request.has_exits || request.view.has_cpu))
        die_usage("--wait draws one trace, without --diff, --exits and --cpu");
    /* Two traces are one guest from both sides. */
    if (request.other != NULL &&
        (request.base != NULL || request.wait || request.svg ||
         request.view.time_text != NULL || request.view.irqs_off ||
         request.view.latency || request.view.blame != NULL))
        die_usage("two traces, of one guest from both sides, make a page; "
                  "without --diff, --wait, --svg, --time, --irqs-off, "
                  "--latency and --blame");
}

/* (functions) may be NULL; see exits.h. */
static void add_view(struct flame *flame, struct view *view,
                     enum flame_side side, const regex_t *functions)
{
    struct exits *exits = NULL;

    if (view->names.image != NULL)
        exits = exits_open(view->names.image, functions);
    flame_add(flame, view, side, exits);
    exits_close(exits);
}

static void open_view(struct view *view)
{
    view->lines = true;
    view_open(view);
}

static void add_side(struct flame *flame, struct view *view,
                     enum flame_side side)
{
    if (request.wait)
        flame_add_waits(flame, view);
    else
        add_view(flame, view, side, request.has_exits ? &request.exits : NULL);
}

static void open_both(struct flame *flame, struct view *first,
                      struct view *second)
{
    struct view *outside;
    struct exits *exits = NULL;

    open_view(first);
    open_view(second);
    outside = sides_is_outside(second) ? second : first;
    if (outside == first && !sides_is_outside(first))
        die("neither %s nor %s has readings of the other's clock: 'parasite "
            "attach -k IMAGE' takes them of a guest with the profiler, while "
            "that samples and has a stream",
            first->input, second->input);
    if (outside->names.image != NULL)
        exits = exits_open(outside->names.image,
                           request.has_exits ? &request.exits : NULL);
    sides_add(flame, outside == second ? first : second, outside, exits);
    exits_close(exits);
}

/* "[ only outside: interrupts off 12.1 %, after its last sample 3.0 % ]" */
static void report_both(const struct flame *flame)
{
    const struct sides *sides = flame->sides;
    char text[256] = "";
    size_t used = 0;

    for (int i = SIDES_BOTH + 1; i < SIDES_KINDS && used < sizeof text; ++i)
        if (sides->clocks[i] > 0)
            used += (size_t)snprintf(
                text + used, sizeof text - used, "%s%s %.1f %%",
                used > 0 ? ", " : "", sides_kind_name((enum sides_kind)i),
                100.0 * (double)sides->clocks[i] / (double)sides->all);
    log_summary("[ one clock, by %zu readings: off by at most %.3f ms "
                "(median), %.3f ms (worst) ]",
                sides->align.count, sides->error * 1e3 / PROF_CLOCK_HZ,
                sides->worst * 1e3 / PROF_CLOCK_HZ);
    log_summary("[ only outside: %s ]", used > 0 ? text : "nothing");
    if (sides->left_out > 0)
        log_summary("[ %llu samples of other boots left out ]",
                    (unsigned long long)sides->left_out);
}

static void write_out(const struct flame *flame)
{
    FILE *out = output_open(request.output);
    bool fine = request.svg ? flame_write_svg(flame, out)
                            : flame_write_page(flame, out);
    long bytes = ftell(out);
    char number[NUMBER_TEXT_MAX], size[NUMBER_TEXT_MAX];

    output_close(out, request.output, fine);
    if (!log_quiet && strcmp(request.output, "-") != 0)
        log_summary("[ %s: wrote %s, %s stacks, %s ]", log_name, request.output,
                    number_count(flame_stacks(flame), number),
                    number_bytes((uint64_t)bytes, size));
}

/* The last part of (path), which may end with a slash; to be freed. */
static char *last_part(const char *path)
{
    char *copy = xstrdup(path), *slash;
    size_t bytes = strlen(copy);

    while (bytes > 1 && copy[bytes - 1] == '/')
        copy[--bytes] = '\0';
    slash = strrchr(copy, '/');
    if (slash != NULL && slash[1] != '\0')
        memmove(copy, slash + 1, strlen(slash));
    return copy;
}

/* "before -> after", "inside and outside", or the trace's name. */
static uint32_t title_of(struct strings *strings, const char *input)
{
    const char *second = request.base != NULL ? input : request.other;
    char weights[256], text[2 * NAME_MAX + 16 + sizeof weights], *one, *two;

    if (request.title != NULL)
        return strings_put(strings, request.title);
    one = last_part(request.base != NULL ? request.base : input);
    two = second != NULL ? last_part(second) : xstrdup("");
    weigh_title(&request.view, weights, sizeof weights);
    snprintf(text, sizeof text, "%s%s%s%s%s", one,
             request.base != NULL    ? " \xe2\x86\x92 "
             : request.other != NULL ? " and "
                                     : "",
             two, *weights != '\0' ? ", " : "", weights);
    free(one);
    free(two);
    return strings_put(strings, text);
}

bool flame_write_view(struct view *view, FILE *out)
{
    struct flame flame = {.by_time = view->weight == MODEL_CLOCKS,
                          .is_served = true};
    bool fine;

    flame.title = title_of(&flame.strings, view->input);
    flame.arch = metadata_arch(&view->model.hello);
    add_view(&flame, view, FLAME_NEW, NULL);
    fine = flame_nodes(&flame) > 0;
    if (fine) {
        flame_finish(&flame);
        fine = flame_write_page(&flame, out);
    }
    flame_free(&flame);
    return fine;
}

int command_flame(int argc, char **argv)
{
    static struct view base;
    struct flame flame = {0};

    arguments_parse(&line, argc, argv);
    check_options();
    if (request.wait)
        request.view.by_task = request.view.waits = true;
    arguments_choose_output(&request.output, "flame", &request.svg);
    request.view.own_apart = request.other == NULL && !request.wait;
    base = request.view;
    flame.title = title_of(&flame.strings, request.view.input);
    flame.is_diff = request.base != NULL;
    flame.by_time = request.view.weight == MODEL_CLOCKS;
    if (request.other != NULL) {
        base.input = request.other;
        open_both(&flame, &request.view, &base);
        view_close(&base);
    } else {
        open_view(&request.view);
        add_side(&flame, &request.view, FLAME_NEW);
    }
    if (flame.is_diff) {
        base.input = request.base;
        base.image_path = NULL;
        open_view(&base);
        view_must_match(&base, &request.view, NULL);
        add_side(&flame, &base, FLAME_BASE);
        view_close(&base);
    }
    flame.arch = metadata_arch(&request.view.model.hello);
    if (request.wait && request.view.model.suspend_stacks == 0)
        log_info("stacks of suspends were not recorded; the guest does so with "
                 "prof.trace_stacks=32");
    if (flame_nodes(&flame) == 0 && request.wait)
        die("%s: no task waited, or none that was asked for; the guest records "
            "tasks with prof.trace=stream",
            request.view.input);
    if (flame_nodes(&flame) == 0)
        die("%s: %s", request.view.input, view_why_empty(&request.view));
    flame_finish(&flame);
    write_out(&flame);
    if (!log_quiet)
        weigh_print(&request.view, "[ ", stderr);
    if (flame.sides != NULL && !log_quiet)
        report_both(&flame);
    flame_free(&flame);
    view_close(&request.view);
    return STATUS_OK;
}
