/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SINGLE_STEP_H
#define SINGLE_STEP_H

/*
 * Between the two a SIGTRAP comes after each instruction. So its handler can be
 * the NMI that comes between any two.
 */

#define TRAP_FLAG 0x100
#ifdef __x86_64__
#define STEP_SP "rsp"
#else
#define STEP_SP "esp"
#endif

#define STEP_ON()                                                              \
    __asm__ volatile("pushf; orl %0, (%%" STEP_SP "); popf"                    \
                     :                                                         \
                     : "i"(TRAP_FLAG)                                          \
                     : "memory", "cc")
#define STEP_OFF()                                                             \
    __asm__ volatile("pushf; andl %0, (%%" STEP_SP "); popf"                   \
                     :                                                         \
                     : "i"(~TRAP_FLAG)                                         \
                     : "memory", "cc")

#endif
