/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HTTP_PROTOBUF_H
#define HTTP_PROTOBUF_H

/*
 * Fields of protocol buffers (protobuf.dev/programming-guides/encoding). A
 * message within another is written to a text of its own first, whose length
 * is known then.
 */

#include <kernel/http_text.h>

#include <stdint.h>

/* Fields, by their wire types: uint64, sint64, double, string or message. */
void protobuf_uint(struct http_text *out, unsigned field, uint64_t value);
void protobuf_sint(struct http_text *out, unsigned field, int64_t value);
void protobuf_double(struct http_text *out, unsigned field, double value);
void protobuf_bytes(struct http_text *out, unsigned field, const char *bytes,
                    size_t count);
void protobuf_string(struct http_text *out, unsigned field, const char *text);

/* (inner) as a field, or after its length alone; it is freed, and is empty. */
void protobuf_message(struct http_text *out, unsigned field,
                      struct http_text *inner);
void protobuf_delimited(struct http_text *out, struct http_text *inner);

#endif
