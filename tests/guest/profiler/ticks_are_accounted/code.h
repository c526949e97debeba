/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CODE_H
#define CODE_H

#include <stdint.h>

/* Interrupts are off for nine in ten of its 400 (rounds) instructions. */
void dark(uint32_t rounds);

/* Goes on after its own end, (rounds) times two instructions: in no function
 * of the table. */
void nameless(uint32_t rounds);

/* 4,000 addresses that are all met as often, (rounds) times. */
void wide(uint32_t rounds);

#endif
