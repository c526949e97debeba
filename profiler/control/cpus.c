/* SPDX-License-Identifier: Apache-2.0 */

/* The turn of a further CPU's event loop (<prof/cpus.h>). */

#include "loop/loop.h"
#include "tick/source.h"
#include "trace/send.h"

#include <prof/config.h>
#include <prof/cpus.h>

#if PROF_CPUS_MAX > 1

void prof_cpu_poll(void)
{
    if (prof_cpu_is_first())
        return;
    prof_source_poll();
    if (PROF_WITH_LOOP)
        prof_loop_poll();
    prof_trace_poll();
}

#endif
