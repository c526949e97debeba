/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_IDT_GATE_H
#define PROF_IDT_GATE_H

/* Our place among the handlers of the timer's interrupt: the stub stands in the
 * gate of the interrupt descriptor table (Intel SDM vol. 3A, 6.10 and 6.14) and
 * goes on to the handler that was there; or another handler stands in the gate
 * and goes on to the stub. Only the handler's address in the gate changes. */

#include "sample/cpus.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Puts (stub) into the gate of (vector), unless it is called already, and the
 * handler that was there, to which it goes on, to the word at (next) in the
 * CPU's struct prof_cpu. False, and nothing changed, where the table has no
 * such gate, or it is not a present interrupt gate: a trap gate would let a
 * second tick into the sampler. Contexts: thread, interrupts off.
 */
bool prof_gate_enter(uint8_t vector, void (*stub)(void), size_t next);

/* Takes the stub out again, where it stands in the gate; from another handler
 * it cannot be taken away. Contexts: as above. */
void prof_gate_leave(void);

#if PROF_CPUS_MAX > 1
/* The IDT of the current CPU, which joins. Contexts: interrupts off. */
void prof_gate_note(struct prof_cpu_link *link);

/* The same as above in the IDT of (cpu), if a gate is taken and that table is
 * not the first CPU's. False: a gate is taken, and this table has none that can
 * be. Contexts: the first CPU, thread. */
bool prof_gate_join(struct prof_cpu *cpu);
void prof_gate_quit(struct prof_cpu *cpu);
#endif

/* While a gate is taken: checks whether the stub is still called, and if not
 * takes the gate back, as one line says. (period): cycles between two samples.
 * Contexts: the drain. */
void prof_gate_check(uint64_t period);

#endif
