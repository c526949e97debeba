/* SPDX-License-Identifier: Apache-2.0 */

/*
 * KVM's clock and its account of stolen time.
 *
 * Both structures are written by the host while this CPU does not run, so it
 * sees each as a whole; still a version says so, which is read before and
 * after, for a host that does not do that. A kernel that has given KVM
 * structures of its own keeps them: the registers are written only if they are
 * free.
 */

#include "tick/kvm.h"

#include "base/cpu.h"
#include "base/cpu_features.h"
#include "tick/clock.h"

#include <stddef.h>

#define MSR_CLOCK 0x4b564d01u
#define MSR_STEAL_TIME 0x4b564d03u
#define ENABLE 1u

#define READS_MAX 100u
#define NS_PER_S 1000000000u
#define SHIFT_MAX 31

static struct prof_kvm_clock own_clock;
static struct prof_kvm_steal_time own_steal;
static const volatile struct prof_kvm_steal_time *steal; /* NULL: none */

/* The compiler must not move reads of (*version) and what it guards. */
static uint32_t read_version(const volatile uint32_t *version)
{
    uint32_t seen;

    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    seen = *version;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    return seen;
}

uint64_t prof_kvm_clock_hz(const volatile struct prof_kvm_clock *clock)
{
    for (uint32_t i = 0; i < READS_MAX; i++) {
        uint32_t version = read_version(&clock->version);
        uint32_t scale = clock->tsc_to_ns;
        int shift = clock->tsc_shift;
        uint64_t hz;

        if (version % 2 != 0 || version != read_version(&clock->version))
            continue;
        if (scale == 0 || shift > SHIFT_MAX || shift < -SHIFT_MAX)
            return 0;
        hz = prof_divide((uint64_t)NS_PER_S << 32, scale);
        if (shift >= 0)
            return hz >> shift;
        return hz >> (63 + shift) == 0 ? hz << -shift : 0;
    }
    return 0;
}

/* Has KVM write to (page), unless the register is in use. */
static bool lend(uint32_t msr, const void *page, uintptr_t image_offset)
{
    if ((prof_msr(msr) & ENABLE) != 0)
        return false;
    prof_set_msr(msr, ((uintptr_t)page - image_offset) | ENABLE);
    return true;
}

/* Only for a moment: the clock is not needed any further. */
uint64_t prof_kvm_tsc_hz(uintptr_t image_offset)
{
    uint64_t hz;

    own_clock = (struct prof_kvm_clock){0};
    if (!prof_cpu_has(PROF_CPU_KVM_CLOCK) ||
        !lend(MSR_CLOCK, &own_clock, image_offset))
        return 0;
    hz = prof_kvm_clock_hz(&own_clock);
    prof_set_msr(MSR_CLOCK, 0);
    return hz;
}

void prof_kvm_open(const struct prof_config *config)
{
    steal = NULL;
    if (config->steal_time != NULL) {
        steal = config->steal_time;
        return;
    }
    own_steal = (struct prof_kvm_steal_time){.steal_ns = 0};
    if (config->physical && prof_cpu_has(PROF_CPU_KVM_STEAL_TIME) &&
        lend(MSR_STEAL_TIME, &own_steal, config->image_offset))
        steal = &own_steal;
}

bool prof_kvm_steals(void)
{
    return steal != NULL;
}

bool prof_kvm_stolen_ns(uint64_t *ns)
{
    for (uint32_t i = 0; i < READS_MAX; i++) {
        uint32_t version = read_version(&steal->version);

        *ns = steal->steal_ns;
        if (version % 2 == 0 && version == read_version(&steal->version))
            return true;
    }
    return false;
}
