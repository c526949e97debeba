/* SPDX-License-Identifier: Apache-2.0 */

/* The recorder's memory and mode, as options and commands ask for them. */

#include "base/alloc.h"
#include "control/control.h"
#include "trace/stacks.h"

#include <prof/config.h>
#include <prof/error.h>
#include <prof/port.h>
#include <prof/prof.h>
#include <prof/trace.h>

static bool has_memory;

/* Without memory for stacks the rest is recorded. */
static void open_stacks(void)
{
    const struct prof_range *text = &prof_control_config()->text;
    const uint32_t depth = prof_options()->trace_stacks;
    const size_t bytes = PROF_TRACE_STACKS_KIB * 1024u;
    void *memory = depth != 0 ? prof_alloc(bytes) : NULL;

    if (memory != NULL)
        prof_trace_stacks_open(memory, bytes, text->begin, text->end, depth);
}

/* As much as was asked for, or else as there is. NULL: too little. */
static void *take_memory(size_t *bytes)
{
    uint32_t kib = prof_options()->trace_kib, least = kib;
    void *memory;

    if (kib == 0) {
        kib = PROF_WITH_BUILTIN && prof_pool_in_use() ? PROF_TRACE_KIB_POOL
                                                      : PROF_TRACE_KIB_HEAP;
        least = PROF_TRACE_KIB_LEAST;
    }
    do {
        *bytes = (size_t)kib * 1024;
        memory = prof_alloc(*bytes);
        kib /= 2;
    } while (memory == NULL && kib >= least);
    return memory;
}

static int open_recorder(void)
{
    size_t bytes;
    void *memory;
    int error;

    if (has_memory)
        return PROF_OK;
    memory = take_memory(&bytes);
    error = prof_trace_open(memory, bytes);
    if (error != PROF_OK && memory != NULL)
        prof_free(memory);
    has_memory = error == PROF_OK || error == PROF_ESTATE;
    if (has_memory)
        open_stacks();
    return has_memory ? PROF_OK : error;
}

int prof_trace_command_on(void)
{
    enum prof_trace_mode mode = prof_options()->trace;
    int error = PROF_WITH_TRACE ? open_recorder() : PROF_EABSENT;

    if (error != PROF_OK)
        return error;
    return prof_trace_set_mode(mode != PROF_TRACE_OFF ? mode
                                                      : PROF_TRACE_STREAM);
}

int prof_trace_start(void)
{
    if (!PROF_WITH_TRACE || prof_options()->trace == PROF_TRACE_OFF)
        return PROF_OK;
    return prof_trace_command_on();
}
