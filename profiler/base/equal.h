/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_EQUAL_H
#define PROF_EQUAL_H

#include <stdbool.h>

/* Returns whether two NUL-terminated strings are equal. Contexts: any. */
bool prof_equal(const char *a, const char *b);

#endif
