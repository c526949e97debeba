/* SPDX-License-Identifier: Apache-2.0 */
#ifndef START_H
#define START_H

#include <stdint.h>

/*
 * C begins here, called by boot.asm on the boot stack with a zero return
 * address: (magic) and (information) as the loader left them in eax and ebx.
 */
void arch_start(uint32_t magic, uintptr_t information)
    __attribute__((noreturn));

#endif
