/* SPDX-License-Identifier: Apache-2.0 */

/* Exception names from table 6-1 of the SDM, volume 3. */

#include <arch/trap.h>

#include <stddef.h>

static const char *const names[ARCH_IRQ_BASE] = {
    [0] = "divide error",
    [1] = "debug exception",
    [2] = "non-maskable interrupt",
    [3] = "breakpoint",
    [4] = "overflow",
    [5] = "bound range exceeded",
    [6] = "invalid opcode",
    [7] = "device not available",
    [8] = "double fault",
    [10] = "invalid task state",
    [11] = "segment not present",
    [12] = "stack segment fault",
    [13] = "general protection fault",
    [14] = "page fault",
    [16] = "x87 floating-point error",
    [17] = "alignment check",
    [18] = "machine check",
    [19] = "SIMD floating-point error",
    [20] = "virtualization exception",
    [21] = "control protection exception",
};

const char *arch_exception_name(unsigned vector)
{
    if (vector >= ARCH_IRQ_BASE || names[vector] == NULL)
        return "unknown exception";
    return names[vector];
}
