/* SPDX-License-Identifier: Apache-2.0 */
/*
 * parasite: working with profiles on the host. The first word is a subcommand,
 * which parses the rest.
 */

#include "base/log.h"
#include "cli/commands.h"

#include <argp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *help;
} commands[] = {
    {"record", command_record, "write what a guest sends to a trace"},
    {"tell", command_tell, "send a guest commands: start, stop, rate, ..."},
    {"top", command_top, "show what a guest is doing at present"},
    {"report", command_report, "show where the time went"},
    {"annotate", command_annotate,
     "show functions by source line and instruction"},
    {"diff", command_diff, "show what changed between two traces"},
    {"script", command_script, "print each sample"},
    {"info", command_info, "show what a trace contains, and what was lost"},
    {"export", command_export, "turn a trace into another tool's format"},
    {"flame", command_flame, "draw a flame graph, as one HTML page"},
    {"open", command_open, "show a trace in the browser"},
    {"demangle", command_demangle, "demangle C++, Rust and OCaml names"},
};
#define COMMANDS (sizeof commands / sizeof commands[0])

static void print_help(FILE *out)
{
    fputs("usage: parasite COMMAND [OPTION...]\n\n", out);
    for (size_t i = 0; i < COMMANDS; ++i)
        fprintf(out, "  %-10s%s\n", commands[i].name, commands[i].help);
    fputs("\n'parasite COMMAND --help' shows its options. For example:\n"
          "  parasite record -o x.trace -- qemu-system-x86_64 -kernel "
          "image.elf ...\n"
          "  parasite report -i x.trace\n",
          out);
}

int main(int argc, char **argv)
{
    char name[64];

    if (argc < 2) {
        print_help(stderr);
        return STATUS_USAGE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "help") == 0) {
        print_help(stdout);
        return STATUS_OK;
    }
    argp_err_exit_status = STATUS_USAGE;
    for (size_t i = 0; i < COMMANDS; ++i) {
        if (strcmp(argv[1], commands[i].name) != 0)
            continue;
        snprintf(name, sizeof name, "parasite %s", argv[1]);
        log_name = name;
        argv[1] = name;
        return commands[i].run(argc - 1, argv + 1);
    }
    log_error("there is no command '%s'; 'parasite --help' lists them",
              argv[1]);
    return STATUS_USAGE;
}
