/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_OWN_CODE_H
#define PROF_OWN_CODE_H

/* Which code is the profiler's own. */

#include <stdbool.h>
#include <stdint.h>

/* Bounds of the profiler's code, by module.ld; the host finds them in the
 * image, too. If the objects were not merged, they are NULL, and no address is
 * between them. */
extern const uint8_t prof_code_begin[] __attribute__((weak));
extern const uint8_t prof_code_end[] __attribute__((weak));

/* Returns whether (address) is in a function of the profiler. Contexts: any. */
static inline bool prof_code_is_own(uintptr_t address)
{
    const uintptr_t begin = (uintptr_t)prof_code_begin;

    return address - begin < (uintptr_t)prof_code_end - begin;
}

#endif
