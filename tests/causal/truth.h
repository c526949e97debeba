/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRUTH_H
#define TRUTH_H

/*
 * Programs in which something really is faster, beside the same in which it is
 * so on the virtual clock only. Included after guest/tap.h, by one file.
 */

#include "machine.h"

#include "programs.h"

#include "works.h"

#include <kernel/service.h>
#include <stdio.h>
#include <string.h>

#define SPEEDUPS_MAX 3u
#define VISITS_ENOUGH 4000
#define WARM_UP 200u

static PROF_TARGET(all_disks, "disk");
static PROF_TARGET(all_peers, "network");

static const char *const faster[] = {"F", "G", "disk", "network"};

static uint32_t visits = 500, speedups = 1, first, last = PROGRAMS, repeats;

struct run {
    double period; /* virtual time between visits */
    double p99;    /* of requests */
};

/* Really, without experiments; on the virtual clock: from enter to leave,
 * without agents, by samples. */
enum how { REALLY, VIRTUALLY, NAIVELY, SMOOTHLY };

static inline const struct prof_target *target_of(enum what what, enum how how)
{
    if (what == DISKS)
        return &all_disks;
    if (what == NETWORK)
        return &all_peers;
    return how == SMOOTHLY ? prof_causal_target(SMOOTH_PART) : &part_f;
}

/* (what) becomes faster, in (sim) or on the virtual clock. */
static inline void make_faster(struct sim *sim, enum what what, enum how how,
                               uint32_t speedup)
{
    uint32_t real = how == REALLY ? speedup : 0;

    sim->target = what == PART_G ? G : F;
    sim->shorter = what == PART_F || what == PART_G ? real : 0;
    sim->device_shorter = what == DISKS ? real : 0;
    sim->peer_shorter = what == NETWORK ? real : 0;
    sim->only_now = how == NAIVELY;
    for (unsigned i = 0; i < DEVICES_MAX; i++)
        prof_agent_target(&sim->devices[i].agent, &all_disks);
    for (unsigned i = 0; i < PEERS_MAX; i++)
        prof_agent_target(&sim->peers[i], &all_peers);
    if (how != REALLY)
        prof_causal_fix(target_of(what, how), speedup);
}

/* What samples say of the part must be known before it is faster. */
static inline struct run run(unsigned work, enum how how, uint32_t speedup)
{
    const struct prof_causal_settings settings = {.tsc_hz = clock_tsc_hz()};
    uint32_t before = how == SMOOTHLY ? visits : 0;
    struct sim *sim;
    struct run result;
    uint64_t begin;

    if (how != REALLY)
        prof_causal_start(&settings);
    sim = sim_new(works[work].program, works[work].parameter);
    make_faster(sim, works[work].what, how, 0);
    sim_run(sim, before);
    make_faster(sim, works[work].what, how, speedup);
    sim->warm_up = before + WARM_UP;
    sim_run(sim, before + WARM_UP);
    begin = sim_virtual(sim);
    sim_run(sim, before + WARM_UP + visits);
    result.period = (double)(sim_virtual(sim) - begin) / visits;
    result.p99 = sim_quantile(sim, visits, 990);
    prof_causal_stop();
    sim_free(sim);
    return result;
}

/* By how much (faster) is: 1/100 per cent. */
static inline int gain(double normal, double after)
{
    return (int)lround(10000 * (1 - after / normal));
}

static inline const char *text(int hundredths, char to[16])
{
    unsigned size = (unsigned)(hundredths < 0 ? -hundredths : hundredths);

    snprintf(to, 16, "%s%u.%02u", hundredths < 0 ? "-" : "", size / 100,
             size % 100);
    return to;
}

static inline const char *check_name(unsigned work, uint32_t percent,
                                     const char *of, char to[80])
{
    snprintf(to, 80, "%s, %u %%: %s", works[work].program->name,
             (unsigned)percent, of);
    return to;
}

/* As options: causal.visits=, causal.speedups=, causal.first=, causal.last=,
 * causal.seed=, causal.p99=. */
static inline bool truth_option(const char *key, const char *value)
{
    uint32_t number = (uint32_t)strtoul(value, NULL, 10);

    if (strcmp(key, "causal.visits") == 0)
        visits = number;
    else if (strcmp(key, "causal.speedups") == 0)
        speedups = number;
    else if (strcmp(key, "causal.first") == 0)
        first = number;
    else if (strcmp(key, "causal.last") == 0)
        last = number;
    else if (strcmp(key, "causal.seed") == 0)
        sim_seed = number;
    else if (strcmp(key, "causal.p99") == 0)
        repeats = number;
    else
        return false;
    return first <= last && last <= PROGRAMS && visits != 0 &&
           visits <= LATENCIES_MAX && speedups != 0 && speedups <= SPEEDUPS_MAX;
}

static const uint32_t truth_percent[SPEEDUPS_MAX] = {50, 25, 75};

#endif
