/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BENCH_PERF_WORK_H
#define BENCH_PERF_WORK_H

/*
 * The work that Linux perf and our sampler are both measured on: rounds of
 * services/split's four leaves, which get 4, 3, 2 and 1 units of instructions,
 * each at the end of the same chain of calls. The leaves and the chain are the
 * same object files in both guests.
 */

#include "../../services/split/levels.h"

#define WORK_WEIGHTS 10u /* 4 + 3 + 2 + 1 */

/* One round in leaves of (units) units of 4 instructions, at least 3. Inlined,
 * so that the caller is the function from which the chain begins. */
static inline uint32_t work_round(uint32_t units)
{
    return level_2(leaf_a, SPLIT_TURNS(units * 4)) +
           level_2(leaf_b, SPLIT_TURNS(units * 3)) +
           level_2(leaf_c, SPLIT_TURNS(units * 2)) +
           level_2(leaf_d, SPLIT_TURNS(units));
}

#endif
