/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROFILER_WORLD_H
#define PROFILER_WORLD_H

/*
 * The profiler in a process: the port's functions, with an allocator that a
 * test can make fail, and a stub instead of the interrupt. Ticks come from
 * prof_sample(); a test that chooses their time writes them to the vector.
 *
 * Included by the one .c file of each test program.
 */

#include "control/control.h"
#include "aggregate/accounts.h"
#include "aggregate/addresses.h"
#include "aggregate/calls.h"
#include "aggregate/functions.h"
#include "aggregate/recent.h"
#include "aggregate/stacks.h"
#include "sample/cpu_state.h"
#include "tick/clock.h"
#include "tick/meter.h"
#include "tick/source.h"

#include <prof/port.h>
#include <prof/prof.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WORLD_TSC_HZ 1193182000u /* 1000 cycles a PIT count */
#define WORLD_DIVISOR 1193u      /* about 1 kHz */
#define WORLD_PERIOD (WORLD_DIVISOR * 1000u)
#define WORLD_RATE_MHZ 1000152u /* what the divisor comes to */

static void *world_memory; /* of the profiler, NULL: there is no world */
static char world_output[1 << 16]; /* what the report wrote, NUL-terminated */
static size_t world_output_bytes;
static int world_refuse_from =
    -1;                        /* number of the allocation to refuse first */
static int world_refuse_count; /* how many from there on */
static int world_allocations;  /* asked for so far */
static int world_live;         /* given and not yet returned */
static void (*world_on_alloc)(void); /* called by each, where it is not NULL */
static void (*world_on_write)(void); /* the same, while a report writes */

static void world_eoi(void)
{
}

void (*current_eoi_mechanism)(void) = world_eoi;

void prof_parasite(void)
{
}

void prof_lapic_enter(void)
{
}

void prof_nmi(void)
{
}

void prof_lapic_sampled(void)
{
}

void prof_lapic_done(void)
{
}

void prof_lapic_done_by_msr(void)
{
}

void prof_port_write(const char *text, size_t bytes)
{
    if (world_on_write != NULL)
        world_on_write();
    if (world_output_bytes + bytes >= sizeof world_output)
        abort();
    memcpy(world_output + world_output_bytes, text, bytes);
    world_output_bytes += bytes;
    world_output[world_output_bytes] = '\0';
}

void *prof_port_alloc(size_t bytes)
{
    int number = world_allocations++;

    if (world_on_alloc != NULL)
        world_on_alloc();
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

static inline void world_free_table(const struct prof_table *table)
{
    for (uint32_t i = 0; i < table->capacity; i += PROF_SEGMENT)
        prof_port_free(
            prof_table_record(table->segments, table->record_bytes, i));
    if (table->segments_max != 0)
        prof_port_free(table->segments);
    if (table->mask != 0)
        prof_port_free(table->slots);
    if (table->next_slots != NULL)
        prof_port_free(table->next_slots);
}

static inline void world_end(void)
{
    static struct prof_table *const tables[] = {
        &prof_addresses, &prof_functions, &prof_stacks, &prof_calls};

    if (world_memory == NULL)
        return;
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        world_free_table(tables[i]);
    prof_stacks_forget();
    if (prof_recent.leaves_mask != 0)
        prof_port_free(prof_recent.leaves);
    prof_table_freeze(false);
    free(world_memory);
    world_memory = NULL;
}

/* A profiler fresh from prof_init() and prof_start() with (bytes) of memory,
 * whose clock says 0. The memory comes from malloc(): ASan guards its ends. */
static inline void world_new(size_t bytes)
{
    struct prof_config config = {
        .tsc_hz = WORLD_TSC_HZ,
        .tick = {.kind = PROF_TICK_HOOK, .rate_mhz = WORLD_RATE_MHZ},
        .idle = {0x9000, 0x9010},
        .text = {0x1000, 0x1000000},
    };

    world_end();
    world_memory = malloc(bytes);
    memset(prof_cpus, 0, sizeof prof_cpus);
    prof_control_forget();
    world_output_bytes = 0;
    world_refuse_from = -1;
    world_allocations = 0;
    if (prof_init(world_memory, bytes, &config) != 0 || prof_start() != 0)
        abort();
    world_output_bytes = 0;
    prof_meter_end(); /* samples come as a test wants */
    prof_timebase_set(prof_clock_of(prof_cpu_here()), 0,
                      (uint64_t)WORLD_PERIOD << PROF_PERIOD_SHIFT,
                      WORLD_DIVISOR);
    prof_clock_reset();
    prof_overflow_resume(&prof_cpus[0].overflow, 0);
}

/* The memory that gives a vector of (entries) entries and the least frames. */
#define WORLD_MEMORY(entries)                                                  \
    (2 * PROF_OVERFLOW_SLOTS * sizeof(struct prof_slot) +                      \
     (entries) * sizeof(struct prof_entry) +                                   \
     (256 + PROF_FRAMES_MARGIN) * sizeof(uint32_t))

/* Whose vector has 64 entries; for FIXTURE(). */
static inline void world_small(void)
{
    world_new(WORLD_MEMORY(64));
}

static inline struct prof_stats world_stats(void)
{
    struct prof_stats stats;

    prof_stats(&stats);
    return stats;
}

/* What was drained at (pc) without callers. */
static inline struct prof_amount world_drained(uintptr_t pc)
{
    return prof_stack_at(*prof_stack_slot(0, pc))->self;
}

/* A tick at time (tsc), as the stub would have it. */
static inline void world_tick(uintptr_t pc, uint64_t tsc)
{
    prof_cpus[0].ticks++;
    if (prof_ring_full(&prof_cpus[0].ring))
        prof_sample_full(pc, tsc);
    else
        prof_ring_push(&prof_cpus[0].ring, pc, tsc, 0);
}

/* A tick whose callers are at (callers), innermost first, and whose walk ended
 * for (reason). */
static inline void tick_stopped(uintptr_t pc, uint64_t tsc,
                                const uintptr_t *callers, uint32_t count,
                                uint32_t reason)
{
    struct prof_frames *frames = &prof_cpus[0].frames;
    uint32_t words = PROF_FRAMES_HEAD + count;
    uint32_t *to;

    prof_cpus[0].ticks++;
    if (prof_ring_full(&prof_cpus[0].ring)) {
        prof_sample_full(pc, tsc);
        return;
    }
    if (frames->mask + 1 - (frames->head - frames->tail) < words) {
        prof_ring_push(&prof_cpus[0].ring, pc, tsc, 0);
        return;
    }
    to = frames->words + (frames->head & frames->mask);
    memset(to, 0, PROF_FRAMES_HEAD * sizeof *to);
    for (uint32_t i = 0; i < count; i++)
        to[PROF_FRAMES_HEAD + i] = (uint32_t)callers[i];
    frames->head += words;
    prof_ring_push(&prof_cpus[0].ring, pc, tsc,
                   words | reason << PROF_WALK_STOP_SHIFT);
}

static inline void tick(uintptr_t pc, uint64_t tsc, const uintptr_t *callers,
                        uint32_t count)
{
    tick_stopped(pc, tsc, callers, count, 0);
}

#endif
