/* SPDX-License-Identifier: Apache-2.0 */

/*
 * GDT, task states and IDT, 32-bit.
 *
 * Segments are flat. There are two tasks: the main task, whose state receives
 * the registers on a double fault, and the fault task, which vector 8 enters
 * through a task gate with a stack of its own.
 */

#include "tables.h"

#include "paging.h"
#include "trap.h"

#include <arch/boot.h>
#include <stddef.h>

#define FAULT_TASK_SELECTOR 0x20u
#define TASK_DESCRIPTOR (0x89ull << 40) /* present, available 32-bit task */
#define FLAGS_ALWAYS_SET 2u

/* SDM volume 3, 32-bit Task-State Segment. Selectors in their low halves. */
struct task_state {
    uint32_t link, esp0, ss0, esp1, ss1, esp2, ss2, cr3;
    uint32_t eip, eflags, eax, ecx, edx, ebx, esp, ebp, esi, edi;
    uint32_t es, cs, ss, ds, fs, gs, ldt;
    uint16_t debug_trap, io_map;
};

_Static_assert(sizeof(struct task_state) == 104, "32-bit task state");
_Static_assert(offsetof(struct task_state, eip) == 32, "32-bit task state");

static struct task_state main_task = {.io_map = sizeof(struct task_state)};
static struct task_state fault_task = {.io_map = sizeof(struct task_state)};

static uint64_t gdt[] = {
    0,
    0x00cf9b000000ffff, /* CODE_SELECTOR: 0 to 4 GiB, execute and read */
    0x00cf93000000ffff, /* DATA_SELECTOR: 0 to 4 GiB, read and write */
    0,                  /* TASK_SELECTOR */
    0,                  /* FAULT_TASK_SELECTOR */
};

const struct table_pointer gdt_pointer = {sizeof(gdt) - 1, (uintptr_t)gdt};

static uint64_t idt[TRAP_VECTORS] __attribute__((aligned(16)));

static void set_task(unsigned selector, const struct task_state *task)
{
    uint64_t base = (uintptr_t)task;

    gdt[selector / sizeof(gdt[0])] = TASK_DESCRIPTOR | (sizeof(*task) - 1) |
                                     (base & 0xffffff) << 16 |
                                     (base >> 24) << 56;
}

static uint64_t gate(uintptr_t offset, unsigned selector, unsigned type)
{
    uint64_t high = (offset & 0xffff0000) | (GATE_PRESENT | type) << 8;

    return high << 32 | selector << 16 | (offset & 0xffff);
}

void tables_load(void)
{
    const struct table_pointer idt_pointer = {sizeof(idt) - 1, (uintptr_t)idt};

    for (unsigned vector = 0; vector < TRAP_STUBS; vector++)
        idt[vector] =
            gate((uintptr_t)trap_stubs[vector], CODE_SELECTOR, GATE_INTERRUPT);
    idt[TRAP_DOUBLE_FAULT] = gate(0, FAULT_TASK_SELECTOR, GATE_TASK);

    fault_task.cr3 = paging_root();
    fault_task.eip = (uintptr_t)trap_stubs[TRAP_DOUBLE_FAULT];
    fault_task.eflags = FLAGS_ALWAYS_SET;
    fault_task.esp = (uintptr_t)fault_stack_top;
    fault_task.cs = CODE_SELECTOR;
    fault_task.ss = fault_task.ds = fault_task.es = DATA_SELECTOR;
    fault_task.fs = fault_task.gs = DATA_SELECTOR;

    set_task(TASK_SELECTOR, &main_task);
    set_task(FAULT_TASK_SELECTOR, &fault_task);
    tables_load_idt(&idt_pointer);
    tables_load_task(TASK_SELECTOR);
}

/*
 * C part of the fault task: the task switch has stored the interrupted
 * registers in the main task's state. Called from assembly only.
 */
void trap_double_fault(void)
{
    const struct arch_registers registers = {
        .pc = main_task.eip,
        .sp = main_task.esp,
        .fp = main_task.ebp,
        .flags = main_task.eflags,
        .ax = main_task.eax,
        .bx = main_task.ebx,
        .cx = main_task.ecx,
        .dx = main_task.edx,
        .si = main_task.esi,
        .di = main_task.edi,
        .vector = TRAP_DOUBLE_FAULT,
    };

    trap_report(&registers);
}
