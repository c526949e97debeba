/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The stub's place in the timer's gate of the IDT.
 *
 * A driver that installs its handler after us would silently end the profile.
 * Its handler becomes the one that the stub goes on to, as if it had been there
 * first. But it may be one that goes on to what it found, as ours does; to go
 * on to that one would be a circle. So nothing is done at first: only if no
 * sample has come by the next check is the gate taken back.
 */

#include "tick/idt_gate.h"

#include "base/cpu.h"
#include "sample/cpu_state.h"
#include "tick/stub.h"
#include "tick/message.h"

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

static struct gate *find_gate(uint8_t vector)
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

/* The handler in the gate of (vector), 0 where there is none. */
static uintptr_t handler_in(uint8_t vector)
{
    const struct gate *gate = find_gate(vector);

    return gate != NULL ? handler_of(gate) : 0;
}

/* Puts the stub into the gate of (vector), and what was there after it. */
static bool take_gate(struct prof_cpu *cpu, uint8_t vector)
{
    struct gate *gate = find_gate(vector);

    if (gate == NULL)
        return false;
    cpu->tick.next_handler = handler_of(gate);
    set_handler(gate, (uintptr_t)prof_parasite);
    return true;
}

static struct {
    uintptr_t handler; /* found in the gate in our place, or 0 */
    uint64_t seen_tsc; /* when it was last looked at */
    bool goes_on;      /* and it goes on to our stub */
} other;

static bool has_stub(uintptr_t handler)
{
    return handler == (uintptr_t)prof_parasite ||
           (handler == other.handler && other.goes_on);
}

bool prof_gate_enter(uint8_t vector)
{
    return has_stub(handler_in(vector)) || take_gate(prof_cpu_here(), vector);
}

void prof_gate_leave(uint8_t vector)
{
    struct gate *gate = find_gate(vector);

    if (gate != NULL && handler_of(gate) == (uintptr_t)prof_parasite)
        set_handler(gate, prof_cpu_here()->tick.next_handler);
}

/* Whether it is known by now that the handler in our gate does not go on to the
 * stub. */
static bool is_cut_off(const struct prof_cpu *cpu, uint64_t now,
                       uint64_t period)
{
    bool sampled = prof_cpu_newest_tsc(cpu) > other.seen_tsc;

    if (sampled && !other.goes_on)
        prof_message(
            "prof: another handler in the timer's IDT gate calls ours; "
            "left as it is\n");
    if (sampled) {
        other.goes_on = true;
        other.seen_tsc = now;
    }
    return !sampled && now - other.seen_tsc > 2 * period;
}

static void take_back(struct prof_cpu *cpu, uint8_t vector)
{
    bool on = prof_interrupts_save();

    take_gate(cpu, vector);
    prof_interrupts_restore(on);
    other.handler = 0;
    prof_message(
        "prof: the timer's IDT gate was replaced by other code; restored, and "
        "the other handler is called after each sample\n");
}

bool prof_gate_check(uint8_t vector, uint64_t period)
{
    struct prof_cpu *cpu = prof_cpu_here();
    uintptr_t handler = handler_in(vector);
    uint64_t now = prof_tsc();

    if (handler == (uintptr_t)prof_parasite || handler == 0) {
        other.handler = 0;
    } else if (handler != other.handler) {
        other.handler = handler;
        other.seen_tsc = now;
        other.goes_on = false;
    } else if (is_cut_off(cpu, now, period)) {
        take_back(cpu, vector);
        return true;
    }
    return false;
}
