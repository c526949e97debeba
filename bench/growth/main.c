/* SPDX-License-Identifier: Apache-2.0 */

/* Parses the options, runs the chosen curve; helpers for all curves. */

#include "growth.h"

#include <arch/cpu.h>
#include <kernel/console.h>
#include <kernel/service.h>
#include <stdlib.h>
#include <string.h>

static const struct curve {
    const char *name;
    bool made_up; /* no sample is the timer's */
    void (*run)(const struct growth_points *points);
} curves[] = {
    {"rate", false, growth_rate},          {"depth", false, growth_depth},
    {"deep", true, growth_deep},           {"stacks", true, growth_stacks},
    {"quiet", true, growth_quiet_stacks},  {"limit", true, growth_limit},
    {"addresses", true, growth_addresses}, {"symbols", false, growth_symbols},
};
#define CURVES (sizeof curves / sizeof curves[0])

static const struct curve *asked;
static struct growth_points points;
uint32_t growth_slices = 2500;

void growth_emit(const char *name, uint32_t x, uint64_t hundredths)
{
    console_line("growth %s %u %llu.%02u", name, (unsigned)x,
                 (unsigned long long)(hundredths / 100),
                 (unsigned)(hundredths % 100));
}

void growth_emit_each(const char *name, uint32_t x, uint64_t sum,
                      uint64_t count)
{
    growth_must(count != 0, name);
    growth_emit(name, x, (sum * 100 + count / 2) / count);
}

uint64_t growth_longest_drain;

/* One drain leaves to the next what would take too long; this is how soon that
 * is due then. The samples that are fed look like a rate at which it is 0. */
#define DRAINS_MAX 200u
#define LEFT_MS 1u

uint64_t growth_drain(void)
{
    bool on = arch_interrupts_save();
    uint64_t sum = 0;

    for (uint32_t i = 0; i < DRAINS_MAX; i++) {
        uint64_t took = arch_tsc();

        prof_drain();
        took = arch_tsc() - took;
        sum += took;
        if (took > growth_longest_drain)
            growth_longest_drain = took;
        if (prof_drain_ms() != LEFT_MS)
            break;
    }
    arch_interrupts_restore(on);
    return sum;
}

uint64_t growth_report(void)
{
    bool on = arch_interrupts_save();
    uint64_t begin = arch_tsc();

    growth_quiet = true;
    prof_report();
    begin = arch_tsc() - begin;
    arch_interrupts_restore(on);
    return begin;
}

void growth_must(bool good, const char *what)
{
    if (good)
        return;
    console_line("growth: not as it should be: %s", what);
    kernel_exit(1);
}

uint32_t growth_random(void)
{
    static uint64_t state = 1;

    /* Knuth's MMIX generator; its upper bits are the random ones. */
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state >> 33);
}

struct prof_stats growth_stats(void)
{
    struct prof_stats stats;

    prof_stats(&stats);
    return stats;
}

static bool take_points(const char *value)
{
    points.count = 0;
    while (points.count < GROWTH_POINTS_MAX) {
        char *end;

        points.at[points.count++] = (uint32_t)strtoul(value, &end, 10);
        if (end == value || *end != ',')
            return end != value && *end == '\0';
        value = end + 1;
    }
    return false;
}

bool service_option(const char *key, const char *value)
{
    if (strcmp(key, "growth.points") == 0)
        return take_points(value);
    if (strcmp(key, "growth.slices") == 0)
        growth_slices = (uint32_t)strtoul(value, NULL, 10);
    for (size_t i = 0; strcmp(key, "growth.curve") == 0 && i < CURVES; i++)
        if (strcmp(value, curves[i].name) == 0)
            asked = &curves[i];
    growth_hooked = asked != NULL && asked->made_up;
    return asked != NULL;
}

int service_main(void)
{
    growth_must(asked != NULL && points.count != 0, "the options");
    asked->run(&points);
    growth_quiet = true; /* the last report is of nothing that ran */
    return 0;
}
