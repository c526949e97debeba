/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The source `hook`: the kernel's timer interrupt calls prof_sample(), which
 * records between start and stop. Nothing of the machine is touched here. The
 * time base has one count per period, and measures that as it does for the PIT.
 */

#include "tick/source_hook.h"

#include "base/cpu.h"
#include "base/options.h"
#include "sample/cpu_state.h"
#include "tick/clock.h"
#include "tick/meter.h"
#include "tick/source.h"

#include <prof/config.h>
#include <prof/port.h>
#include <prof/text.h>

#define MHZ 1000u                     /* thousandths of a Hz in one */
#define RATE_UNKNOWN (100u * MHZ + 1) /* until it is measured */

/* What the source `gate` shares, which is left out with the PIT. */
#if PROF_WITH_PIT
#define SHARED
#else
#define SHARED static
#endif

static struct {
    uint32_t rate_mhz;
    uint64_t period; /* cycles, 24.8 */
} hook;

static int start(bool on)
{
    (void)on;
    return PROF_OK;
}

static void stop(bool on)
{
    (void)on;
}

SHARED int prof_source_fixed_period(uint32_t hz, bool on)
{
    (void)on;
    return hz == (hook.rate_mhz + MHZ / 2) / MHZ ? PROF_OK : PROF_EFIXED;
}

const struct prof_source prof_source_hook = {
    .start = start,
    .stop = stop,
    .set_period = prof_source_fixed_period,
};

static void print_rate(const char *why)
{
    struct prof_text out;

    prof_text_open(&out, prof_port_write);
    prof_text_string(&out, "prof: sampling at the kernel's own ");
    prof_text_fixed(&out, hook.rate_mhz, 0, MHZ);
    prof_text_string(&out, why);
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
    uint32_t stated = hook.rate_mhz;
    uint32_t cycles = (uint32_t)(period >> PROF_PERIOD_SHIFT);

    if (cycles == 0)
        return NULL;
    hook.period = period;
    hook.rate_mhz =
        (uint32_t)prof_divide(prof_clock_tsc_hz() * MHZ + cycles / 2, cycles);
    prof_clock_set(period, 1, hook.rate_mhz);
    return stated == RATE_UNKNOWN ? print_measured : print_contradiction;
}

SHARED bool prof_source_fixed_open(const struct prof_config *config,
                                   const char *why)
{
    uint32_t rate_mhz = config->tick.rate_mhz;
    bool measure = PROF_WITH_BUILTIN && rate_mhz == 0;

    if (measure)
        rate_mhz = RATE_UNKNOWN;
    if (rate_mhz < MHZ || rate_mhz > PROF_HZ_MAX * MHZ)
        return false;
    hook.rate_mhz = rate_mhz;
    hook.period =
        prof_divide((config->tsc_hz << PROF_PERIOD_SHIFT) * MHZ, rate_mhz);
    if (hook.period >> (PROF_PERIOD_BITS + PROF_PERIOD_SHIFT) != 0)
        return false;
    prof_clock_set(hook.period, 1, rate_mhz);
    prof_clock_set_steady(true);
    if (PROF_WITH_BUILTIN) {
        prof_clock.irregular = config->tick.irregular;
        if (measure || !config->tick.irregular)
            prof_meter_begin(!measure, true, take_rate);
    }
    if (PROF_WITH_OPTIONS && !measure &&
        (PROF_OPTION(jitter_percent) != 0 ||
         prof_source_fixed_period(PROF_OPTION(hz), false) != PROF_OK))
        print_rate(why);
    return true;
}

bool prof_source_hook_open(const struct prof_config *config)
{
    return prof_source_fixed_open(
        config, " Hz, because it calls prof_sample(); prof.hz and prof.jitter "
                "have no effect\n");
}
