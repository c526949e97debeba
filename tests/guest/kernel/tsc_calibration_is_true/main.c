/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The TSC's frequency must come out right however the host stops us while it
 * is measured. Every look at the PIT goes through a wrap (ldflags) that waits
 * after the look, as if the machine had been stopped there: so the TSC that
 * was read around it is wrong, by half of the wait, and only the looks that
 * were not disturbed are good. QEMU counts instructions, by which both clocks
 * run, so nothing but the wrap disturbs.
 */

#include "guest/guest.h"
#include "guest/tap.h"

#include <kernel/service.h>
#include <pit.h>
#include <tsc.h>

#define PPM_MAX                                                                \
    50 /* twice the PIT's resolution over 40 ms, and as much again */
#define WAIT (GUEST_MS * 2 / 5)
#define CALM_OF 5u /* one look of so many is not disturbed */
#define ROUGH_PPM_MAX 400
#define MIDDLE 30000u
#define LAST_GONE 45000u
#define LAST_BACK 61000u
#define BRIEF 7000u
#define COUNTS_PER_MS 1193u
#define STRETCH_MS 55u

struct pit_state __real_pit_read(unsigned channel);
struct pit_state __wrap_pit_read(unsigned channel);

/* Which looks are disturbed, by what the stopwatch shows. */
static struct {
    bool first, last;  /* those before the middle, those after it */
    bool stuck;        /* the PIT does not count at all */
    unsigned too_long; /* so many are stopped for longer than the stretch */
    bool last_gone;    /* there is no look between LAST_GONE and LAST_BACK */
    bool brief;        /* none after BRIEF, for longer than the stretch */
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
    } else if (trouble.brief && counts > BRIEF) {
        guest_spin((uint64_t)STRETCH_MS * GUEST_MS);
    } else if (trouble.last_gone && counts > LAST_GONE && counts < LAST_BACK) {
        guest_spin((uint64_t)(LAST_BACK - counts) * GUEST_MS / COUNTS_PER_MS);
    } else if (counts < MIDDLE ? trouble.first : trouble.last) {
        if (++looks % CALM_OF != 0)
            guest_spin(WAIT);
    }
    return state;
}

static void must_be_within(int64_t ppm, const char *what)
{
    bool on = arch_interrupts_save();
    long long hz;

    looks = 0;
    hz = (long long)tsc_calibrate();
    arch_interrupts_restore(on);
    tap_note("off by %d ppm, %u disturbed", (int)(hz / 1000 - GUEST_MS),
             looks - looks / CALM_OF);
    tap_is_between(hz, GUEST_TSC_HZ - ppm * 1000, GUEST_TSC_HZ + ppm * 1000,
                   what);
}

static void must_be_true(const char *what)
{
    must_be_within(PPM_MAX, what);
}

int service_main(void)
{
    tap_plan(9);
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
    trouble.last_gone = true;
    must_be_true("true where no look is possible towards the end");
    trouble.last_gone = false;
    trouble.brief = true;
    must_be_within(ROUGH_PPM_MAX,
                   "near where looks are possible for a short time only");
    trouble.brief = false;
    trouble.stuck = true;
    tap_ok(tsc_calibrate() == 0, "a PIT that does not count is noticed");
    return tap_end();
}
