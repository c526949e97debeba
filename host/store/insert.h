/* SPDX-License-Identifier: Apache-2.0 */
#ifndef STORE_INSERT_H
#define STORE_INSERT_H

/* The statement before the data of an insert. */

#include <stdbool.h>
#include <stddef.h>

/* Parts of the statement, not copied. */
struct insert {
    const char *table; /* "samples", "parasite.samples", "`a b`" */
    size_t table_bytes;
    const char *columns; /* between their brackets; 0 bytes = all */
    size_t columns_bytes;
    const char *format; /* "RowBinary" */
    size_t format_bytes;
};

/* Whether (sql) is INSERT INTO [TABLE] name [(columns)] FORMAT name and nothing
 * else, with a format other than Values. */
bool insert_parse(const char *sql, struct insert *insert);

#endif
