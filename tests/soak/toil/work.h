/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TOIL_WORK_H
#define TOIL_WORK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A kind of work: slices of it follow one another as long as it is wanted. */
struct work {
    const char *name;
    void (*slice)(void); /* some milliseconds of it, on an idle host */
    void (*leave)(void); /* gives back what slices have kept, or NULL */
    bool everywhere;     /* other CPUs do it, too */
    volatile bool wanted;
};

/*
 * All kinds:
 *
 *   spin    adds numbers up
 *   alloc   takes and gives back pieces of the heap, up to some 2 MiB
 *   deep    calls itself, 160 callers deep and anything less
 *   masked  has interrupts off for most of the time
 *   hold    lets nobody else run for half a second
 *   hog     takes all of the heap, and keeps it
 *
 * All CPUs do spin, deep and masked, which keep nothing; CPU 0 does the others.
 */
extern struct work works[];
extern const size_t work_count;

/* A number below (most) that looks like chance. */
uint32_t dither(uint32_t most);

#endif
