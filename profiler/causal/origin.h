/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_ORIGIN_H
#define PROF_ORIGIN_H

/* While functions are patched, samples and stacks have addresses in code of the
 * profiler instead of their own. */

#include <prof/config.h>
#include <stddef.h>
#include <stdint.h>

#if PROF_WITH_CAUSAL
extern struct prof_patch *prof_patch;
uintptr_t prof_patch_origin(uintptr_t address);
#endif

/* The address in the program instead of (address), or it itself. Remains so
 * when the functions have been restored. Contexts: any. */
static inline uintptr_t prof_origin(uintptr_t address)
{
#if PROF_WITH_CAUSAL
    if (prof_patch != NULL)
        return prof_patch_origin(address);
#endif
    return address;
}

#endif
