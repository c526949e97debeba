/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Work of us= microseconds for 12 s, that each tick of the kernel's starts, or
 * with timer=1 a timer of the loop every 10 ms. The report says if samples show
 * less of it than the loop's own account.
 *
 * 300 us after a tick are over before half a sampling period has passed: of 3 %
 * hardly anything is sampled. The samples count as 375, of which one or two
 * would be outside of idle, so that the share is at most 1.9 %
 * (<prof/under_sampled.h>). 6 ms are sampled but for half a period each, and
 * nothing is said. A timer is due at any point of a sampling period, so that
 * its work is sampled, however short.
 */

#include "guest/guest.h"
#include "guest/tap.h"

#include <kernel/service.h>
#include <stdlib.h>
#include <string.h>

#define PIECES 1200
#define EVERY_NS 10000000ull

static uint32_t piece_us = 300;
static bool by_timer;
static int pieces;
static uint64_t worked_at; /* clock_ticks() */

bool service_option(const char *key, const char *value)
{
    uint32_t number = (uint32_t)strtoul(value, NULL, 10);

    if (strcmp(key, "us") == 0)
        piece_us = number;
    else if (strcmp(key, "timer") == 0)
        by_timer = number != 0;
    else
        return false;
    return true;
}

static void work(void *unused)
{
    (void)unused;
    guest_spin((uint64_t)piece_us * (GUEST_MS / 1000));
    pieces++;
}

static bool ticked(void)
{
    return clock_ticks() != worked_at;
}

static void work_if_ticked(void)
{
    if (!ticked())
        return;
    worked_at = clock_ticks();
    work(NULL);
}

static PROF_TRACE_SITE(tick_site, "work");

int service_main(void)
{
    static struct loop_source ticks = {
        .waiting = ticked, .turn = work_if_ticked, .site = &tick_site};
    struct loop_timer timer = {0};

    tap_plan(1);
    prof_reset();
    if (by_timer)
        loop_every(&timer, EVERY_NS, work, NULL);
    else
        loop_add(&ticks);
    while (pieces < PIECES)
        loop_wait();
    loop_cancel(&timer);
    prof_report();
    tap_ok(pieces == PIECES, "the work is done");
    return tap_end();
}
