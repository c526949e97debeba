/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_TICK_KVM_H
#define PROF_TICK_KVM_H

/* KVM's account of the guest's time (<prof/kvm.h>). PROF_WITH_KVM. */

#include <prof/kvm.h>
#include <prof/prof.h>

/*
 * Asks KVM to account for stolen time, where it can, in the profiler's own
 * structure; or it does so already, in the image's (config.steal_time).
 * Contexts: boot.
 */
void prof_kvm_open(const struct prof_config *config);

/* Whether KVM accounts for it. */
bool prof_kvm_steals(void);

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
