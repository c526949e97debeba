/* SPDX-License-Identifier: Apache-2.0 */
/* Options of every subcommand. argp has --help too, but not -h. */

#include "cli/arguments.h"

#include "base/log.h"
#include "base/memory.h"
#include "trace/trace.h"

#include <prof/format.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What --version prints, with the stream's version. */
#define PARASITE_VERSION "0.1-dev"

enum { FIRST_KEY = 256, KEY_USAGE = 4096, KEY_VERSION };

static const struct argp_option common[] = {
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

static error_t parse_common(int key, char *word, struct argp_state *state)
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

static int key_of(const struct argument *option, size_t number)
{
    return option->letter != 0 ? option->letter : (int)(FIRST_KEY + number);
}

/* Its options as argp has them, to be freed. */
static struct argp_option *options_of(const struct command_line *line)
{
    struct argp_option *all = NULL;
    size_t count = 0;

    for (const struct argument *option = line->options;
         option->name != NULL || option->letter != 0; ++option) {
        vector_reserve_one(&all, count, sizeof *all);
        all[count] = (struct argp_option){
            option->name,
            key_of(option, count),
            option->word,
            (option->hidden ? OPTION_HIDDEN : 0) |
                (option->is_optional ? OPTION_ARG_OPTIONAL : 0),
            option->help,
            option->group};
        ++count;
    }
    if (line->trace != NULL) {
        VECTOR_ADD(all, count,
                   (struct argp_option){"input", 'i', "TRACE", 0,
                                        "the trace to read (default: x.trace)",
                                        0});
    }
    vector_reserve_one(&all, count, sizeof *all);
    all[count] = (struct argp_option){0};
    return all;
}

static bool take_word(const struct command_line *line, char *word)
{
    static bool has_trace;

    if (line->trace != NULL) {
        trace_choose(line->trace, &has_trace, word);
        return true;
    }
    return line->take != NULL && line->take(word);
}

static error_t parse_own(int key, char *word, struct argp_state *state)
{
    const struct command_line *line = state->input;
    const struct argument *option = line->options;

    if (key == ARGP_KEY_INIT && line->child != NULL)
        state->child_inputs[0] = line->child_input;
    if (key == ARGP_KEY_ARG || (key == 'i' && line->trace != NULL))
        return take_word(line, word) ? 0 : ARGP_ERR_UNKNOWN;
    for (size_t i = 0; option->name != NULL || option->letter != 0;
         ++i, ++option) {
        if (key != key_of(option, i))
            continue;
        if (option->flag != NULL)
            *option->flag = true;
        if (option->text != NULL)
            *option->text = word;
        if (option->take != NULL)
            option->take(word);
        return 0;
    }
    return ARGP_ERR_UNKNOWN;
}

/* Without argp's note about arguments of short options. */
static char *filter(int key, const char *text, void *input)
{
    (void)input;
    return key == ARGP_KEY_HELP_DUP_ARGS_NOTE ? NULL : (char *)text;
}

void arguments_parse(const struct command_line *line, int argc, char **argv)
{
    const struct argp_child others[] = {{line->child, 0, NULL, 0}, {0}};
    struct argp_option *own = options_of(line);
    const struct argp argp = {own,    parse_own, line->words, line->help,
                              others, NULL,      NULL};
    const struct argp_child children[] = {{&argp, 0, NULL, 0}, {0}};
    const struct argp all = {common,   parse_common, NULL, NULL,
                             children, filter,       NULL};
    error_t problem =
        argp_parse(&all, argc, argv, ARGP_NO_HELP, NULL, (void *)line);

    free(own);
    if (problem != 0)
        die_usage("%s", strerror(problem));
    if (log_quiet && log_is_verbose)
        die_usage("-q and -v contradict each other");
}

void arguments_color(char *word)
{
    if (strcmp(word, "always") != 0 && strcmp(word, "never") != 0 &&
        strcmp(word, "auto") != 0)
        die_usage("--color is always, never or auto, not '%s'", word);
}

unsigned long arguments_whole(const char *option, const char *word,
                              unsigned long least, unsigned long most)
{
    char *end;
    unsigned long number = strtoul(word, &end, 10);

    if (end == word || *end != '\0' || *word == '-' || number < least ||
        number > most)
        die_usage("%s takes %lu to %lu, not '%s'", option, least, most, word);
    return number;
}

double arguments_number(const char *option, const char *word, double least,
                        double most)
{
    char *end;
    double number = strtod(word, &end);

    if (end == word || *end != '\0' || !(number >= least && number <= most))
        die_usage("%s takes %g to %g, not '%s'", option, least, most, word);
    return number;
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
