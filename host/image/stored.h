/* SPDX-License-Identifier: Apache-2.0 */
#ifndef IMAGE_STORED_H
#define IMAGE_STORED_H

/*
 * The symbols of images as a trace keeps them, in its file TRACE_SYMBOLS, so
 * that it can be read when the images have changed or are elsewhere: build-ids,
 * functions, and the table of source lines unless it is large. No code.
 *
 *     8 bytes   "PRFSYMS" and a NUL
 *     4         version, STORED_VERSION
 *     4         CRC-32C of the payload
 *     8         bytes of the payload
 *     the rest  the payload, as zlib compresses it (RFC 1950)
 *
 * Numbers in the head are little-endian. The payload is a sequence of varints:
 * seven bits a byte, the lowest first, the top bit set in all but the last
 * byte; signed ones are zigzag-encoded. A text is the number of bytes that it
 * shares with the text before it, of how many follow, and these. In this order:
 *
 *     images    and for each:
 *       path as a text; 1 if it is a list of symbols, else 0
 *       bytes of its build-id, and these
 *       begin, end and moved of struct image
 *       functions, and for each: start minus that of the one before, size, name
 *       sources, and for each its path
 *       lines, and for each: address minus that of the one before, source and
 *       line minus (signed) those of the one before
 *
 * Addresses are those as linked.
 */

#include "image/image.h"

#define STORED_VERSION 1u
#define STORED_PAYLOAD_MAX (64u << 20) /* bytes, uncompressed */
#define STORED_LINES_MAX (4u << 20)    /* of these, of an image's lines */
#define STORED_TEXTS_MAX (128u << 20)  /* bytes of all texts */
#define STORED_FUNCTIONS_MAX (1u << 20)

/* The symbols of (image) as a file, to be freed; NULL: they are too many. */
uint8_t *stored_make(const struct image *image, size_t *bytes);

/* Reads that into (image); false, and empty: another version, or damaged. */
bool stored_read(struct image *image, const uint8_t *bytes, size_t count);

/* The same of a payload alone. */
uint8_t *stored_payload(const struct image *image, size_t *bytes);
bool stored_read_payload(struct image *image, const uint8_t *bytes,
                         size_t count);

#endif
