/* SPDX-License-Identifier: Apache-2.0 */
#ifndef STORE_PRUNE_H
#define STORE_PRUNE_H

/* Drops days that are old, of all tables that have days: those of stacks and
 * guests stay, as what is kept needs them. */

#include "store/address.h"
#include "store/client.h"
#include "store/http.h"

/* Has one server drop its days of before (first), a day since 1970; for each
 * day that it has dropped (took) is called, if not NULL. Nothing is done twice
 * if it is called again. False: (reply) says why. */
bool prune_server(struct store_http *http, const struct store_address *address,
                  unsigned shard, uint32_t first, store_pruned_fn *took,
                  void *owner, struct store_reply *reply);

/* The first day that has something of the last (seconds). */
uint32_t prune_first_day(double seconds);

#endif
