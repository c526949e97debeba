/* SPDX-License-Identifier: Apache-2.0 */

/* Swaps the handler in one gate of the IDT, for the bare handlers. */

#include "handlers.h"

#include <arch/cpu.h>

struct gate {
    uint16_t offset_low, selector, type, offset_high;
#ifdef __x86_64__
    uint32_t offset_top, reserved;
#endif
};

struct table {
    uint16_t limit;
    uintptr_t base;
} __attribute__((packed));

uintptr_t bench_gate_swap(unsigned vector, uintptr_t handler)
{
    struct table idt;
    struct gate *gate;
    uintptr_t before;
    bool on = arch_interrupts_save();

    __asm__ volatile("sidt %0" : "=m"(idt));
    gate = (struct gate *)idt.base + vector;
    before = gate->offset_low | (uintptr_t)gate->offset_high << 16;
    gate->offset_low = (uint16_t)handler;
    gate->offset_high = (uint16_t)(handler >> 16);
#ifdef __x86_64__
    before |= (uintptr_t)gate->offset_top << 32;
    gate->offset_top = (uint32_t)(handler >> 32);
#endif
    arch_interrupts_restore(on);
    return before;
}
