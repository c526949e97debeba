/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_ORIGIN_H
#define PROF_ORIGIN_H

/* Original addresses of patched code. While a causal experiment patches
 * functions (<prof/causal.h>), return addresses on stacks and interrupted
 * addresses may lie in the profiler's copies of their code. Code that displays
 * such an address must first translate it to the address in the program. */

#include <prof/config.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if PROF_WITH_CAUSAL
/* Private. NULL: no function was ever patched. */
extern uintptr_t (*prof_origin_of_patch)(uintptr_t address);
#endif

/* Returns the address in the program that (address) stands for, or (address)
 * itself. Works after the functions are restored, too. Contexts: any. */
static inline uintptr_t prof_origin(uintptr_t address)
{
#if PROF_WITH_CAUSAL
    if (__builtin_expect(prof_origin_of_patch != 0, 0))
        return prof_origin_of_patch(address);
#endif
    return address;
}

#ifdef __cplusplus
}
#endif

#endif
