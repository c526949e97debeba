/* SPDX-License-Identifier: Apache-2.0 */
/* Options of every subcommand. argp has --help too, but not -h. */

#include "cli/arguments.h"

#include "base/log.h"
#include "base/version.h"

#include <prof/format.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KEY_USAGE = 4096, KEY_VERSION };

static const struct argp_option options[] = {
    {"help", 'h', NULL, 0, "show this help", -1},
    {NULL, '?', NULL, OPTION_ALIAS | OPTION_HIDDEN, NULL, -1},
    {"usage", KEY_USAGE, NULL, 0, "show all options in short", -1},
    {"version", KEY_VERSION, NULL, 0, "show the version", -1},
    {0},
};

void arguments_print_version(void)
{
    printf("parasite %s (stream format %d)\n", PARASITE_VERSION,
           PROF_FORMAT_VERSION);
}

static error_t parse(int key, char *word, struct argp_state *state)
{
    (void)word;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = state->input;
        break;
    case 'h':
    case '?':
        argp_state_help(state, stdout, ARGP_HELP_STD_HELP);
        break;
    case KEY_USAGE:
        argp_state_help(state, stdout, ARGP_HELP_USAGE | ARGP_HELP_EXIT_OK);
        break;
    case KEY_VERSION:
        arguments_print_version();
        exit(STATUS_OK);
    default:
        return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

/* Without argp's note about arguments of short options. */
static char *filter(int key, const char *text, void *input)
{
    (void)input;
    return key == ARGP_KEY_HELP_DUP_ARGS_NOTE ? NULL : (char *)text;
}

void arguments_parse(const struct argp *argp, int argc, char **argv,
                     void *input)
{
    const struct argp_child children[] = {{argp, 0, NULL, 0}, {0}};
    const struct argp all = {options,  parse,  NULL, NULL,
                             children, filter, NULL};
    error_t problem = argp_parse(&all, argc, argv, ARGP_NO_HELP, NULL, input);

    if (problem != 0)
        die_usage("%s", strerror(problem));
    if (log_quiet && log_is_verbose)
        die_usage("-q and -v contradict each other");
}

unsigned long arguments_rows(const char *word)
{
    char *end;
    long rows = strtol(word, &end, 10);

    if (end == word || *end != '\0' || rows < 0)
        die_usage("--rows takes a number, 0 for all, not '%s'", word);
    return (unsigned long)rows;
}

const char *arguments_ending(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash != NULL ? slash + 1 : path;
    const char *dot = strrchr(name, '.');

    return dot != NULL && dot != name ? dot : "";
}

void arguments_choose_output(const char **path, const char *name, bool *svg)
{
    static char own[64];
    const char *ending;

    if (*path == NULL) {
        snprintf(own, sizeof own, "%s.%s", name, *svg ? "svg" : "html");
        *path = own;
    }
    ending = arguments_ending(*path);
    if (strcmp(ending, ".svg") == 0)
        *svg = true;
    else if (*ending != '\0' && strcmp(ending, ".html") != 0 &&
             strcmp(ending, ".htm") != 0)
        die_usage("%s: '%s' is not supported; give .html for a page or .svg "
                  "for a picture",
                  *path, ending);
    else if (*ending != '\0' && *svg)
        die_usage("%s: --svg draws a picture, whose name ends with .svg",
                  *path);
}
