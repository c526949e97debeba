/* SPDX-License-Identifier: Apache-2.0 */

/* Sources: Intel 64 and IA-32 Architectures Software Developer's Manual, volume
 * 2, CPUID; AMD64 Architecture Programmer's Manual, volume 3, appendix E. */

#include "cpuid.h"

#include <arch/features.h>
#include <stddef.h>
#include <stdint.h>

#define BASIC 1u
#define EXTENDED 0x80000001u
#define POWER 0x80000007u
#define RANGE 0xffff0000u /* of a leaf: which row of leaves it is in */

enum reg { REG_C, REG_D };

static const struct {
    const char *name;
    uint32_t leaf;
    uint8_t reg, bit;
    const char *without; /* NULL: nobody misses it, or who needs it says so */
} features[ARCH_CPU_FEATURES] = {
    /* clang-format off */
    [ARCH_CPU_MSR] = {"MSR", BASIC, REG_D, 5, NULL},
    [ARCH_CPU_APIC] = {"local APIC", BASIC, REG_D, 9,
        "timers are the PIT's, and wait for its tick while it samples"},
    [ARCH_CPU_FXSR] = {"FXSR", BASIC, REG_D, 24, NULL},
    [ARCH_CPU_SSE] = {"SSE", BASIC, REG_D, 25, NULL},
    [ARCH_CPU_X2APIC] = {"x2APIC", BASIC, REG_C, 21, NULL},
    [ARCH_CPU_TSC_DEADLINE] = {"TSC deadline", BASIC, REG_C, 24, NULL},
    [ARCH_CPU_HYPERVISOR] = {"hypervisor", BASIC, REG_C, 31, NULL},
    [ARCH_CPU_NX] = {"NX", EXTENDED, REG_D, 20, "data can be executed"},
    [ARCH_CPU_INVARIANT_TSC] = {"invariant TSC", POWER, REG_D, 8,
        "clocks are wrong where the CPU changes its frequency"},
    /* clang-format on */
};

bool arch_cpu_has(enum arch_cpu_feature feature)
{
    const uint32_t leaf = features[feature].leaf;
    struct cpuid_leaf of;

    /* Beyond the last one it answers with the values of another. */
    if (cpuid(leaf & RANGE).a < leaf)
        return false;
    of = cpuid(leaf);
    return ((features[feature].reg == REG_C ? of.c : of.d) >>
                features[feature].bit &
            1u) != 0;
}

void arch_cpu_lacks(void (*say)(const char *name, const char *without))
{
    for (unsigned i = 0; i < ARCH_CPU_FEATURES; i++)
        if (features[i].without != NULL &&
            !arch_cpu_has((enum arch_cpu_feature)i))
            say(features[i].name, features[i].without);
}
