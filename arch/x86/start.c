/* SPDX-License-Identifier: Apache-2.0 */

/*
 * From boot.asm to the kernel, common to both widths.
 *
 * The order matters. The IDT comes first, so that any later fault is reported.
 * Then the loader's data are copied, before anything overwrites the memory that
 * holds them; the page tables may do that, so paging comes last.
 */

#include "start.h"

#include "boot_info.h"
#include "context.h"
#include "cpu_bits.h"
#include "paging.h"
#include "tables.h"

#include <arch/boot.h>
#include <arch/cpu.h>
#include <arch/features.h>

uint8_t arch_has_sse;

/*
 * The C library and services use x87 and SSE. arch, drivers, kernel and
 * profiler do not, so interrupts need not save FPU registers.
 */
void fpu_start(void)
{
    const uint32_t mxcsr = MXCSR_DEFAULT;

    cpu_set_cr0((cpu_cr0() & ~(CR0_EM | CR0_TS)) | CR0_MP | CR0_NE);
    __asm__ volatile("fninit");
    if (!arch_cpu_has(ARCH_CPU_FXSR) || !arch_cpu_has(ARCH_CPU_SSE))
        return;
    cpu_set_cr4(cpu_cr4() | CR4_OSFXSR | CR4_OSXMMEXCPT);
    __asm__ volatile("ldmxcsr %0" : : "m"(mxcsr));
    arch_has_sse = 1;
}

void arch_start(uint32_t magic, uintptr_t information)
{
    tables_load();
    fpu_start();
    boot_protocol_read(magic, information);
    paging_start();
    kernel_main();
}

void arch_stop(void)
{
    for (;;)
        __asm__ volatile("cli; hlt" : : : "memory");
}
