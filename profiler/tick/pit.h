/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_PIT_H
#define PROF_PIT_H

/*
 * Channel 0 of the 8254 programmable interval timer, as far as the sampler
 * needs it (Intel 8254 data sheet, mode 2 and the read-back command).
 */

#include <stdbool.h>
#include <stdint.h>

#define PROF_PIT_COMMAND 0x43 /* port, of all channels */

#ifdef PROF_HOSTED

/* A process has no ports; a test has a timer of its own. */
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

/* The two rates at which it ticks, in counts of its clock. */
struct prof_pit_rate {
    uint32_t kernel; /* for a tick of the kernel's, 1 to 65536 */
    uint32_t ours;   /* for a sample, on average; at most (kernel) */
    uint32_t least;  /* the machine keeps no period that is shorter (floor.h);
                        0: it keeps all */
};

/* Whether it ticks faster than the kernel asked for. */
static inline bool prof_pit_is_multiplied(const struct prof_pit_rate *rate)
{
    return rate->ours != rate->kernel;
}

struct prof_pit_state {
    uint8_t status; /* the read-back command's status byte */
    uint32_t count; /* counts left until the next tick, 1 to 65536 */
};

/* Ticks every (divisor) counts, 1 to 65536, from now on. Interrupts off. */
void prof_pit_set(uint32_t divisor);

/* The same where it does so already, with two port writes: on real hardware
 * from the end of the present period on. Contexts: any, if no other does. */
void prof_pit_set_count(uint32_t divisor);

/* No more ticks. Interrupts off. */
void prof_pit_stop(void);

/* Reads back what channel 0 is doing. Interrupts off. */
struct prof_pit_state prof_pit_read(void);

/* Whether there is one: its count changes. A machine without one reads the same
 * all the time, mostly 0xff. Up to PROF_PIT_LOOKS times three port accesses.
 * Interrupts off. */
#define PROF_PIT_LOOKS 1000u
bool prof_pit_counts(void);

/* Whether it makes a square wave (mode 3), and which half that is in. */
bool prof_pit_is_square(struct prof_pit_state state);
bool prof_pit_is_high(struct prof_pit_state state);

/* Whether it counts once only, until it is programmed again (modes 0, 1, 4 and
 * 5). */
bool prof_pit_is_one_shot(struct prof_pit_state state);

/* Whether channel 0 can no longer be as prof_pit_set(divisor) left it: in
 * another mode, or with more counts left than it ever had. (own) is false
 * where the kernel programmed it and the mode is its own affair. */
bool prof_pit_disturbed(struct prof_pit_state state, uint32_t divisor,
                        bool own);

#endif
