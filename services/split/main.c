/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program with a known profile: it executes 40, 30, 20 and 10 per cent of its
 * instructions in leaf_a, leaf_b, leaf_c and leaf_d.
 *
 * It works in rounds of about 120,000 instructions. In each round the ratio of
 * instructions in the leaves is exactly 4 : 3 : 2 : 1; calling them takes about
 * 0.3 per cent. The lengths of rounds vary, so that they are not in step with
 * the sampler.
 *
 * It halts for long intervals. Where timers wait for the tick that samples, as
 * on a CPU without a local APIC, a program that works for less than a tick and
 * halts again would always be sampled while halted. Long intervals limit that
 * error to half a tick each.
 *
 * split.weights=A,B,C,D    shares instead of 4,3,2,1, each 1 to 100
 * split.idle=PERCENT       share of time halted, 0 to 95 (0)
 * split.rounds=N           stop after N rounds (never)
 * split.seconds=S          stop after S seconds (never)
 */

#include "leaf.h"
#include "levels.h"

#include <kernel/clock.h>
#include <kernel/console.h>
#include <kernel/loop.h>
#include <kernel/service.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDS_PER_SLICE 4u
#define UNITS_LEAST 2048u       /* a unit is 4 instructions */
#define UNITS_SPREAD_MASK 2047u /* so 2048 to 4095; ten times that per round */
#define IDLE_PERCENT_MAX 95u
#define WEIGHT_MAX 100u
#define REST_LEAST_NS 100000000ull

static struct {
    split_leaf *leaf;
    uint32_t weight; /* instructions, in units */
} share[] = {
    {leaf_a, 4},
    {leaf_b, 3},
    {leaf_c, 2},
    {leaf_d, 1},
};
#define LEAVES (sizeof share / sizeof share[0])

static uint32_t idle_percent;
static uint64_t rounds_wanted;
static uint64_t seconds_wanted;

static uint64_t rounds;
static uint64_t busy_ns;
static uint64_t idle_ns;
static uint32_t dither = 1;
static uint32_t checksum;

static bool parse_number(const char *value, uint64_t max, uint64_t *out)
{
    char *end;
    unsigned long long parsed = strtoull(value, &end, 10);

    if (value[0] < '0' || value[0] > '9' || *end != '\0' || parsed > max)
        return false;
    *out = parsed;
    return true;
}

static bool weights(const char *value)
{
    uint32_t weight[LEAVES];

    for (size_t k = 0; k < LEAVES; k++) {
        char *end;
        unsigned long parsed = strtoul(value, &end, 10);

        if (value[0] < '1' || value[0] > '9' || parsed > WEIGHT_MAX ||
            *end != (k < LEAVES - 1 ? ',' : '\0'))
            return false;
        weight[k] = (uint32_t)parsed;
        value = end + 1;
    }
    for (size_t k = 0; k < LEAVES; k++)
        share[k].weight = weight[k];
    return true;
}

bool service_option(const char *key, const char *value)
{
    uint64_t percent;

    if (strcmp(key, "split.weights") == 0)
        return weights(value);
    if (strcmp(key, "split.rounds") == 0)
        return parse_number(value, UINT64_MAX, &rounds_wanted);
    if (strcmp(key, "split.seconds") == 0)
        return parse_number(value, UINT32_MAX, &seconds_wanted);
    if (strcmp(key, "split.idle") != 0 ||
        !parse_number(value, IDLE_PERCENT_MAX, &percent))
        return false;
    idle_percent = (uint32_t)percent;
    return true;
}

/* A linear congruential generator, whose upper bits are better. */
static uint32_t units_of_this_round(void)
{
    dither = dither * 1664525u + 1013904223u;
    return UNITS_LEAST + (dither >> 16 & UNITS_SPREAD_MASK);
}

static void work(void)
{
    uint64_t begin_ns = clock_ns();

    for (uint32_t i = 0; i < ROUNDS_PER_SLICE; i++) {
        uint32_t units = units_of_this_round();

        for (size_t k = 0; k < LEAVES; k++)
            checksum +=
                level_2(share[k].leaf, SPLIT_TURNS(units * share[k].weight));
        rounds++;
    }
    busy_ns += clock_ns() - begin_ns;
}

static void set_flag(void *flag)
{
    *(bool *)flag = true;
}

/* Halts until the time halted reaches its share of the total. */
static void rest(void)
{
    uint64_t wanted_ns = busy_ns * idle_percent / (100 - idle_percent);
    uint64_t begin_ns = clock_ns();
    struct loop_timer timer = {0};
    bool over = false;

    if (wanted_ns < idle_ns + REST_LEAST_NS)
        return;
    loop_once(&timer, wanted_ns - idle_ns, set_flag, &over);
    while (!over)
        loop_wait();
    idle_ns += clock_ns() - begin_ns;
}

static bool finished(uint64_t begin_ns)
{
    if (rounds_wanted != 0 && rounds >= rounds_wanted)
        return true;
    return seconds_wanted != 0 &&
           clock_ns() - begin_ns >= seconds_wanted * NS_PER_S;
}

int service_main(void)
{
    uint64_t begin_ns = clock_ns();

    while (!finished(begin_ns)) {
        work();
        loop_poll();
        rest();
    }
    console_line("split: %llu rounds, %llu ms busy, %llu ms idle, sum %08x",
                 (unsigned long long)rounds,
                 (unsigned long long)(busy_ns / 1000000),
                 (unsigned long long)(idle_ns / 1000000), (unsigned)checksum);
    return 0;
}
