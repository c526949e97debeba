/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Ticks that had to wait until interrupts were on again are counted as masked,
 * and no others; samples at instructions that leave the guest are counted as
 * the hypervisor's, and no others. The accounts still add up.
 */

#include "guest/guest.h"
#include "guest/tap.h"

#include <kernel/service.h>

/*
 * Each takes about four instructions a round. The first two have interrupts off
 * for nine in ten of them, and turn them on by sti and by popf; then comes a
 * function without any such thing.
 */
void dark_sti(uint32_t rounds);
void dark_popf(uint32_t rounds);
void bright(uint32_t rounds);

/* One in ten instructions leaves the guest: in, with a jump after it. The
 * bytes of that instruction, and of sti, also stand in others, as numbers. */
void port_access(uint32_t rounds);
void looks_like_it(uint32_t rounds);

/* The same by a function that returns right after it. */
void port_call(uint32_t rounds);

/* All of it is the hypervisor's, as the command line says. */
void kick(uint32_t rounds);

#define ROUNDS 625u /* of 400 instructions, 16 ns each: 4 ms each call */
#define CALLS 500u  /* two seconds */

static struct prof_stats stats;

/* Runs (code) for some seconds; then (stats) has the result. */
static void run(void (*code)(uint32_t rounds), uint32_t rounds)
{
    prof_reset();
    prof_start();
    for (uint32_t i = 0; i < CALLS; i++) {
        code(rounds);
        loop_poll();
    }
    prof_stop();
    prof_drain();
    stats = guest_stats();
    tap_note("%u ticks, %u masked, %u in the VMM", (unsigned)stats.ticks,
             (unsigned)stats.masked, (unsigned)stats.exits);
}

static int64_t percent(uint64_t part)
{
    return (int64_t)(part * 100 / stats.ticks);
}

/* Three tests: (code) has interrupts off nine tenths of the time. */
static void test_dark(void (*code)(uint32_t rounds), const char *what)
{
    run(code, ROUNDS);
    tap_is_between(percent(stats.masked), 87, 92, what);
    tap_is_between((int64_t)(stats.masked_cycles * 100 / stats.elapsed_cycles),
                   87, 92, "and so is their time");
    tap_is_equal((int64_t)guest_accounted(&stats), (int64_t)stats.ticks,
                 "the accounts add up");
}

/* Two tests: (code) has neither. */
static void test_plain(void (*code)(uint32_t rounds), uint32_t rounds)
{
    run(code, rounds);
    tap_is_between(percent(stats.masked), 0, 0, "nothing else is masked");
    tap_is_between(percent(stats.exits), 0, 0, "nor in the hypervisor");
}

int service_main(void)
{
    tap_plan(15);
    prof_set_rate(1000);
    test_dark(dark_sti, "ticks that waited for sti are masked");
    test_dark(dark_popf, "ticks that waited for popf are masked");
    test_plain(bright, ROUNDS);
    test_plain(looks_like_it, ROUNDS * 50);
    run(port_access, ROUNDS * 20);
    /* At in, at the jump after it, and after that: 3 of 20 instructions. */
    tap_is_between(percent(stats.exits), 12, 18,
                   "samples at port access are the hypervisor's");
    tap_is_between(percent(stats.masked), 0, 0, "and not masked");
    run(port_call, ROUNDS * 20);
    /* At in, at ret, and where that returns to: 3 of 20 instructions. */
    tap_is_between(percent(stats.exits), 13, 18,
                   "so are those after the return from it");
    run(kick, ROUNDS * 200);
    tap_is_between(percent(stats.exits), 97, 100,
                   "a function named by prof.vmm is the hypervisor's");
    prof_report();
    tap_ok(stats.exits_cycles <= stats.elapsed_cycles, "never more than all");
    return tap_end();
}
