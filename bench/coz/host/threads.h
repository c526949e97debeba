/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COZ_THREADS_H
#define COZ_THREADS_H

/*
 * Programs on two threads, as tests/causal/cpus_programs.h has them on two
 * CPUs, by pthreads' mutexes and conditions, at which Coz looks.
 */

#include "machine.h"

#include <pthread.h>
#include <stdlib.h>

#define ROOM 4u /* in the queue */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Half as many nanoseconds as (us) have, to half as many more. */
static uint64_t drawn_ns(uint32_t *state, uint32_t us)
{
    const uint32_t ns = us * 1000;

    *state = *state * 1664525u + 1013904223u;
    return ns / 2 + ((uint64_t)ns * *state >> 32);
}

/* ---- a lock: both compute inside and outside of it */

static void *lock_both(void *number)
{
    uint32_t state = (uint32_t)(uintptr_t)number;

    while (!machine_is_over()) {
        machine_compute(drawn_ns(&state, 60));
        pthread_mutex_lock(&lock);
        machine_compute_part(drawn_ns(&state, 30));
        pthread_mutex_unlock(&lock);
        machine_visited();
    }
    return NULL;
}

/* ---- a queue of work: one makes it, the other uses it */

static pthread_cond_t filled = PTHREAD_COND_INITIALIZER,
                      emptied = PTHREAD_COND_INITIALIZER;
static uint32_t queued;

static void *queue_make(void *number)
{
    uint32_t state = (uint32_t)(uintptr_t)number;

    while (!machine_is_over()) {
        machine_compute_part(drawn_ns(&state, 60));
        pthread_mutex_lock(&lock);
        while (queued == ROOM && !machine_is_over())
            pthread_cond_wait(&emptied, &lock);
        queued++;
        pthread_cond_signal(&filled);
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

static void *queue_use(void *number)
{
    uint32_t state = (uint32_t)(uintptr_t)number;

    while (!machine_is_over()) {
        pthread_mutex_lock(&lock);
        while (queued == 0)
            pthread_cond_wait(&filled, &lock);
        queued--;
        pthread_cond_signal(&emptied);
        pthread_mutex_unlock(&lock);
        machine_compute(drawn_ns(&state, 50));
        machine_visited();
    }
    pthread_mutex_lock(&lock);
    pthread_cond_signal(&emptied);
    pthread_mutex_unlock(&lock);
    return NULL;
}

/* ---- both of them */

static const struct threads {
    const char *name;
    void *(*run[2])(void *number);
} threads[] = {
    {"lock", {lock_both, lock_both}},
    {"queue", {queue_make, queue_use}},
};

static void threads_run(const struct threads *program)
{
    pthread_t second;

    if (pthread_create(&second, NULL, program->run[1], (void *)1) != 0)
        abort();
    program->run[0](NULL);
    pthread_join(second, NULL);
}

#endif
