/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_TICK_LAPIC_H
#define PROF_TICK_LAPIC_H

/*
 * The local APIC and its timer, with registers in memory (xAPIC) or MSRs
 * (x2APIC), depending on the processor's current mode.
 *
 * Source: Intel 64 and IA-32 Architectures Software Developer's Manual, volume
 * 3, Advanced Programmable Interrupt Controller.
 */

#include "base/cpu_features.h"
#include "sample/cpu_state.h"

#include <stdbool.h>
#include <stdint.h>

/* Registers, by their offset in memory. */
#define PROF_LAPIC_ID 0x020u
#define PROF_LAPIC_EOI 0x0b0u
#define PROF_LAPIC_LOGICAL 0x0d0u /* logical destination, and its format */
#define PROF_LAPIC_FORMAT 0x0e0u
#define PROF_LAPIC_IS_FLAT(format) ((format) >> 28 == 15) /* not in clusters */
#define PROF_LAPIC_SPURIOUS 0x0f0u
#define PROF_LAPIC_IN_SERVICE 0x100u /* ISR: 8 of 32 bits, 16 bytes apart */
#define PROF_LAPIC_REQUESTS 0x200u   /* IRR: the same */
#define PROF_LAPIC_TIMER 0x320u      /* local vector table: timer, LINT 0, 1 */
#define PROF_LAPIC_LINT0 0x350u
#define PROF_LAPIC_LINT1 0x360u
#define PROF_LAPIC_COUNT 0x380u /* initial count */
#define PROF_LAPIC_LEFT 0x390u  /* current count */
#define PROF_LAPIC_DIVIDE 0x3e0u

#define PROF_LAPIC_ENABLED (1u << 8) /* in SPURIOUS */
#define PROF_LAPIC_MASKED (1u << 16) /* in the local vector table */
#define PROF_LAPIC_MODE (3u << 17)
#define PROF_LAPIC_ONE_SHOT (0u << 17)
#define PROF_LAPIC_PERIODIC (1u << 17)
#define PROF_LAPIC_BY_TSC (2u << 17)
#define PROF_LAPIC_BY_1 0x0bu /* in DIVIDE */

#define PROF_MSR_APIC_BASE 0x1bu
#define PROF_MSR_X2APIC 0x800u /* plus offset / 16 */
#define PROF_MSR_TSC_DEADLINE 0x6e0u

#ifdef PROF_HOSTED
/* Registers of a test, besides those of base/cpu_features.h; NULL: none. */
struct prof_lapic_test {
    uint32_t (*read)(uint32_t offset); /* in memory */
    void (*write)(uint32_t offset, uint32_t value);
    uint64_t (*tsc)(void);
};
extern const struct prof_lapic_test *prof_lapic_test;
#endif

static inline uint64_t prof_lapic_tsc(void)
{
#ifdef PROF_HOSTED
    if (prof_lapic_test != NULL)
        return prof_lapic_test->tsc();
#endif
    return prof_tsc();
}

static inline uint32_t prof_lapic_read(const struct prof_lapic *lapic,
                                       uint32_t offset)
{
    if (lapic->at == 0)
        return (uint32_t)prof_msr(PROF_MSR_X2APIC + offset / 16);
#ifdef PROF_HOSTED
    return prof_lapic_test->read(offset);
#else
    return *(volatile uint32_t *)(lapic->at + offset);
#endif
}

static inline void prof_lapic_write(const struct prof_lapic *lapic,
                                    uint32_t offset, uint32_t value)
{
    if (lapic->at == 0) {
        prof_set_msr(PROF_MSR_X2APIC + offset / 16, value);
        return;
    }
#ifdef PROF_HOSTED
    prof_lapic_test->write(offset, value);
#else
    *(volatile uint32_t *)(lapic->at + offset) = value;
#endif
}

/* Arms the timer in TSC-deadline mode; 0 disarms it. The fence orders an
 * earlier write of the mode to memory before the write of the MSR. */
static inline void prof_lapic_deadline(uint64_t tsc)
{
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    prof_set_msr(PROF_MSR_TSC_DEADLINE, tsc);
}

/*
 * Finds the registers and sets (lapic)->at: to (mapped), where the caller has
 * mapped them, or, if that is 0, to their physical address. If (on), enables
 * the APIC, with LINT0 for the PIC and LINT1 for NMIs. Returns false if there
 * is no APIC, it is off, or its registers are out of reach. Contexts: boot,
 * interrupts off.
 */
bool prof_lapic_find(struct prof_lapic *lapic, uintptr_t mapped, bool on);

/*
 * Measures the timer's clock against the TSC of (tsc_hz). Returns its counts
 * per second at a divider of 1; 0: it does not count. If the CPU or the
 * hypervisor states a frequency that agrees with the measurement, returns that.
 * Takes the timer from the kernel for 10 ms, which delays its deadlines, with
 * interrupts off. Contexts: boot.
 */
uint32_t prof_lapic_measure(const struct prof_lapic *lapic, uint64_t tsc_hz);

/* Returns the counts that a one-shot timer has left; 0: it was never armed. For
 * a timer that has expired and was not armed again, returns 1: an emulator may
 * deliver its interrupt late, and a write to the timer would cancel it. So a
 * kernel may be interrupted once more for an earlier deadline. */
uint32_t prof_lapic_left(const struct prof_lapic *lapic);

/* Returns the timer's divider. */
uint32_t prof_lapic_divisor(const struct prof_lapic *lapic);

/* Returns the bit of (vector) in (table): PROF_LAPIC_REQUESTS, pending and not
 * delivered yet, or PROF_LAPIC_IN_SERVICE, delivered and not acknowledged
 * yet. */
bool prof_lapic_is_set(const struct prof_lapic *lapic, uint32_t table,
                       uint8_t vector);

#endif
