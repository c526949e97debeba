/* SPDX-License-Identifier: Apache-2.0 */

/*
 * GDT, task state and IDT, 64-bit.
 *
 * The task state serves only its interrupt stack table: exceptions that a stack
 * overflow may cause get a stack of their own. Page fault and double fault
 * share one, because neither returns: the second may overwrite the first's
 * frames.
 */

#include "tables.h"

#include <arch/boot.h>
#include <stddef.h>

#define FAULT_IST 1u
#define NMI_IST 2u
#define TASK_DESCRIPTOR (0x89ull << 40) /* present, available 64-bit task */

/* SDM volume 3, 64-Bit TSS Format. */
struct task_state {
    uint32_t reserved_0;
    uint64_t rsp[3];
    uint64_t reserved_1;
    uint64_t ist[7]; /* [0] is IST 1 */
    uint64_t reserved_2;
    uint16_t reserved_3, io_map;
} __attribute__((packed));

_Static_assert(sizeof(struct task_state) == 104, "64-bit task state");
_Static_assert(offsetof(struct task_state, ist) == 36, "64-bit task state");

struct gate {
    uint64_t low, high;
};

static struct task_state task = {.io_map = sizeof(struct task_state)};

static uint64_t gdt[] = {
    0,
    0x00af9b000000ffff, /* CODE_SELECTOR: 64-bit code */
    0x00cf93000000ffff, /* DATA_SELECTOR: read and write */
    0,                  /* TASK_SELECTOR, two entries long */
    0,
};

const struct table_pointer gdt_pointer = {sizeof(gdt) - 1, (uintptr_t)gdt};

static struct gate idt[TRAP_VECTORS] __attribute__((aligned(16)));

static struct gate gate(uintptr_t offset, unsigned ist)
{
    return (struct gate){
        .low = (offset & 0xffff) | CODE_SELECTOR << 16 | (uint64_t)ist << 32 |
               (uint64_t)(GATE_PRESENT | GATE_INTERRUPT) << 40 |
               (offset >> 16 & 0xffff) << 48,
        .high = offset >> 32,
    };
}

static unsigned ist_of(unsigned vector)
{
    switch (vector) {
    case TRAP_NMI:
        return NMI_IST;
    case TRAP_DOUBLE_FAULT:
    case TRAP_PAGE_FAULT:
        return FAULT_IST;
    default:
        return 0;
    }
}

void tables_load(void)
{
    const struct table_pointer idt_pointer = {sizeof(idt) - 1, (uintptr_t)idt};
    uint64_t base = (uintptr_t)&task;
    uint64_t *descriptor = &gdt[TASK_SELECTOR / sizeof(gdt[0])];

    for (unsigned vector = 0; vector < TRAP_STUBS; vector++)
        idt[vector] = gate((uintptr_t)trap_stubs[vector], ist_of(vector));

    task.ist[FAULT_IST - 1] = (uintptr_t)fault_stack_top;
    task.ist[NMI_IST - 1] = (uintptr_t)nmi_stack_top;

    descriptor[0] = TASK_DESCRIPTOR | (sizeof(task) - 1) |
                    (base & 0xffffff) << 16 | (base >> 24 & 0xff) << 56;
    descriptor[1] = base >> 32;
    tables_load_idt(&idt_pointer);
    tables_load_task(TASK_SELECTOR);
}
