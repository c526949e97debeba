/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_SECONDS_H
#define BASE_SECONDS_H

#include <time.h>

/* Seconds of the monotonic clock: only differences mean anything. */
static inline double seconds_now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

#endif
