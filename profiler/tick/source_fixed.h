/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_SOURCE_FIXED_H
#define PROF_SOURCE_FIXED_H

/* The sources `hook` and `gate`, beyond what every source does (source.h). */

#include <prof/prof.h>
#include <stdbool.h>

/* Prepare them; false where they cannot work. Contexts: boot. */
bool prof_source_hook_open(const struct prof_config *config);
bool prof_source_gate_open(const struct prof_config *config);

/* The vector of the gate while it is taken, 0 otherwise. Contexts: thread. */
uint8_t prof_source_gate_vector(void);

#endif
