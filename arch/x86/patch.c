/* SPDX-License-Identifier: Apache-2.0 */

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
    cpu_set_cr0(cr0); /* serialises (Intel SDM vol. 3A, 8.3) */
    arch_interrupts_restore(on);
}
