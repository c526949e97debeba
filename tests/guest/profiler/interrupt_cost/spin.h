/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SPIN_H
#define SPIN_H

#include <stdint.h>

/*
 * Executes 2 * (rounds) instructions in a loop, the stack below painted.
 * Returns how many bytes of that somebody has used meanwhile; SPIN_PAINT means
 * that it may have been more. Written in spin.asm, so that no compiler changes
 * what there is to be counted.
 */
uint32_t spin(uint32_t rounds);
#define SPIN_PAINT 1024u

#endif
