/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_IDT_GATE_H
#define PROF_IDT_GATE_H

/* Hooks the gate of the timer's interrupt (IDT; Intel SDM vol. 3A, 6.10 and
 * 6.14): the gate points to the stub, which chains to the previous handler; or
 * a handler that was installed later chains to the stub. Only the address in
 * the gate changes. */

#include "sample/cpus.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Installs (stub) in the gate of (vector), unless it is called already, and
 * stores the previous handler, to which it chains, in the word at offset (next)
 * of the CPU's struct prof_cpu. Returns false, without effect, if the table has
 * no such gate, or if it is not a present interrupt gate: a trap gate would
 * allow a second tick to interrupt the sampler. Contexts: thread, interrupts
 * off.
 */
bool prof_gate_enter(uint8_t vector, void (*stub)(void), size_t next);

/* Removes the stub, if the gate points to it; it cannot be removed from the
 * chain of another handler. Contexts: as prof_gate_enter(). */
void prof_gate_leave(void);

#if PROF_CPUS_MAX > 1
/* Records the IDT of the current CPU, which joins. Contexts: interrupts off. */
void prof_gate_note(struct prof_cpu_link *link);

/* Like prof_gate_enter() and prof_gate_leave(), in the IDT of (cpu), if a gate
 * is taken and that table is not the first CPU's. Returns false if a gate is
 * taken, and this table has none that can be. Contexts: the first CPU, thread.
 */
bool prof_gate_join(struct prof_cpu *cpu);
void prof_gate_quit(struct prof_cpu *cpu);
#endif

/* While a gate is taken: checks whether the stub is still called. If not, takes
 * the gate again, and prints a line once. (period): cycles between two samples.
 * Contexts: the drain. */
void prof_gate_check(uint64_t period);

#endif
