/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_COMMAND_H
#define PROF_COMMAND_H

/*
 * The commands that are received through a transport, one per line, with words
 * separated by blanks:
 *
 *     start            start sampling
 *     stop             stop sampling; samples are kept
 *     rate HZ          sample at HZ
 *     depth N          record up to N callers per sample, 0 = none
 *     stacks on|off    record prof.depth callers, or none
 *     trace on|off     record tasks (<prof/trace.h>), in the mode prof.trace
 *     trace dump       send the events kept by the flight recorder
 *     loop reset       reset the statistics of the event loop (<prof/loop.h>)
 *     loop report      print their table
 *     causal start     start experiments (<prof/causal.h>)
 *     causal target T  add a target, like prof.target=T
 *     causal stop      stop experiments
 *     causal report    print the results of experiments
 *     reset            discard all samples and counts
 *     hello            send what a new reader of the stream needs
 *     report           print the table
 *
 * This is the parser only. Both functions access only their arguments, so that
 * they can be fuzzed on the host. Contexts: any.
 */

#include <prof/config.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Most bytes of a line, without its end; targets may be long. */
#define PROF_COMMAND_MAX (PROF_WITH_CAUSAL ? 127u : 47u)

#define PROF_COMMAND_DUMP 2u /* value of TRACE */

#define PROF_COMMAND_LOOP_RESET 1u /* values of LOOP */
#define PROF_COMMAND_LOOP_REPORT 2u

#define PROF_COMMAND_CAUSAL_START 1u /* values of CAUSAL */
#define PROF_COMMAND_CAUSAL_STOP 2u
#define PROF_COMMAND_CAUSAL_REPORT 3u

enum prof_command_kind {
    PROF_COMMAND_NONE, /* an empty line */
    PROF_COMMAND_START,
    PROF_COMMAND_STOP,
    PROF_COMMAND_RATE,   /* value: Hz, not 0 */
    PROF_COMMAND_DEPTH,  /* value: callers */
    PROF_COMMAND_STACKS, /* value: 1 on, 0 off */
    PROF_COMMAND_TRACE,  /* value: 1 on, 0 off, PROF_COMMAND_DUMP */
    PROF_COMMAND_LOOP,   /* value: PROF_COMMAND_LOOP_RESET or _REPORT */
    PROF_COMMAND_CAUSAL, /* value: PROF_COMMAND_CAUSAL_... */
    PROF_COMMAND_TARGET, /* name */
    PROF_COMMAND_RESET,
    PROF_COMMAND_HELLO,
    PROF_COMMAND_REPORT,
    PROF_COMMAND_BAD, /* invalid; see (error) */
};

struct prof_command {
    enum prof_command_kind kind;
    uint32_t value;
    const char *name;  /* in the line, to its end; NULL unless TARGET */
    const char *error; /* a constant reason, NULL unless BAD */
};

/* Parses (line), NUL-terminated. Linear in its length. */
struct prof_command prof_command(const char *line);

/* A line that is being received. Zero-initialised. */
struct prof_command_line {
    char text[PROF_COMMAND_MAX + 1]; /* ends with a NUL once it is complete */
    uint32_t used;
    bool too_long; /* text is only its beginning */
    bool complete; /* the next byte begins the next line */
};

/*
 * Appends (byte), or completes the line if it is a newline or a carriage
 * return. Returns whether the line is complete. Non-printable bytes become '?',
 * and those beyond PROF_COMMAND_MAX are discarded (too_long).
 */
bool prof_command_add(struct prof_command_line *line, uint8_t byte);

#endif
