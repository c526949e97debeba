/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The TSC's frequency must come out right however the host stops us while it
 * is measured. Every look at the PIT goes through a wrap (ldflags) that waits
 * behind the look, as if the machine had been stopped there: so the TSC that
 * was read around it is wrong, by half of the wait, and only the looks that
 * nobody disturbed are good. QEMU counts instructions, by which both clocks
 * run, so nothing but the wrap disturbs.
 */

#include "../guest.h"
#include "../tap.h"

#include <kernel/service.h>
#include <pit.h>
#include <tsc.h>

#define PPM_MAX                                                                \
    50 /* twice the PIT's resolution over 40 ms, and as much again */
#define WAIT (GUEST_MS * 2 / 5)
#define CALM_OF 5u /* one look of so many is not disturbed */
#define MIDDLE 30000u
#define STRETCH_MS 55u

struct pit_state __real_pit_read(unsigned channel);
struct pit_state __wrap_pit_read(unsigned channel);

/* Which looks are disturbed, by what the stopwatch shows. */
static struct {
    bool first, last;  /* those before the middle, those behind it */
    bool stuck;        /* the PIT does not count at all */
    unsigned too_long; /* so many are stopped for longer than the stretch */
} trouble;
static unsigned looks;

struct pit_state __wrap_pit_read(unsigned channel)
{
    struct pit_state state = __real_pit_read(channel);
    uint32_t counts = UINT16_MAX - (uint32_t)state.count;

    if (trouble.stuck) {
        state.count = UINT16_MAX;
        state.output = false;
    } else if (trouble.too_long > 0 && counts > MIDDLE) {
        trouble.too_long--;
        guest_spin((uint64_t)STRETCH_MS * GUEST_MS);
    } else if (counts < MIDDLE ? trouble.first : trouble.last) {
        if (++looks % CALM_OF != 0)
            guest_spin(WAIT);
    }
    return state;
}

static void must_be_true(const char *what)
{
    bool on = arch_interrupts_save();
    long long hz;

    looks = 0;
    hz = (long long)tsc_calibrate();
    arch_interrupts_restore(on);
    tap_note("off by %d ppm, %u disturbed", (int)(hz / 1000 - GUEST_MS),
             looks - looks / CALM_OF);
    tap_is_between(hz, GUEST_TSC_HZ - PPM_MAX * 1000,
                   GUEST_TSC_HZ + PPM_MAX * 1000, what);
}

int service_main(void)
{
    tap_plan(7);
    must_be_true("true where nothing disturbs");
    trouble.first = true;
    must_be_true("true where the first looks are disturbed");
    trouble.last = true;
    must_be_true("true where all looks are disturbed");
    trouble.first = false;
    must_be_true("true where the last looks are disturbed");
    trouble.last = false;
    trouble.too_long = 3;
    must_be_true("true where three attempts were stopped for too long");
    tap_is_equal(trouble.too_long, 0, "which all of them were");
    trouble.stuck = true;
    tap_ok(tsc_calibrate() == 0, "a PIT that does not count is noticed");
    return tap_end();
}
