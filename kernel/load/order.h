/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KERNEL_LOAD_ORDER_H
#define KERNEL_LOAD_ORDER_H

/* Clients, by when they do something next. The first is known at once; setting
 * the time of one takes as long as the logarithm of their number. */

#include <stdbool.h>
#include <stdint.h>

/* There are (count) clients, at most LOAD_CLIENTS_MAX, with nothing to do. */
void load_order_begin(uint32_t count);

/* Client (number) does something at (at). UINT64_MAX: it has nothing to do. */
void load_order_set(uint32_t number, uint64_t at);

/* Returns when the first does something, and stores its number in (*number).
 * Of several at that time, it is the one with the least number. Returns
 * UINT64_MAX if none has anything to do. */
uint64_t load_order_first(uint32_t *number);

/* Stores in (*number) which client has nothing to do. False: all have. */
bool load_order_idle(uint32_t *number);

#endif
