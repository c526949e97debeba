/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_ORIGIN_H
#define PROF_ORIGIN_H

/* While functions of a causal experiment are patched (<prof/causal.h>), stacks
 * have return addresses in code of the profiler, and what was interrupted may
 * be there as well. Whoever shows an address that it found there, shows the
 * address in the program. */

#include <prof/config.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if PROF_WITH_CAUSAL
/* NULL: nothing was patched. */
extern uintptr_t (*prof_origin_of_patch)(uintptr_t address);
#endif

/* The address in the program instead of (address), or it itself. Remains so
 * when the functions have been restored. Contexts: any. */
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
