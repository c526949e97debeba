/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_POLL_H
#define PROF_POLL_H

/*
 * For kernels without timer callbacks, or that want to do little: one call does
 * all that is due. PROF_WITH_BUILTIN (<prof/config.h>).
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
 * Drains when prof_drain_ms() have passed, begins the experiments that
 * prof.causal asks for, prints the tables every prof.every ms, at most
 * prof.reports times, and executes commands, which it reads from the transport
 * in use or, if that has no input, with prof_port_read(). Usually nothing is
 * due, and the call takes a dozen instructions. It does nothing before
 * prof_init() and inside another call of the profiler.
 *
 * Contexts: thread; also interrupts in which prof_port_alloc() and
 * prof_port_write() may be called. Needs PROF_STACK_BYTES of stack
 * (<prof/port.h>) besides what these need.
 */
void prof_poll(void);

#ifdef __cplusplus
}
#endif

#endif
