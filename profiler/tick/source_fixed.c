/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Sources of a rate that only the kernel can change.
 *
 * `hook`: the kernel's timer interrupt calls prof_sample(), which records
 * between start and stop. Nothing of the machine is touched.
 *
 * `gate`: the stub stands before the handler of any timer, and every tick goes
 * on to it. So the timer, its controller and its rate may be what they like: a
 * local APIC, an HPET, a RTC.
 *
 * The time base has one count per period, and measures that as it does for the
 * PIT.
 */

#include "tick/source.h"

#include "base/cpu.h"
#include "base/options.h"
#include "sample/cpu_state.h"
#include "tick/clock.h"
#include "tick/idt_gate.h"
#include "tick/jitter.h"
#include "tick/meter.h"

#include <prof/config.h>
#include <prof/port.h>
#include <prof/text.h>
#include <stddef.h>

#define MHZ 1000u                     /* thousandths of a Hz in one */
#define RATE_UNKNOWN (100u * MHZ + 1) /* until it is measured */

static struct {
    uint32_t rate_mhz;
    uint64_t period; /* cycles, 24.8 */
} fixed;

static int set_fixed_period(uint32_t hz, bool on)
{
    (void)on;
    return hz == (fixed.rate_mhz + MHZ / 2) / MHZ ? PROF_OK : PROF_EFIXED;
}

static void print_rate(const char *why)
{
    struct prof_text out;

    prof_text_open(&out, prof_port_write);
    prof_text_format(&out, "prof: sampling at the kernel's own %.3u%s",
                     fixed.rate_mhz, why);
    prof_text_flush(&out);
}

static void print_measured(void)
{
    print_rate(" Hz, as measured\n");
}

static void print_contradiction(void)
{
    print_rate(" Hz, as measured: config.tick.rate_mhz or config.tsc_hz is "
               "wrong\n");
}

/* The rate as it was measured; (period) is a 24.8 number. */
static prof_meter_print *take_rate(uint64_t period)
{
    uint32_t stated = fixed.rate_mhz;
    uint32_t cycles = (uint32_t)(period >> PROF_PERIOD_SHIFT);

    if (cycles == 0)
        return NULL;
    fixed.period = period;
    fixed.rate_mhz =
        (uint32_t)prof_divide(prof_clock.tsc_hz * MHZ + cycles / 2, cycles);
    prof_clock_set(period, 1, fixed.rate_mhz);
    return stated == RATE_UNKNOWN ? print_measured : print_contradiction;
}

/* Takes over the rate of (config), or one that is measured. Prints it and (why)
 * if the options ask for another. False: it is not possible. */
static bool open_fixed(const struct prof_config *config, const char *why)
{
    uint32_t rate_mhz = config->tick.rate_mhz;
    bool measure = PROF_WITH_BUILTIN && rate_mhz == 0;

    if (measure)
        rate_mhz = RATE_UNKNOWN;
    if (rate_mhz < MHZ || rate_mhz > PROF_HZ_MAX * MHZ)
        return false;
    fixed.rate_mhz = rate_mhz;
    fixed.period =
        prof_divide((config->tsc_hz << PROF_PERIOD_SHIFT) * MHZ, rate_mhz);
    if (fixed.period >> (PROF_PERIOD_BITS + PROF_PERIOD_SHIFT) != 0)
        return false;
    prof_clock_set(fixed.period, 1, rate_mhz);
    prof_clock.steady = true;
    if (PROF_WITH_BUILTIN) {
        prof_clock_of(PROF_CPU_FIRST)->irregular = config->tick.irregular;
        if (measure || !config->tick.irregular)
            prof_meter_begin(!measure, true, take_rate);
    }
    if (PROF_WITH_OPTIONS && !measure &&
        (PROF_OPTION(jitter_percent) != 0 ||
         set_fixed_period(PROF_OPTION(hz), false) != PROF_OK))
        print_rate(why);
    return true;
}

/* ---- hook */

static int start_hook(bool on)
{
    (void)on;
    return PROF_OK;
}

static void stop_hook(bool on)
{
    (void)on;
}

const struct prof_source prof_source_hook = {
    .start = start_hook,
    .stop = stop_hook,
    .set_period = set_fixed_period,
};

bool prof_source_hook_open(const struct prof_config *config)
{
    return open_fixed(config,
                      " Hz, because it calls prof_sample(); prof.hz and "
                      "prof.jitter have no effect\n");
}

/* ---- gate */

#if PROF_WITH_PIT
static uint8_t gate_vector;

static int start_gate(bool on)
{
    (void)on;
    PROF_FOR_EACH_CPU (cpu) {
        struct prof_cpu_tick *tick = &cpu->tick;

        tick->pass_due = tick->pass_period = 0;
        tick->jitter.counts = tick->jitter.rest = 0;
        tick->jitter.ticks_left = PROF_JITTER_TICKS;
    }
    return prof_gate_enter(gate_vector, prof_parasite,
                           offsetof(struct prof_cpu, tick.next_handler))
               ? PROF_OK
               : PROF_EGATE;
}

static void stop_gate(bool on)
{
    (void)on;
    prof_gate_leave();
}

#if PROF_CPUS_MAX > 1
static void taken(struct prof_cpu *cpu)
{
    (void)prof_gate_join(cpu);
}
#endif

const struct prof_source prof_source_gate = {
    .start = start_gate,
    .stop = stop_gate,
    .set_period = set_fixed_period,
#if PROF_CPUS_MAX > 1
    .taken = taken,
    .let_go = prof_gate_quit,
#endif
};

bool prof_source_gate_open(const struct prof_config *config)
{
    gate_vector = config->tick.vector;
    return gate_vector >= PROF_VECTOR_MIN &&
           open_fixed(config,
                      " Hz, because that timer is not programmed; prof.hz and "
                      "prof.jitter have no effect\n");
}
#endif
