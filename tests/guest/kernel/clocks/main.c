/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernel's clocks against each other and against the date that the machine
 * was started with (clocks.begin=SECONDS since 1970, as in the file `qemu`).
 *
 * QEMU counts instructions here: the TSC is 0 when the machine starts and
 * counts 1 GHz of the same time by which PIT and CMOS run, so that the clocks
 * have no excuse, on however busy a host.
 */

#include "guest/tap.h"

#include <arch/cpu.h>
#include <cmos.h>
#include <kernel/clock.h>
#include <kernel/service.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>

#define NS_PER_S 1000000000ull
#define MS_NS 1000000ull
#define MANY 20000u
#define PPM_MAX 50 /* of the TSC's calibration */

static uint64_t begin_seconds;

bool service_option(const char *key, const char *value)
{
    begin_seconds = strtoull(value, NULL, 10);
    return strcmp(key, "clocks.begin") == 0 && begin_seconds != 0;
}

/* Halts until (end_ns), woken by the ticks. */
static void sleep_until(uint64_t end_ns)
{
    while (clock_ns() < end_ns)
        __asm__ volatile("hlt");
}

static void test_tsc_clock(void)
{
    /* the last is longer than nanoseconds times cycles fit into 64 bits */
    static const unsigned spans_ms[] = {1, 130, 777, 1000, 20000};
    uint64_t last_ns = clock_ns();
    bool rising = true;

    tap_is_between((long long)clock_tsc_hz(), NS_PER_S - PPM_MAX * 1000,
                   NS_PER_S + PPM_MAX * 1000, "the TSC's frequency is known");
    for (unsigned i = 0; i < MANY; i++) {
        uint64_t now_ns = clock_ns();

        rising = rising && now_ns >= last_ns;
        last_ns = now_ns;
    }
    tap_ok(rising, "the clock never goes back");
    for (size_t i = 0; i < sizeof spans_ms / sizeof *spans_ms; i++) {
        uint64_t tsc = arch_tsc();

        last_ns = clock_ns();
        sleep_until(last_ns + spans_ms[i] * MS_NS);
        uint64_t passed_ns = clock_ns() - last_ns, cycles = arch_tsc() - tsc;
        uint64_t off =
            passed_ns > cycles ? passed_ns - cycles : cycles - passed_ns;

        rising = rising && off < cycles / 1000000 * PPM_MAX + 1000;
    }
    tap_ok(rising, "it counts nanoseconds");
}

static void test_tick_clock(void)
{
    bool agree = true;

    arch_interrupts_off();
    uint64_t begin_ns = clock_ns(), begin_ticks = clock_ticks();

    arch_interrupts_on();
    for (unsigned i = 1; i <= 30; i++) {
        sleep_until(begin_ns + i * 33 * MS_NS);
        arch_interrupts_off();
        uint64_t due = (clock_ns() - begin_ns) / CLOCK_TICK_NS;
        uint64_t ticks = clock_ticks() - begin_ticks;

        arch_interrupts_on();
        agree = agree && ticks >= due && ticks <= due + 1;
    }
    tap_ok(agree, "the tick agrees with it, to one tick in a second");
}

static void test_date(void)
{
    arch_interrupts_off();
    uint64_t since_boot_s = clock_ns() / NS_PER_S;
    uint64_t boot_s = clock_unix_seconds() - since_boot_s;
    uint64_t boot_tsc = arch_tsc() - clock_ns();

    arch_interrupts_on();
    tap_note("booted %u ms after the machine", (unsigned)(boot_tsc / 1000000));
    tap_is_equal((long long)boot_s,
                 (long long)(begin_seconds + boot_tsc / NS_PER_S),
                 "the date at boot is the machine's, to the second");
    sleep_until(clock_ns() + 2500 * MS_NS);
    uint64_t cmos_s = cmos_unix_seconds(), now_s = clock_unix_seconds();

    tap_is_between((long long)(cmos_s - now_s), 0, 1,
                   "and has gone on as the CMOS did");
    tap_is_between((long long)(cmos_s - begin_seconds),
                   (long long)(arch_tsc() / NS_PER_S) - 1,
                   (long long)(arch_tsc() / NS_PER_S),
                   "the CMOS is read across a change of the date");
}

static void test_libc(void)
{
    struct timeval last, now;
    bool rising = true, whole = true;
    clock_t begin = clock();
    uint64_t begin_ns = clock_ns();

    gettimeofday(&last, NULL);
    for (unsigned i = 1; i <= 130; i++) {
        sleep_until(begin_ns + i * 10 * MS_NS);
        gettimeofday(&now, NULL);
        rising = rising && timercmp(&now, &last, >=);
        whole = whole && now.tv_usec >= 0 && now.tv_usec < 1000000;
        last = now;
    }
    tap_ok(rising, "gettimeofday() never goes back");
    tap_ok(whole, "its microseconds are less than a second");
    tap_is_equal(last.tv_sec, (long long)clock_unix_seconds(),
                 "its seconds are the kernel's");
    tap_is_equal(time(NULL), (long long)clock_unix_seconds(),
                 "and so are time()'s");
    long long passed =
        (long long)((clock_ns() - begin_ns) / (NS_PER_S / CLOCKS_PER_SEC));
    tap_is_between(clock() - begin, passed - 1, passed + 1,
                   "clock() counts what has passed");
}

int service_main(void)
{
    tap_plan(12);
    test_tsc_clock();
    test_tick_clock();
    test_date();
    test_libc();
    return tap_end();
}
