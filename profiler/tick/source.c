/* SPDX-License-Identifier: Apache-2.0 */

/* Which source of ticks there is. */

#include "tick/source.h"

#include "base/cpu.h"
#include "tick/clock.h"
#include "tick/meter.h"
#include "tick/source_gate.h"
#include "tick/source_hook.h"
#include "tick/source_pit.h"

#include <prof/config.h>

const struct prof_source *prof_source_open(const struct prof_config *config)
{
    const struct prof_source *source = NULL;

    if (config->tsc_hz == 0 || config->tsc_hz >> PROF_TSC_HZ_BITS != 0)
        return NULL;
    prof_clock_open(prof_tsc());
    if (PROF_WITH_BUILTIN) {
        prof_clock_set_tsc_hz(config->tsc_hz);
        prof_meter_end();
    }
    if (PROF_WITH_PIT &&
        (config->tick.kind == PROF_TICK_PIT ||
         config->tick.kind == PROF_TICK_OWN_PIT) &&
        prof_source_pit_open(config))
        source = &prof_source_pit;
    if (config->tick.kind == PROF_TICK_HOOK && prof_source_hook_open(config))
        source = &prof_source_hook;
    if (PROF_WITH_PIT && config->tick.kind == PROF_TICK_GATE &&
        prof_source_gate_open(config))
        source = &prof_source_gate;
    return source;
}
