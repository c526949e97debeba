/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KERNEL_PROF_PORT_H
#define KERNEL_PROF_PORT_H

#include <prof/tick.h>
#include <stddef.h>

/*
 * Opens the symbol table in the image or, where nothing was embedded, that of
 * the loader, and prints that it is this one; or prints why there are no names.
 * Call early, so that a panic has names. Contexts: boot, console ready.
 */
void prof_port_names(void);

/*
 * Initializes the profiler, starts it unless the command line says otherwise,
 * and arms the timers of its drain and its report. Contexts: boot, once, with
 * heap, clock and options ready.
 */
void prof_port_init(void);

/* What samples: the machine's timer. Contexts: boot, options set. */
struct prof_tick prof_port_tick(void);

/* Number of blocks that the profiler has allocated, and their (bytes). */
size_t prof_port_held(size_t *bytes);

/*
 * Prints a last report if the profiler is running, stops it and flushes the
 * stream; (code) is the image's exit code. May be called again.
 */
void prof_port_end(int code);

/* In a panic: flushes the stream with exit code (code), after all other output.
 * Contexts: any, interrupts off. */
void prof_port_panic(int code);

#endif
