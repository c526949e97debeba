/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_SITE_H
#define PROF_SITE_H

/*
 * Names, and places in the source, as a runtime passes them to the recorder
 * (<prof/trace.h>) and to the statistics of the event loop (<prof/loop.h>).
 */

#include <stdint.h>

/*
 * A name of constant text, or a place in the source that creates objects. It
 * gets a number when it is first used. Static, since the recorder keeps a
 * pointer to it; only the recorder changes it.
 */
struct prof_trace_name {
    const char *text; /* NUL-terminated; MUST remain valid */
    const char *file; /* of a place in the source; NULL: a name only */
    uint32_t line;
    uint32_t tag;  /* its number << 16, 0 until it is first used */
    uint32_t loop; /* its number for <prof/loop.h>, the same */
};

/*
 * A counter that the program increases by steps: its name, and the sum of the
 * steps that were recorded. Static as well; only the recorder changes it.
 */
struct prof_trace_sum {
    struct prof_trace_name name;
    int64_t value __attribute__((aligned(8))); /* for atomic additions */
};

#define PROF_TRACE_NAME(variable, text)                                        \
    struct prof_trace_name variable = {text, 0, 0, 0, 0}
#define PROF_TRACE_SITE(variable, text)                                        \
    struct prof_trace_name variable = {text, __FILE__, __LINE__, 0, 0}
#define PROF_TRACE_COUNTER(variable, text)                                     \
    struct prof_trace_sum variable = {{text, 0, 0, 0, 0}, 0}

#endif
