/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_TICK_LAPIC_H
#define PROF_TICK_LAPIC_H

/*
 * The local APIC as far as its timer needs it: in memory (xAPIC) or by MSR
 * (x2APIC), which the processor says.
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
#define PROF_LAPIC_LOGICAL 0x0d0u /* destination, and its format */
#define PROF_LAPIC_FORMAT 0x0e0u
#define PROF_LAPIC_IS_FLAT(format) ((format) >> 28 == 15) /* not in clusters */
#define PROF_LAPIC_SPURIOUS 0x0f0u
#define PROF_LAPIC_IN_SERVICE 0x100u /* 8 of 32 vectors each, 16 bytes apart */
#define PROF_LAPIC_REQUESTS 0x200u   /* the same */
#define PROF_LAPIC_TIMER 0x320u      /* local vector table: timer, LINT 0, 1 */
#define PROF_LAPIC_LINT0 0x350u
#define PROF_LAPIC_LINT1 0x360u
#define PROF_LAPIC_COUNT 0x380u /* initial; the current one follows */
#define PROF_LAPIC_LEFT 0x390u
#define PROF_LAPIC_DIVIDE 0x3e0u

#define PROF_LAPIC_ENABLED (1u << 8) /* of SPURIOUS */
#define PROF_LAPIC_MASKED (1u << 16) /* of the local vector table */
#define PROF_LAPIC_MODE (3u << 17)
#define PROF_LAPIC_ONE_SHOT (0u << 17)
#define PROF_LAPIC_PERIODIC (1u << 17)
#define PROF_LAPIC_BY_TSC (2u << 17)
#define PROF_LAPIC_BY_1 0x0bu /* of DIVIDE */

#define PROF_MSR_APIC_BASE 0x1bu
#define PROF_MSR_X2APIC 0x800u /* and the offset in 16 bytes */
#define PROF_MSR_TSC_DEADLINE 0x6e0u

#ifdef PROF_HOSTED
/* A test's own registers, beside those of base/cpu_features.h; NULL: there are
 * none. */
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

/* Arms the timer in TSC-deadline mode; 0 disarms it. The fence is for a mode
 * that was chosen in memory, which could else come after the MSR. */
static inline void prof_lapic_deadline(uint64_t tsc)
{
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    prof_set_msr(PROF_MSR_TSC_DEADLINE, tsc);
}

/*
 * Finds the registers: (lapic)->at, (mapped) where the caller maps them, or
 * else their physical address. Turns the APIC on where (on), as an interrupt
 * controller that leaves the PIC its line and the NMI its own. False: there is
 * none, it is off, or its registers are out of reach. Contexts: boot,
 * interrupts off.
 */
bool prof_lapic_find(struct prof_lapic *lapic, uintptr_t mapped, bool on);

/*
 * Counts per second at a division by 1, against the TSC of (tsc_hz), in 10 ms
 * for which the timer is not the kernel's: a deadline of its own is late by
 * as much. Where the CPU or the hypervisor says a frequency that the
 * measurement bears out, it is that. 0: it does not count. Turns interrupts
 * off meanwhile. Contexts: boot.
 */
uint32_t prof_lapic_measure(const struct prof_lapic *lapic, uint64_t tsc_hz);

/* What a one-shot timer has left to count, 0: it was never armed. One that has
 * counted down is 1 from its end, as long as it is not armed again: an emulator
 * may be late with its interrupt, which a write to the timer then cancels. So a
 * kernel may be interrupted once more for a deadline of before. */
uint32_t prof_lapic_left(const struct prof_lapic *lapic);

/* What the timer's clock is divided by. */
uint32_t prof_lapic_divisor(const struct prof_lapic *lapic);

/* The bit of (vector) in one of the two tables above: whether it has come and
 * was not yet delivered, or was and is not yet acknowledged. */
bool prof_lapic_is_set(const struct prof_lapic *lapic, uint32_t table,
                       uint8_t vector);

#endif
