/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prediction beside truth for a service over TCP: the kernel's network and lwIP
 * as they are, and clients in place of the device (wire.h). A part of each
 * request, F, really takes less, and on the virtual clock only. QEMU counts
 * instructions, so all figures repeat.
 *
 * causal.visits=N sets how many requests are measured (of closed loops three
 * times as many, from 4,000 on), causal.speedups=N how many of 50, 25 and 75 %;
 * with causal.work=N there are experiments with the program of that number
 * only, of whose clients net.peer= states what they do.
 */

#include "guest/guest.h"
#include "guest/tap.h"

#include "wire.h"

#include <kernel/clock.h>
#include <kernel/loop.h>
#include <kernel/net.h>
#include <kernel/service.h>
#include <math.h>
#include <prof/causal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define US 1000u
#define ERROR_MAX 100 /* of the gain: 1/100 percentage points */
#define VISITS_ENOUGH 4000
#define WARM_UP 300u
#define SPEEDUPS_MAX 3u
#define ANSWER_BYTES 200u

static PROF_PROGRESS(visit, "request done");
static PROF_LATENCY(latency, "request");
static PROF_TARGET(part_f, "F");

static const struct {
    const char *name;
    struct wire wire;
    const char *rule;
    uint32_t f_us, g_us;
} works[] = {
    {"closed, bound by the CPU",
     {WIRE_CLOSED, 16, 1000000, 200, 0},
     "closed",
     20,
     30},
    {"closed, waits", {WIRE_CLOSED, 4, 1000000, 500, 0}, "closed", 40, 30},
    {"closed, connects again", {WIRE_CLOSED, 8, 4, 200, 0}, "closed", 30, 30},
    {"open, 60 % loaded", {WIRE_OPEN, 16, 1000000, 200, 2400}, "open", 30, 30},
    {"partly open", {WIRE_PARTLY, 160, 8, 200, 1600}, "partly", 40, 20},
};
#define WORKS (sizeof works / sizeof *works)

static uint32_t visits = 1000, speedups = 1, only = WORKS;
static uint64_t visited;
static uint32_t f_us, g_us;

static void answer(struct net_conn *conn)
{
    static const char bytes[ANSWER_BYTES];

    prof_target_enter(&part_f);
    guest_execute(f_us * US);
    prof_target_leave(&part_f);
    guest_execute(g_us * US);
    (void)net_write(conn, bytes, sizeof bytes);
    visited++;
    prof_progress(&visit);
    prof_latency_end(&latency, prof_causal_due());
}

static void receive(struct net_conn *conn, const void *bytes, size_t count)
{
    (void)bytes;
    for (; count >= WIRE_REQUEST; count -= WIRE_REQUEST)
        answer(conn);
}

static const struct net_handlers handlers = {.receive = receive};

enum how { REALLY, VIRTUALLY };

static void run_until(uint64_t count)
{
    while (visited < count) {
        loop_wait();
        wire_idle();
    }
}

bool net_option(const char *key, const char *value);

/* Requests that are measured. Gains of two runs of 4,000 differ by up to 0.3
 * points. More of an open loop would be more than there is room for. */
static uint32_t requests(unsigned work)
{
    return works[work].wire.kind == WIRE_CLOSED && visits >= VISITS_ENOUGH
               ? 3 * visits
               : visits;
}

/* Virtual time between two requests. */
static double run(unsigned work, enum how how, uint32_t percent)
{
    const struct prof_causal_settings settings = {.tsc_hz = clock_tsc_hz()};
    const uint32_t count = requests(work);
    uint64_t begin;
    double period;

    f_us = works[work].f_us;
    g_us = works[work].g_us;
    if (how == REALLY)
        f_us -= f_us * percent / 100;
    visited = 0;
    (void)prof_causal_start(&settings);
    (void)prof_causal_fix(&part_f,
                          how == REALLY ? 0 : PROF_ONE / 100 * percent);
    wire_begin(&works[work].wire);
    run_until(WARM_UP);
    begin = prof_causal_time();
    run_until(WARM_UP + count);
    period = (double)(prof_causal_time() - begin) / count;
    prof_causal_stop();
    loop_poll();
    wire_end();
    return period;
}

static int gain(double normal, double faster)
{
    return (int)lround(10000 * (1 - faster / normal));
}

