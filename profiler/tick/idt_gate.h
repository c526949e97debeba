/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_IDT_GATE_H
#define PROF_IDT_GATE_H

/*
 * The parasite's place in the interrupt descriptor table (Intel SDM vol. 3A,
 * 6.10 and 6.14). Only the handler's address in the gate changes; selector,
 * type, privilege and interrupt stack stay as the kernel chose them.
 */

#include <stdbool.h>
#include <stdint.h>

/*
 * Puts (stub) into the gate of (vector) and returns the handler that was
 * there in (*next). False, and nothing changed, where the table has no such
 * gate, or it is not a present interrupt gate: a trap gate would let a second
 * tick into the sampler. Contexts: thread, interrupts off.
 */
bool prof_gate_take(uint8_t vector, uintptr_t stub, uintptr_t *next);

/* Handler in the gate of (vector), 0 where there is none. Contexts: thread. */
uintptr_t prof_gate_handler(uint8_t vector);

/* Puts (handler) back. Contexts: thread, interrupts off. */
void prof_gate_return(uint8_t vector, uintptr_t handler);

#endif
