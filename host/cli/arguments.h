/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_ARGUMENTS_H
#define CLI_ARGUMENTS_H

/* The subcommands, and their command lines as tables. */

#include "base/options.h"

/* Like main(), with argv[0] "parasite NAME"; each returns the exit status. */
int command_record(int argc, char **argv);
int command_attach(int argc, char **argv);
int command_tell(int argc, char **argv);
int command_top(int argc, char **argv);
int command_serve(int argc, char **argv);
int command_report(int argc, char **argv);
int command_annotate(int argc, char **argv);
int command_diff(int argc, char **argv);
int command_script(int argc, char **argv);
int command_info(int argc, char **argv);
int command_tasks(int argc, char **argv);
int command_loop(int argc, char **argv);
int command_causal(int argc, char **argv);
int command_export(int argc, char **argv);
int command_open(int argc, char **argv);
int command_timeline(int argc, char **argv);
int command_flame(int argc, char **argv);
int command_store(int argc, char **argv);
int command_sql(int argc, char **argv);
int command_fleet(int argc, char **argv);
int command_embed(int argc, char **argv);
int command_demangle(int argc, char **argv);

struct command_line {
    const struct argument *options;
    const char *words; /* what --help calls the other words, "[TRACE]" */
    const char *help;  /* the text after \v comes after the options */

    /* Takes a word that is no option; false: it is for (child). NULL = all. */
    bool (*take)(char *word);

    /* The trace to read, with an option -i, instead of (take). */
    const char **trace;

    /* Options of another room, or NULL, and what they fill in. */
    const struct argument_set *child;
    void *child_owner;
};

/* Parses the arguments of a subcommand: the options of (line), and -h, --help,
 * --usage and --version. Ends the process if they make no sense. */
void arguments_parse(const struct command_line *line, int argc, char **argv);

/* Prints the version on stdout. */
void arguments_print_version(void);

/* For the option --color: ends the process unless (word) is one of its. */
void arguments_color(char *word);

/* The whole number, or the number, that the argument (word) of (option) is.
 * Ends the process unless it is from (least) to (most). */
unsigned long arguments_whole(const char *option, const char *word,
                              unsigned long least, unsigned long most);
double arguments_number(const char *option, const char *word, double least,
                        double most);

/* The seconds of a time such as 90s, 5m, 1h or 30d. Ends the process unless
 * they are (least) at least. */
double arguments_seconds(const char *option, const char *word, double least);

/* The word of --rows, 0 = all; ends the process if it is no number. */
unsigned long arguments_rows(const char *word);

/* What is drawn: *(path) is a page's file or, with *(svg), a picture's. NULL
 * becomes (name) with that ending; otherwise its ending decides. Ends the
 * process if the two contradict each other. */
void arguments_choose_output(const char **path, const char *name, bool *svg);

/* The ending of the file name (path), ".html"; "" if it has none. */
const char *arguments_ending(const char *path);

#endif
