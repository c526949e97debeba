/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CHAIN_H
#define CHAIN_H

#include <stdbool.h>
#include <stdint.h>

#define CHAIN_MAX 140

/* A call stack as it should be: an address, and the return
 * addresses of its callers, innermost first. */
struct chain {
    uintptr_t addresses[CHAIN_MAX];
    uint32_t count;
};

bool chain_is_equal(const struct chain *a, const struct chain *b);

/* Both of them on the console, as comments. */
void chain_show(const struct chain *got, const struct chain *wanted);

/* Takes one sample of (pc, sp, fp) and says what became of it: the only stack
 * that the profiler knows after that. */
struct chain chain_sampled(uintptr_t pc, uintptr_t sp, uintptr_t fp);

/* The return addresses from the frame at (fp) on, down to a zero. */
struct chain chain_of_frames(uintptr_t fp);

#endif
