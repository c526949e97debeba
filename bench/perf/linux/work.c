/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The work as a Linux process:
 *
 *     work ROUNDS UNITS                  one round after the other
 *     work ROUNDS UNITS PERIOD PHASE     one round each PERIOD nanoseconds of
 *                                        the clock, from PHASE on
 *     work mark                          nothing but work_mark(), for the
 *                                        plugin that counts (host/marks.c)
 *
 * Prints "work NS TICKS SWITCHES": what the rounds took by the time stamp
 * counter, which is instructions under -icount shift=0, the local timer's
 * interrupts that came meanwhile, and how often another process ran.
 */

#include "../work.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#define NS_PER_S 1000000000u

static uint64_t tsc(void)
{
    uint32_t low, high;

    __asm__ volatile("rdtsc" : "=a"(low), "=d"(high)::"memory");
    return (uint64_t)high << 32 | low;
}

static uint64_t clock_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

/* Of the only CPU. */
static uint64_t timer_interrupts(void)
{
    FILE *file = fopen("/proc/interrupts", "r");
    char line[256];
    uint64_t count = 0;

    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        sscanf(line, " LOC: %" SCNu64, &count);
    if (file == NULL || count == 0) {
        fprintf(stderr, "work: /proc/interrupts has no line LOC\n");
        exit(1);
    }
    fclose(file);
    return count;
}

static uint64_t switches(void)
{
    struct rusage usage;

    getrusage(RUSAGE_SELF, &usage);
    return (uint64_t)(usage.ru_nvcsw + usage.ru_nivcsw);
}

void work_mark(void);

/* What is left of a round by the clock. */
__attribute__((noinline)) static void pace(uint64_t end_ns)
{
    while (clock_ns() < end_ns)
        ;
}

/* As work_round() in a row; main has this frame. */
static inline uint32_t work(uint64_t rounds, uint32_t units, uint64_t period_ns,
                            uint64_t phase_ns)
{
    uint64_t zero_ns = clock_ns() + phase_ns;
    uint32_t sum = 0;

    if (phase_ns != 0)
        pace(zero_ns);
    for (uint64_t i = 1; i <= rounds; i++) {
        sum += work_round(units);
        if (period_ns != 0)
            pace(zero_ns + i * period_ns);
    }
    return sum;
}

__attribute__((noinline)) void work_mark(void)
{
    __asm__ volatile("");
}

static uint64_t number(int argc, char **argv, int at)
{
    return argc > at ? strtoull(argv[at], NULL, 10) : 0;
}

int main(int argc, char **argv)
{
    uint64_t rounds = number(argc, argv, 1);
    uint32_t units = (uint32_t)number(argc, argv, 2);
    uint64_t ticks, switched, begin, end;
    uint32_t sum;

    if (argc == 2 && strcmp(argv[1], "mark") == 0) {
        work_mark();
        return 0;
    }
    if (rounds == 0 || units < 3) {
        fprintf(stderr, "usage: work ROUNDS UNITS [PERIOD PHASE] | mark\n");
        return 2;
    }
    work_round(units); /* its pages are there from now on */
    switched = switches();
    ticks = timer_interrupts();
    begin = tsc();
    sum = work(rounds, units, number(argc, argv, 3), number(argc, argv, 4));
    end = tsc();
    ticks = timer_interrupts() - ticks;
    printf("work %" PRIu64 " %" PRIu64 " %" PRIu64 " %08" PRIx32 "\n",
           end - begin, ticks, switches() - switched, sum);
    return 0;
}
