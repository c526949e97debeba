/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ARCH_FEATURES_H
#define ARCH_FEATURES_H

/* What the CPU has, by CPUID. The one table of it is arch/x86/features.c. */

#include <stdbool.h>

enum arch_cpu_feature {
    ARCH_CPU_MSR,
    ARCH_CPU_APIC, /* a local one */
    ARCH_CPU_FXSR,
    ARCH_CPU_SSE,
    ARCH_CPU_X2APIC,
    ARCH_CPU_TSC_DEADLINE, /* as a mode of the local APIC's timer */
    ARCH_CPU_HYPERVISOR,   /* it is a guest's */
    ARCH_CPU_NX,
    ARCH_CPU_INVARIANT_TSC,
    ARCH_CPU_FEATURES,
};

/* Contexts: any, boot included, before anything else is set up. CPUID twice,
 * which leaves a guest. */
bool arch_cpu_has(enum arch_cpu_feature feature);

/*
 * Calls (say) for each feature that the CPU lacks and that somebody misses,
 * with its name and what happens without it. Both are literals. Contexts: any.
 */
void arch_cpu_lacks(void (*say)(const char *name, const char *without));

#endif
