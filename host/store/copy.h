/* SPDX-License-Identifier: Apache-2.0 */
#ifndef STORE_COPY_H
#define STORE_COPY_H

#include <stdbool.h>

/* Adds the rows of the store at (from) to the one at (to), addresses as for
 * store_open(). Each table and day is sent once, and refused if (to) has any of
 * it. Prints what it has copied, with (json) as an object at the end; returns
 * the exit status. */
int copy_store(const char *from, const char *to, bool json);

#endif
