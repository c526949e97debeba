/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_CPU_FEATURES_H
#define PROF_CPU_FEATURES_H

/* CPUID and model-specific registers. The features that the profiler uses are
 * in one table, cpu_features.c. */

#include <stdbool.h>
#include <stdint.h>

enum prof_cpu_feature {
    PROF_CPU_MSR,
    PROF_CPU_APIC,           /* a local APIC */
    PROF_CPU_HYPERVISOR,     /* runs under a hypervisor */
    PROF_CPU_KVM_CLOCK,      /* struct prof_kvm_clock */
    PROF_CPU_KVM_STEAL_TIME, /* struct prof_kvm_steal_time */
    PROF_CPU_FEATURES,
};

/* Returns whether CPU and hypervisor have (feature). Executes CPUID two to four
 * times, each of which exits from a guest. Contexts: any. */
bool prof_cpu_has(enum prof_cpu_feature feature);

/* Returns whether the hypervisor is KVM, even where it looks like Hyper-V as
 * well. Contexts: any. */
bool prof_cpu_is_kvm(void);

struct prof_cpuid {
    uint32_t a, b, c, d;
};

#define PROF_CPUID_HYPERVISOR 0x40000000u

/* Returns leaf (leaf), subleaf 0; all 0 if the CPU or the hypervisor does not
 * have this leaf. */
struct prof_cpuid prof_cpuid(uint32_t leaf);

#ifdef PROF_HOSTED

/* Defined by tests; a process cannot use the real ones. */
struct prof_cpuid prof_cpuid_raw(uint32_t leaf) __attribute__((weak));
uint64_t prof_msr(uint32_t number) __attribute__((weak));
void prof_set_msr(uint32_t number, uint64_t value) __attribute__((weak));

#else

static inline struct prof_cpuid prof_cpuid_raw(uint32_t leaf)
{
    struct prof_cpuid of;

    __asm__ volatile("cpuid"
                     : "=a"(of.a), "=b"(of.b), "=c"(of.c), "=d"(of.d)
                     : "a"(leaf), "c"(0));
    return of;
}

static inline uint64_t prof_msr(uint32_t number)
{
    uint32_t low, high;

    __asm__ volatile("rdmsr" : "=a"(low), "=d"(high) : "c"(number));
    return (uint64_t)high << 32 | low;
}

static inline void prof_set_msr(uint32_t number, uint64_t value)
{
    __asm__ volatile("wrmsr"
                     :
                     : "c"(number), "a"((uint32_t)value),
                       "d"((uint32_t)(value >> 32))
                     : "memory");
}

#endif

#endif
