/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_PORT_H
#define PROF_PORT_H

/*
 * What the image around the profiler provides.
 *
 * The profiler is one relocatable object that uses no C library. The image MUST
 * define current_eoi_mechanism and prof_port_write(), and nothing else; each
 * build checks the undefined symbols against profiler/port.symbols. The
 * compiler may also call memcpy, memmove, memset and memcmp, as in any
 * freestanding program. The other functions are built in unless the image
 * defines them. References to them are weak, so one that is in an archive is
 * not found: link its object.
 *
 * Level 1, enough to sample and to count the samples:
 *   current_eoi_mechanism, prof_port_write
 * Level 2, enough to print a table:
 *   memory: config.pool (<prof/prof.h>), or a prof_port_alloc of your own
 * Level 3, a stream to the host and commands from it:
 *   "serial" is built in and writes to prof_port_write(); prof_port_read for
 *   commands; other transports: <prof/transport.h>
 *
 * Error policy: none of these may panic. After a failed allocation samples stay
 * in the vector, count as queued, and are drained later.
 */

#include <prof/config.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The stack that prof_drain(), prof_report() and what calls them need, without
 * that of the functions below. */
#define PROF_STACK_BYTES 4096u

/* The largest block, see prof_port_alloc(); and a size for config.pool, without
 * the recorder of tasks, the statistics of the loop and the like. */
#define PROF_BLOCK_BYTES (80u * 1024u)
#define PROF_POOL_DEFAULT (256u * 1024u)

/*
 * Acknowledges the interrupt in service to the interrupt controller. A pointer,
 * so that a kernel that switches from the PIC to an APIC changes it in one
 * place. MAY be NULL with PROF_TICK_HOOK and PROF_TICK_GATE, where each tick is
 * the kernel's.
 *
 * Contexts: interrupt, with interrupts off; only for the profiler's additional
 * ticks. MUST NOT touch FPU or SSE state.
 */
extern void (*current_eoi_mechanism)(void);

/* Writes (bytes) bytes of (text) to the console. Contexts: thread, panic. MUST
 * NOT allocate or keep (text). Errors of the device are not reported. */
void prof_port_write(const char *text, size_t bytes);

/*
 * Returns (bytes) bytes aligned for any scalar, or NULL. By default: memory of
 * config.pool (prof_pool_open()).
 *
 * Contexts: thread; with prof_port_busy(), the interrupt, too. Called by
 * prof_drain() and what drains, by prof_transport_choose(), and by the start of
 * the recorder, of the statistics of the event loop, and of experiments.
 *
 * The largest block that the drain asks for is PROF_BLOCK_BYTES, while there
 * are less than 8,192 different stacks; beyond that, blocks of their number
 * rounded up to a power of two, times 16. PROF_POOL_DEFAULT is enough for some
 * 1,500 stacks.
 */
void *prof_port_alloc(size_t bytes);

/* Frees what prof_port_alloc() returned. Contexts: as there. By default: to
 * config.pool. */
void prof_port_free(void *memory);

/*
 * Whether whoever was interrupted uses the heap, the console, or a device of a
 * transport: the interrupt must know to drain in a program that does not yield
 * (config.tick_drains), where prof_port_alloc() is the image's own. By default:
 * it calls none of these.
 *
 * Contexts: interrupt. An image that has this function allows for
 * prof_port_alloc(), prof_port_free() and sending (<prof/transport.h>) to be
 * called there while it returns false: with interrupts off, on a stack where
 * they have PROF_STACK_BYTES. They MUST NOT change FPU or SSE state then.
 */
bool prof_port_busy(void);

/*
 * Gives the built-in prof_port_alloc() (bytes) at (memory), for good, unless it
 * has memory already; NULL: nothing. prof_init() does so with config.pool;
 * earlier is for prof_option(), which allocates for prof.target and
 * prof.progress. Contexts: boot.
 */
void prof_pool_open(void *memory, size_t bytes);

/* Returns a received byte, or -1 if there is none: a command. Contexts: thread,
 * called by prof_poll(). By default: -1. */
int prof_port_read(void);

#ifdef PROF_HOSTED
/*
 * For a profiler that runs in a process: holds back the signal that calls
 * prof_sample(), and returns whether it was not held back before; and lets it
 * through again if (on). Where neither is defined, nothing samples by itself.
 * Contexts: any. MUST NOT allocate.
 */
bool prof_port_interrupts_off(void) __attribute__((weak));
void prof_port_interrupts_restore(bool on) __attribute__((weak));

/* Read instead of the CPU's time stamp counter: for tests that choose the time.
 * Where it is not defined, the CPU's is read. Contexts: any. */
uint64_t prof_port_tsc(void) __attribute__((weak));
#endif

#ifdef __cplusplus
}
#endif

#endif
