/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BENCH_GROWTH_H
#define BENCH_GROWTH_H

/*
 * How the profiler's cost grows: shared by all curves measured in a guest. It
 * runs under QEMU with -icount shift=0, where the TSC advances by one per
 * instruction, so costs are exact instruction counts and reproducible.
 *
 *     growth.curve=NAME             which of them: main.c lists them
 *     growth.points=10,100,1000     its x, rising
 *     growth.slices=2500            of work, of the curve rate
 *
 * Each line "growth NAME X VALUE" is for bench/growth/run.sh.
 */

#include <prof/prof.h>
#include <stdbool.h>
#include <stdint.h>

#define GROWTH_POINTS_MAX 32u

extern uint32_t growth_slices;

struct growth_points {
    uint32_t at[GROWTH_POINTS_MAX];
    uint32_t count;
};

/* One curve each, at (points): each samples, measures and prints. */
void growth_rate(const struct growth_points *points);
void growth_depth(const struct growth_points *points);
void growth_deep(const struct growth_points *points);
void growth_stacks(const struct growth_points *points);
void growth_quiet_stacks(const struct growth_points *points);
void growth_limit(const struct growth_points *points);
void growth_addresses(const struct growth_points *points);
void growth_symbols(const struct growth_points *points);

/* Prints a value in hundredths. */
void growth_emit(const char *name, uint32_t x, uint64_t hundredths);

/* Prints (sum) / (count). */
void growth_emit_each(const char *name, uint32_t x, uint64_t sum,
                      uint64_t count);

/* Instructions that it takes to drain everything, interrupts off; and those of
 * the longest drain so far. */
uint64_t growth_drain(void);
extern uint64_t growth_longest_drain;

/* The same for a report, whose output is discarded. */
uint64_t growth_report(void);

/* Ends the image if (good) is false: its measurements are invalid. */
void growth_must(bool good, const char *what);

/* Discards what the profiler prints from now on. */
extern bool growth_quiet;

/* Set it before the profiler starts: the source of ticks is then the kernel's
 * hook (PROF_TICK_HOOK), and the profiler touches neither gate nor PIT. */
extern bool growth_hooked;

/* Bytes of the heap that the profiler holds. */
uint64_t growth_heap(void);

/* The next of a row of numbers that looks like chance, the same in each run. */
uint32_t growth_random(void);

/* The counts; a copy of prof_stats(). */
struct prof_stats growth_stats(void);

/*
 * Samples that are made up: prof_sample(), as a kernel with a hook of its own
 * calls it, with a stack that lies in memory.
 */
#define MADE_CALLERS_MAX 127u

void made_begin(bool stream);                      /* starts */
void made_caller(uint32_t level, uintptr_t place); /* 0 = the innermost */
void made_callers(uint32_t count);                 /* how many there are */
void made_sample(uintptr_t pc);
uint64_t made_stream_bytes(void); /* sent up to now */

/* The same with the packet in progress; everything is emitted again after
 * it. */
uint64_t made_flushed(void);

/* The (number)th of (MADE_PLACES) places spread over the image's code. */
#define MADE_PLACES 256u
uintptr_t made_place(uint32_t number);

#endif
