/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SECONDS_H
#define SECONDS_H

#include <time.h>

/* Seconds of a clock that nobody sets: good for differences only. */
static inline double seconds_now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

#endif
