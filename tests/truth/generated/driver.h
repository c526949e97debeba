/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DRIVER_H
#define DRIVER_H

/* What a generated program gives (program.py writes it, in assembly). */

#include <stdint.h>

/* How many rounds there are, and what their lengths' generator starts with. */
extern const uint32_t generated_rounds, generated_seed;

/* A round has from (least) to (least + mask) units of work, at least 1. */
extern const uint32_t generated_units_least, generated_units_mask;

/* One round. What it executes is in the program's claim. */
void generated_round(uint32_t units);

#endif
