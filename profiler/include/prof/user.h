/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_USER_H
#define PROF_USER_H

/*
 * For kernels that run code in user mode (CPL 3). Samples of user mode have an
 * account of their own, and a row for each address space that the kernel names:
 *
 *     prof_space_name(process->number, process->program);   when it starts
 *     prof_space_set(process->number);                      at each switch
 *
 * If the profiler owns the timer's gate, it detects user mode by itself. (With
 * prof.depth=0, addresses below a kernel in the upper half count as user mode.)
 * A kernel that calls prof_sample() calls prof_sample_user() for user mode.
 * PROF_WITH_USER (<prof/config.h>).
 */

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Address spaces are numbered from 1 to PROF_SPACES - 1; 0 stands for all that
 * have no number. */
#define PROF_SPACES 64u

/* Bytes of an address space's name, with its NUL. */
#define PROF_SPACE_NAME_BYTES 16u

/* Records one sample of user mode. Contexts and cost: as prof_sample(). */
void prof_sample_user(void);

/* Sets the current address space to (number); PROF_SPACES or more counts as 0.
 * Contexts: any. Takes a few stores. */
void prof_space_set(uint32_t number);

/* Names address space (number), 1 to PROF_SPACES - 1, in reports and in the
 * stream. The name is copied and cut; NULL: no name. The first call allocates
 * memory for all names. No effect for other numbers, or without memory.
 * Contexts: thread, after prof_init(). */
void prof_space_name(uint32_t number, const char *name);

#ifdef __cplusplus
}
#endif

#endif
