/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_TICK_KVM_H
#define PROF_TICK_KVM_H

/* KVM's account of the guest's time (<prof/kvm.h>). PROF_WITH_KVM. */

#include "sample/cpu_state.h"

#include <prof/kvm.h>
#include <prof/prof.h>

/*
 * Asks KVM to account for stolen time, where it can, in the profiler's own
 * structure; or it does so already, in the image's (config.steal_time).
 * Contexts: boot.
 */
void prof_kvm_open(const struct prof_config *config);

/* Whether KVM accounts for it, on the CPU that has called prof_kvm_open(). */
bool prof_kvm_steals(void);

/* The same of (cpu), for the first one is that CPU. */
static inline bool prof_kvm_steals_from(const struct prof_cpu *cpu)
{
    return (PROF_CPUS_MAX == 1 || cpu == PROF_CPU_FIRST) && prof_kvm_steals();
}

/* Nanoseconds stolen since some moment; false: it is being written, for longer
 * than this CPU should see. Contexts: any, on the CPU that is sampled. */
bool prof_kvm_stolen_ns(uint64_t *ns);

/* The frequency of the TSC in Hz by KVM's clock, in the profiler's own
 * structure; 0: it has none, or the image uses it. Contexts: boot. */
uint64_t prof_kvm_tsc_hz(uintptr_t image_offset);

/* The frequency of the TSC in Hz that (clock) implies; 0: none, or it is being
 * written. Contexts: any. */
uint64_t prof_kvm_clock_hz(const volatile struct prof_kvm_clock *clock);

#endif
