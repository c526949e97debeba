/* SPDX-License-Identifier: Apache-2.0 */
/* parasite top: what a guest does at the moment. */

#include "commands.h"
#include "parasite.h"
#include "top_watch.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ROWS_USUAL 25

static const char help_text[] =
    "Show what a guest does at the moment: on a terminal a screen with keys "
    "(? tells which), otherwise a table after the other."
    "\vTARGET is as for 'parasite record'. A guest that restarts is followed. "
    "With -- the guest is started, what it prints is shown at the end, and its "
    "exit code becomes ours.\n\n"
    "For example:\n"
    "  parasite top -k image.elf unix:stream.sock\n"
    "  parasite top -F 999 -- qemu-system-x86_64 -kernel image.elf -display "
    "none\n"
    "  parasite top --stdio -n 3 --delay 5 -k image.elf tcp:localhost:5555";

enum {
    KEY_DELAY = 2048,
    KEY_STDIO,
    KEY_ROWS,
    KEY_COLOR,
    KEY_WEIGHT,
    KEY_FILTER
};

static const struct argp_option options[] = {
    {"delay", KEY_DELAY, "SECONDS", 0, "between two looks (1)", 0},
    {"iterations", 'n', "N", 0, "end after so many looks", 0},
    {"sort", 's', "KEY", 0, "self (default), total or name", 0},
    {"filter", KEY_FILTER, "REGEX", 0, "only functions that fit it", 0},
    {"weight", KEY_WEIGHT, "WHAT", 0, "count samples (default) or time", 0},
    {"stdio", KEY_STDIO, NULL, 0, "tables, also on a terminal", 0},
    {"rows", KEY_ROWS, "N", 0, "of a table (25)", 0},
    {"color", KEY_COLOR, "WHEN", 0, "always, never or auto (default)", 0},
    {0},
};

static unsigned long count_of(const char *option, const char *text)
{
    char *end;
    unsigned long count = strtoul(text, &end, 10);

    if (end == text || *end != '\0' || *text == '-' || count == 0)
        misuse("%s takes a number from 1 on, not '%s'", option, text);
    return count;
}

static enum top_sort sort_of(const char *word)
{
    static const char *const names[] = {[TOP_BY_SELF] = "self",
                                        [TOP_BY_TOTAL] = "total",
                                        [TOP_BY_NAME] = "name"};
    size_t i = 0;

    while (i < 3 && strcmp(names[i], word) != 0)
        ++i;
    if (i == 3)
        misuse("-s takes self, total or name, not '%s'", word);
    return (enum top_sort)i;
}

static error_t parse_form(int key, char *word, struct watching *watching)
{
    switch (key) {
    case KEY_STDIO:
        watching->stdio = true;
        break;
    case KEY_ROWS:
        watching->rows = count_of("--rows", word);
        break;
    case KEY_COLOR:
        watching->color = word;
        break;
    case KEY_WEIGHT:
        watching->by_time = strcmp(word, "time") == 0;
        if (!watching->by_time && strcmp(word, "samples") != 0)
            misuse("--weight is samples or time, not '%s'", word);
        break;
    default:
        return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

static error_t parse(int key, char *word, struct argp_state *state)
{
    struct watching *watching = state->input;

    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &watching->request;
        break;
    case KEY_DELAY:
        watching->delay = request_number("--delay", word);
        break;
    case 'n':
        watching->looks = count_of("-n", word);
        break;
    case 's':
        watching->ui.sort = sort_of(word);
        break;
    case KEY_FILTER:
        if (!top_filter(&watching->ui, word))
            misuse("'%s' is no regular expression: %s", word,
                   watching->ui.problem);
        break;
    default:
        return parse_form(key, word, watching);
    }
    return 0;
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
    static struct watching watching = {
        .request = REQUEST_NOTHING,
        .delay = 1,
        .rows = ROWS_USUAL,
        .color = "auto",
    };
    struct image image = {0};

    argc = request_split(&watching.request, argc, argv);
    argp_parse(&argp, argc, argv, 0, NULL, &watching);
    request_check(&watching.request);
    watching.stdio = watching.stdio || !isatty(STDOUT_FILENO);
    if (watching.request.image != NULL)
        image_open(&image, watching.request.image);
    return top_watch(&watching, &image);
}
