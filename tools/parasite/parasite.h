/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PARASITE_H
#define PARASITE_H

/*
 * What every sub-command shares: its status, how it talks, and memory.
 *
 * Results go to stdout, talk to stderr, one line each and beginning with the
 * command's name. A command returns its status; fail() and misuse() end the
 * process where there is nothing left to save.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STATUS_FINE 0
#define STATUS_DATA 1  /* what was read is bad, or cannot be read */
#define STATUS_USAGE 2 /* what was asked for makes no sense */

/* The command's name as talk shows it, "parasite record". */
extern const char *parasite_name;

/* Set by -q: say() is silent. */
extern bool parasite_quiet;

/* Set by -v: detail() is not silent. */
extern bool parasite_verbose;

/* One line of talk. */
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The same, with -v only. */
void detail(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The same, even with -q. */
void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* One line, then the end with STATUS_DATA or STATUS_USAGE. */
_Noreturn void fail(const char *format, ...)
    __attribute__((format(printf, 1, 2)));
_Noreturn void misuse(const char *format, ...)
    __attribute__((format(printf, 1, 2)));

/* realloc() to (count) elements of (bytes); ends the process without memory. */
void *grown(void *old, size_t count, size_t bytes);

/* A copy of (text) that is never freed by anybody else. */
char *copied(const char *text);

/* Makes room for one element more in *(vector), a pointer to elements of
 * (bytes) of which (used) are in use; the room doubles when it is full. */
void room_for_one(void *vector, size_t used, size_t bytes);

#endif
