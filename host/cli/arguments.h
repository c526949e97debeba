/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_ARGUMENTS_H
#define CLI_ARGUMENTS_H

/* What the command lines of all subcommands have in common. */

#include <argp.h>
#include <stdbool.h>

/* Parses the arguments of a subcommand: the options of (argp), and -h, --help,
 * --usage and --version. (input) is that of (argp). */
void arguments_parse(const struct argp *argp, int argc, char **argv,
                     void *input);

/* Prints the version on stdout. */
void arguments_print_version(void);

/* The number of rows in the argument (word) of --rows, 0 = all. Ends the
 * process if that is not one. */
unsigned long arguments_rows(const char *word);

/* What is drawn: *(path) is a page's file or, with *(svg), a picture's. NULL
 * becomes (name) with that ending; otherwise its ending decides. Ends the
 * process if the two contradict each other. */
void arguments_choose_output(const char **path, const char *name, bool *svg);

/* The ending of the file name (path), ".html"; "" if it has none. */
const char *arguments_ending(const char *path);

#endif
