/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Work of us= microseconds that each tick of the kernel's starts, for 12 s. The
 * report says if samples show less of it than the loop's own account.
 *
 * 300 us are over before half a sampling period has passed: of 3 % hardly
 * anything is sampled. The samples count as 375, of which one or two would be
 * outside of idle, so that the share is at most 1.9 % (<prof/under_sampled.h>).
 * 6 ms are sampled but for half a period each, and nothing is said.
 */

#include "guest/guest.h"
#include "guest/tap.h"

#include <kernel/service.h>
#include <stdlib.h>
#include <string.h>

#define PIECES 1200
#define EVERY_NS 10000000ull /* each tick */

static uint32_t piece_us = 300;
static int pieces;

bool service_option(const char *key, const char *value)
{
    if (strcmp(key, "us") != 0)
        return false;
    piece_us = (uint32_t)strtoul(value, NULL, 10);
    return true;
}

static void work(void *unused)
{
    (void)unused;
    guest_spin((uint64_t)piece_us * (GUEST_MS / 1000));
    pieces++;
}

int service_main(void)
{
    struct loop_timer timer = {0};

    tap_plan(1);
    prof_reset();
    loop_every(&timer, EVERY_NS, work, NULL);
    while (pieces < PIECES)
        loop_wait();
    loop_cancel(&timer);
    prof_report();
    tap_ok(pieces == PIECES, "the work is done");
    return tap_end();
}
