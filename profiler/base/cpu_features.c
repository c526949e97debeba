/* SPDX-License-Identifier: Apache-2.0 */

/* See cpu_features.h. Sources: Intel SDM vol. 2A, CPUID; Linux,
 * Documentation/virt/kvm/x86/cpuid.rst. */

#include "base/cpu_features.h"

#include <stddef.h>

#define EXTENDED 0x80000000u

/* Hypervisors that offer two interfaces have the second's leaves further on:
 * KVM, where it also looks like Hyper-V. */
#define KVM_STEP 0x100u
#define KVM_LAST 0x40010000u

enum reg { A, C, D };

/* Leaves of KVM's are as if they began at PROF_CPUID_HYPERVISOR. */
static const struct {
    uint32_t leaf;
    uint8_t reg, bit;
    bool kvm;
} features[PROF_CPU_FEATURES] = {
    [PROF_CPU_MSR] = {1, D, 5, false},
    [PROF_CPU_APIC] = {1, D, 9, false},
    [PROF_CPU_HYPERVISOR] = {1, C, 31, false},
    [PROF_CPU_KVM_CLOCK] = {PROF_CPUID_HYPERVISOR + 1, A, 3, true},
    [PROF_CPU_KVM_STEAL_TIME] = {PROF_CPUID_HYPERVISOR + 1, A, 5, true},
};

struct prof_cpuid prof_cpuid(uint32_t leaf)
{
    const struct prof_cpuid none = {0, 0, 0, 0};
    uint32_t most;

#ifdef PROF_HOSTED
    if (prof_cpuid_raw == NULL)
        return none;
#endif
    if (leaf >= PROF_CPUID_HYPERVISOR && leaf < EXTENDED) {
        uint32_t first = leaf & ~(KVM_STEP - 1);

        if (!prof_cpu_has(PROF_CPU_HYPERVISOR))
            return none;
        most = prof_cpuid_raw(first).a;
        if (most == 0) /* KVM, long ago */
            most = first + 1;
    } else {
        most = prof_cpuid_raw(leaf & EXTENDED).a;
    }
    return leaf <= most ? prof_cpuid_raw(leaf) : none;
}

/* Where KVM's leaves begin; 0: it is not KVM. "KVMKVMKVM" and three zeros. */
static uint32_t kvm_first(void)
{
    for (uint32_t at = PROF_CPUID_HYPERVISOR; at < KVM_LAST; at += KVM_STEP) {
        struct prof_cpuid of = prof_cpuid(at);

        if (of.b == 0x4b4d564b && of.c == 0x564b4d56 && of.d == 0x4d)
            return at;
        if (of.b == 0 && of.c == 0 && of.d == 0)
            return 0;
    }
    return 0;
}

bool prof_cpu_is_kvm(void)
{
    return kvm_first() != 0;
}

bool prof_cpu_has(enum prof_cpu_feature feature)
{
    uint32_t leaf = features[feature].leaf;
    struct prof_cpuid of;

    if (features[feature].kvm) {
        uint32_t first = kvm_first();

        if (first == 0)
            return false;
        leaf += first - PROF_CPUID_HYPERVISOR;
    }
    of = prof_cpuid(leaf);
    return ((features[feature].reg == A   ? of.a
             : features[feature].reg == C ? of.c
                                          : of.d) >>
                features[feature].bit &
            1) != 0;
}
