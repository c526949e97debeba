/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_COMMAND_H
#define PROF_COMMAND_H

/*
 * Commands that come in through a transport, one per line, with words separated
 * by blanks:
 *
 *     start            sample
 *     stop             stop sampling; what was sampled stays
 *     rate HZ          sample at HZ
 *     depth N          record up to N callers per sample, 0 = none
 *     stacks on|off    record as many callers as prof.depth says, or none
 *     trace on|off     record tasks (<prof/trace.h>), as prof.trace says
 *     trace dump       send what the flight recorder has kept
 *     loop reset       forget the statistics of the event loop (<prof/loop.h>)
 *     loop report      print their table now
 *     causal start     begin experiments (<prof/causal.h>)
 *     causal target T  add a target, as prof.target=T does
 *     causal stop      end them
 *     causal report    print what they have shown
 *     reset            discard all samples and counts
 *     hello            repeat what a new reader of the stream needs
 *     report           print the table now
 *
 * Parser only: both functions touch nothing but their arguments, so that they
 * can be fuzzed on the host. Contexts: any.
 */

#include <prof/config.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes of a line, without its end; a target may be a long one. */
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
    PROF_COMMAND_BAD, /* none of these; error says what is wrong */
};

struct prof_command {
    enum prof_command_kind kind;
    uint32_t value;
    const char *name;  /* in the line, to its end; NULL unless TARGET */
    const char *error; /* a constant, NULL unless BAD */
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
