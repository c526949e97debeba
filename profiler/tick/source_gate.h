/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_SOURCE_GATE_H
#define PROF_SOURCE_GATE_H

/* The source `gate`: the gate of a timer that is not programmed. */

#include <prof/prof.h>
#include <stdbool.h>

/* Prepares it; false where it cannot work. Contexts: boot. */
bool prof_source_gate_open(const struct prof_config *config);

/* The vector of the gate while it is taken, 0 otherwise. Contexts: thread. */
uint8_t prof_source_gate_vector(void);

#endif
