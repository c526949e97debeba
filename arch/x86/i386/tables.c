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

/* From TASK_SELECTOR on, the two tasks of each CPU. */
static uint64_t gdt[3 + 2 * ARCH_CPUS_MAX] = {
    0, 0x00cf9b000000ffff, /* CODE_SELECTOR: 0 to 4 GiB, execute and read */
    0x00cf93000000ffff,    /* DATA_SELECTOR: 0 to 4 GiB, read and write */
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

/* (selector) is that of (running); the next one that of (fault). */
static void load(unsigned selector, struct task_state *running,
                 struct task_state *fault, uintptr_t fault_top, uint64_t *gates)
{
    const struct table_pointer pointer = {sizeof(idt) - 1, (uintptr_t)gates};
    const unsigned fault_selector =
        selector + (FAULT_TASK_SELECTOR - TASK_SELECTOR);

    for (unsigned vector = 0; vector < TRAP_STUBS; vector++)
        gates[vector] =
            gate((uintptr_t)trap_stubs[vector], CODE_SELECTOR, GATE_INTERRUPT);
    gates[TRAP_DOUBLE_FAULT] = gate(0, fault_selector, GATE_TASK);

    fault->cr3 = paging_root();
    fault->eip = (uintptr_t)trap_stubs[TRAP_DOUBLE_FAULT];
    fault->eflags = FLAGS_ALWAYS_SET;
    fault->esp = fault_top;
    fault->cs = CODE_SELECTOR;
    fault->ss = fault->ds = fault->es = DATA_SELECTOR;
    fault->fs = fault->gs = DATA_SELECTOR;

    set_task(selector, running);
    set_task(fault_selector, fault);
    tables_load_idt(&pointer);
    tables_load_task((uint16_t)selector);
}

void tables_load(void)
{
    load(TASK_SELECTOR, &main_task, &fault_task, (uintptr_t)fault_stack_top,
         idt);
}

#if ARCH_CPUS_MAX > 1

struct cpu_tables {
    uint64_t idt[TRAP_VECTORS];
    struct task_state running, fault;
};

_Static_assert(sizeof(struct cpu_tables) <= CPU_TABLES_BYTES, "tables fit");

static struct cpu_tables *further[ARCH_CPUS_MAX]; /* [0] is not used */

/* NMIs interrupt on the stack that runs: there is no other without a task of
 * its own, which would be slow. */
void tables_load_further(unsigned number, void *memory, uintptr_t fault_top,
                         uintptr_t nmi_top)
{
    struct cpu_tables *tables = memory;

    (void)nmi_top;
    *tables = (struct cpu_tables){
        .running.io_map = sizeof(struct task_state),
        .fault.io_map = sizeof(struct task_state),
    };
    further[number] = tables;
    load(TASK_SELECTOR_OF(number), &tables->running, &tables->fault, fault_top,
         tables->idt);
}

void tables_reclaim_nmi(void *memory)
{
    uint64_t *gates = memory != NULL ? ((struct cpu_tables *)memory)->idt : idt;

    gates[TRAP_NMI] =
        gate((uintptr_t)trap_stubs[TRAP_NMI], CODE_SELECTOR, GATE_INTERRUPT);
}

/* The fault task's selector says whose it is, too. */
static const struct task_state *interrupted_task(void)
{
    const unsigned number = arch_cpu_number();

    return number == 0 ? &main_task : &further[number]->running;
}

#else

static const struct task_state *interrupted_task(void)
{
    return &main_task;
}

#endif

/*
 * C part of the fault task: the task switch has stored the interrupted
 * registers in the main task's state. Called from assembly only.
 */
void trap_double_fault(void)
{
    const struct task_state *task = interrupted_task();
    const struct arch_registers registers = {
        .pc = task->eip,
        .sp = task->esp,
        .fp = task->ebp,
        .flags = task->eflags,
        .ax = task->eax,
        .bx = task->ebx,
        .cx = task->ecx,
        .dx = task->edx,
        .si = task->esi,
        .di = task->edi,
        .vector = TRAP_DOUBLE_FAULT,
    };

    trap_report(&registers);
}
