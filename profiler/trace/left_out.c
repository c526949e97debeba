/* SPDX-License-Identifier: Apache-2.0 */

/* Replaces this room if PROF_WITH_TRACE is 0 (<prof/config.h>): the calls of a
 * runtime are nothing then, and these remain. */

#include <prof/error.h>
#include <prof/trace.h>

#if PROF_WITH_TRACE
#error "this is compiled only without the recorder; see tools/build/sources.py"
#endif

int prof_trace_open(void *memory, size_t bytes)
{
    (void)memory;
    (void)bytes;
    return PROF_EABSENT;
}

int prof_trace_set_mode(enum prof_trace_mode mode)
{
    return mode == PROF_TRACE_OFF ? PROF_OK : PROF_EABSENT;
}

enum prof_trace_mode prof_trace_mode(void)
{
    return PROF_TRACE_OFF;
}

int prof_trace_dump(void)
{
    return PROF_EABSENT;
}

void prof_trace_trigger(void)
{
}

void prof_trace_stats(struct prof_trace_stats *stats)
{
    *stats = (struct prof_trace_stats){0};
}
