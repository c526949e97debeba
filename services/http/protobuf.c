/* SPDX-License-Identifier: Apache-2.0 */

#include "protobuf.h"

#include <string.h>

enum { VARINT = 0, FIXED64 = 1, LENGTH = 2 };

static void put_varint(struct http_text *out, uint64_t value)
{
    char bytes[10];
    size_t count = 0;

    do {
        bytes[count++] = (char)((value & 0x7f) | (value > 0x7f ? 0x80 : 0));
        value >>= 7;
    } while (value != 0);
    http_text_add(out, bytes, count);
}

static void tag(struct http_text *out, unsigned field, unsigned type)
{
    put_varint(out, field << 3 | type);
}

void protobuf_uint(struct http_text *out, unsigned field, uint64_t value)
{
    tag(out, field, VARINT);
    put_varint(out, value);
}

static uint64_t zigzag(int64_t value)
{
    return (uint64_t)value << 1 ^ (uint64_t)(value >> 63);
}

void protobuf_sint(struct http_text *out, unsigned field, int64_t value)
{
    protobuf_uint(out, field, zigzag(value));
}

void protobuf_double(struct http_text *out, unsigned field, double value)
{
    char bytes[8];

    memcpy(bytes, &value, sizeof bytes); /* little-endian, as this machine */
    tag(out, field, FIXED64);
    http_text_add(out, bytes, sizeof bytes);
}

void protobuf_bytes(struct http_text *out, unsigned field, const char *bytes,
                    size_t count)
{
    tag(out, field, LENGTH);
    put_varint(out, count);
    http_text_add(out, bytes, count);
}

void protobuf_string(struct http_text *out, unsigned field, const char *text)
{
    protobuf_bytes(out, field, text, strlen(text));
}

void protobuf_message(struct http_text *out, unsigned field,
                      struct http_text *inner)
{
    protobuf_bytes(out, field, inner->bytes, inner->count);
    out->failed = out->failed || inner->failed;
    http_text_free(inner);
}

void protobuf_delimited(struct http_text *out, struct http_text *inner)
{
    put_varint(out, inner->count);
    http_text_add(out, inner->bytes, inner->count);
    out->failed = out->failed || inner->failed;
    http_text_free(inner);
}
