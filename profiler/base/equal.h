/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_EQUAL_H
#define PROF_EQUAL_H

#include <stdbool.h>

/* Whether two NUL-terminated texts are the same. Contexts: any. */
bool prof_equal(const char *a, const char *b);

#endif
