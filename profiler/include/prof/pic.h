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
 * All in a header, so that images that do not call it do not contain it.
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

/* Initialises the first controller: line 0, the PIT's, raises (vector), a
 * multiple of 8. All other lines are masked, with them the second controller.
 * Contexts: boot, interrupts off. */
static inline void prof_pic_open(uint8_t vector)
{
    prof_pic_out(PROF_PIC_COMMAND, 0x11); /* begin; four words */
    prof_pic_out(PROF_PIC_DATA, vector);
    prof_pic_out(PROF_PIC_DATA, 1u << 2); /* the second one is at line 2 */
    prof_pic_out(PROF_PIC_DATA, 1);       /* 8086 */
    prof_pic_out(PROF_PIC_DATA, 0xfe);    /* masked: all but line 0 */
}

/* Acknowledges an interrupt of the first controller; for
 * current_eoi_mechanism. Contexts: interrupt. */
static inline void prof_pic_done(void)
{
    prof_pic_out(PROF_PIC_COMMAND, 0x20);
}

#endif
