/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The stub's place in the timer's gate of the IDT.
 *
 * A driver that installs its handler after us would silently end the profile.
 * Its handler becomes the one that the stub goes on to. But it may itself go on
 * to what it found, as ours does: a circle, in which the kernel would be
 * caught. So the gate is taken back only if no sample has come for many
 * periods: a busy host that runs the guest brings its timer late.
 */

#include "tick/idt_gate.h"

#include "base/cpu.h"
#include "sample/cpus.h"
#include "tick/source.h"

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

/* Periods without a sample, after which another handler in the gate is assumed
 * not to call the stub. */
#define SILENT_PERIODS 128u

#define TYPE_MASK 0x9f              /* present bit, system bit and kind */
#define TYPE_INTERRUPT_PRESENT 0x8e /* present, 32- or 64-bit interrupt gate */

struct table {
    uint16_t limit; /* last valid byte */
    uintptr_t base;
} __attribute__((packed));

static inline struct table idt_here(void)
{
    struct table idt;

    __asm__ volatile("sidt %0" : "=m"(idt));
    return idt;
}

static inline struct gate *find_in(const struct table *idt, uint8_t vector)
{
    struct gate *gate;

    if ((vector + 1u) * sizeof(struct gate) > idt->limit + 1u)
        return NULL;
    gate = (struct gate *)idt->base + vector;
    return (gate->type & TYPE_MASK) == TYPE_INTERRUPT_PRESENT ? gate : NULL;
}

static struct gate *find_gate(uint8_t vector)
{
    struct table idt = idt_here();

    return find_in(&idt, vector);
}

static uintptr_t handler_of(const struct gate *gate)
{
    uintptr_t handler = gate->offset_low | (uintptr_t)gate->offset_high << 16;

#ifdef __x86_64__
    handler |= (uintptr_t)gate->offset_top << 32;
#endif
    return handler;
}

#if PROF_CPUS_MAX > 1
/* In one store, as another CPU may come to the gate meanwhile. In x86_64 the
 * upper half of the address stays, as it is the same in all of an image. */
static void set_handler(struct gate *gate, uintptr_t handler)
{
    struct gate after = *gate;
    uint64_t word;

    after.offset_low = (uint16_t)handler;
    after.offset_high = (uint16_t)(handler >> 16);
    __builtin_memcpy(&word, &after, sizeof word);
#ifdef __x86_64__
    gate->offset_top = (uint32_t)(handler >> 32);
    __atomic_store_n((uint64_t *)(void *)gate, word, __ATOMIC_SEQ_CST);
#else
    uint64_t before;

    __builtin_memcpy(&before, gate, sizeof before);
    __asm__ volatile("0: lock cmpxchg8b %0; jnz 0b"
                     : "+m"(*gate), "+A"(before)
                     : "b"((uint32_t)word), "c"((uint32_t)(word >> 32))
                     : "cc", "memory");
#endif
}
#else
static void set_handler(struct gate *gate, uintptr_t handler)
{
    gate->offset_low = (uint16_t)handler;
    gate->offset_high = (uint16_t)(handler >> 16);
#ifdef __x86_64__
    gate->offset_top = (uint32_t)(handler >> 32);
#endif
}
#endif

static struct {
    uint8_t vector; /* of the gate that was taken; 0: none */
    bool goes_on;   /* (handler) goes on to our stub */
    uint16_t next;  /* where in struct prof_cpu is what the stub goes on to */
    uintptr_t stub; /* ours */
    uintptr_t handler; /* found in the gate in our place, or 0 */
    uint64_t seen_tsc; /* when it was last looked at */
} gate;

static uintptr_t *next_of(struct prof_cpu *cpu)
{
    return (uintptr_t *)((char *)cpu + gate.next);
}

static uintptr_t *next_handler(void)
{
    return next_of(PROF_CPU_FIRST);
}

static uintptr_t present_handler(void)
{
    const struct gate *present = find_gate(gate.vector);

    return present != NULL ? handler_of(present) : 0;
}

#if PROF_CPUS_MAX > 1
static bool has_own_table(const struct prof_cpu *cpu)
{
    return prof_cpu_link(cpu)->idt != idt_here().base;
}

/* The gate of (cpu) if it has an IDT of its own; else NULL. */
static struct gate *own_gate(const struct prof_cpu *cpu)
{
    const struct prof_cpu_link *link = prof_cpu_link(cpu);
    const struct table idt = {(uint16_t)link->idt_limit, link->idt};

    return has_own_table(cpu) ? find_in(&idt, gate.vector) : NULL;
}

