/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_PORT_H
#define PROF_PORT_H

/*
 * What the image around the profiler provides.
 *
 * The profiler is one relocatable object that uses no C library. The image MUST
 * define what is declared here, and nothing else; each build checks the
 * object's undefined symbols against profiler/port.symbols. The compiler may
 * also call memcpy, memmove, memset and memcmp, as in any freestanding program.
 *
 * Level 1, enough to sample and to count the samples:
 *   current_eoi_mechanism, prof_port_write; prof_port_alloc and prof_port_free
 *   must exist, but the allocator MAY always return NULL
 * Level 2, enough to print a table:
 *   a prof_port_alloc that returns memory
 * Level 3, a stream to the host and commands from it:
 *   no further functions, but transports (<prof/transport.h>)
 *
 * Error policy: none of these may panic. After a failed allocation samples stay
 * in the vector, count as queued, and are drained later.
 */

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Acknowledges the interrupt in service to the interrupt controller.
 *
 * Contexts: interrupt, with interrupts off. Called only for the profiler's
 * additional ticks; the kernel's handler acknowledges the kernel's own. MUST
 * NOT touch FPU or SSE state. It is a pointer so that a kernel that switches
 * from the PIC to an APIC changes it in one place. MAY be NULL if the kernel
 * calls prof_sample() itself (PROF_TICK_HOOK).
 */
extern void (*current_eoi_mechanism)(void);

/*
 * Writes (bytes) bytes of (text) to the console.
 *
 * Contexts: thread, panic. MUST NOT allocate or keep (text). Errors of the
 * device are not reported.
 */
void prof_port_write(const char *text, size_t bytes);

/*
 * Returns (bytes) bytes aligned for any scalar, or NULL if there are none.
 *
 * Contexts: thread. Called by prof_drain() and prof_transport_choose() only.
 */
void *prof_port_alloc(size_t bytes);

/* Frees what prof_port_alloc() returned. Contexts: as prof_port_alloc(). */
void prof_port_free(void *memory);

#ifdef __cplusplus
}
#endif

#endif
