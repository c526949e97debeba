/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_PORT_H
#define PROF_PORT_H

/*
 * The port: what the image around the profiler provides.
 *
 * The profiler is one relocatable object that uses no C library. The image MUST
 * define current_eoi_mechanism and prof_port_write(), and nothing else; each
 * build checks the undefined symbols against profiler/port.symbols. The
 * compiler may also call memcpy, memmove, memset and memcmp, as in any
 * freestanding program. All other functions have a built-in default, which the
 * image may override. References to them are weak, so the linker does not
 * search archives for them: link the object that defines them.
 *
 * Level 1, to sample and to count the samples:
 *   current_eoi_mechanism, prof_port_write
 * Level 2, to print a table:
 *   memory: config.pool (<prof/prof.h>), or a prof_port_alloc of your own
 * Level 3, to stream to the host and to receive commands:
 *   "serial" is built in and writes to prof_port_write(); prof_port_read for
 *   commands; other transports: <prof/transport.h>
 *
 * Error policy: none of these functions may panic. After a failed allocation
 * samples stay in the vector, count as queued, and are drained later.
 */

#include <prof/config.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Bytes of stack that prof_drain(), prof_report() and the calls that include
 * them need, without the needs of the functions below. */
#define PROF_STACK_BYTES 4096u

/* Bytes of the largest block that a drain allocates (see prof_port_alloc()),
 * and a size for config.pool, if the task recorder, the statistics of the event
 * loop, causal experiments and "shm" are off. */
#define PROF_BLOCK_BYTES (80u * 1024u)
#define PROF_POOL_DEFAULT (256u * 1024u)

/*
 * Sends an EOI for the interrupt in service to the interrupt controller. Called
 * for the profiler's additional ticks only. It is a pointer, so that a kernel
 * that switches from the PIC to an APIC changes it in one place. MAY be NULL
 * with PROF_TICK_HOOK and PROF_TICK_GATE, where each tick is the kernel's.
 *
 * Contexts: interrupt, with interrupts off. MUST NOT change FPU or SSE state.
 */
extern void (*current_eoi_mechanism)(void);

/* Writes (bytes) bytes of (text) to the console. MUST NOT allocate memory or
 * keep (text). Device errors are not reported. Contexts: thread, panic. */
void prof_port_write(const char *text, size_t bytes);

/*
 * Allocates (bytes) bytes, aligned for any scalar. Returns NULL if there is no
 * memory. Default: allocates from config.pool (prof_pool_open()).
 *
 * Called by prof_drain() and all calls that drain, by prof_option() for
 * prof.target and prof.progress, by prof_transport_choose(), and when the task
 * recorder, the statistics of the event loop or causal experiments start.
 *
 * A drain allocates blocks of at most PROF_BLOCK_BYTES while there are fewer
 * than 8,192 distinct stacks; beyond that, of 16 bytes times the number of
 * stacks, rounded up to a power of two. PROF_POOL_DEFAULT is enough for some
 * 1,500 stacks.
 *
 * Contexts: thread; with prof_port_busy(), the sampling interrupt, too.
 */
void *prof_port_alloc(size_t bytes);

/* Frees (memory), which prof_port_alloc() returned. Default: returns it to
 * config.pool. Contexts: as prof_port_alloc(). */
void prof_port_free(void *memory);

/*
 * Returns whether the interrupted code is using the heap, the console, or the
 * device of a transport. If the image has a prof_port_alloc() of its own, the
 * sampling interrupt needs this function to drain (config.tick_drains). No
 * default: without it the interrupt calls none of the functions below.
 *
 * An image that defines this function permits the sampling interrupt to call
 * prof_port_alloc(), prof_port_free() and the send() of transports that allow
 * it (<prof/transport.h>) while this function returns false: with interrupts
 * off, and with PROF_STACK_BYTES of stack. They MUST NOT change FPU or SSE
 * state then. Contexts: interrupt.
 */
bool prof_port_busy(void);

/*
 * Gives the built-in prof_port_alloc() the (bytes) bytes at (memory), which it
 * keeps. No effect if it has memory already, or if (memory) is NULL.
 * prof_init() does this with config.pool. Call it earlier for prof_option(),
 * which allocates for prof.target and prof.progress. Contexts: boot.
 */
void prof_pool_open(void *memory, size_t bytes);

/* Returns the next received byte of a command, or -1 if there is none. Default:
 * returns -1. Contexts: thread, called by prof_poll(). */
int prof_port_read(void);

#ifdef PROF_HOSTED
/*
 * For a profiler that runs in a process. The first blocks the signal that calls
 * prof_sample(), and returns whether it was unblocked before. The second
 * unblocks it if (on). Define both, unless no signal calls prof_sample(). MUST
 * NOT allocate memory. Contexts: any.
 */
bool prof_port_interrupts_off(void) __attribute__((weak));
void prof_port_interrupts_restore(bool on) __attribute__((weak));

/* Returns the time to be used instead of the CPU's time stamp counter, for
 * tests that control the time. Default: reads the TSC. Contexts: any. */
uint64_t prof_port_tsc(void) __attribute__((weak));
#endif

#ifdef __cplusplus
}
#endif

#endif
