/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HOLD_H
#define HOLD_H

#include <stdint.h>

/*
 * Loads every register from hold_in, executes some thousand instructions that
 * change none, and stores every register to hold_out. Written in hold.asm.
 */
void hold(void);

/* What FXSAVE stores (Intel SDM vol. 1, 10.5.1): x87, MXCSR and XMM. */
#define HOLD_FPU_BYTES 512u
#define HOLD_FPU_TAGS 4u /* a bit for each x87 register that holds a number */
#define HOLD_FPU_ST 32u  /* x87 registers, the first 10 of 16 bytes each */
#define HOLD_FPU_XMM 160u

#ifdef __x86_64__
#define HOLD_XMM_COUNT 16u
#define HOLD_REGISTERS 15u /* all but the stack pointer */
#else
#define HOLD_XMM_COUNT 8u
#define HOLD_REGISTERS 7u
#endif

/* The offsets are known to hold.asm: registers, flags, moved, fpu. */
struct hold_registers {
    uintptr_t general[HOLD_REGISTERS];
    uintptr_t flags;
    uintptr_t moved; /* out: bytes by which the stack pointer has moved */
    uint8_t fpu[HOLD_FPU_BYTES] __attribute__((aligned(16)));
};
extern struct hold_registers hold_in, hold_out;

#endif
