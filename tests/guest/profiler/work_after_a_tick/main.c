/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Work that each tick of the kernel's starts, and that is done before half a
 * sampling period has passed. The period after a tick that is passed on to the
 * kernel lasts at least that long, so hardly any sample hits the work, however
 * often it is done (docs/embedding/gate.md). Where the period is a fraction of
 * the work, it has its share but for that half of a period.
 *
 * Of 200 pieces of 0.3 ms, 60 ms, samples at 1 kHz would have 60 by chance:
 * one in ten of these at most is allowed. At 10 kHz the samples of a piece come
 * whole periods after the tick, and the last one misses half a period on
 * average: 52 ms are to be seen, less or more by some 0.03 ms a piece, 0.4 ms
 * in all, or by four times that, if the periods of the pieces are alike. What
 * is accepted is more than four deviations of these to either side.
 */

#include "guest/guest.h"
#include "guest/tap.h"

#include <kernel/service.h>

#define PIECES 200
#define PIECE_US 300u
#define SAMPLES_MOST 6
#define SEEN_US 52000
#define OFF_US 8000

__attribute__((noinline)) static void short_work(void)
{
    uint64_t end = arch_tsc() + PIECE_US * (GUEST_MS / 1000);

    while (arch_tsc() < end)
        __asm__ volatile("");
}

static void wait_for_tick(void)
{
    uint64_t before = clock_ticks();

    while (clock_ticks() == before) {
        arch_interrupts_off();
        arch_idle();
    }
}

/* The row of short_work() after PIECES of it, sampled at (hz). */
static struct prof_row row_at(uint32_t hz)
{
    struct prof_row row;

    (void)prof_set_rate(hz);
    prof_reset();
    prof_start();
    for (int i = 0; i < PIECES; i++) {
        wait_for_tick();
        short_work();
        loop_poll(); /* which drains */
    }
    prof_drain();
    row = guest_row((uintptr_t)short_work);
    prof_stop();
    tap_note("%u Hz: %u samples, %u us", (unsigned)hz, (unsigned)row.samples,
             (unsigned)(row.cycles / (GUEST_MS / 1000)));
    return row;
}

int service_main(void)
{
    int64_t seen;

    tap_plan(2);
    tap_ok(row_at(1000).samples <= SAMPLES_MOST,
           "what ends within half a period of a tick is hardly sampled");
    seen = (int64_t)(row_at(10000).cycles / (GUEST_MS / 1000));
    tap_ok(seen > SEEN_US - OFF_US && seen < SEEN_US + OFF_US,
           "at ten times the rate it has its time");
    return tap_end();
}
