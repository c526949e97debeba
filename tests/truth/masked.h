/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MASKED_H
#define MASKED_H

/*
 * Instructions executed with interrupts off, outside interrupts.
 */

#include "events.h"

/* A block begins. */
void masked_block(const struct block *block);

/* Interrupts are turned off in the block that began last, and on by (opens). */
void masked_begin(void);
void masked_end(struct function *opens);

#endif