void prof_gate_note(struct prof_cpu_link *link)
{
    struct table idt = idt_here();

    link->idt = idt.base;
    link->idt_limit = idt.limit;
}

bool prof_gate_join(struct prof_cpu *cpu)
{
    struct gate *present;

    if (gate.vector == 0 || !has_own_table(cpu))
        return true;
    present = own_gate(cpu);
    if (present == NULL)
        return false;
    if (handler_of(present) != gate.stub) {
        *next_of(cpu) = handler_of(present);
        set_handler(present, gate.stub);
    }
    return true;
}

void prof_gate_quit(struct prof_cpu *cpu)
{
    struct gate *present = gate.vector != 0 ? own_gate(cpu) : NULL;

    if (present != NULL && handler_of(present) == gate.stub)
        set_handler(present, *next_of(cpu));
}

/* Whoever comes to a common gate goes on to its handler. */
static void give_all(uintptr_t handler)
{
    for (uint32_t i = 0; i < PROF_CPU_STATES; i++)
        if (i == PROF_CPUS_MAX || prof_cpu_links[i].state != PROF_CPU_JOINED ||
            own_gate(&prof_cpus[i]) == NULL)
            *next_of(&prof_cpus[i]) = handler;
}

static void join_others(void)
{
    PROF_FOR_EACH_CPU (cpu)
        if (cpu != PROF_CPU_FIRST && prof_cpu_has_joined(cpu))
            (void)prof_gate_join(cpu);
}

/* Also one that has left, which the drain has not let go. */
static void quit_others(void)
{
    PROF_FOR_EACH_CPU (cpu)
        if (cpu != PROF_CPU_FIRST &&
            __atomic_load_n(&prof_cpu_link(cpu)->state, __ATOMIC_ACQUIRE) !=
                PROF_CPU_FREE)
            prof_gate_quit(cpu);
}
#else
static inline void give_all(uintptr_t handler)
{
    *next_handler() = handler;
}
#define join_others() ((void)0)
#define quit_others() ((void)0)
#endif

/* Puts the stub into the gate, and what was there after it. */
static bool take_gate(void)
{
    struct gate *present = find_gate(gate.vector);

    if (present == NULL)
        return false;
    give_all(handler_of(present));
    set_handler(present, gate.stub);
    return true;
}

bool prof_gate_enter(uint8_t vector, void (*stub)(void), size_t next)
{
    uintptr_t handler;

    gate.vector = vector;
    gate.stub = (uintptr_t)stub;
    gate.next = (uint16_t)next;
#if PROF_CPUS_MAX > 1
    prof_gate_note(&prof_cpu_links[0]);
#endif
    handler = present_handler();
    if (handler != gate.stub && !(handler == gate.handler && gate.goes_on) &&
        !take_gate()) {
        gate.vector = 0;
        return false;
    }
    join_others();
    return true;
}

void prof_gate_leave(void)
{
    if (present_handler() == gate.stub)
        set_handler(find_gate(gate.vector), *next_handler());
    quit_others();
    gate.vector = 0;
}

/* Whether it is known by now that the handler in our gate does not go on to the
 * stub. */
static bool is_cut_off(const struct prof_cpu *cpu, uint64_t now,
                       uint64_t period)
{
    bool sampled = prof_cpu_newest_tsc(cpu) > gate.seen_tsc;

    if (sampled && !gate.goes_on)
        prof_message(
            "prof: another handler in the timer's IDT gate calls ours; "
            "left as it is\n");
    if (sampled) {
        gate.goes_on = true;
        gate.seen_tsc = now;
    }
    return !sampled && now - gate.seen_tsc > SILENT_PERIODS * period;
}

static void take_back(void)
{
    bool on = prof_interrupts_save();

    (void)take_gate();
    prof_interrupts_restore(on);
    gate.handler = 0;
    prof_tick_counts.gate_taken_back++;
    prof_message(
        "prof: the timer's IDT gate was replaced by other code; restored, and "
        "the other handler is called after each sample\n");
}

void prof_gate_check(uint64_t period)
{
    struct prof_cpu *cpu = PROF_CPU_FIRST;
    uint64_t now = prof_tsc();
    uintptr_t handler;

    if (gate.vector == 0)
        return;
    handler = present_handler();
    if (handler == gate.stub || handler == 0) {
        gate.handler = 0;
    } else if (handler != gate.handler) {
        gate.handler = handler;
        gate.seen_tsc = now;
        gate.goes_on = false;
    } else if (is_cut_off(cpu, now, period)) {
        take_back();
    }
}
