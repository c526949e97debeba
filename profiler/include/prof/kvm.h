/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_KVM_H
#define PROF_KVM_H

/*
 * KVM's paravirtual interface for time: two structures for each virtual CPU, in
 * the guest's memory, which KVM writes if CPUID announces the feature. Source:
 * Linux, Documentation/virt/kvm/x86, "KVM-specific MSRs" and "KVM CPUID bits".
 *
 * The guest registers their physical addresses. The profiler has structures of
 * its own, and registers them only if config.physical (<prof/prof.h>) permits.
 * PROF_WITH_KVM.
 */

#include <prof/config.h>

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Stolen time: how long the CPU was ready to run while the host ran something
 * else (MSR_KVM_STEAL_TIME, 0x4b564d03). */
struct prof_kvm_steal_time {
    uint64_t steal_ns; /* ns since the guest booted; without halts */
    uint32_t version;  /* odd during an update */
    uint32_t flags;
    uint32_t rest[12];
} __attribute__((aligned(64)));

/* kvmclock (MSR_KVM_SYSTEM_TIME_NEW, 0x4b564d01). The time in ns is
 * system_ns + (((TSC - tsc) << tsc_shift) * tsc_to_ns >> 32). */
struct prof_kvm_clock {
    uint32_t version; /* odd during an update */
    uint32_t unused;
    uint64_t tsc;       /* TSC at the last update */
    uint64_t system_ns; /* time at the last update */
    uint32_t tsc_to_ns; /* a fraction of 2^32 */
    int8_t tsc_shift;   /* negative: shift right */
    uint8_t flags;
    uint8_t rest[2];
} __attribute__((aligned(64)));

/*
 * Returns the TSC frequency in Hz from the first of these that states it: the
 * hypervisor (CPUID leaf 0x40000010), kvmclock, or the CPU (leaf 0x15); 0 if
 * none does. Measures nothing. (physical) and (image_offset) are as in struct
 * prof_config. PROF_WITH_BUILTIN. Contexts: boot, privileged; also before
 * prof_init().
 */
#if PROF_WITH_BUILTIN
uint64_t prof_tsc_hz_stated(bool physical, uintptr_t image_offset);
#else
static inline uint64_t prof_tsc_hz_stated(bool physical, uintptr_t image_offset)
{
    (void)physical;
    (void)image_offset;
    return 0;
}
#endif

#ifdef __cplusplus
}
#endif

#endif
