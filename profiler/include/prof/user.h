/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_USER_H
#define PROF_USER_H

/*
 * Kernels that run code in user mode (CPL 3). Its samples have an account of
 * their own, and a row for each address space that the kernel names:
 *
 *     prof_space_name(process->number, process->program);   when it begins
 *     prof_space_set(process->number);                      at each switch
 *
 * Where the profiler has the timer's gate, it sees user mode by itself, unless
 * prof.depth is 0: then what lies below a kernel in the upper half counts as
 * user mode. A kernel that calls prof_sample() calls prof_sample_user()
 * instead. PROF_WITH_USER (<prof/config.h>).
 */

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Numbers of address spaces are below this; 0 is for those without one. */
#define PROF_SPACES 64u

/* Bytes of a space's name, with the NUL. */
#define PROF_SPACE_NAME_BYTES 16u

/* One sample of user code. Contexts and cost: as prof_sample(). */
void prof_sample_user(void);

/* User code runs in the address space (number) from now on; PROF_SPACES or more
 * counts as 0. Contexts: any. Some stores. */
void prof_space_set(uint32_t number);

/* Address space (number) is called (name), copied and cut, also in a stream;
 * NULL: it has no name. No effect for other numbers, nor without memory for all
 * names: the first call allocates it. After prof_init(). Contexts: thread. */
void prof_space_name(uint32_t number, const char *name);

#ifdef __cplusplus
}
#endif

#endif
