/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_CONTROL_H
#define PROF_CONTROL_H

/* The stub that the timer's gate points at: <width>/parasite.asm. */
void prof_parasite(void);

/*
 * Measures the period anew from the next sample on, at the divisor in force,
 * and keeps what was counted as missed. Contexts: thread, vector drained.
 */
void prof_control_restart_time(void);

/* Somebody new listens to the stream: it is told what it must know. Contexts:
 * thread, where prof_drain() may be called. */
void prof_hello(void);

#endif
