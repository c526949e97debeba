/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ARCH_REGISTERS_H
#define ARCH_REGISTERS_H

#include <stdint.h>

/* State of the interrupted CPU, for both widths; 0 where a width lacks it. */
struct arch_registers {
    uintptr_t pc, sp, fp, flags;
    uintptr_t ax, bx, cx, dx, si, di;
    uintptr_t r8, r9, r10, r11, r12, r13, r14, r15;
    uintptr_t vector;        /* exception number */
    uintptr_t error;         /* the CPU's error code, 0 if it pushes none */
    uintptr_t fault_address; /* CR2 */
};

#endif
