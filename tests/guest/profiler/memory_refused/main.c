/* SPDX-License-Identifier: Apache-2.0 */

/*
 * No memory for the drain: each allocation in turn is refused once, and in the
 * end all of them for good. Nothing may be lost as long as there is room in the
 * memory given at start; what is lost after that must be counted; and a report
 * must come out all the same.
 *
 * The timer's line is masked: samples come from prof_sample() alone, so that
 * their number is known to the last one.
 */

#include "guest/guest.h"
#include "guest/tap.h"
#include "guest/wraps.h"

#include <kernel/service.h>
#include <pic.h>
#include <prof/port.h>
#include <string.h>

#define BURST 250u /* samples between drains: the vector holds them */
#define BURSTS 20u
#define NOWHERE 0x80000000u /* no function of the table is there */

static unsigned refusals, grants;
static bool grant_one, refuse_all;
static char report[8192];
static size_t report_bytes;
static uint64_t fed;

/* At most one grant in each drain, and a refused one before it. */
void *__wrap_prof_port_alloc(size_t bytes)
{
    if (refuse_all || !grant_one) {
        refusals++;
        return NULL;
    }
    grants++;
    grant_one = false;
    return __real_prof_port_alloc(bytes);
}

void __wrap_prof_port_write(const char *text, size_t bytes)
{
    if (report_bytes + bytes < sizeof report) {
        memcpy(report + report_bytes, text, bytes);
        report_bytes += bytes;
    }
}

/* The report as text. */
static const char *print_report(void)
{
    report_bytes = 0;
    prof_report();
    report[report_bytes] = '\0';
    return report;
}

/* (count) samples at addresses that follow one another, from (first) on. */
static void feed(uint32_t first, uint32_t count)
{
    arch_interrupts_off();
    for (uint32_t i = 0; i < count; i++)
        prof_sample(NOWHERE + (first + i) * 16, 0, 0);
    arch_interrupts_on();
    fed += count;
}

static bool all_there(const struct prof_stats *stats)
{
    return stats->ticks == fed && guest_accounted(stats) == fed;
}

/* Drains until nothing waits, each allocation being refused before it is
 * granted. False: something was lost on the way. */
static bool drain_in_turns(uint64_t *queued_most)
{
    struct prof_stats stats;

    for (int i = 0; i < 64; i++) {
        unsigned before = refusals;

        prof_drain();
        stats = guest_stats();
        if (!all_there(&stats) || stats.dropped != 0)
            return false;
        if (stats.queued == 0)
            return true;
        if (stats.queued > *queued_most)
            *queued_most = stats.queued;
        grant_one = refusals != before;
    }
    return false;
}

static void test_each_in_turn(void)
{
    struct prof_stats stats;
    bool good = true;
    uint64_t queued_most = 0;

    for (uint32_t burst = 0; burst < BURSTS && good; burst++) {
        grant_one = false;
        feed(burst * BURST, BURST);
        good = drain_in_turns(&queued_most);
    }
    stats = guest_stats();
    tap_note("%u refusals, %u grants, %u samples waiting at worst", refusals,
             grants, (unsigned)queued_most);
    tap_ok(grants >= 8 && refusals >= grants && queued_most > 0,
           "each of many allocations was refused once");
    tap_ok(good, "nothing was lost at any time");
    tap_ok(stats.queued == 0 && stats.unresolved == fed &&
               stats.addresses == fed,
           "in the end every sample is in the map");
    tap_is_equal(stats.refusals, refusals, "and the refusals are counted");
}

/* New addresses with a full map: it takes some more, the vector waits. */
static void test_for_good(void)
{
    struct prof_stats stats;
    bool good = true;
    uint64_t known;

    refuse_all = true;
    for (uint32_t burst = 0; burst < 2 * BURSTS; burst++) {
        feed(1000000 + burst * BURST, BURST);
        prof_drain();
        stats = guest_stats();
        good = good && all_there(&stats);
    }
    tap_note("%u queued, %u dropped", (unsigned)stats.queued,
             (unsigned)stats.dropped);
    tap_ok(good, "refused for good: every sample is in one account");
    tap_ok(stats.queued > 0 && stats.dropped > 0,
           "some wait, and those that fit nowhere are counted as dropped");
    known = stats.unresolved;
    tap_ok(strstr(print_report(), "dropped") != NULL &&
               strstr(report, "allocations refused") != NULL &&
               strstr(report, "queued for the next drain") != NULL,
           "the report says so");
    stats = guest_stats();
    tap_ok(all_there(&stats) && stats.unresolved == known,
           "and changes nothing");
}

/* Known ones after new ones without room: these must not be in the way. */
static void test_known_go_on(void)
{
    struct prof_stats before = guest_stats(), stats;

    for (uint32_t burst = 0; burst < 2 * BURSTS; burst++) {
        feed(2000000 + burst * BURST, BURST / 2);
        feed(0, BURST / 2);
        prof_drain();
    }
    for (uint32_t burst = 0; burst < BURSTS; burst++) {
        feed(0, BURST);
        prof_drain();
    }
    stats = guest_stats();
    tap_ok(all_there(&stats), "known and new ones: each is in one account");
    tap_is_equal((int64_t)(stats.unresolved - before.unresolved),
                 2 * BURSTS * (BURST / 2) + BURSTS * BURST,
                 "and what is known goes on to count");
}

static void test_allowed_again(void)
{
    struct prof_stats stats;

    refuse_all = false;
    for (int i = 0; i < 64; i++) {
        grant_one = true;
        prof_drain();
    }
    stats = guest_stats();
    tap_ok(all_there(&stats) && stats.queued == 0,
           "allowed again: what waited is in the map");
    feed(5, 1);
    prof_drain();
    stats = guest_stats();
    tap_ok(all_there(&stats) && stats.queued == 0, "and it goes on");
}

/* Before the first allocation there is no map at all. */
static void test_from_the_start(void)
{
    struct prof_stats stats;

    refuse_all = true;
    feed(0, BURST);
    prof_drain();
    stats = guest_stats();
    tap_ok(all_there(&stats) && stats.queued == BURST,
           "refused from the first one on: all samples wait");
    tap_ok(strstr(print_report(), "queued for the next drain") != NULL,
           "the report says so");
    refuse_all = false;
    for (int i = 0; i < 64; i++) {
        grant_one = true;
        prof_drain();
    }
    stats = guest_stats();
    tap_ok(all_there(&stats) && stats.queued == 0, "then all are in the map");
    prof_reset();
    fed = 0;
    refusals = grants = 0;
}

int service_main(void)
{
    tap_plan(15);
    pic_mask(PIC_LINE_TIMER);
    prof_start();
    test_from_the_start();
    test_each_in_turn();
    test_for_good();
    test_known_go_on();
    test_allowed_again();
    prof_stop();
    return tap_end();
}
