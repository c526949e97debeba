/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_POLL_H
#define PROF_POLL_H

/*
 * Periodic work in one call, for kernels without timer callbacks and for the
 * shortest integration. PROF_WITH_BUILTIN (<prof/config.h>).
 *
 *     for (;;) {
 *         prof_poll();
 *         run_what_is_ready();
 *         wait_for_interrupt();
 *     }
 */

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Does what is due: drains every prof_drain_ms(), begins the causal experiments
 * that prof.causal requests, prints a report every prof.every ms, at most
 * prof.reports times, and executes commands. It reads commands from the
 * transport in use or, if that has no input, with prof_port_read(). Usually
 * nothing is due, and the call takes a dozen instructions. No effect before
 * prof_init(), or inside another call of the profiler.
 *
 * Contexts: thread; also interrupts in which prof_port_alloc() and
 * prof_port_write() may be called. Needs PROF_STACK_BYTES of stack
 * (<prof/port.h>), plus what these functions need.
 */
void prof_poll(void);

#ifdef __cplusplus
}
#endif

#endif
