/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_PIC_H
#define PROF_PIC_H

/*
 * A minimal driver of the PC's interrupt controller (8259A PIC), for kernels
 * that have none: firmware, boot loaders, programs without interrupts. For the
 * source own pit:
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
 * All of it is inline, so that images that do not call it do not contain it.
 */

#include <stdint.h>

/* Ports of a PC/AT. Command words: Intel 8259A data sheet, "Initialization" and
 * "Operation Command Words". */
#define PROF_PIC_COMMAND 0x20u
#define PROF_PIC_DATA 0x21u

/* Writes (value) to I/O port (port). */
static inline void prof_pic_out(uint16_t port, uint8_t value)
{
    __asm__ volatile("outb %0, %1" : : "a"(value), "Nd"(port));
}

/* Initialises the master PIC: line 0, the PIT's, raises (vector), a multiple of
 * 8. Masks all other lines, and with them the slave PIC. Contexts: boot,
 * interrupts off. */
static inline void prof_pic_open(uint8_t vector)
{
    prof_pic_out(PROF_PIC_COMMAND, 0x11); /* ICW1: cascaded, with ICW4 */
    prof_pic_out(PROF_PIC_DATA, vector);  /* ICW2 */
    prof_pic_out(PROF_PIC_DATA, 1u << 2); /* ICW3: the slave is at line 2 */
    prof_pic_out(PROF_PIC_DATA, 1);       /* ICW4: 8086 mode */
    prof_pic_out(PROF_PIC_DATA, 0xfe);    /* OCW1: mask all but line 0 */
}

/* Sends a non-specific EOI to the master PIC; for current_eoi_mechanism.
 * Contexts: interrupt. */
static inline void prof_pic_done(void)
{
    prof_pic_out(PROF_PIC_COMMAND, 0x20);
}

#endif
