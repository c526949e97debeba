/* SPDX-License-Identifier: Apache-2.0 */
#ifndef STORE_ANSWER_H
#define STORE_ANSWER_H

/* Reads TabSeparatedWithNamesAndTypes, as it comes, into a struct
 * store_answer. */

#include "store/client.h"

struct answer_reader {
    struct store_answer *answer; /* starts as zeros */
    char *field;                 /* the value that is being read */
    size_t field_bytes, field_room;
    bool escaped;    /* the last byte was a backslash */
    bool is_null;    /* it is \N */
    unsigned lines;  /* 0: names, 1: types */
    unsigned column; /* in the line */
    size_t values;   /* in use */
    bool bad;        /* a row has more or fewer values than there are names */
};

/* For store_query(): (owner) is the reader. */
bool answer_take(void *owner, const void *bytes, size_t count);

/* Call it at the end, of a failure too; false: it was no such text. */
bool answer_end(struct answer_reader *reader);

#endif
