/* SPDX-License-Identifier: Apache-2.0 */

/* The statistics of the event loop, as options ask for them. */

#include "base/alloc.h"
#include "base/cpu.h"
#include "base/options.h"
#include "control/control.h"
#include "loop/loop.h"
#include "sample/cpus.h"

#include <prof/config.h>
#include <prof/error.h>
#include <prof/loop_stats.h>
#include <prof/port.h>
#include <prof/prof.h>
#include <prof/trace.h>

void prof_loop_set_limits(uint64_t held_cycles, uint64_t freeze_cycles,
                          bool trigger)
{
    if (PROF_WITH_LOOP)
        prof_loop_limit(held_cycles, freeze_cycles,
                        trigger ? prof_trace_trigger : NULL);
}

void prof_loop_report(uint32_t rows)
{
    if (PROF_WITH_LOOP)
        prof_loop_write_table(rows, PROF_OPTION(loop_by), PROF_OPTION(width));
}

/* Where there is no memory for calls the rest goes on without them. */
static int start_calls(uint32_t count)
{
    size_t bytes = prof_loop_calls_bytes(count);
    void *memory = count != 0 ? prof_alloc(bytes) : NULL;
    int error = count != 0 ? prof_loop_count_calls(memory, count) : PROF_OK;

    if (error != PROF_OK && memory != NULL)
        prof_free(memory);
    return error;
}

#if PROF_CPUS_MAX > 1
/* The table says for how many there is none. */
static void give_others_memory(void)
{
    for (uint32_t i = 1; i < prof_cpu_count(); i++) {
        void *memory = prof_alloc(prof_loop_cpu_bytes());

        if (memory != NULL)
            (void)prof_loop_open_cpu(i, memory);
    }
}
#endif

int prof_loop_start(void)
{
    const struct prof_options *options = prof_options();
    const uint64_t tsc_hz = prof_control_config()->tsc_hz;
    const uint64_t ms = prof_divide(tsc_hz, 1000);
    size_t bytes = (size_t)options->loop_kib * 1024;
    void *memory;
    int error;

    if (!PROF_WITH_LOOP || options->loop_rows == 0)
        return PROF_OK;
    memory = prof_alloc(bytes);
    error = prof_loop_open(memory, bytes, tsc_hz);
    if (error != PROF_OK) {
        if (memory != NULL)
            prof_free(memory);
        return error;
    }
    prof_loop_set_limits(options->loop_held_ms * ms,
                         options->loop_freeze_ms * ms, options->loop_trigger);
    error = start_calls(options->loop_calls);
#if PROF_CPUS_MAX > 1
    give_others_memory();
#endif
    return error;
}
