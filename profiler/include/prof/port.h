/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_PORT_H
#define PROF_PORT_H

/*
 * What the image around the profiler provides.
 *
 * The profiler is one relocatable object with no C library under it. Whoever
 * links it MUST provide what is declared here, and nothing else: the list is
 * kept in profiler/port.symbols and checked against the object at each build.
 * Besides these the compiler itself may call memcpy, memmove, memset and
 * memcmp, as every freestanding C program expects.
 *
 * Level 1, enough to sample and to print a table:
 *   current_eoi_mechanism, prof_port_write
 * Level 2, tables that grow beyond the memory given at start:
 *   prof_port_alloc, prof_port_free (MAY always refuse)
 * Level 3, a stream for the host and commands from it: no functions that must
 * be there, but ways out that the image offers by <prof/out.h>
 *
 * Error policy: none of these may panic. An allocation that is refused costs
 * nothing but delay: samples stay where they are and are counted as queued.
 */

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Acknowledges the interrupt in service to the interrupt controller.
 *
 * Contexts: interrupt, with interrupts off. Called for those ticks only that
 * the profiler asked for beyond the kernel's own; the kernel's handler
 * acknowledges its own. MUST NOT touch FPU or SSE state. A pointer, so that a
 * kernel which moves from the PIC to an APIC changes it in one place.
 */
extern void (*current_eoi_mechanism)(void);

/*
 * Writes (bytes) bytes of (text) to wherever people read: the serial console.
 *
 * Contexts: thread, panic. Neither allocates nor keeps (text). A device that
 * fails is the port's own business: there is nobody left to tell.
 */
void prof_port_write(const char *text, size_t bytes);

/*
 * Returns (bytes) bytes aligned for any scalar, or NULL where there are none.
 *
 * Contexts: thread only, from prof_drain() and prof_out_choose() and from
 * nothing else.
 */
void *prof_port_alloc(size_t bytes);

/* Gives back what prof_port_alloc() returned. Contexts: as prof_port_alloc. */
void prof_port_free(void *memory);

#ifdef __cplusplus
}
#endif

#endif
