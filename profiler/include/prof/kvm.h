/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_KVM_H
#define PROF_KVM_H

/*
 * What KVM tells a guest about its time, where CPUID announces it: in two small
 * structures in the guest's memory, which it writes, for each virtual CPU.
 * Source: Linux, Documentation/virt/kvm/x86, "KVM-specific MSRs" and "KVM CPUID
 * bits".
 *
 * It is given their physical addresses. The profiler has such structures of its
 * own, and lends them only where the image says that their addresses are known:
 * config.physical (<prof/prof.h>). PROF_WITH_KVM.
 */

#include <prof/config.h>

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How long the CPU was ready, and the host ran something else (MSR
 * 0x4b564d03). */
struct prof_kvm_steal_time {
    uint64_t steal_ns; /* since the guest has booted; a halt does not count */
    uint32_t version;  /* odd while it is being written */
    uint32_t flags;
    uint32_t rest[12];
} __attribute__((aligned(64)));

/* The clock (MSR 0x4b564d01). Nanoseconds are cycles of the TSC, shifted, times
 * a 0.32 number. */
struct prof_kvm_clock {
    uint32_t version; /* odd while it is being written */
    uint32_t unused;
    uint64_t tsc;       /* then, */
    uint64_t system_ns; /* it was so late */
    uint32_t tsc_to_ns; /* 0.32 */
    int8_t tsc_shift;   /* to the left; negative: to the right */
    uint8_t flags;
    uint8_t rest[2];
} __attribute__((aligned(64)));

/*
 * The frequency of the time stamp counter in Hz, as far as it can be known
 * without measuring: what the hypervisor says (CPUID leaf 0x40000010), what its
 * clock implies, what the CPU says (leaf 0x15). 0: nobody says. (physical) and
 * (image_offset) are those of struct prof_config. Contexts: boot, privileged;
 * before prof_init(), too. PROF_WITH_BUILTIN.
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
