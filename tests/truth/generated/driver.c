/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a generated program is driven by: so many rounds of it, each as long as
 * a number says that no round repeats. Rounds of one length would be in step
 * with a timer; their lengths' sum is known all the same, as program.py draws
 * the same numbers.
 */

#include "driver.h"

#include <kernel/loop.h>
#include <kernel/service.h>

/* Numerical Recipes' generator; its upper bits are the better ones. */
static uint32_t next(uint32_t random)
{
    return random * 1664525u + 1013904223u;
}

int service_main(void)
{
    uint32_t random = generated_seed;

    for (uint32_t i = 0; i < generated_rounds; i++) {
        random = next(random);
        generated_round(generated_units_least +
                        (random >> 16 & generated_units_mask));
        loop_poll();
    }
    return 0;
}
