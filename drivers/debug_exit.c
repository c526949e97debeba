/* SPDX-License-Identifier: Apache-2.0 */

/* The protocol is one byte written to this port. */

#include "debug_exit.h"

#include <arch/cpu.h>

#define DEBUG_EXIT_PORT 0xf4u

void debug_exit(uint8_t code)
{
    arch_out8(DEBUG_EXIT_PORT, code);
    arch_stop();
}
