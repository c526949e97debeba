/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_LOG_H
#define BASE_LOG_H

/*
 * Exit statuses, and messages on stderr.
 *
 * Results go to stdout, messages to stderr: one line each, beginning with the
 * command's name. A command returns its status; die() and die_usage() end the
 * process where nothing is left to save.
 */

#include <stdbool.h>
#include <stdio.h>

#define STATUS_OK 0
#define STATUS_DATA 1  /* the input is bad or cannot be read */
#define STATUS_USAGE 2 /* the options make no sense */

/* The command's name in messages, "parasite record". */
extern const char *log_name;

/* Set by -q: log_info() prints nothing. */
extern bool log_quiet;

/* Set by -v: log_verbose() prints. */
extern bool log_is_verbose;

/* Prints one line, unless -q. */
void log_info(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Prints one line with -v only. */
void log_verbose(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Prints one line, even with -q. */
void log_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Prints one line and exits with STATUS_DATA or STATUS_USAGE. */
_Noreturn void die(const char *format, ...)
    __attribute__((format(printf, 1, 2)));
_Noreturn void die_usage(const char *format, ...)
    __attribute__((format(printf, 1, 2)));

/* Whether progress is shown: stderr is a terminal, and no -q was given. */
bool log_shows_progress(void);

/* Prints a line that the next one overwrites. */
void log_progress(const char *format, ...)
    __attribute__((format(printf, 1, 2)));

/* While the terminal is a screen, messages go to (file); NULL = to stderr
 * again. log_last() returns the last message since then, "" = none. */
void log_redirect(FILE *file);
const char *log_last(void);

/* Prints a command's closing line, without its name. */
void log_summary(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
