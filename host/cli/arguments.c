/* SPDX-License-Identifier: Apache-2.0 */
/* Options of every subcommand. argp has --help too, but not -h. */

#include "cli/arguments.h"

#include "base/log.h"
#include "base/memory.h"
#include "trace/trace.h"

#include <argp.h>
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

static int key_of(const struct argument *option, size_t number)
{
    return option->letter != 0 ? option->letter : (int)(FIRST_KEY + number);
}

/* The option (number) of all, *(owner) being its set's; NULL: no more. */
static const struct argument *option_at(const struct command_line *line,
                                        size_t number, void **owner)
{
    const struct argument *option = line->options;
    const struct argument_set *set = line->child;

    *owner = NULL;
    for (;;) {
        for (; option->name != NULL || option->letter != 0; ++option)
            if (number-- == 0)
                return option;
        if (set == NULL)
            return NULL;
        *owner = line->child_owner;
        option = set->options;
        set = set->also;
    }
}

/* All options as argp has them, to be freed. */
static struct argp_option *options_of(const struct command_line *line)
{
    struct argp_option *all = NULL;
    const struct argument *option;
    size_t count = 0;
    void *owner;

    while ((option = option_at(line, count, &owner)) != NULL)
        VECTOR_ADD(all, count,
                   (struct argp_option){
                       option->name, key_of(option, count), option->word,
                       (option->hidden ? OPTION_HIDDEN : 0) |
                           (option->is_optional ? OPTION_ARG_OPTIONAL : 0),
                       option->help, option->group});
    if (line->trace != NULL)
        VECTOR_ADD(all, count,
                   (struct argp_option){"input", 'i', "TRACE", 0,
                                        "the trace to read (default: x.trace)",
                                        0});
    for (size_t i = 0; i < sizeof common / sizeof *common; ++i)
        VECTOR_ADD(all, count, common[i]);
    return all;
}

static error_t take_word(const struct command_line *line, char *word)
{
    static bool has_trace;

    if (line->trace != NULL)
        trace_choose(line->trace, &has_trace, word);
    else if (line->take != NULL && line->take(word))
        return 0;
    else if (line->child != NULL)
        line->child->take(line->child_owner, word);
    else
        return ARGP_ERR_UNKNOWN;
    return 0;
}

static void take_option(const struct argument *option, void *owner, char *word)
{
    char *at = owner;

    if (option->flag != NULL)
        *option->flag = true;
    if (option->text != NULL)
        *option->text = word;
    if (option->take != NULL)
        option->take(word);
    if (option->flag_at != 0)
        *(bool *)(at + option->flag_at) = true;
    if (option->text_at != 0)
        *(const char **)(void *)(at + option->text_at) = word;
    if (option->take_for != NULL)
        option->take_for(owner, word);
}

static error_t parse(int key, char *word, struct argp_state *state)
{
    const struct command_line *line = state->input;
    const struct argument *option;
    void *owner;

    if (key == ARGP_KEY_ARG || (key == 'i' && line->trace != NULL))
        return take_word(line, word);
    if (key == 'h' || key == '?')
        argp_state_help(state, stdout, ARGP_HELP_STD_HELP);
    if (key == KEY_USAGE)
        argp_state_help(state, stdout, ARGP_HELP_USAGE | ARGP_HELP_EXIT_OK);
    if (key == KEY_VERSION) {
        arguments_print_version();
        exit(STATUS_OK);
    }
    for (size_t i = 0; (option = option_at(line, i, &owner)) != NULL; ++i) {
        if (key != key_of(option, i))
            continue;
        take_option(option, owner, word);
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
    struct argp_option *options = options_of(line);
    const struct argp argp = {options, parse,  line->words, line->help,
                              NULL,    filter, NULL};
    error_t problem;

    if (line->child != NULL && line->child->begin != NULL)
        line->child->begin(line->child_owner);
    problem = argp_parse(&argp, argc, argv, ARGP_NO_HELP, NULL, (void *)line);
    free(options);
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

double arguments_seconds(const char *option, const char *word, double least)
{
    static const char units[] = "smhd";
    static const double seconds[] = {1, 60, 3600, 86400};
    char *end;
    double number = strtod(word, &end);
    const char *unit = *end != '\0' ? strchr(units, *end) : units;

    if (end == word || unit == NULL || !(number > 0 && number <= 1e6) ||
        (*end != '\0' && end[1] != '\0'))
        die_usage("%s takes a time such as 90s, 5m, 1h or 30d, not '%s'",
                  option, word);
    number *= seconds[unit - units];
    if (number < least)
        die_usage("%s takes %g s at least, not '%s'", option, least, word);
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
