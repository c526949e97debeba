/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_CONTROL_H
#define PROF_CONTROL_H

/* The internal interface of this module; the public calls are in <prof/prof.h>.
 * Contexts: thread, unless stated otherwise. */

#include <prof/causal.h>
#include <prof/prof.h>
#include <prof/transport.h>

/* ---- control.c */

/* Emits what a new reader of the stream needs: HELLO, and START if sampling.
 * PROF_WITH_STREAM. Contexts: where prof_drain() may be called. */
void prof_hello(void);

/* Returns the configuration passed to prof_init(); all 0 before that. */
const struct prof_config *prof_control_config(void);

#ifdef PROF_HOSTED
/* Unit tests only: allows prof_init() to be called again. */
void prof_control_forget(void);
#endif

/* ---- trace.c */

/* Executes the command `trace on`: records in the mode prof.trace, or, if that
 * is off, as a stream. Opens the recorder if necessary. Returns 0 or a negative
 * enum prof_error. */
int prof_trace_command_on(void);

/* ---- causal.c */

/* The functions named by prof.target= and prof.progress=, in the order of
 * options. */
struct prof_causal_wanted {
    struct prof_causal_wanted *next;
    enum prof_causal_kind kind;
    bool added;
    char name[];
};
extern struct prof_causal_wanted *prof_causal_wanted;

/* The largest prof.causal_until=, in per cent; wider intervals are all stored
 * as one value. */
#define PROF_CAUSAL_UNTIL_MAX 19u

/* Starts experiments with the functions named, and, with prof.causal=auto, with
 * hot functions. PROF_WITH_CAUSAL. Returns 0 or PROF_ECAUSAL_... */
int prof_causal_begin(void);

/* Adds the target (name), like prof.target=. PROF_WITH_CAUSAL. Returns 0 or the
 * error. */
int prof_causal_want(const char *name);

/* ---- parts that an image can replace: PROF_WITH_BUILTIN */

/* Sets whether the interrupt drains (config.tick_drains). Returns false, after
 * printing a line, if it is requested and impossible. tick_drain.c Contexts:
 * boot. */
bool prof_tick_drain_open(enum prof_tick_drains how);

/* Called when sampling starts, or the number of callers has changed: by
 * default, determines whether the interrupt drains from now on. The first call
 * allocates. tick_drain.c */
void prof_tick_drain_begin(void);

/* Initialises prof_poll(), for a TSC of (tsc_hz). poll.c Contexts: boot. */
void prof_poll_open(uint64_t tsc_hz);

/* Calls prof_transport_choose() if the image has not. transport.c */
void prof_transport_default(void);

/* Returns the transport of the stream, or NULL. transport.c Contexts: any. */
const struct prof_transport *prof_transport_in_use(void);

#endif
