/* SPDX-License-Identifier: Apache-2.0 */
/* parasite top: what a guest is doing at present. */

#include "base/log.h"
#include "cli/arguments.h"
#include "cli/commands.h"
#include "cli/top_attach.h"
#include "top/loop.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ROWS_USUAL 25

static const char help_text[] =
    "Show what a guest is doing now: on a terminal a screen with keys (? lists "
    "them), otherwise one table after another."
    "\vTARGET is as for 'parasite record'. A guest that restarts is followed. "
    "The command line after -- starts a guest; its output is shown at the end, "
    "and its exit code becomes that of top.\n\n"
    "For example:\n"
    "  parasite top -k image.elf unix:stream.sock\n"
    "  parasite top -F 999 -- \\\n"
    "    qemu-system-x86_64 -kernel image.elf -display none\n"
    "  parasite top --stdio -n 3 --delay 5 -k image.elf tcp:localhost:5555\n"
    "  parasite top --attach -k vmlinux gdb:localhost:1234";

enum {
    KEY_DELAY = 2048,
    KEY_STDIO,
    KEY_ROWS,
    KEY_COLOR,
    KEY_WEIGHT,
    KEY_FILTER,
    KEY_LOOP,
    KEY_ATTACH
};

static bool attaches; /* samples come from outside */

static const struct argp_option options[] = {
    {"delay", KEY_DELAY, "SECONDS", 0, "time between updates (1)", 0},
    {"iterations", 'n', "N", 0, "stop after N updates", 0},
    {"attach", KEY_ATTACH, NULL, 0,
     "sample the guest from outside; TARGET is as for 'parasite attach'", 0},
    {"loop", KEY_LOOP, NULL, 0,
     "who holds the event loop, by site, instead of functions", 0},
    {"sort", 's', "KEY", 0,
     "sort by self (default), total or name; with --loop by own (default), "
     "total, longest, delay, calls, pending or name",
     0},
    {"filter", KEY_FILTER, "REGEX", 0, "only names that match REGEX", 0},
    {"weight", KEY_WEIGHT, "WHAT", 0, "count time (default) or samples", 0},
    {"stdio", KEY_STDIO, NULL, 0, "print tables, even on a terminal", 0},
    {"rows", KEY_ROWS, "N", 0, "rows of a table (25)", 0},
    {"color", KEY_COLOR, "WHEN", 0, "always, never or auto (default)", 0},
    {0},
};

static unsigned long count_of(const char *option, const char *text)
{
    char *end;
    unsigned long count = strtoul(text, &end, 10);

    if (end == text || *end != '\0' || *text == '-' || count == 0)
        die_usage("%s takes a number of at least 1, not '%s'", option, text);
    return count;
}

static enum top_sort sort_of(const char *word, bool sites)
{
    static const char *const names[TOP_SORTS] = {
        [TOP_BY_SELF] = "self",       [TOP_BY_TOTAL] = "total",
        [TOP_BY_NAME] = "name",       [TOP_BY_LONGEST] = "longest",
        [TOP_BY_DELAY] = "delay",     [TOP_BY_CALLS] = "calls",
        [TOP_BY_PENDING] = "pending",
    };
    unsigned i = 0;

    if (sites && strcmp(word, "own") == 0)
        return TOP_BY_SELF;
    while (i < TOP_SORTS && strcmp(names[i], word) != 0)
        ++i;
    if (sites && (i == TOP_SORTS || i == TOP_BY_SELF))
        die_usage("-s takes own, total, longest, delay, calls, pending or name "
                  "with --loop, not '%s'",
                  word);
    if (!sites && i >= TOP_BY_LONGEST)
        die_usage("-s takes self, total or name, not '%s'", word);
    return (enum top_sort)i;
}

static error_t parse_form(int key, char *word, struct top_run *run)
{
    switch (key) {
    case KEY_STDIO:
        run->stdio = true;
        break;
    case KEY_ROWS:
        run->rows = count_of("--rows", word);
        break;
    case KEY_COLOR:
        run->color = color_when(word);
        break;
    case KEY_WEIGHT:
        run->weight = view_weight_of(word);
        break;
    default:
        return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

static error_t parse(int key, char *word, struct argp_state *state)
{
    struct top_run *run = state->input;

    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &run->request;
        break;
    case KEY_DELAY:
        run->delay = request_number("--delay", word);
        break;
    case 'n':
        run->updates = count_of("-n", word);
        break;
    case 's':
        run->sort = word;
        break;
    case KEY_LOOP:
        run->sites = true;
        break;
    case KEY_ATTACH:
        attaches = true;
        break;
    case ARGP_KEY_END:
        if (run->sort != NULL)
            run->ui.sort = sort_of(run->sort, run->sites);
        break;
    case KEY_FILTER:
        if (!top_filter(&run->ui, word))
            die_usage("'%s' is not a regular expression: %s", word,
                      run->ui.problem);
        break;
    default:
        return parse_form(key, word, run);
    }
    return 0;
}

/* Has the guest sampled from outside. */
static void attach(struct top_run *run)
{
    struct request *request = &run->request;

    if (run->sites)
        die_usage("--loop needs a guest that counts; --attach sees functions");
    if (request->sender.count > 0 || request->control != NULL)
        die_usage("--send and --control are not for --attach");
    request_check(request);
    request->sender.count = 0; /* the rate is not for the guest */
    top_attach(request);
}

int command_top(int argc, char **argv)
{
    static const struct argp_child children[] = {
        {&request_argp, 0, NULL, 0},
        {0},
    };
    static const struct argp argp = {
        options, parse, "TARGET\n-- QEMU-COMMAND...", help_text, children,
        0,       0};
    static struct top_run run = {
        .request = REQUEST_NOTHING,
        .delay = 1,
        .rows = ROWS_USUAL,
        .color = "auto",
        .weight = MODEL_CLOCKS,
    };
    struct image image = {0};

    argc = request_split(&run.request, argc, argv);
    arguments_parse(&argp, argc, argv, &run);
    if (attaches)
        attach(&run);
    request_check(&run.request);
    run.stdio = run.stdio || !isatty(STDOUT_FILENO);
    if (run.request.image != NULL)
        image_open(&image, run.request.image);
    return top_loop(&run, &image);
}
