/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_COMMANDS_H
#define CLI_COMMANDS_H

/* The subcommands. Each is called like main(), argv[0] being "parasite NAME",
 * and returns the exit status. */

int command_record(int argc, char **argv);
int command_attach(int argc, char **argv);
int command_tell(int argc, char **argv);
int command_top(int argc, char **argv);
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
int command_embed(int argc, char **argv);
int command_demangle(int argc, char **argv);

#endif
