/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Whatever the sampler does, the kernel's own tick counter must say what the
 * TSC says: at every rate, and however often somebody starts, stops or changes
 * his mind. The deviation is measured in ticks and adds up over a whole part.
 */

#include "guest/guest.h"
#include "guest/tap.h"

#include <kernel/service.h>

#define DEVIATION_MAX 2
#define CHANGES 100

static uint64_t begin_tsc, begin_ticks;
static int64_t worst;

/* Ticks that the kernel's counter is ahead of the TSC since begin(). */
static int64_t ahead(void)
{
    bool on = arch_interrupts_save();
    uint64_t cycles = arch_tsc() - begin_tsc;
    uint64_t ticks = clock_ticks() - begin_ticks;

    arch_interrupts_restore(on);
    return (int64_t)(ticks - guest_ticks_in(cycles, CLOCK_DIVISOR));
}

static void look(void)
{
    int64_t now = ahead();

    if (now < 0 ? -now > worst : now > worst)
        worst = now < 0 ? -now : now;
}

/* Begins a part just after a tick, so that a deviation is the part's own. */
static void begin(void)
{
    begin_ticks = clock_ticks();
    while (clock_ticks() == begin_ticks)
        ;
    begin_tsc = arch_tsc();
    begin_ticks = clock_ticks();
    worst = 0;
}

static void end(const char *what)
{
    look();
    tap_note("%s: off by %d ticks at worst, %d in the end", what, (int)worst,
             (int)ahead());
    tap_ok(worst <= DEVIATION_MAX, what);
}

static void test_rate(uint32_t hz, const char *what)
{
    prof_set_rate(hz);
    prof_start();
    begin();
    for (int i = 0; i < 30; i++) {
        guest_poll(GUEST_TSC_HZ / 10);
        look();
    }
    end(what);
    prof_stop();
}

/* Starts and stops, at moments all over the kernel's tick. */
static void test_start_stop(uint32_t hz, const char *what)
{
    prof_set_rate(hz);
    begin();
    for (int i = 0; i < CHANGES; i++) {
        prof_start();
        guest_poll(guest_random() % (25 * GUEST_MS));
        look();
        prof_stop();
        guest_poll(guest_random() % (15 * GUEST_MS));
        look();
    }
    end(what);
}

/* A kernel whose PIT makes a square wave: its count runs down twice a tick. */
static void test_square_wave(void)
{
    prof_set_rate(1000);
    begin();
    for (int i = 0; i < CHANGES / 4; i++) {
        uint64_t ticks = clock_ticks();

        while (clock_ticks() == ticks)
            ;
        guest_program_pit(GUEST_PIT_SQUARE, CLOCK_DIVISOR);
        guest_poll(guest_random() % (25 * GUEST_MS));
        prof_start();
        guest_poll(guest_random() % (25 * GUEST_MS));
        look();
        prof_stop();
    }
    end("with the PIT in its other periodic mode");
}

static void test_rates_changed(void)
{
    static const uint32_t rates[] = {1, 250, 997, 1000, 100, 5000, 10000, 99};

    prof_start();
    begin();
    for (int i = 0; i < CHANGES; i++) {
        prof_set_rate(rates[guest_random() % (sizeof rates / sizeof *rates)]);
        guest_poll(guest_random() % (25 * GUEST_MS));
        look();
    }
    end("while the rate changes a hundred times");
    prof_stop();
}

static void test_everything_changed(void)
{
    begin();
    for (int i = 0; i < CHANGES; i++) {
        prof_set_rate(1 + guest_random() % 10000);
        guest_poll(guest_random() % (4 * GUEST_MS));
        prof_start();
        guest_poll(guest_random() % (12 * GUEST_MS));
        prof_set_rate(1 + guest_random() % 5000);
        guest_poll(guest_random() % (12 * GUEST_MS));
        look();
        prof_stop();
    }
    end("while all of it changes");
}

int service_main(void)
{
    tap_plan(11);
    test_rate(1, "at the kernel's own rate");
    test_rate(250, "at 250 Hz");
    test_rate(997, "at 997 Hz");
    test_rate(1000, "at 1000 Hz");
    test_rate(5000, "at 5000 Hz");
    test_rate(10000, "at 10000 Hz");
    test_start_stop(100, "started and stopped a hundred times at 100 Hz");
    test_start_stop(1000, "started and stopped a hundred times at 1000 Hz");
    test_square_wave();
    test_rates_changed();
    test_everything_changed();
    return tap_end();
}
