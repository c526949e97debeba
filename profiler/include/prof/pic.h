/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_PIC_H
#define PROF_PIC_H

/*
 * The PC's interrupt controller, for kernels that do not use it: firmware, boot
 * loaders, programs without interrupts. With a PIT of the profiler's own:
 *
 *     void (*current_eoi_mechanism)(void) = prof_pic_done;
 *
 *     static const struct prof_config config = {
 *         .tick = {.kind = PROF_TICK_OWN_PIT, .vector = 32}, ...
 *     };
 *
 *     prof_pic_open(config.tick.vector);
 *     prof_begin(&config);
 *     enable_interrupts();
 *
 * In a header, so that an image which does not call it has none of it.
 */

#include <stdint.h>

/* Ports and words: Intel 8259A, "Initialization" and "Operation Command
 * Words"; ports of a PC/AT. */
#define PROF_PIC_COMMAND 0x20u
#define PROF_PIC_DATA 0x21u

static inline void prof_pic_out(uint16_t port, uint8_t value)
{
    __asm__ volatile("outb %0, %1" : : "a"(value), "Nd"(port));
}

/*
 * Initialises the first controller: its line 0, the PIT's, makes (vector), a
 * multiple of 8; all other lines, the second controller among them, are masked.
 *
 * Contexts: boot, interrupts off.
 */
static inline void prof_pic_open(uint8_t vector)
{
    prof_pic_out(PROF_PIC_COMMAND, 0x11); /* begin; four words */
    prof_pic_out(PROF_PIC_DATA, vector);
    prof_pic_out(PROF_PIC_DATA, 1u << 2); /* the second one is at line 2 */
    prof_pic_out(PROF_PIC_DATA, 1);       /* 8086 */
    prof_pic_out(PROF_PIC_DATA, 0xfe);    /* masked: all but line 0 */
}

/* Acknowledges an interrupt of the first controller's: a value for
 * current_eoi_mechanism. Contexts: interrupt. */
static inline void prof_pic_done(void)
{
    prof_pic_out(PROF_PIC_COMMAND, 0x20);
}

#endif
