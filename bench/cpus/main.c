/* SPDX-License-Identifier: Apache-2.0 */

/*
 * What the drain takes for a sample more, in instructions, where one CPU has
 * taken all samples and where four have; and for each CPU more, without samples
 * of it. An image for several CPUs, on one of them, counted as in bench/cost.
 * In an image for one CPU it is only what a sample takes there.
 *
 * The one CPU is all of them in turn. A CPU is identified by its task
 * register, so it loads another one, joins, and takes samples as that CPU.
 * Interrupts are off meanwhile, and nobody uses what is in a TSS.
 *
 * Lines "bench NAME VALUE" are for bench/cost.sh. There are none, and the exit
 * code is 3, if samples were dropped, or went to the overflow table.
 */

#include "guest/guest.h"
#include "guest/wraps.h"

#include <kernel/console.h>
#include <kernel/service.h>
#include <prof/cpus.h>

#define CPUS (PROF_CPUS_MAX > 1 ? 4u : 1u)
#define OTHERS (CPUS > 1 ? CPUS - 1 : 1)
/* Samples in all, whose stacks find room in one vector. */
#define FEW 20u
#define MANY 100u
#define CALLERS 11u
#define RATE_MHZ 1000000u

#define TSS_BUSY ((uint64_t)2 << 40) /* in its descriptor's type */

int __wrap_prof_init(void *memory, size_t bytes,
                     const struct prof_config *config)
{
    static _Alignas(64) unsigned char own_memory[CPUS << 17];
    struct prof_config own = *config;

    (void)memory;
    (void)bytes;
    own.cpus = CPUS;
    own.tick = (struct prof_tick){.kind = PROF_TICK_HOOK, .rate_mhz = RATE_MHZ};
    return __real_prof_init(own_memory, sizeof own_memory, &own);
}

static uint64_t *descriptor(uint16_t selector)
{
    struct {
        uint16_t limit;
        uintptr_t base;
    } __attribute__((packed)) gdt;

    __asm__ volatile("sgdt %0" : "=m"(gdt));
    return (uint64_t *)(gdt.base + selector);
}

static uint16_t own_task(void)
{
    uint16_t selector;

    __asm__ volatile("str %0" : "=r"(selector));
    return selector;
}

/* From now on this is the CPU that has the TSS (selector), whose descriptor is
 * a copy of this one's. */
static void become(uint16_t selector)
{
    uint16_t now = own_task();

    if (selector == now)
        return;
    for (size_t i = 0; i < sizeof(void *) / 4; i++)
        descriptor(selector)[i] = descriptor(now)[i];
    *descriptor(selector) &= ~TSS_BUSY;
    __asm__ volatile("ltr %0" : : "r"(selector) : "memory");
}

/* In the kernel's GDT each CPU has 16 bytes. */
static uint16_t task_of(uint16_t first, unsigned cpu)
{
    return (uint16_t)(first + cpu * 16);
}

static __attribute__((noinline)) void take(uint32_t levels, uint32_t samples)
{
    if (levels > 0)
        take(levels - 1, samples);
    else
        for (uint32_t i = 0; i < samples; i++)
            prof_sample((uintptr_t)take, (uintptr_t)&i,
                        (uintptr_t)__builtin_frame_address(0));
    __asm__ volatile("");
}

static bool is_wrong; /* some drain was of other samples than those meant */

/* Instructions of a drain of (samples), which (cpus) CPUs have taken. */
static uint64_t cost_of_drain(uint16_t first, unsigned cpus, uint32_t samples)
{
    uint64_t begin, ticks;

    prof_drain();
    ticks = guest_stats().ticks;
    for (unsigned i = 0; i < cpus; i++) {
        become(task_of(first, i));
        take(CALLERS, samples / cpus);
    }
    become(first);
    begin = arch_tsc();
    prof_drain();
    begin = arch_tsc() - begin;
    ticks = guest_stats().ticks - ticks;
    if (ticks != samples || guest_stats().overflowed != 0 ||
        guest_stats().dropped != 0) {
        console_line("cpus: %u samples, %u overflowed, %u dropped",
                     (unsigned)ticks, (unsigned)guest_stats().overflowed,
                     (unsigned)guest_stats().dropped);
        is_wrong = true;
    }
    return begin;
}

/* Of each sample more, in hundredths. */
static uint64_t cost_of_sample(uint16_t first, unsigned cpus)
{
    uint64_t few = cost_of_drain(first, cpus, FEW);

    return (cost_of_drain(first, cpus, MANY) - few) * 100 / (MANY - FEW);
}

static void emit(const char *name, uint64_t hundredths)
{
    console_line("bench %s %u.%02u", name, (unsigned)(hundredths / 100),
                 (unsigned)(hundredths % 100));
}

int service_main(void)
{
    uint16_t first = own_task();
    uint64_t one = 0, four = 0, together = 0, apart = 0;
    bool on = arch_interrupts_save();

    prof_set_depth(CALLERS);
    if (prof_start() != 0)
        return 1;
    for (unsigned i = 1; i < CPUS; i++) {
        become(task_of(first, i));
        if (prof_cpu_join(i) != 0)
            return 2;
    }
    become(first);
    for (unsigned i = 0; i < 3; i++) { /* until all stacks are known */
        one = cost_of_sample(first, 1);
        four = cost_of_sample(first, CPUS);
        together = cost_of_drain(first, 1, FEW);
        apart = cost_of_drain(first, CPUS, FEW);
    }
    prof_stop();
    arch_interrupts_restore(on);
    if (is_wrong)
        return 3;
    if (CPUS == 1) {
        emit("drain_in_one_cpu_image", one);
        return 0;
    }
    emit("drain_of_one_cpu", one);
    emit("drain_of_four_cpus", four);
    emit("drain_of_each_cpu", (apart - together) * 100 / OTHERS);
    return 0;
}
