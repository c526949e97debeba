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

/* From TASK_SELECTOR on, two entries for the task state of each CPU. */
static uint64_t gdt[3 + 2 * ARCH_CPUS_MAX] = {
    0, 0x00af9b000000ffff, /* CODE_SELECTOR: 64-bit code */
    0x00cf93000000ffff,    /* DATA_SELECTOR: read and write */
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

static void load(uint16_t selector, struct task_state *state,
                 struct gate *gates)
{
    const struct table_pointer pointer = {sizeof(idt) - 1, (uintptr_t)gates};
    uint64_t base = (uintptr_t)state;
    uint64_t *descriptor = &gdt[selector / sizeof(gdt[0])];

    for (unsigned vector = 0; vector < TRAP_STUBS; vector++)
        gates[vector] = gate((uintptr_t)trap_stubs[vector], ist_of(vector));

    descriptor[0] = TASK_DESCRIPTOR | (sizeof(*state) - 1) |
                    (base & 0xffffff) << 16 | (base >> 24 & 0xff) << 56;
    descriptor[1] = base >> 32;
    tables_load_idt(&pointer);
    tables_load_task(selector);
}

void tables_load(void)
{
    task.ist[FAULT_IST - 1] = (uintptr_t)fault_stack_top;
    task.ist[NMI_IST - 1] = (uintptr_t)nmi_stack_top;
    load(TASK_SELECTOR, &task, idt);
}

#if ARCH_CPUS_MAX > 1

struct cpu_tables {
    struct gate idt[TRAP_VECTORS];
    struct task_state task;
};

_Static_assert(sizeof(struct cpu_tables) <= CPU_TABLES_BYTES, "tables fit");

void tables_load_further(unsigned number, void *memory, uintptr_t fault_top,
                         uintptr_t nmi_top)
{
    struct cpu_tables *tables = memory;

    *tables = (struct cpu_tables){.task.io_map = sizeof(struct task_state)};
    tables->task.ist[FAULT_IST - 1] = fault_top;
    tables->task.ist[NMI_IST - 1] = nmi_top;
    load((uint16_t)TASK_SELECTOR_OF(number), &tables->task, tables->idt);
}

void tables_reclaim_nmi(void *memory)
{
    struct gate *gates =
        memory != NULL ? ((struct cpu_tables *)memory)->idt : idt;

    gates[TRAP_NMI] = gate((uintptr_t)trap_stubs[TRAP_NMI], NMI_IST);
}

#endif
