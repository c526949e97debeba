/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A service that never gives the event loop a turn: no drain for five seconds,
 * longer than the vector lasts. A report must hold every sample all the same.
 */

#include "guest/guest.h"
#include "guest/tap.h"

#include <kernel/service.h>

#define SECONDS 5u
#define DIVISOR 1193u

__attribute__((noinline)) static void spin(void)
{
    guest_spin((uint64_t)SECONDS * GUEST_TSC_HZ);
}

int service_main(void)
{
    uint64_t begin, cycles;
    struct prof_stats before, after;
    struct prof_row row;

    tap_plan(6);
    prof_drain();
    before = guest_stats();
    begin = arch_tsc();
    spin();
    cycles = arch_tsc() - begin;
    after = guest_stats();
    tap_is_between(
        (int64_t)(after.ticks - before.ticks - guest_ticks_in(cycles, DIVISOR)),
        -1, 1, "before any drain every tick is counted");
    prof_report();
    after = guest_stats();
    row = guest_row((uintptr_t)spin);
    tap_ok(after.overflowed > 0, "the vector was full");
    tap_ok(after.dropped == 0 && after.missed == 0,
           "nothing is dropped or missed");
    tap_is_equal((int64_t)guest_accounted(&after), (int64_t)after.ticks,
                 "each tick is in one account");
    tap_is_between((int64_t)(row.samples - guest_ticks_in(cycles, DIVISOR)), -1,
                   1, "the report holds every sample of the spinning function");
    tap_is_between((int64_t)(row.cycles / GUEST_MS),
                   (int64_t)SECONDS * 1000 - 2, (int64_t)SECONDS * 1000 + 2,
                   "and all of its time");
    return tap_end();
}
