/* SPDX-License-Identifier: Apache-2.0 */

/*
 * No heap before the drain. The port's allocator panics until it is allowed:
 * from boot on, over start and stop, through a vector that fills up and flows
 * over, and while somebody looks at the counts.
 */

#include "guest/guest.h"
#include "guest/tap.h"
#include "guest/wraps.h"

#include <kernel/panic.h>
#include <kernel/service.h>
#include <prof/port.h>

#define DRAINS_MAX 100u

static bool allowed;
static unsigned allocations;

void *__wrap_prof_port_alloc(size_t bytes)
{
    if (!allowed)
        panic("the heap was touched before the drain");
    allocations++;
    return __real_prof_port_alloc(bytes);
}

int service_main(void)
{
    struct prof_stats stats;
    uint64_t ticks;

    tap_plan(5);
    guest_spin(GUEST_TSC_HZ);
    stats = guest_stats();
    ticks = stats.ticks;
    tap_ok(prof_running() && ticks > 10000, "ten thousand ticks came");
    tap_is_equal((int64_t)(stats.queued + stats.dropped), (int64_t)ticks,
                 "all of them wait in the memory given at start");
    tap_is_equal(allocations, 0, "and nothing was allocated");
    allowed = true;
    for (unsigned i = 0; i < DRAINS_MAX && guest_stats().overflowed == 0; i++)
        prof_drain(); /* each takes a bounded time only */
    stats = guest_stats();
    tap_ok(allocations > 0 && stats.addresses > 0, "the drain allocates");
    tap_ok(stats.ticks >= ticks && guest_accounted(&stats) == stats.ticks &&
               stats.overflowed > 0,
           "and nothing is lost");
    return tap_end();
}
