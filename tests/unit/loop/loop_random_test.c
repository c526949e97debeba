/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random programs, each against a second implementation: half a million at each
 * width, and not the same. LOOP_PROGRAMS=N takes N, LOOP_SEED=S others.
 */

#include "../unit.h"

#include "loop_compare.h"

#define PROGRAMS 500000u
#define STEPS_MAX 60u

static uint64_t seed;

/* Steele, Lea and Flood: Fast Splittable Pseudorandom Number Generators. */
static uint64_t draw(void)
{
    uint64_t z = seed += 0x9e3779b97f4a7c15u;

    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static unsigned below(unsigned n)
{
    return (unsigned)(draw() % n);
}

/* Times of all sizes, and none; and until 32 bits of the clock are about to
 * start again. */
static uint64_t time_of_any_size(void)
{
    if (below(8) == 0)
        return (uint32_t)-prof_loop_hosted_tsc + below(4) * (1 + below(9));
    return below(4) == 0 ? 0 : draw() >> (24 + below(40));
}

static struct step any_step(unsigned tasks_used, unsigned sites_used)
{
    static const char steps[] = "cccrrrrpppwwwefxbllnikaqv++++++++s";
    unsigned rare = below(400);
    struct step step = {.what = steps[below(sizeof steps - 1)],
                        .a = below(tasks_used),
                        .b = below(tasks_used),
                        .n = time_of_any_size()};

    if (step.what == 'c')
        step.b = below(sites_used);
    if (step.what == 'b' || step.what == 'n')
        step.a = below(sites_used);
    if (rare == 0)
        step.what = 'z';
    return step;
}

static void one_program(void)
{
    unsigned tasks_used = 1 + below(MODEL_TASKS - 1);
    unsigned sites_used = 1 + below(8), steps = 1 + below(STEPS_MAX);

    model_open(64 * PROF_LOOP_SITE_BYTES);
    for (unsigned i = 0; i < steps; i++) {
        struct step step = any_step(tasks_used, sites_used);

        do_step(&step);
        if (below(16) == 0)
            model_compare();
    }
    model_compare();
}

static unsigned setting(const char *name, unsigned otherwise)
{
    const char *text = getenv(name);

    return text != NULL ? (unsigned)strtoul(text, NULL, 10) : otherwise;
}

FIXTURE(NULL, model_close);

TEST(random_programs)
{
    unsigned programs = setting("LOOP_PROGRAMS", PROGRAMS);

    seed = setting("LOOP_SEED", sizeof(void *));
    for (unsigned i = 0; i < programs; i++)
        one_program();
}
