/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BENCH_PERF_PERF_H
#define BENCH_PERF_PERF_H

/* What the files of this guest know of each other. */

#include <prof/prof.h>
#include <stdint.h>

#define PERF_LEAVES 4u

struct perf_leaf {
    const char *name;
    uint32_t (*run)(uint32_t turns);
};
extern const struct perf_leaf perf_leaves[PERF_LEAVES];

/* Prints the line "bench NAME VALUE". */
void perf_emit(const char *name, uint64_t hundredths);

/* The work in step with the PIT, without jitter and with it. */
void perf_steps(void);

#endif
