/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_SITE_H
#define PROF_SITE_H

/*
 * Names and source locations that a runtime passes to the task recorder
 * (<prof/trace.h>) and to the statistics of the event loop (<prof/loop.h>).
 */

#include <stdint.h>

/*
 * A constant name, or a site: a source location that creates objects. The
 * profiler numbers it at its first use and keeps a pointer to it, so it MUST be
 * static. Only the profiler changes it.
 */
struct prof_trace_name {
    const char *text; /* NUL-terminated; MUST remain valid */
    const char *file; /* of a site; NULL: a name only */
    uint32_t line;    /* of a site */
    uint32_t tag;     /* private: number << 16; 0 before the first use */
    uint32_t loop;    /* private: number in <prof/loop.h>; 0: none yet */
};

/*
 * A counter that the program increments: its name, and the sum of the
 * increments recorded. It MUST be static. Only the task recorder changes it.
 */
struct prof_trace_sum {
    struct prof_trace_name name;
    int64_t value __attribute__((aligned(8))); /* for atomic additions */
};

/* Define (variable): a name, a site at this source location, or a counter
 * called (text). Precede by "static". */

#define PROF_TRACE_NAME(variable, text)                                        \
    struct prof_trace_name variable = {text, 0, 0, 0, 0}
#define PROF_TRACE_SITE(variable, text)                                        \
    struct prof_trace_name variable = {text, __FILE__, __LINE__, 0, 0}
#define PROF_TRACE_COUNTER(variable, text)                                     \
    struct prof_trace_sum variable = {{text, 0, 0, 0, 0}, 0}

#endif
