/* SPDX-License-Identifier: Apache-2.0 */
/*
 * parasite: what the host does for a profiled image. This file only finds the
 * sub-command in the table below and hands it the rest of the line.
 */

#include "commands.h"

#include <argp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct command {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *purpose;
};

static const struct command commands[] = {
    {"demangle", parasite_demangle,
     "print C++, Rust and OCaml names as their source has them"},
};

#define COMMANDS (sizeof commands / sizeof commands[0])

/* The table as the end of --help. argp frees it. */
static char *help_filter(int key, const char *text, void *input)
{
    char *help = NULL;
    size_t bytes;
    FILE *out;

    (void)input;
    if (key != ARGP_KEY_HELP_POST_DOC)
        return (char *)text;
    out = open_memstream(&help, &bytes);
    if (out == NULL)
        return (char *)text;
    fputs("Commands:\n", out);
    for (size_t i = 0; i < COMMANDS; i++)
        fprintf(out, "  %-12s %s\n", commands[i].name, commands[i].purpose);
    fputs("\n`parasite COMMAND --help' tells more.", out);
    fclose(out);
    return help;
}

static const struct command *find(const char *name)
{
    for (size_t i = 0; i < COMMANDS; i++)
        if (strcmp(commands[i].name, name) == 0)
            return &commands[i];
    return NULL;
}

struct choice {
    const struct command *command;
    int first; /* its place in argv */
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct choice *choice = state->input;

    switch (key) {
    case ARGP_KEY_ARG:
        choice->command = find(arg);
        if (choice->command == NULL)
            argp_error(state, "there is no command `%s'", arg);
        choice->first = state->next - 1;
        state->next = state->argc;
        return 0;
    case ARGP_KEY_NO_ARGS: argp_error(state, "which command?"); return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

int main(int argc, char **argv)
{
    static const struct argp argp = {
        .parser = parse,
        .args_doc = "COMMAND [ARGUMENT...]",
        .doc = "The host's side of Parasite, the profiler inside unikernels."
               "\v ",
        .help_filter = help_filter,
    };
    struct choice choice = {NULL, 0};
    char name[64];

    if (argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &choice) != 0 ||
        choice.command == NULL)
        return EXIT_FAILURE;
    snprintf(name, sizeof name, "parasite %s", choice.command->name);
    argv[choice.first] = name;
    return choice.command->run(argc - choice.first, argv + choice.first);
}