static void compare(unsigned work, uint32_t percent, double normal)
{
    int truth = gain(normal, run(work, REALLY, percent));
    int predicted = gain(normal, run(work, VIRTUALLY, percent));
    struct wire_counts counts = wire_counts();
    char what[80];

    tap_note("%-26s %3u %% %6d %6d %5d  1/100 %%, %u us, %u connections",
             works[work].name, (unsigned)percent, truth, predicted,
             predicted - truth, (unsigned)(normal / US),
             (unsigned)counts.connections);
    snprintf(what, sizeof what, "%s, %u %%: gain", works[work].name,
             (unsigned)percent);
    tap_ok(abs(predicted - truth) <=
               (visits >= VISITS_ENOUGH ? ERROR_MAX : 2 * ERROR_MAX),
           what);
    tap_is_equal(counts.strange, 0, "nothing is sent twice, lost or reset");
}

/* The greatest speed-up. */
static void nothing_is_lost(unsigned work)
{
    struct prof_causal_stats stats;
    struct wire_counts counts;

    (void)run(work, VIRTUALLY, 95);
    prof_causal_stats(&stats);
    counts = wire_counts();
    tap_note("held %u at a time, %u strange", (unsigned)stats.held_most,
             (unsigned)counts.strange);
    tap_ok(counts.strange == 0 && stats.held_refused == 0,
           "at 95 % nothing is lost");
}

/* Sixteen requests at a time, and room for four. */
static void no_room(void)
{
    struct prof_causal_settings settings = {.tsc_hz = clock_tsc_hz(),
                                            .held = 4,
                                            .cycles_min = 100 * US,
                                            .visits_min = 10};
    struct prof_causal_stats stats;
    struct wire_counts counts;

    visited = 0;
    (void)prof_causal_start(&settings);
    wire_begin(&works[0].wire);
    run_until(1000);
    prof_causal_stop();
    prof_causal_stats(&stats);
    tap_ok(stats.held_refused > 0, "there is no room for all that is held");
    tap_ok(stats.abandoned >= stats.held_refused, "experiments are abandoned");
    wire_mark();
    while (visited < 1500)
        loop_poll();
    counts = wire_counts();
    tap_is_equal(counts.strange, 0, "nothing is sent twice, lost or reset");
    tap_ok(counts.least != 0, "each client is answered");
}

static void experiments_only(void)
{
    const struct prof_causal_settings settings = {
        .tsc_hz = clock_tsc_hz(), .speedups = 1, .speedup = {PROF_ONE / 2}};
    struct prof_causal_stats stats;

    tap_plan(2);
    f_us = works[only].f_us;
    g_us = works[only].g_us;
    (void)prof_causal_start(&settings);
    wire_begin(&works[only].wire);
    run_until(visits);
    prof_causal_stop();
    prof_causal_stats(&stats);
    tap_ok(stats.experiments > 5, "there are experiments");
    tap_is_equal(wire_counts().strange, 0,
                 "nothing is sent twice, lost or reset");
}

bool service_option(const char *key, const char *value)
{
    uint32_t number = (uint32_t)strtoul(value, NULL, 10);

    if (strcmp(key, "causal.visits") == 0)
        visits = number;
    else if (strcmp(key, "causal.speedups") == 0)
        speedups = number;
    else if (strcmp(key, "causal.work") == 0)
        only = number;
    else
        return false;
    return visits != 0 && speedups != 0 && speedups <= SPEEDUPS_MAX;
}

int service_main(void)
{
    static const uint32_t percent[SPEEDUPS_MAX] = {50, 25, 75};

    prof_causal_add_progress(&visit);
    prof_causal_add_latency(&latency);
    prof_causal_add_target(&part_f);
    if (net_start() != 0 || net_listen(WIRE_PORT, &handlers, NULL) != 0)
        return 1;
    if (only < WORKS) {
        experiments_only();
        prof_causal_report();
        return tap_end();
    }
    tap_plan(WORKS * (2 * speedups + 1) + 4);
    for (unsigned i = 0; i < WORKS; i++) {
        double normal;

        (void)net_option("net.peer", works[i].rule);
        normal = run(i, REALLY, 0);
        for (unsigned j = 0; j < speedups; j++)
            compare(i, percent[j], normal);
        nothing_is_lost(i);
    }
    (void)net_option("net.peer", "closed");
    no_room();
    prof_causal_report();
    return tap_end();
}
