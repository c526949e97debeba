/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAUSAL_RANDOM_H
#define CAUSAL_RANDOM_H

/* Random numbers that depend on what they are for and not on how many there
 * were before: so they are the same in all runs of a program. */

#include <stdint.h>

/* Another one makes other programs. */
static uint32_t sim_seed;

/* From 0 to 1, both excluded. Source: Steele, Lea and Flood, Fast Splittable
 * Pseudorandom Number Generators, OOPSLA 2014: the finalizer. */
static inline double sim_uniform(uint32_t what, uint32_t peer, uint32_t number)
{
    uint64_t x = ((uint64_t)what << 56) ^ ((uint64_t)peer << 32) ^ number;

    x += (uint64_t)sim_seed * 0xd1342543de82ef95ull;
    x = (x + 0x9e3779b97f4a7c15ull) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
    x ^= x >> 31;
    return ((double)(x >> 11) + 0.5) / 9007199254740992.0;
}

#endif
