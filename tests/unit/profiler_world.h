/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROFILER_WORLD_H
#define PROFILER_WORLD_H

/*
 * A small world around the profiler, in a process: the port's functions, with
 * an allocator that can be told to refuse, and a stub where the interrupt
 * would be. Ticks come from prof_sample(), or are put into the vector by hand
 * where a test wants to choose their time.
 *
 * Included by the one .c file of each test program.
 */

#include "../../profiler/src/state.h"

#include <prof/port.h>
#include <prof/prof.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WORLD_TSC_HZ 1193182000u /* 1000 cycles a PIT count */
#define WORLD_DIVISOR 1193u      /* about 1 kHz */
#define WORLD_PERIOD (WORLD_DIVISOR * 1000u)
#define WORLD_KERNEL_DIVISOR 11932u

static char world_output[1 << 16]; /* what the report wrote, NUL-terminated */
static size_t world_output_bytes;
static int world_refuse_from =
    -1;                        /* number of the allocation to refuse first */
static int world_refuse_count; /* how many from there on */
static int world_allocations;  /* asked for so far */
static int world_live;         /* given and not yet returned */

static void world_eoi(void)
{
}

void (*current_eoi_mechanism)(void) = world_eoi;

void prof_parasite(void);
void prof_parasite(void)
{
}

void prof_port_write(const char *text, size_t bytes)
{
    if (world_output_bytes + bytes >= sizeof world_output)
        abort();
    memcpy(world_output + world_output_bytes, text, bytes);
    world_output_bytes += bytes;
    world_output[world_output_bytes] = '\0';
}

void *prof_port_alloc(size_t bytes)
{
    int number = world_allocations++;

    if (world_refuse_from >= 0 && number >= world_refuse_from &&
        number < world_refuse_from + world_refuse_count)
        return NULL;
    world_live++;
    return malloc(bytes);
}

void prof_port_free(void *memory)
{
    world_live--;
    free(memory);
}

/* A profiler fresh from prof_init() and prof_start() with (bytes) of memory,
 * whose clock says 0. The memory comes from malloc(): ASan guards its ends. */
static void *world_new(size_t bytes)
{
    struct prof_config config = {
        .tsc_hz = WORLD_TSC_HZ,
        .kernel_divisor = WORLD_KERNEL_DIVISOR,
        .idle = {0x9000, 0x9010},
        .text = {0x1000, 0x1000000},
    };
    void *memory = malloc(bytes);

    memset(&prof_hot, 0, sizeof prof_hot);
    memset(&prof_state, 0, sizeof prof_state);
    world_output_bytes = 0;
    world_refuse_from = -1;
    world_allocations = 0;
    if (prof_init(memory, bytes, &config) != 0 || prof_start() != 0)
        abort();
    prof_state.divisor = WORLD_DIVISOR;
    prof_timebase_set(&prof_state.time, 0, WORLD_TSC_HZ, WORLD_DIVISOR);
    prof_hot.spill.last_tsc = 0;
    return memory;
}

static void world_end(void *memory)
{
    struct prof_tree *const trees[] = {&prof_state.stacks, &prof_state.calls,
                                       &prof_state.callables};

    if (prof_state.addresses.cells != NULL)
        prof_port_free(prof_state.addresses.cells);
    if (prof_state.functions.cells != NULL)
        prof_port_free(prof_state.functions.cells);
    for (size_t i = 0; i < sizeof trees / sizeof *trees; i++)
        if (trees[i]->nodes != NULL)
            prof_port_free(trees[i]->nodes);
    free(memory);
}

/* The memory that gives a vector of (entries) entries and the least frames. */
#define WORLD_MEMORY(entries)                                                  \
    (2 * PROF_SPILL_SLOTS * sizeof(struct prof_slot) +                         \
     (entries) * sizeof(struct prof_entry) +                                   \
     (256 + PROF_FRAMES_MARGIN) * sizeof(uint32_t))

/* A tick at time (tsc), as the stub would have it. */
static inline void world_tick(uintptr_t pc, uint64_t tsc)
{
    if (prof_ring_full(&prof_hot.ring))
        prof_sample_full(pc, tsc);
    else
        prof_ring_push(&prof_hot.ring, pc, tsc, 0);
}

#endif
