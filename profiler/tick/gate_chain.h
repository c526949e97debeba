/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_GATE_CHAIN_H
#define PROF_GATE_CHAIN_H

/*
 * Our place among the handlers of the timer's interrupt: the stub stands in the
 * gate (idt_gate.h) and goes on to the handler that was there; or another handler
 * stands in the gate and goes on to the stub.
 */

#include <stdbool.h>
#include <stdint.h>

/* Puts the stub into the gate of (vector), unless it is called already. False:
 * there is no such gate. Contexts: thread, interrupts off. */
bool prof_gate_chain_enter(uint8_t vector);

/* Takes the stub out again, where it stands in the gate; from another handler
 * it cannot be taken away. Contexts: as above. */
void prof_gate_chain_leave(uint8_t vector);

/* Checks whether the stub is still called, and if not takes the gate back, as
 * one line says. (period): cycles between two samples. Contexts: the drain. */
void prof_gate_chain_check(uint8_t vector, uint64_t period);

#endif
