/* SPDX-License-Identifier: Apache-2.0 */
/* With clock=cmos, gettimeofday() asks the CMOS clock at each call. */

#include "guest/tap.h"

#include <arch/cpu.h>
#include <cmos.h>
#include <kernel/clock.h>
#include <kernel/service.h>
#include <sys/time.h>

#define SECOND_NS 1000000000ull
#define SECONDS 3
#define INSTRUCTION_CYCLES 32 /* the TSC's, as the case sets QEMU's counter */
/* two rounds of eight bytes; without, 30 or so */
#define READS_CYCLES_MIN (100 * INSTRUCTION_CYCLES)

static struct timeval now(void)
{
    struct timeval time;

    gettimeofday(&time, NULL);
    return time;
}

/* For three seconds: never behind the clock nor ahead of it. */
static bool follows(void)
{
    uint64_t end_ns = clock_ns() + SECONDS * SECOND_NS;
    bool good = true;

    while (clock_ns() < end_ns) {
        uint64_t before = cmos_unix_seconds();
        struct timeval time = now();
        uint64_t after = cmos_unix_seconds();

        good = good && time.tv_usec == 0 && (uint64_t)time.tv_sec >= before &&
               (uint64_t)time.tv_sec <= after;
    }
    return good;
}

int service_main(void)
{
    struct timeval begin = now();
    uint64_t tsc = arch_tsc();

    tap_plan(4);
    (void)now();
    tap_ok(arch_tsc() - tsc > READS_CYCLES_MIN, "a call reads many ports");
    tap_ok(begin.tv_sec >= 1767323045 && begin.tv_sec <= 1767323055,
           "it is the machine's date");
    tap_ok(follows(), "it is what the CMOS clock says, to the second");
    tap_is_between(now().tv_sec - begin.tv_sec, SECONDS, SECONDS + 1,
                   "it goes on");
    return tap_end();
}
