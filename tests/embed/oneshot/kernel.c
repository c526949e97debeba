/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A kernel of 32 bits that has no periodic tick: it arms the local APIC's timer
 * for one deadline after the other, 0.1 to 3 ms away, and sees to it that each
 * comes in time. Meanwhile it answers requests (work.h). It needs neither a PIT
 * nor interrupt controllers of a PC.
 */

#include "kernel.h"

#include "../work.h"

#include <prof/lapic.h>
#include <prof/prof.h>

#define REQUESTS 16000u

/* Intel SDM vol. 3A, Advanced Programmable Interrupt Controller; by QEMU the
 * timer counts nanoseconds, and so does the TSC where it counts instructions */
#define APIC 0xfee00000u
#define APIC_EOI 0x0b0u
#define APIC_SPURIOUS 0x0f0u
#define APIC_TIMER 0x320u
#define APIC_LINT0 0x350u
#define APIC_COUNT 0x380u
#define APIC_DIVIDE 0x3e0u
#define SPURIOUS_ENABLED 0x1ffu
#define LINT_EXTINT 0x700u
#define DIVIDE_BY_1 0x0bu

#define LATE_MAX 12800u /* 800 instructions of 16 ns: a sample, its callers */

extern const char timer_entry[], pit_entry[];
extern uint32_t idt[256][2];
void timer_interrupt(void);
void kernel_main(const uint32_t *information);

static volatile uint32_t *at(uint32_t offset)
{
    return (volatile uint32_t *)(APIC + offset);
}

static uint64_t now(void)
{
    uint32_t low, high;

    __asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
    return (uint64_t)high << 32 | low;
}

static volatile uint32_t came, wrong;
static uint64_t due;
static uint32_t random = 1;

/* Interrupts off. */
static void arm(uint32_t count)
{
    due = now() + count;
    *at(APIC_COUNT) = prof_lapic_arm(count);
}

void timer_interrupt(void)
{
    uint64_t late = now() - due;

    came++;
    wrong += late > LATE_MAX; /* early ones are, too */
    random = random * 1664525u + 1013904223u;
    arm(100000 + random / 1500);
    *at(APIC_EOI) = 0;
}

static void set_gate(unsigned vector, const char *entry)
{
    uint32_t address = (uint32_t)entry;

    idt[vector][0] = (address & 0xffff) | 0x80000;
    idt[vector][1] = (address & 0xffff0000) | 0x8e00;
}

static void start_timer(void)
{
    set_gate(TIMER_VECTOR, timer_entry);
    set_gate(PC_VECTOR, pit_entry);
    *at(APIC_SPURIOUS) = SPURIOUS_ENABLED;
    *at(APIC_LINT0) = LINT_EXTINT;
    *at(APIC_DIVIDE) = DIVIDE_BY_1;
    *at(APIC_TIMER) = TIMER_VECTOR;
}

#define INFORMATION_LINE 4u /* Multiboot: flag, and word, of the command line */

void kernel_main(const uint32_t *information)
{
    pc_pic_start(0);
    start_timer();
    if (profiler_start((information[0] & INFORMATION_LINE) != 0
                           ? (const char *)information[4]
                           : "") != 0)
        pc_exit(1);
    arm(100000);
    __asm__ volatile("sti");
    for (unsigned i = 0; i < REQUESTS; i++) {
        answer();
        prof_poll();
    }
    if (came < 100 || wrong != 0)
        pc_exit(2);
    (void)prof_option("prof.report=folded");
    prof_report();
    pc_exit(0);
}
