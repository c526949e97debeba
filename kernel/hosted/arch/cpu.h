/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ARCH_CPU_H
#define ARCH_CPU_H

/*
 * arch/include/arch/cpu.h for a Linux process: a signal is the interrupt.
 *
 * "Interrupts off" is a flag that the handler looks at (../interrupts.c), not a
 * signal mask: a system call in each turn of the loop would make the process
 * another program than the image. There are no ports.
 */

#include "../interrupts.h"

#include <stdbool.h>
#include <stdint.h>

#define ARCH_FLAGS_IF (1u << 9)

static inline void arch_pause(void)
{
    __asm__ volatile("pause" : : : "memory");
}

static inline uint64_t arch_tsc(void)
{
    uint32_t low, high;

    __asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
    return (uint64_t)high << 32 | low;
}

static inline void arch_interrupts_off(void)
{
    (void)hosted_interrupts_off();
}

static inline void arch_interrupts_on(void)
{
    hosted_interrupts_restore(true);
}

static inline bool arch_interrupts_save(void)
{
    return hosted_interrupts_off();
}

static inline void arch_interrupts_restore(bool on)
{
    hosted_interrupts_restore(on);
}

static inline uintptr_t arch_flags(void)
{
    return hosted_interrupts_are_on() ? ARCH_FLAGS_IF : 0;
}

/* Waits for a file that is ready, or the loop's next timer (../idle.c). */
void arch_idle(void);
extern char arch_idle_begin[], arch_idle_end[];

void arch_stop(void) __attribute__((noreturn));

#endif
