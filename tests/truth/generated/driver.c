/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a generated program is driven by: so many rounds of it, each as long as
 * a number says that no round repeats. Rounds of one length would be in step
 * with a timer; their lengths' sum is known all the same, as program.py draws
 * the same numbers.
 */

#include "driver.h"
#include "thief.h"

#include <kernel/loop.h>
#include <kernel/service.h>
#include <prof/symbols.h>
#include <stdlib.h>
#include <string.h>

static uint32_t thief_percent;

bool service_option(const char *key, const char *value)
{
    if (strcmp(key, "thief.percent") != 0)
        return false;
    thief_percent = (uint32_t)strtoul(value, NULL, 10);
    return thief_percent >= THIEF_PERCENT_MIN &&
           thief_percent <= THIEF_PERCENT_MAX;
}

/* Numerical Recipes' generator; its upper bits are the better ones. */
static uint32_t next(uint32_t random)
{
    return random * 1664525u + 1013904223u;
}

/* Programs of tiny functions have hundreds of them. */
PROF_SYMBOLS_RESERVE(65536);

int service_main(void)
{
    uint32_t random = generated_seed;

    if (thief_percent > 0)
        thief_begin(thief_percent);
    for (uint32_t i = 0; i < generated_rounds; i++) {
        random = next(random);
        generated_round(generated_units_least +
                        (random >> 16 & generated_units_mask));
        loop_poll();
    }
    if (thief_percent > 0)
        thief_end();
    return 0;
}
