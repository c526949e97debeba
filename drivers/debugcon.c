/* SPDX-License-Identifier: Apache-2.0 */

/* Source: Bochs User Manual, "Debugger out port 0xE9". */

#include "debugcon.h"

#include <arch/cpu.h>

#define PORT 0xe9u

bool debugcon_present(void)
{
    return arch_in8(PORT) == PORT;
}

void debugcon_write(const void *data, size_t bytes)
{
    arch_out8_all(PORT, data, bytes);
}
