/* SPDX-License-Identifier: Apache-2.0 */
#ifndef STORE_ADDRESS_H
#define STORE_ADDRESS_H

/* Where a store is: see client.h for its text. */

#include <stdbool.h>
#include <stddef.h>

struct store_address {
    char *folder; /* of an embedded store; NULL = servers */
    char **hosts; /* "host:port", (count) of them; an embedded one has 1 */
    unsigned count;
    char *user, *password; /* NULL = none */
    char *database;
    char *cluster; /* NULL = there is one server only */
    char *name;    /* of it in messages, without the password */
};

/* Parses (text); false, and a line in (why) of (room) bytes: it is none. To be
 * freed in either case. */
bool store_address_parse(struct store_address *address, const char *text,
                         char *why, size_t room);
void store_address_free(struct store_address *address);

#endif
