/* SPDX-License-Identifier: Apache-2.0 */
#ifndef STORE_COLUMNS_H
#define STORE_COLUMNS_H

/* The tables' columns, of which both their definitions in SQL and the readers
 * of rows are made. */

#include "store/rows.h"

/* How a column is in RowBinary. */
enum store_type {
    STORE_DATE,  /* UInt16, days since 1970 */
    STORE_CLOCK, /* UInt32, Unix seconds */
    STORE_TEXT,  /* LEB128 of its bytes, then they */
    STORE_BUILD, /* FixedString(20) */
    STORE_BOOT,  /* FixedString(16) */
    STORE_INT8,  /* an Enum8 */
    STORE_U8,
    STORE_U16,
    STORE_U32,
    STORE_U64,
    STORE_U32_LIST, /* LEB128 of its elements, then they */
    STORE_TEXT_LIST
};

/* What a column is for those who read rows of any table. */
enum store_role {
    STORE_PLAIN,
    STORE_IS_BUCKET,
    STORE_IS_SERVICE,
    STORE_IS_BUILD,
    STORE_IS_GUEST,
    STORE_IS_SUM,
    STORE_IS_AMOUNT /* the sum that losses are counted in */
};

struct store_column {
    const char *name;
    enum store_type type;
    enum store_role role;
    const char *sql; /* type in the table's definition; NULL = that of (type) */
};

/* Ends with a column without a name. */
const struct store_column *store_columns(enum store_table table);

/* "UInt16"; an enum's is Int8. */
const char *store_type_name(enum store_type type);

/* Whether the table has a partition for each day. */
bool store_table_has_days(enum store_table table);

/* Where a value of a row is. */
struct store_part {
    const uint8_t *bytes; /* of the column's value, with its length */
    size_t count;
};

/* Finds the values of the row at (at), a part for each column; returns where
 * the next row begins, 0: there is no whole row. */
#define STORE_COLUMNS_MAX 16
size_t store_row_parts(enum store_table table, const uint8_t *bytes,
                       size_t count, size_t at,
                       struct store_part parts[STORE_COLUMNS_MAX]);

/* Appends such a row, of (count) bytes, as the functions of rows.h do. */
bool store_put_parts(struct store_rows *rows, const struct store_part *parts,
                     const uint8_t *bytes, size_t count);

#endif
