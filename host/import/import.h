/* SPDX-License-Identifier: Apache-2.0 */
#ifndef IMPORT_IMPORT_H
#define IMPORT_IMPORT_H

/* Traces of other recorders. They are never trusted: what is cut or makes no
 * sense is left out, and the rest is read. What is made of them takes at most a
 * few times their size. */

#include <stddef.h>
#include <stdint.h>

enum import_format {
    IMPORT_NONE,    /* none of these */
    IMPORT_MIRAGE,  /* mirage-profile, in the Common Trace Format */
    IMPORT_FUCHSIA, /* eio-trace, in the Fuchsia trace format */
};

struct imported {
    uint8_t *bytes; /* packets (<prof/format.h>), to be freed */
    size_t count;
    uint64_t events; /* that were understood */
    uint64_t unread; /* bytes that were not */
};

/* Of whom the (count) bytes are, by their magic numbers. */
enum import_format import_format_of(const uint8_t *bytes, size_t count);

/* "mirage-profile" or "eio-trace". */
const char *import_name(enum import_format format);

/* Reads them; (format) is not IMPORT_NONE. */
void import_read(enum import_format format, const uint8_t *bytes, size_t count,
                 struct imported *result);

#endif
