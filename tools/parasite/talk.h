/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TALK_H
#define TALK_H

/* Numbers as people read them, and lines that are for a terminal only. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define TALK_NUMBER 32

/* "1,234,567"; returns (text), which has room for TALK_NUMBER. */
const char *talk_count(uint64_t number, char *text);

/* "1.2 MB"; the same. */
const char *talk_bytes(uint64_t bytes, char *text);

/* Whether progress is shown: stderr is a terminal, and -q was not said. */
bool talk_progress(void);

/* A line that the next one overwrites. */
void talk_line(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* While the terminal is a screen, say() and its kin write to (file); NULL =
 * again to stderr. talk_last() is the last of these lines, "" = none. */
void talk_aside(FILE *file);
const char *talk_last(void);

/* The last line of a command, in brackets instead of with its name. */
void talk_closing(const char *format, ...)
    __attribute__((format(printf, 1, 2)));

/* Whether results may be coloured: (when) is "always", "never" or "auto",
 * which asks for a terminal and for no NO_COLOR. */
bool talk_color(const char *when);

#endif
