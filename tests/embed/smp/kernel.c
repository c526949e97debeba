/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A kernel on two CPUs: 32 bits, with local APICs and an IOAPIC. The first CPU
 * answers requests in a loop (work.h); the second one computes something else,
 * with its interrupts enabled, and is not sampled.
 */

#include "kernel.h"

#include "../work.h"

#include <prof/prof.h>

#define REQUESTS 16000u
#define ROUNDS_MIN 1000u
#define CPU_SECOND 1

/* Intel SDM vol. 3A, 11.4 and 11.6; 82093AA, 3.2 */
#define APIC 0xfee00000u
#define APIC_EOI 0xb0
#define APIC_SPURIOUS 0xf0
#define APIC_COMMAND 0x300
#define APIC_COMMAND_CPU 0x310
#define COMMAND_INIT 0x4500u
#define COMMAND_START 0x4600u
#define IOAPIC 0xfec00000u

void kernel_main(void);
void cpu_main(void);
extern const char cpu_start[], cpu_start_end[];
extern unsigned char *cpu_stack_end;

static unsigned char cpu_stack[4096] __attribute__((aligned(16)));
unsigned char *cpu_stack_end = cpu_stack + sizeof cpu_stack;
static volatile unsigned rounds;

static volatile uint32_t *at(uint32_t address)
{
    return (volatile uint32_t *)address;
}

void apic_done(void)
{
    *at(APIC + APIC_EOI) = 0;
}

static void apic_start(void)
{
    *at(APIC + APIC_SPURIOUS) = 0x1ff;
}

void ioapic_route(unsigned pin, unsigned cpu, uint8_t vector)
{
    *at(IOAPIC) = 0x11 + 2 * pin;
    *at(IOAPIC + 0x10) = cpu << 24;
    *at(IOAPIC) = 0x10 + 2 * pin;
    *at(IOAPIC + 0x10) = vector;
}

static void command(unsigned cpu, uint32_t word)
{
    *at(APIC + APIC_COMMAND_CPU) = cpu << 24;
    *at(APIC + APIC_COMMAND) = word;
}

/* Starts (cpu) at cpu_start, which is copied to CPU_PAGE. */
static void start_cpu(unsigned cpu)
{
    __builtin_memcpy((void *)CPU_PAGE, cpu_start,
                     (size_t)(cpu_start_end - cpu_start));
    command(cpu, COMMAND_INIT);
    spend(1000000);
    command(cpu, COMMAND_START | CPU_PAGE >> 12);
}

/* Where an emulator runs one CPU after the other, it is the next one's turn. An
 * interrupt that comes in a turn of the second CPU's is taken in parse(). */
static void let_others_run(void)
{
    __asm__ volatile("pause");
}

static __attribute__((noinline)) void compute(void)
{
    spend(100);
}

void cpu_main(void)
{
    apic_start();
    __asm__ volatile("sti");
    for (;; rounds++) {
        compute();
        let_others_run();
    }
}

void kernel_main(void)
{
    unsigned before;

    pc_pic_start(0);
    apic_start();
    start_cpu(CPU_SECOND);
    __asm__ volatile("sti");
    if (profiler_start() != 0)
        pc_exit(1);
    before = rounds;
    for (unsigned i = 0; i < REQUESTS; i++) {
        answer();
        prof_poll();
        let_others_run();
    }
    if (rounds - before < ROUNDS_MIN)
        pc_exit(2);
    (void)prof_option("prof.report=folded");
    prof_report();
    pc_exit(0);
}
