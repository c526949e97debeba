/* SPDX-License-Identifier: Apache-2.0 */

/* Reading and writing one gate of the IDT; see idt_gate.h. */

#include "tick/idt_gate.h"

#include <stddef.h>

struct gate {
    uint16_t offset_low;  /* handler's address, bits 0 to 15 */
    uint16_t selector;    /* its code segment */
    uint8_t stack;        /* x86_64: interrupt stack table's index */
    uint8_t type;         /* present, privilege, kind */
    uint16_t offset_high; /* bits 16 to 31 */
#ifdef __x86_64__
    uint32_t offset_top; /* bits 32 to 63 */
    uint32_t reserved;
#endif
};

#define TYPE_MASK 0x9f              /* present bit, system bit and kind */
#define TYPE_INTERRUPT_PRESENT 0x8e /* present, 32- or 64-bit interrupt gate */

struct table {
    uint16_t limit; /* last valid byte */
    uintptr_t base;
} __attribute__((packed));

static struct gate *find(uint8_t vector)
{
    struct table idt;
    struct gate *gate;

    __asm__ volatile("sidt %0" : "=m"(idt));
    if ((vector + 1u) * sizeof(struct gate) > idt.limit + 1u)
        return NULL;
    gate = (struct gate *)idt.base + vector;
    return (gate->type & TYPE_MASK) == TYPE_INTERRUPT_PRESENT ? gate : NULL;
}

static uintptr_t handler_of(const struct gate *gate)
{
    uintptr_t handler = gate->offset_low | (uintptr_t)gate->offset_high << 16;

#ifdef __x86_64__
    handler |= (uintptr_t)gate->offset_top << 32;
#endif
    return handler;
}

static void set_handler(struct gate *gate, uintptr_t handler)
{
    gate->offset_low = (uint16_t)handler;
    gate->offset_high = (uint16_t)(handler >> 16);
#ifdef __x86_64__
    gate->offset_top = (uint32_t)(handler >> 32);
#endif
}

bool prof_gate_take(uint8_t vector, uintptr_t stub, uintptr_t *next)
{
    struct gate *gate = find(vector);

    if (gate == NULL)
        return false;
    *next = handler_of(gate);
    set_handler(gate, stub);
    return true;
}

uintptr_t prof_gate_handler(uint8_t vector)
{
    const struct gate *gate = find(vector);

    return gate != NULL ? handler_of(gate) : 0;
}

void prof_gate_return(uint8_t vector, uintptr_t handler)
{
    struct gate *gate = find(vector);

    if (gate != NULL)
        set_handler(gate, handler);
}
