/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CPU_BITS_H
#define CPU_BITS_H

/*
 * Control registers and model-specific registers. Names are those of the Intel
 * 64 and IA-32 Architectures Software Developer's Manual, volume 3. What the
 * CPU has: <arch/features.h>.
 */

#include <stdint.h>

#define CR0_MP ((uintptr_t)1 << 1)
#define CR0_EM ((uintptr_t)1 << 2)
#define CR0_TS ((uintptr_t)1 << 3)
#define CR0_NE ((uintptr_t)1 << 5)
#define CR0_WP ((uintptr_t)1 << 16)
#define CR0_NW ((uintptr_t)1 << 29)
#define CR0_CD ((uintptr_t)1 << 30)
#define CR0_PG ((uintptr_t)1 << 31)
#define CR4_PAE ((uintptr_t)1 << 5)
#define CR4_OSFXSR ((uintptr_t)1 << 9)
#define CR4_OSXMMEXCPT ((uintptr_t)1 << 10)

#define MXCSR_DEFAULT 0x1f80u /* all exceptions masked, round to nearest */

#define MSR_EFER 0xc0000080u
#define EFER_LME ((uint64_t)1 << 8)
#define EFER_NXE ((uint64_t)1 << 11)

#define CONTROL_REGISTER(number)                                               \
    static inline uintptr_t cpu_cr##number(void)                               \
    {                                                                          \
        uintptr_t value;                                                       \
                                                                               \
        __asm__ volatile("mov %%cr" #number ", %0" : "=r"(value));             \
        return value;                                                          \
    }                                                                          \
                                                                               \
    static inline void cpu_set_cr##number(uintptr_t value)                     \
    {                                                                          \
        __asm__ volatile("mov %0, %%cr" #number : : "r"(value) : "memory");    \
    }

CONTROL_REGISTER(0)
CONTROL_REGISTER(2)
CONTROL_REGISTER(3)
CONTROL_REGISTER(4)

static inline uint64_t cpu_msr(uint32_t number)
{
    uint32_t low, high;

    __asm__ volatile("rdmsr" : "=a"(low), "=d"(high) : "c"(number));
    return (uint64_t)high << 32 | low;
}

static inline void cpu_set_msr(uint32_t number, uint64_t value)
{
    __asm__ volatile("wrmsr"
                     :
                     : "c"(number), "a"((uint32_t)value),
                       "d"((uint32_t)(value >> 32))
                     : "memory");
}

/* Registers of devices that are in memory. */
static inline uint32_t cpu_mapped(uintptr_t address)
{
    return *(volatile uint32_t *)address;
}

static inline void cpu_set_mapped(uintptr_t address, uint32_t value)
{
    *(volatile uint32_t *)address = value;
}

/* All stores before it are visible before what comes after it. SSE2. */
static inline void cpu_fence(void)
{
    __asm__ volatile("mfence" : : : "memory");
}

#endif
