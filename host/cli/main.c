/* SPDX-License-Identifier: Apache-2.0 */
/* parasite: working with profiles on the host. The first word is a subcommand,
 * which parses the rest. */

#include "base/log.h"
#include "base/output.h"
#include "base/wait.h"
#include "cli/arguments.h"

#include <argp.h>
#include <stdio.h>
#include <string.h>

static const struct {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *help;
} commands[] = {
    {"record", command_record, "record a guest's profile into a trace"},
    {"attach", command_attach,
     "sample any guest from outside, through its VMM's GDB stub"},
    {"tell", command_tell, "send commands to a guest: start, stop, rate, ..."},
    {"top", command_top, "show what a guest is doing now"},
    {"report", command_report, "show where the time went"},
    {"annotate", command_annotate,
     "show functions by source line and instruction"},
    {"diff", command_diff, "show what changed between two traces"},
    {"script", command_script, "print every sample and event"},
    {"info", command_info, "show what a trace contains and what was lost"},
    {"tasks", command_tasks, "show what tasks did and what they wait for"},
    {"loop", command_loop, "show which tasks held the event loop"},
    {"causal", command_causal,
     "show what would become faster, and by how much"},
    {"export", command_export, "convert a trace to another tool's format"},
    {"flame", command_flame,
     "draw a flame graph, as an HTML page or a picture"},
    {"timeline", command_timeline,
     "draw tasks and promises over time, as an HTML page"},
    {"open", command_open, "show a trace in the browser"},
    {"serve", command_serve,
     "take the streams of many guests, for a store and for live readers"},
    {"store", command_store,
     "keep many guests' sums: the embedded store, and copies of one"},
    {"sql", command_sql, "ask a store, or a trace, in SQL"},
    {"fleet", command_fleet,
     "show many guests: a table, functions, builds, odd ones"},
    {"embed", command_embed, "give a linked image the names of its functions"},
    {"demangle", command_demangle, "demangle C++, Rust and OCaml names"},
};
#define COMMANDS (sizeof commands / sizeof commands[0])

static void print_help(FILE *out)
{
    fputs("usage: parasite [--no-pager] COMMAND [OPTION...]\n"
          "       parasite -h | --help | --version\n\n",
          out);
    for (size_t i = 0; i < COMMANDS; ++i)
        fprintf(out, "  %-10s%s\n", commands[i].name, commands[i].help);
    fputs("\n'parasite COMMAND --help' shows the options of a command. "
          "For example:\n"
          "  parasite record -d 10 -- \\\n"
          "    qemu-system-x86_64 -kernel image.elf -display none\n"
          "  parasite report x.trace\n",
          out);
}

static bool is_word(const char *word, const char *one, const char *other)
{
    return strcmp(word, one) == 0 || strcmp(word, other) == 0;
}

static int run_command(int argc, char **argv)
{
    static char name[64];

    for (size_t i = 0; i < COMMANDS; ++i) {
        if (strcmp(argv[0], commands[i].name) != 0)
            continue;
        snprintf(name, sizeof name, "parasite %s", argv[0]);
        log_name = argv[0] = name;
        return commands[i].run(argc, argv);
    }
    log_error("'%s' is not a command; 'parasite --help' lists them", argv[0]);
    return STATUS_USAGE;
}

/* "help COMMAND" is "COMMAND --help". */
static int help(const char *command)
{
    char *words[] = {(char *)command, (char *)"--help", NULL};

    return run_command(2, words);
}

int main(int argc, char **argv)
{
    output_check();
    signals_explain();
    argp_err_exit_status = STATUS_USAGE;
    if (argc > 1 && strcmp(argv[1], "--no-pager") == 0) {
        pager_off();
        --argc;
        ++argv;
    }
    if (argc < 2) {
        print_help(stderr);
        return STATUS_USAGE;
    }
    if (argc > 2 && strcmp(argv[1], "help") == 0)
        return help(argv[2]);
    if (is_word(argv[1], "-h", "--help") || strcmp(argv[1], "help") == 0) {
        print_help(stdout);
        return STATUS_OK;
    }
    if (is_word(argv[1], "--version", "version")) {
        arguments_print_version();
        return STATUS_OK;
    }
    return run_command(argc - 1, argv + 1);
}
