/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CODE_H
#define CODE_H

#include <stdint.h>

/*
 * Each takes about four instructions a round. The first two have interrupts off
 * for nine in ten of them, and turn them on by sti and by popf; then comes a
 * function without any such thing.
 */
void dark_sti(uint32_t rounds);
void dark_popf(uint32_t rounds);
void bright(uint32_t rounds);

/* One in ten instructions leaves the guest: in, with a jump after it. The
 * bytes of that instruction, and of sti, also stand in others, as numbers. */
void port_access(uint32_t rounds);
void looks_like_it(uint32_t rounds);

/* The same by a function that returns right after it. */
void port_call(uint32_t rounds);

/* All of it is the hypervisor's, as the command line says. */
void kick(uint32_t rounds);

#endif
