/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BENCH_TRACE_LIVES_H
#define BENCH_TRACE_LIVES_H

/*
 * What both recorders record in bench/trace_host.sh: lives of tasks, seven
 * events each, of 64 tasks that take turns. The including file defines
 * CREATE(), SWITCH(task), TRY_READ(task), SUSPEND(), WAKE(task), READ(task)
 * and RESOLVE(task).
 */

#include <stdint.h>
#include <time.h>

#define LIVES_AT_ONCE 64u
#define EVENTS_OF_A_LIFE 7u

static inline uint64_t cpu_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void some_lives(void)
{
    uint32_t tasks[LIVES_AT_ONCE];

    for (uint32_t i = 0; i < LIVES_AT_ONCE; i++) {
        tasks[i] = CREATE();
        SWITCH(tasks[i]);
        TRY_READ(tasks[i]);
        SUSPEND();
    }
    for (uint32_t i = 0; i < LIVES_AT_ONCE; i++) {
        WAKE(tasks[i]);
        READ(tasks[i]);
        RESOLVE(tasks[i]);
    }
}

#endif
