/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_ORIGIN_H
#define PROF_ORIGIN_H

/*
 * While the functions of a causal experiment are patched (<prof/causal.h>),
 * stacks have return addresses in code of the profiler, and what was
 * interrupted may be there as well. Whatever shows an address that it found in
 * such a place, shows the address in the program.
 */

#include <prof/config.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if PROF_WITH_CAUSAL
extern struct prof_patch *prof_patch;
uintptr_t prof_patch_origin(uintptr_t address);
#endif

/* The address in the program instead of (address), or it itself. Remains so
 * when the functions have been restored. Contexts: any. */
static inline uintptr_t prof_origin(uintptr_t address)
{
#if PROF_WITH_CAUSAL
    if (__builtin_expect(prof_patch != 0, 0))
        return prof_patch_origin(address);
#endif
    return address;
}

#ifdef __cplusplus
}
#endif

#endif
