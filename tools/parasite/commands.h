/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PARASITE_COMMANDS_H
#define PARASITE_COMMANDS_H

/*
 * The sub-commands of the host's `parasite`. Each gets its own part of the
 * command line, with "parasite NAME" as argv[0], and returns the exit status:
 * 0, or 1 after one clear line on standard error. Wrong usage ends the process
 * with 64 (EX_USAGE), as argp does it.
 */

int parasite_demangle(int argc, char **argv);

#endif
