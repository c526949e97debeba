/* SPDX-License-Identifier: Apache-2.0 */

/* Which source of ticks there is; and which field of a configuration the
 * sources refuse: the same limits, in words. A test compares the two. */

#include "tick/source.h"

#include "base/cpu.h"
#include "tick/clock.h"
#include "tick/floor.h"
#include "tick/meter.h"

#include <prof/config.h>
#include <prof/port.h>
#include <prof/text.h>
#include <stddef.h>

#if PROF_CPUS_MAX > 1
static const struct prof_source *in_use;
#endif

static const struct prof_source *source_of(const struct prof_config *config)
{
    const struct prof_source *source = NULL;

    if (PROF_WITH_NMI)
        prof_clock.by_nmi = config->tick.kind == PROF_TICK_NMI;
#if PROF_CPUS_MAX > 1
    prof_clock.common = prof_clock.by_nmi;
    prof_clock.apart = config->tick.kind == PROF_TICK_LAPIC;
#endif
    if (PROF_WITH_BUILTIN)
        prof_meter_end();
    if (PROF_WITH_BUILTIN && PROF_WITH_PIT)
        prof_floor_open(NULL, NULL);
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
    if (PROF_WITH_LAPIC && config->tick.kind == PROF_TICK_LAPIC &&
        prof_source_lapic_open(config))
        source = &prof_source_lapic;
    if (PROF_WITH_NMI && config->tick.kind == PROF_TICK_NMI &&
        prof_source_nmi_open(config))
        source = &prof_source_nmi;
#if PROF_CPUS_MAX > 1
    in_use = source;
#endif
    return source;
}

const struct prof_source *prof_source_open(const struct prof_config *config)
{
    if (config->tsc_hz == 0 || config->tsc_hz >> PROF_TSC_HZ_BITS != 0)
        return NULL;
    prof_clock_open(prof_tsc());
    prof_clock_open(prof_tsc());
    prof_clock.tsc_hz = config->tsc_hz;
    return source_of(config);
}

#if PROF_WITH_NMI
const struct prof_source *prof_source_of(const struct prof_config *config)
{
    return source_of(config);
}
#endif

#if PROF_CPUS_MAX > 1
int prof_source_join(struct prof_cpu *cpu)
{
    return in_use != NULL && in_use->join != NULL ? in_use->join(cpu) : PROF_OK;
}

void prof_source_leave(struct prof_cpu *cpu)
{
    if (in_use != NULL && in_use->leave != NULL)
        in_use->leave(cpu);
}

void prof_source_look(struct prof_cpu *cpu)
{
    if (in_use != NULL && in_use->look != NULL)
        in_use->look(cpu);
}

uint64_t prof_source_begun(const struct prof_cpu *cpu)
{
    return in_use != NULL && in_use->begun != NULL ? in_use->begun(cpu) : 0;
}

void prof_source_taken(struct prof_cpu *cpu)
{
    if (in_use != NULL && in_use->taken != NULL)
        in_use->taken(cpu);
}

void prof_source_let_go(struct prof_cpu *cpu)
{
    if (in_use != NULL && in_use->let_go != NULL)
        in_use->let_go(cpu);
}

bool prof_source_is_leaving(const struct prof_cpu *cpu)
{
    return in_use != NULL && in_use->is_leaving != NULL &&
           in_use->is_leaving(cpu);
}
#endif

#if PROF_WITH_BUILTIN
static bool is_outside(struct prof_config_problem *problem, const char *field,
                       uint64_t given, uint64_t least, uint64_t most)
{
    *problem = (struct prof_config_problem){field, given, least, most};
    return given < least || given > most;
}

/* A period of the hook must fit, so that a fast counter needs a faster tick. */
static uint64_t rate_least(uint64_t tsc_hz)
{
    uint64_t least = (tsc_hz * 1000 >> PROF_PERIOD_BITS) + 1;

    return least > 1000 ? least : 1000;
}

bool prof_config_problem(const struct prof_config *config,
                         struct prof_config_problem *problem)
{
    const struct prof_tick *tick = &config->tick;

    if (is_outside(problem, "cpus", config->cpus, 0, PROF_CPUS_MAX))
        return true;
    if (is_outside(problem, "tsc_hz", config->tsc_hz, 1,
                   (1ull << PROF_TSC_HZ_BITS) - 1))
        return true;
    switch (tick->kind) {
    case PROF_TICK_HOOK:
    case PROF_TICK_GATE:
        if (tick->rate_mhz != 0 && /* 0 = as measured */
            is_outside(problem, "tick.rate_mhz", tick->rate_mhz,
                       rate_least(config->tsc_hz), PROF_HZ_MAX * 1000))
            return true;
        if (tick->kind == PROF_TICK_HOOK)
            return false;
        break;
    case PROF_TICK_PIT:
        if (is_outside(problem, "tick.kernel_divisor", tick->kernel_divisor,
                       PROF_DIVISOR_MIN, PROF_DIVISOR_MAX))
            return true;
        break;
    case PROF_TICK_OWN_PIT:
        break;
    case PROF_TICK_AUTO: /* 0: that timer is not for the profiler */
        if (tick->kernel_divisor != 0 &&
            is_outside(problem, "tick.kernel_divisor", tick->kernel_divisor,
                       PROF_DIVISOR_MIN, PROF_DIVISOR_MAX))
            return true;
        if (tick->lapic_vector != 0 &&
            is_outside(problem, "tick.lapic_vector", tick->lapic_vector,
                       PROF_VECTOR_MIN, UINT8_MAX))
            return true;
        if (tick->vector == 0)
            return false;
        break;
#if PROF_WITH_NMI
    case PROF_TICK_NMI:
        return false;
#endif
#if PROF_WITH_LAPIC
    case PROF_TICK_LAPIC:
        return is_outside(problem, "tick.lapic_vector", tick->lapic_vector,
                          PROF_VECTOR_MIN, UINT8_MAX);
#endif
    default:
        return is_outside(problem, "tick.kind", tick->kind, PROF_TICK_PIT,
                          PROF_WITH_NMI ? PROF_TICK_NMI : PROF_TICK_AUTO);
    }
    return is_outside(problem, "tick.vector", tick->vector, PROF_VECTOR_MIN,
                      UINT8_MAX);
}

void prof_config_print_problem(const struct prof_config *config)
{
    struct prof_config_problem problem;
    struct prof_text out;

    if (!prof_config_problem(config, &problem))
        return;
    prof_text_open(&out, prof_port_write);
    prof_text_format(&out,
                     "prof: config.%s is %ju, but must be from %ju to %ju\n",
                     problem.field, problem.given, problem.least, problem.most);
    prof_text_flush(&out);
}
#endif
