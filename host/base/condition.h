/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_CONDITION_H
#define BASE_CONDITION_H

/* Conditions of threads that are waited for until a time of seconds_now()
 * (base/wait.h), whatever becomes of the clock of the day meanwhile. */

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <time.h>

static inline void condition_init(pthread_cond_t *condition)
{
    pthread_condattr_t attributes;

    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(condition, &attributes);
    pthread_condattr_destroy(&attributes);
}

/* As pthread_cond_wait(), which may return for no reason; false: it is
 * (deadline). */
static inline bool condition_wait(pthread_cond_t *condition,
                                  pthread_mutex_t *lock, double deadline)
{
    struct timespec until = {.tv_sec = (time_t)deadline};

    until.tv_nsec = (long)((deadline - (double)until.tv_sec) * 1e9);
    return pthread_cond_timedwait(condition, lock, &until) != ETIMEDOUT;
}

#endif
