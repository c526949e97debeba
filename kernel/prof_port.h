/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KERNEL_PROF_PORT_H
#define KERNEL_PROF_PORT_H

#include <stddef.h>

/*
 * Finds the names that the image carries, or says in one line why there are
 * none. Early, so that a panic has them. Contexts: boot, console ready.
 */
void prof_port_names(void);

/*
 * Gives the profiler its memory and the facts, starts it unless the command
 * line says otherwise, and arms the timers of its drain and its report.
 * Contexts: boot, once, with heap, clock and options ready.
 */
void prof_port_init(void);

/* Pieces of the heap that the profiler holds, and their bytes. */
size_t prof_port_held(size_t *bytes);

/*
 * Prints a last report where the profiler runs, stops it, and sends what is
 * left of the stream; (code) is the image's exit code. May be repeated.
 */
void prof_port_end(int code);

/* In a panic: sends what is left of the stream, with exit code (code), once
 * all else is said. Contexts: interrupts off, otherwise any. */
void prof_port_panic(int code);

#endif
