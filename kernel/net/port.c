/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What lwIP requires of the system: time, random numbers that are not trivial
 * to guess, the heap, with a count of allocated blocks, and failed assertions.
 */

#include "net.h"

#include <arch/cpu.h>
#include <kernel/clock.h>
#include <kernel/console.h>
#include <kernel/panic.h>
#include <lwip/sys.h>
#include <stdlib.h>

static uint32_t pieces, refusals;

/* Milliseconds; wraps around after 49 days, which lwIP handles. */
u32_t sys_now(void)
{
    return (u32_t)(clock_ns() / NS_PER_MS);
}

/* xorshift64*, with the TSC mixed in at each call. */
uint32_t net_port_random(void)
{
    static uint64_t state = 0x9e3779b97f4a7c15ull;

    state ^= arch_tsc();
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    return (uint32_t)(state * 0x2545f4914f6cdd1dull >> 32);
}

static void *count(void *piece)
{
    if (piece != NULL)
        pieces++;
    else
        refusals++;
    return piece;
}

void *net_port_alloc(size_t bytes)
{
    return count(malloc(bytes));
}

void *net_port_alloc_zeroed(size_t number, size_t bytes)
{
    return count(calloc(number, bytes));
}

void net_port_free(void *piece)
{
    if (piece != NULL)
        pieces--;
    free(piece);
}

void net_port_broken(const char *file, int line, const char *what)
{
    panic_at(file, line, what);
}

uint32_t net_port_pieces(void)
{
    return pieces;
}

uint32_t net_port_refusals(void)
{
    return refusals;
}
