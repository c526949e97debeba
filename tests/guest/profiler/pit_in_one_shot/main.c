/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A kernel that switches the PIT to one-shot mode between its timers, as
 * IncludeOS does: there is no rate to multiply. The profiler must not keep
 * taking the PIT away, nor show what it can sample as a profile of all: it
 * stops, says so in a line and in the table, leaves the PIT as the kernel has
 * programmed it, and starts again only where the PIT repeats.
 */

#include "guest/guest.h"
#include "guest/tap.h"
#include "guest/wraps.h"

#include <kernel/service.h>
#include <prof/error.h>
#include <string.h>

#define COMMAND 0x43
#define CHANNEL_0 0x40
#define KERNEL_DIVISOR 11932u /* 100 Hz */
#define READ_STATUS 0xe2      /* of channel 0, without its count */
#define MODE_MASK 0x0e

static struct loop_timer timer;
static unsigned said;

void __wrap_prof_port_write(const char *text, size_t bytes)
{
    said += bytes > 25 && memcmp(text, "prof: the kernel uses the ", 25) == 0;
    __real_prof_port_write(text, bytes);
}

static void once_again(void *unused)
{
    (void)unused;
    guest_program_pit(GUEST_PIT_ONCE, KERNEL_DIVISOR);
}

static bool pit_counts_once(void)
{
    bool on = arch_interrupts_save();
    uint8_t status;

    arch_out8(COMMAND, READ_STATUS);
    status = arch_in8(CHANNEL_0);
    arch_interrupts_restore(on);
    return (status & MODE_MASK) == (GUEST_PIT_ONCE & MODE_MASK);
}

/* The kernel counts each of its ticks anew, from now on. */
static void test_gives_up(const char *what)
{
    uint32_t before = guest_stats().tick.pit_given_up;
    uint64_t samples;

    said = 0;
    loop_every(&timer, 10000000u, once_again, NULL);
    guest_poll(2ull * GUEST_TSC_HZ);
    tap_ok(!prof_running(), what);
    tap_is_equal(guest_stats().tick.pit_given_up - before, 1, "  counted");
    tap_is_equal(said, 1, "  said in one line");
    samples = guest_stats().ticks;
    guest_poll(GUEST_TSC_HZ);
    tap_is_equal(guest_stats().ticks - samples, 0, "  no more samples");
    tap_ok(pit_counts_once(), "  the PIT is as the kernel has set it");
    tap_is_equal(prof_start(), PROF_EONE_SHOT, "  and it does not start");
    tap_ok(!prof_running(), "  nor say so");
    loop_cancel(&timer);
}

static void test_starts_again(void)
{
    uint64_t samples, begin;
    uint32_t ms;

    guest_set_pit(KERNEL_DIVISOR);
    tap_is_equal(prof_start(), PROF_OK, "the PIT repeats: it starts");
    samples = guest_stats().ticks;
    begin = arch_tsc();
    guest_poll(GUEST_TSC_HZ);
    samples = guest_stats().ticks - samples;
    ms = (uint32_t)((arch_tsc() - begin) / GUEST_MS);
    tap_is_between((int64_t)samples, ms - 2, ms + 2, "  and samples");
    tap_is_equal(guest_stats().tick.pit_taken_back, 2,
                 "  twice it had been set to our rate before");
}

int service_main(void)
{
    tap_plan(18);
    guest_poll(GUEST_TSC_HZ / 2);
    test_gives_up("one-shot at each of the kernel's ticks: it stops");
    prof_report();
    test_starts_again();
    prof_stop();
    tap_is_equal(prof_set_rate(100), PROF_OK, "the kernel's own rate");
    prof_start();
    guest_poll(GUEST_TSC_HZ / 2);
    test_gives_up("one-shot there: it stops");
    return tap_end();
}
