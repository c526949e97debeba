/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ARCH_CPU_H
#define ARCH_CPU_H

/* Instructions that C cannot express: port I/O, TSC, interrupt flag, halt. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

static inline void arch_out8(uint16_t port, uint8_t value)
{
    __asm__ volatile("outb %0, %1" : : "a"(value), "Nd"(port));
}

/* The (bytes) bytes at (data), one after the other. In a guest that is one exit
 * for many bytes. */
static inline void arch_out8_all(uint16_t port, const void *data, size_t bytes)
{
    __asm__ volatile("rep outsb"
                     : "+S"(data), "+c"(bytes)
                     : "d"(port)
                     : "memory");
}

static inline uint8_t arch_in8(uint16_t port)
{
    uint8_t value;

    __asm__ volatile("inb %1, %0" : "=a"(value) : "Nd"(port));
    return value;
}

static inline void arch_out16(uint16_t port, uint16_t value)
{
    __asm__ volatile("outw %0, %1" : : "a"(value), "Nd"(port));
}

static inline uint16_t arch_in16(uint16_t port)
{
    uint16_t value;

    __asm__ volatile("inw %1, %0" : "=a"(value) : "Nd"(port));
    return value;
}

static inline uint32_t arch_in32(uint16_t port)
{
    uint32_t value;

    __asm__ volatile("inl %1, %0" : "=a"(value) : "Nd"(port));
    return value;
}

static inline void arch_out32(uint16_t port, uint32_t value)
{
    __asm__ volatile("outl %0, %1" : : "a"(value), "Nd"(port));
}

/* For loops that wait for something in memory. */
static inline void arch_pause(void)
{
    __asm__ volatile("pause" : : : "memory");
}

/* Time stamp counter, cycles since reset. */
static inline uint64_t arch_tsc(void)
{
    uint32_t low, high;

    __asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
    return (uint64_t)high << 32 | low;
}

static inline void arch_interrupts_on(void)
{
    __asm__ volatile("sti" : : : "memory");
}

static inline void arch_interrupts_off(void)
{
    __asm__ volatile("cli" : : : "memory");
}

static inline uintptr_t arch_flags(void)
{
    uintptr_t flags;

    __asm__ volatile("pushf; pop %0" : "=r"(flags) : : "memory");
    return flags;
}

#define ARCH_FLAGS_IF (1u << 9)

/* Turns interrupts off and returns whether they were on. */
static inline bool arch_interrupts_save(void)
{
    bool on = (arch_flags() & ARCH_FLAGS_IF) != 0;

    arch_interrupts_off();
    return on;
}

static inline void arch_interrupts_restore(bool on)
{
    if (on)
        arch_interrupts_on();
}

/*
 * Enables interrupts, halts until the next one and returns after its handler
 * has run, with interrupts on. MUST be called with interrupts off, so that no
 * interrupt comes between the caller's last check for work and the halt.
 * The code lies in [arch_idle_begin, arch_idle_end): a sample there is idle.
 */
void arch_idle(void);
extern char arch_idle_begin[], arch_idle_end[];

/* Halts forever with interrupts off. */
void arch_stop(void) __attribute__((noreturn));

#endif
