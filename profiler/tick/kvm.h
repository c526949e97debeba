/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_TICK_KVM_H
#define PROF_TICK_KVM_H

/* KVM's account of the guest's time (<prof/kvm.h>). PROF_WITH_KVM. */

#include "sample/cpu_state.h"

#include <prof/kvm.h>
#include <prof/prof.h>

/*
 * Registers the profiler's steal-time structure with KVM, if possible; or uses
 * the image's, which is registered already (config.steal_time). Contexts: boot.
 */
void prof_kvm_open(const struct prof_config *config);

/* Returns whether KVM accounts for stolen time, on the CPU that has called
 * prof_kvm_open(). */
bool prof_kvm_steals(void);

/* Returns the same for (cpu); that CPU is the first. */
static inline bool prof_kvm_steals_from(const struct prof_cpu *cpu)
{
    return (PROF_CPUS_MAX == 1 || cpu == PROF_CPU_FIRST) && prof_kvm_steals();
}

/* Stores the nanoseconds stolen since an arbitrary point in *ns. Returns false
 * if the structure is under update for implausibly long. Contexts: any, on the
 * CPU that is sampled. */
bool prof_kvm_stolen_ns(uint64_t *ns);

/* Returns the TSC frequency in Hz by kvmclock, in the profiler's own structure;
 * 0: there is no kvmclock, or the image uses it. Contexts: boot. */
uint64_t prof_kvm_tsc_hz(uintptr_t image_offset);

/* Returns the TSC frequency in Hz that (clock) implies; 0: none, or (clock) is
 * under update. Contexts: any. */
uint64_t prof_kvm_clock_hz(const volatile struct prof_kvm_clock *clock);

#endif
