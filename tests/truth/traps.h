/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRAPS_H
#define TRAPS_H

/*
 * Interrupts that are not the sampler's: a network device's, for instance. What
 * they execute is code like any other, below the calls that they interrupt.
 * They may come between a return and where it leads, or between a tick and what
 * it has interrupted; so what is still to be said there waits for their end.
 */

#include <stdbool.h>
#include <stdint.h>

/* Where they begin: addresses in hexadecimal with "+" between them. Whether
 * (text) is that. */
bool traps_read(const char *text);

bool traps_begin_at(uint64_t address);

/* One begins: takes over what is pending. */
void traps_enter(bool *after_return, unsigned *after_tick);

/* An iret is about to be executed that is not the sampler's. */
void traps_leave(void);

/* Another block begins: gives back what was pending if one has ended. */
void traps_end_returned(bool *after_return, unsigned *after_tick);

#endif
