/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_GUEST_WRAPS_H
#define TESTS_GUEST_WRAPS_H

/*
 * What a test can put between the kernel and the profiler: its file ldflags has
 * --wrap=FUNCTION, calls of the function reach the test's __wrap_FUNCTION(),
 * and __real_FUNCTION() is the function itself.
 */

#include <prof/prof.h>
#include <stddef.h>

int __real_prof_init(void *memory, size_t bytes,
                     const struct prof_config *config);
int __wrap_prof_init(void *memory, size_t bytes,
                     const struct prof_config *config);
void *__real_prof_port_alloc(size_t bytes);
void *__wrap_prof_port_alloc(size_t bytes);
void __real_prof_port_write(const char *text, size_t bytes);
void __wrap_prof_port_write(const char *text, size_t bytes);

#endif
