/* SPDX-License-Identifier: Apache-2.0 */
/* What samples and walks of the stack find in entries and returns. */

#include "causal/patch.h"

#include <prof/origin.h>

/* Where the instruction in an entry was moved from; for a return address, too.
 * If others before it changed their lengths, only the function is right. The
 * entry makes a frame first, as most functions do. */
static uintptr_t origin_of_entry(uint32_t offset)
{
    const struct prof_patched *function =
        &prof_patch->functions[offset / PROF_ENTRY_BYTES];
    uint32_t inside = offset % PROF_ENTRY_BYTES;
    uint32_t most = function->taken;

    if (inside < PROF_ENTRY_HEAD)
        most--;
    else
        inside -= PROF_ENTRY_HEAD;
    return function->address + (inside < most ? inside : most);
}

uintptr_t prof_patch_origin(uintptr_t address)
{
    uintptr_t in_entries = address - (uintptr_t)prof_patch_entries;
    uintptr_t in_returns = address - (uintptr_t)prof_patch_returns;

    if (in_entries < sizeof prof_patch_entries &&
        prof_patch->functions[in_entries / PROF_ENTRY_BYTES].address != 0)
        return origin_of_entry((uint32_t)in_entries);
    if (in_returns < sizeof prof_patch_returns &&
        prof_patch->returns[in_returns / PROF_RETURN_BYTES] != 0)
        return prof_patch->returns[in_returns / PROF_RETURN_BYTES];
    return address;
}
