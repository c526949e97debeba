/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_COMMAND_H
#define PROF_COMMAND_H

/*
 * Commands from outside, one a line, words parted by blanks:
 *
 *     start            sample
 *     stop             stop sampling; what was sampled stays
 *     rate HZ          sample at HZ
 *     depth N          take up to N callers with each sample, 0 = none
 *     stacks on|off    take callers at the depth of the command line, or none
 *     reset            forget all samples
 *     hello            say again what a new listener must know
 *     report           print the table now
 *
 * Both of these are pure: they touch nothing but their arguments.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PROF_COMMAND_MAX 47u /* bytes of a line, without its end */

enum prof_command_kind {
    PROF_COMMAND_NONE, /* an empty line */
    PROF_COMMAND_START,
    PROF_COMMAND_STOP,
    PROF_COMMAND_RATE,   /* value: Hz, not 0 */
    PROF_COMMAND_DEPTH,  /* value: callers */
    PROF_COMMAND_STACKS, /* value: 1 on, 0 off */
    PROF_COMMAND_RESET,
    PROF_COMMAND_HELLO,
    PROF_COMMAND_REPORT,
    PROF_COMMAND_BAD, /* none of these; error says what is wrong */
};

struct prof_command {
    enum prof_command_kind kind;
    uint32_t value;
    const char *error; /* a constant, NULL unless BAD */
};

/* What (line) says. Linear in its length. */
struct prof_command prof_command(const char *line);

/* A line in the making. All 0 at first. */
struct prof_command_line {
    char text[PROF_COMMAND_MAX + 1]; /* ends with a NUL once it is complete */
    uint32_t used;
    bool too_long; /* text is only its beginning */
    bool complete; /* the next byte begins the next line */
};

/*
 * Adds (byte). True: the line is complete, which a newline or a carriage return
 * makes it. What cannot be printed becomes a '?'.
 */
bool prof_command_add(struct prof_command_line *line, uint8_t byte);

#endif
