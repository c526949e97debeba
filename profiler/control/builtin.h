/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CONTROL_BUILTIN_H
#define CONTROL_BUILTIN_H

/* What the profiler does itself unless the image does: PROF_WITH_BUILTIN. */

#include <prof/prof.h>
#include <prof/transport.h>
#include <stdbool.h>
#include <stddef.h>

/* Packets as lines of text to prof_port_write(). serial.c */
extern const struct prof_transport prof_serial_transport;

/* Whether the interrupt drains where nobody else does. False: it was asked for
 * and cannot, as a line says. tick_drain.c Contexts: boot. */
bool prof_tick_drain_open(enum prof_tick_drains how);

/* Sampling begins, or the number of callers has changed: where that is the
 * default the interrupt drains from now on, or does not. Allocates, the first
 * time. tick_drain.c Contexts: thread. */
void prof_tick_drain_begin(void);

/* prof_poll() begins: its pauses are those of a clock of (tsc_hz). poll.c
 * Contexts: boot. */
void prof_poll_open(uint64_t tsc_hz);

/* Chooses a transport as prof_transport_choose() does if the image never has.
 * transport.c Contexts: thread. */
void prof_transport_default(void);

/* The transport of the stream, or NULL. transport.c Contexts: any. */
const struct prof_transport *prof_transport_in_use(void);

#endif
