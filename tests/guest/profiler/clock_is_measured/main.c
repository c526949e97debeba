/* SPDX-License-Identifier: Apache-2.0 */

/*
 * What a configuration leaves out is measured, and what it says is compared
 * with what is seen. One of these, by the command line:
 *
 *   try=no_clock      config.tsc_hz is 0
 *   try=wrong_clock   it is five times too high
 *   try=no_rate       the kernel's own timer, at a rate that it does not say
 *   try=wrong_rate    or of which it says that it is ten times as high
 */

#include "guest/guest.h"
#include "guest/hook.h"
#include "guest/tap.h"
#include "guest/word.h"
#include "guest/wraps.h"

#include <kernel/service.h>
#include <string.h>

#define OWN_MHZ 99998 /* of the kernel's tick, in 1/1000 Hz */

uint64_t prof_calibrate(void);

static unsigned wrong_lines;

int __wrap_prof_init(void *memory, size_t bytes,
                     const struct prof_config *config)
{
    struct prof_config own = *config;

    if (guest_is("no_clock"))
        own.tsc_hz = 0;
    if (guest_is("wrong_clock"))
        own.tsc_hz *= 5;
    if (guest_is("no_rate"))
        own.tick = (struct prof_tick){.kind = PROF_TICK_HOOK};
    if (guest_is("wrong_rate"))
        own.tick = (struct prof_tick){.kind = PROF_TICK_HOOK,
                                      .rate_mhz = 10 * OWN_MHZ};
    return __real_prof_init(memory, bytes, &own);
}

void __wrap_prof_port_write(const char *text, size_t bytes)
{
    static const char wrong[] = "wrong";

    for (size_t i = 0; i + sizeof wrong - 1 <= bytes; i++)
        wrong_lines += memcmp(text + i, wrong, sizeof wrong - 1) == 0;
    __real_prof_port_write(text, bytes);
}

static void test_calibration(void)
{
    uint8_t gate = arch_in8(0x61);
    uint64_t hz = prof_calibrate();

    tap_is_between((int64_t)hz, GUEST_TSC_HZ - GUEST_TSC_HZ / 5000,
                   GUEST_TSC_HZ + GUEST_TSC_HZ / 5000,
                   "the TSC is measured to 200 ppm");
    tap_is_equal((arch_in8(0x61) ^ gate) & 3, 0,
                 "  and the speaker is left as it was");
}

int service_main(void)
{
    bool hook = guest_is("no_rate") || guest_is("wrong_rate");
    bool wrong = guest_is("wrong_rate") || guest_is("wrong_clock");
    struct prof_stats stats;

    tap_plan(7);
    test_calibration();
    if (hook)
        hook_timer(hook_sample, guest_handler());
    tap_is_equal(prof_start(), 0, "started");
    guest_poll(2ull * GUEST_TSC_HZ);
    tap_is_equal(wrong_lines != 0, wrong, "what is wrong is printed");
    if (!hook)
        prof_reset(); /* it was wrong until it was seen */
    guest_poll(2ull * GUEST_TSC_HZ);
    prof_stop();
    stats = guest_stats();
    tap_is_between(prof_rate_mhz(), hook ? OWN_MHZ - 500 : 1000152,
                   hook ? OWN_MHZ + 500 : 1000152, "the rate is known");
    tap_is_between((int64_t)stats.missed, 0, 20, "no ticks seem to be missing");
    tap_ok(stats.stolen_cycles < GUEST_TSC_HZ / 100,
           "and no time seems to be stolen");
    tap_note("%u missed, %u us stolen", (unsigned)stats.missed,
             (unsigned)(stats.stolen_cycles / 1000));
    return tap_end();
}
