/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_PIT_H
#define PROF_PIT_H

/*
 * Channel 0 of the 8254 programmable interval timer (Intel 8254 data sheet,
 * mode 2 and the read-back command).
 */

#include <stdbool.h>
#include <stdint.h>

#define PROF_PIT_COMMAND 0x43 /* port, of all channels */

#ifdef PROF_HOSTED

/* Defined by tests with a timer of their own; a process cannot access ports. */
void prof_out8(uint16_t port, uint8_t value) __attribute__((weak));
uint8_t prof_in8(uint16_t port) __attribute__((weak));

#else

static inline void prof_out8(uint16_t port, uint8_t value)
{
    __asm__ volatile("outb %0, %1" : : "a"(value), "Nd"(port));
}

static inline uint8_t prof_in8(uint16_t port)
{
    uint8_t value;

    __asm__ volatile("inb %1, %0" : "=a"(value) : "Nd"(port));
    return value;
}

#endif

/* Periods in counts of its clock. */
struct prof_pit_rate {
    uint32_t kernel; /* of the kernel's ticks, 1 to 65536 */
    uint32_t ours;   /* of samples, on average; at most (kernel) */
    uint32_t least;  /* shortest period that the machine keeps (floor.h); 0: it
                        keeps all */
};

/* Returns whether the PIT ticks faster than the kernel's rate. */
static inline bool prof_pit_is_multiplied(const struct prof_pit_rate *rate)
{
    return rate->ours != rate->kernel;
}

struct prof_pit_state {
    uint8_t status; /* the read-back command's status byte */
    uint32_t count; /* counts left until the next tick, 1 to 65536 */
};

/* Programs mode 2 with a period of (divisor) counts, 1 to 65536. Contexts:
 * interrupts off. */
void prof_pit_set(uint32_t divisor);

/* Sets a new period in the mode in use, with two port writes; on real hardware
 * from the end of the current period on. Contexts: any, one at a time. */
void prof_pit_set_count(uint32_t divisor);

/* Stops the ticks. Contexts: interrupts off. */
void prof_pit_stop(void);

/* Reads the state of channel 0. Contexts: interrupts off. */
struct prof_pit_state prof_pit_read(void);

/* Returns whether there is a PIT, that is whether its count changes. A machine
 * without one always reads the same value, mostly 0xff. Takes up to
 * PROF_PIT_LOOKS times three port accesses. Contexts: interrupts off. */
#define PROF_PIT_LOOKS 1000u
bool prof_pit_counts(void);

/* Return whether it generates a square wave (mode 3), and in which half that
 * is. */
bool prof_pit_is_square(struct prof_pit_state state);
bool prof_pit_is_high(struct prof_pit_state state);

/* Returns whether it is in a one-shot mode (0, 1, 4 or 5). */
bool prof_pit_is_one_shot(struct prof_pit_state state);

/* Returns whether channel 0 was reprogrammed since prof_pit_set(divisor): it is
 * in another mode, or has more counts left than (divisor). With (own) false,
 * the kernel has programmed it, and any mode is accepted. */
bool prof_pit_disturbed(struct prof_pit_state state, uint32_t divisor,
                        bool own);

#endif
