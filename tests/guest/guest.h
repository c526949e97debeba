/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_GUEST_GUEST_H
#define TESTS_GUEST_GUEST_H

/*
 * What tests of the sampler have in common. They run with QEMU's instruction
 * counter (their file `qemu`), where time passes by instructions only: the TSC
 * counts exactly GUEST_TSC_HZ, a run repeats to the last sample, and how busy
 * the host is does not matter.
 */

#include <arch/cpu.h>
#include <kernel/clock.h>
#include <kernel/loop.h>
#include <prof/prof.h>
#include <stdbool.h>
#include <stdint.h>

#define GUEST_TSC_HZ 1000000000u
#define GUEST_MS (GUEST_TSC_HZ / 1000)
#define GUEST_TIMER_VECTOR 32u

static inline struct prof_stats guest_stats(void)
{
    struct prof_stats stats;

    prof_stats(&stats);
    return stats;
}

/* The sum that (stats) promises: every tick in exactly one account. */
static inline uint64_t guest_accounted(const struct prof_stats *stats)
{
    return stats->attributed + stats->masked + stats->own + stats->idle +
           stats->unresolved + stats->dropped + stats->queued + stats->user;
}

/* Ticks of a PIT with (divisor) in (cycles), rounded. */
static inline uint64_t guest_ticks_in(uint64_t cycles, uint32_t divisor)
{
    return (cycles / 1000 * PROF_PIT_HZ / divisor + GUEST_MS / 2) / GUEST_MS;
}

/* The next of a row of numbers of 24 bits that looks like chance, and is the
 * same in each run. */
static inline uint32_t guest_random(void)
{
    static uint32_t state = 1;

    state = state * 1664525u + 1013904223u;
    return state >> 8;
}

/*
 * Instructions that do nothing, so that time passes. An emulator that counts
 * them has hardly anything to execute, while a look at the clock costs it more
 * than all of these: who waits by the clock has this between two looks. Of few
 * of them, the overflow table has room for all addresses.
 */
#define GUEST_PASS 128
#define GUEST_PASS_FEW 40
#define GUEST_NOTHING(instructions)                                            \
    __asm__ volatile(".rept %c0\n\tnop\n\t.endr" : : "i"(instructions))
static inline void guest_pass(void)
{
    GUEST_NOTHING(GUEST_PASS);
}

static inline void guest_pass_few(void)
{
    GUEST_NOTHING(GUEST_PASS_FEW);
}

/* Goes (rounds) times around a loop of two instructions: for samples at few
 * addresses. */
static inline void guest_loop(uint32_t rounds)
{
    if (rounds != 0)
        __asm__ volatile("1: dec %0\n\t"
                         "jnz 1b"
                         : "+r"(rounds)
                         :
                         : "cc");
}

/* Executes so many (instructions), if even, of which most do nothing. */
static inline void guest_execute(uint32_t instructions)
{
    uint32_t passes = instructions / GUEST_PASS;

    if (passes != 0)
        __asm__ volatile("1: .rept %c1 - 2\n\tnop\n\t.endr\n\t"
                         "dec %0\n\t"
                         "jnz 1b"
                         : "+r"(passes)
                         : "i"(GUEST_PASS)
                         : "cc");
    guest_loop(instructions % GUEST_PASS / 2);
}

/* Uses up (cycles) without giving the event loop a turn. */
static inline void guest_spin(uint64_t cycles)
{
    uint64_t begin = arch_tsc();

    while (arch_tsc() - begin < cycles)
        guest_pass();
}

/* Uses up (cycles) like a well-behaved service: drains happen in time. */
static inline void guest_poll(uint64_t cycles)
{
    uint64_t begin = arch_tsc();

    while (arch_tsc() - begin < cycles) {
        guest_spin(GUEST_MS / 10);
        loop_poll();
    }
}

/* The row of the function that begins at (address); all 0 if there is none. */
struct guest_search {
    struct prof_row row;
    uintptr_t address;
};

static inline void guest_compare(const struct prof_row *row, void *context)
{
    struct guest_search *search = context;

    if (row->address == search->address)
        search->row = *row;
}

static inline struct prof_row guest_row(uintptr_t address)
{
    struct guest_search search = {.address = address};

    prof_visit(guest_compare, &search);
    return search.row;
}

/* One gate of the interrupt descriptor table, and what sidt stores. */
struct guest_gate {
    uint16_t offset_low, selector, type, offset_high;
#ifdef __x86_64__
    uint32_t offset_top, reserved;
#endif
};

struct guest_idt {
    uint16_t limit;
    uintptr_t base;
} __attribute__((packed));

/* The gate of (vector). */
static inline struct guest_gate *guest_gate(unsigned vector)
{
    struct guest_idt idt;

    __asm__ volatile("sidt %0" : "=m"(idt));
    return (struct guest_gate *)idt.base + vector;
}

/* Puts (handler) into the gate of (vector), as a driver would that knows
 * nothing of the profiler. */
static inline void guest_set_gate(unsigned vector, uintptr_t handler)
{
    struct guest_gate *gate = guest_gate(vector);
    bool on = arch_interrupts_save();

    gate->offset_low = (uint16_t)handler;
    gate->offset_high = (uint16_t)(handler >> 16);
#ifdef __x86_64__
    gate->offset_top = (uint32_t)(handler >> 32);
#endif
    arch_interrupts_restore(on);
}

/* The handler in the gate of (vector); in the timer's. */
static inline uintptr_t guest_handler_of(unsigned vector)
{
    const struct guest_gate *gate = guest_gate(vector);
    uintptr_t handler = gate->offset_low | (uintptr_t)gate->offset_high << 16;

#ifdef __x86_64__
    handler |= (uintptr_t)gate->offset_top << 32;
#endif
    return handler;
}

static inline uintptr_t guest_handler(void)
{
    return guest_handler_of(GUEST_TIMER_VECTOR);
}

static inline void guest_set_handler(uintptr_t handler)
{
    guest_set_gate(GUEST_TIMER_VECTOR, handler);
}

/* Programs the PIT's channel 0, low then high byte, in a mode. */
#define GUEST_PIT_ONCE 0x30u
#define GUEST_PIT_REPEATS 0x34u
#define GUEST_PIT_SQUARE 0x36u
static inline void guest_program_pit(uint32_t mode, uint32_t divisor)
{
    bool on = arch_interrupts_save();

    arch_out8(0x43, (uint8_t)mode);
    arch_out8(0x40, (uint8_t)divisor);
    arch_out8(0x40, (uint8_t)(divisor >> 8));
    arch_interrupts_restore(on);
}

static inline void guest_set_pit(uint32_t divisor)
{
    guest_program_pit(GUEST_PIT_REPEATS, divisor);
}

#endif
