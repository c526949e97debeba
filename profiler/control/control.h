/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_CONTROL_H
#define PROF_CONTROL_H

/* What the files of this room share; the public calls are in <prof/prof.h>.
 * Contexts: thread, where nothing else is said. */

#include <prof/causal.h>
#include <prof/prof.h>
#include <prof/transport.h>

/* ---- control.c */

/* Emits HELLO, and START if sampling: what a new reader of the stream needs.
 * Where prof_drain() may be called. PROF_WITH_STREAM. */
void prof_hello(void);

/* The configuration passed to prof_init(); all 0 before that. */
const struct prof_config *prof_control_config(void);

#ifdef PROF_HOSTED
/* Unit tests only: allows prof_init() to be called again. */
void prof_control_forget(void);
#endif

/* ---- trace.c */

/* The command `trace on`: records in the mode prof.trace, or if that is off as
 * a stream. Opens the recorder if need be. Returns 0 or a negative enum
 * prof_error. */
int prof_trace_command_on(void);

/* ---- causal.c */

/* What prof.target= and prof.progress= have named, in that order. */
struct prof_causal_wanted {
    struct prof_causal_wanted *next;
    enum prof_causal_kind kind;
    bool added;
    char name[];
};
extern struct prof_causal_wanted *prof_causal_wanted;

/* The largest prof.causal_until=, in per cent: the widths of wider intervals
 * are kept as one value. */
#define PROF_CAUSAL_UNTIL_MAX 19u

/* Begins experiments with what was named, and with prof.causal=auto with what
 * is hot. Returns 0 or PROF_ECAUSAL_... PROF_WITH_CAUSAL. */
int prof_causal_begin(void);

/* Adds the target (name), as prof.target= does. Returns 0 or the error.
 * PROF_WITH_CAUSAL. */
int prof_causal_want(const char *name);

/* ---- what the profiler does unless the image does: PROF_WITH_BUILTIN */

/* Whether the interrupt drains where nobody else does. False: it was asked for
 * and cannot, as a line says. tick_drain.c Contexts: boot. */
bool prof_tick_drain_open(enum prof_tick_drains how);

/* Sampling begins, or the number of callers has changed: where that is the
 * default the interrupt drains from now on, or does not. Allocates, the first
 * time. tick_drain.c */
void prof_tick_drain_begin(void);

/* prof_poll() begins: its pauses are those of a clock of (tsc_hz). poll.c
 * Contexts: boot. */
void prof_poll_open(uint64_t tsc_hz);

/* Chooses a transport as prof_transport_choose() does if the image never has.
 * transport.c */
void prof_transport_default(void);

/* The transport of the stream, or NULL. transport.c Contexts: any. */
const struct prof_transport *prof_transport_in_use(void);

#endif
