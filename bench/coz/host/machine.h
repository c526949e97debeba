/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COZ_MACHINE_H
#define COZ_MACHINE_H

/*
 * Time, work and units of work of the programs as processes of Linux. Durations
 * of programs are in nanoseconds, of which each takes (scale) of the machine's.
 */

#include <stdbool.h>
#include <stdint.h>
#include <time.h>
/* the last: it defines names without a prefix */
#include <coz.h>

#define WARM_UP 200u /* units that do not count */
#define ROUNDS_PER 1000000u

static uint32_t scale = 1;
/* Of a loop, in ROUNDS_PER ns: work is counted in rounds, as these may take
 * longer in one run than in another, but are as many. */
static uint64_t rounds;
static uint64_t shorter;              /* per cent, really, of the part */
static uint64_t visits_wanted, until; /* the end: units of work, or time */
static uint64_t visits, began, ended;

static inline uint64_t machine_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static inline void machine_sleep_until(uint64_t ns)
{
    const struct timespec until_then = {(time_t)(ns / 1000000000u),
                                        (long)(ns % 1000000000u)};

    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until_then, NULL);
}

__attribute__((noinline)) static void spin(uint64_t count)
{
    __asm__ volatile("1: dec %0\n\t"
                     "jnz 1b"
                     : "+r"(count)
                     :
                     : "cc");
}

/* The same for the part: the line that may become faster. */
enum { PART_LINE = __LINE__ + 3 };
__attribute__((noinline)) static void spin_in_part(uint64_t count)
{
    __asm__ volatile("1: dec %0\n\t"
                     "jnz 1b"
                     : "+r"(count)
                     :
                     : "cc");
}

static inline uint64_t machine_rounds(uint64_t ns)
{
    return ns * scale * rounds / ROUNDS_PER + 1;
}

static inline void machine_compute(uint64_t ns)
{
    spin(machine_rounds(ns));
}

static inline void machine_compute_part(uint64_t ns)
{
    spin_in_part(machine_rounds(ns - ns * shorter / 100));
}

static inline bool machine_is_over(void)
{
    return __atomic_load_n(&ended, __ATOMIC_RELAXED) != 0;
}

/* A unit of work is done, on any thread. */
static inline void machine_visited(void)
{
    const uint64_t count = __atomic_add_fetch(&visits, 1, __ATOMIC_RELAXED);
    const uint64_t now = machine_ns();

    COZ_PROGRESS_NAMED("visit");
    if (count == WARM_UP)
        __atomic_store_n(&began, now, __ATOMIC_RELAXED);
    else if (count == WARM_UP + visits_wanted ||
             (count > WARM_UP && now >= until && !machine_is_over())) {
        visits_wanted = count - WARM_UP;
        __atomic_store_n(&ended, now, __ATOMIC_RELAXED);
    }
}

#endif
