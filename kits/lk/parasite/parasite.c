/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Parasite in LK on the platform pc, x86-64, on all of its CPUs. LK stops the
 * PIT once it has a better clock: the profiler has it for itself, as an NMI,
 * since LK turns interrupts off while it holds a spin lock. The app's thread
 * stays on CPU 0 and polls; each other CPU joins at the end of its own start.
 *
 * The CPUs have one TSS, but a selector each, which identifies them.
 */

#include <app.h>
#include <arch/ops.h>
#include <kernel/thread.h>
#include <lk/init.h>
#include <platform/debug.h>
#include <prof/begin.h>

#define ARCH_IDLE_BYTES 16 /* at most */

extern char __code_start[], __code_end[], _end[];
void (*current_eoi_mechanism)(void); /* an NMI has none */
static volatile bool begun;

void prof_port_write(const char *text, size_t bytes)
{
    while (bytes-- > 0)
        platform_dputc(*text++);
}

/* Boot stacks, which idle threads keep, are in the image, all others in LK's
 * map of all memory. */
static uintptr_t mapped_end(uintptr_t sp)
{
    if (sp >= (uintptr_t)__code_start)
        return (uintptr_t)_end;
    return sp >= KERNEL_ASPACE_BASE ? KERNEL_ASPACE_BASE + PHYSMAP_SIZE : 0;
}

static void parasite(const struct app_descriptor *app, void *args)
{
    static const struct prof_config config = {
        .tick = {.kind = PROF_TICK_NMI,
                 .lapic_at = KERNEL_ASPACE_BASE + 0xfee00000,
                 .ioapic_at = KERNEL_ASPACE_BASE + 0xfec00000},
        .text = {(uintptr_t)__code_start, (uintptr_t)__code_end},
        .idle = {(uintptr_t)arch_idle, (uintptr_t)arch_idle + ARCH_IDLE_BYTES},
        .mapped_end = mapped_end,
        .cpus = PROF_CPUS_MAX};

    thread_set_pinned_cpu(get_current_thread(), 0);
    thread_sleep(1); /* and wake there */
    begun = prof_begin(&config) == 0;
    for (;; thread_sleep(5))
        prof_poll();
}

static void join(uint level)
{
    while (!begun)
        thread_sleep(1);
    arch_disable_ints();
    prof_cpu_join(arch_curr_cpu_num());
    arch_enable_ints();
}
LK_INIT_HOOK_FLAGS(parasite, join, LK_INIT_LEVEL_LAST,
                   LK_INIT_FLAG_SECONDARY_CPUS);

/* clang-format off */
APP_START(parasite)
    .entry = parasite,
APP_END
