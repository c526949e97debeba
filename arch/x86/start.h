/* SPDX-License-Identifier: Apache-2.0 */
#ifndef START_H
#define START_H

#include <stdint.h>

/*
 * The first C function, called by boot.asm on the boot stack with a zero return
 * address. (magic) and (information) are the loader's eax and ebx.
 */
void arch_start(uint32_t magic, uintptr_t information)
    __attribute__((noreturn));

/* Sets up x87 and SSE of the calling CPU. Contexts: boot, or start of a CPU. */
void fpu_start(void);

#endif
