/* SPDX-License-Identifier: Apache-2.0 */

/* Clears CR0.WP meanwhile. Writing CR0 also serialises (Intel SDM vol. 3A, 8.3),
 * so that the new bytes are fetched. */

#include "cpu_bits.h"

#include <arch/cpu.h>
#include <arch/patch.h>

void arch_patch(uintptr_t address, const void *bytes, size_t count)
{
    bool on = arch_interrupts_save();
    volatile uint8_t *to = (volatile uint8_t *)address;
    const uint8_t *from = bytes;
    uintptr_t cr0 = cpu_cr0();

    cpu_set_cr0(cr0 & ~CR0_WP);
    for (size_t i = 0; i < count; i++)
        to[i] = from[i];
    cpu_set_cr0(cr0);
    arch_interrupts_restore(on);
}
