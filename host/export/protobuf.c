/* SPDX-License-Identifier: Apache-2.0 */
/* An encoder for protocol buffers. */

#include "export/protobuf.h"

#include "base/memory.h"
#include "base/utf8.h"

#include <stdlib.h>
#include <string.h>

enum wire { WIRE_VARINT = 0, WIRE_FIXED = 1, WIRE_LENGTH = 2 };

static uint64_t tag(int field, enum wire wire)
{
    return (uint64_t)field << 3 | wire;
}

static void put_byte(struct message *message, uint8_t byte)
{
    vector_reserve_one(&message->bytes, message->used, 1);
    message->bytes[message->used++] = byte;
}

void message_varint(struct message *message, uint64_t value)
{
    for (; value >= 128; value >>= 7)
        put_byte(message, (uint8_t)(value | 128));
    put_byte(message, (uint8_t)value);
}

void message_number(struct message *message, int field, uint64_t value)
{
    message_varint(message, tag(field, WIRE_VARINT));
    message_varint(message, value);
}

void message_fixed(struct message *message, int field, uint64_t value)
{
    message_varint(message, tag(field, WIRE_FIXED));
    for (int i = 0; i < 8; ++i)
        put_byte(message, (uint8_t)(value >> (8 * i)));
}

static void put_bytes(struct message *message, int field, const void *bytes,
                      size_t count)
{
    message_varint(message, tag(field, WIRE_LENGTH));
    message_varint(message, count);
    for (size_t i = 0; i < count; ++i)
        put_byte(message, ((const uint8_t *)bytes)[i]);
}

void message_text(struct message *message, int field, const char *text)
{
    char *mended = utf8_mended(text);

    if (mended != NULL)
        text = mended;
    put_bytes(message, field, text, strlen(text));
    free(mended);
}

void message_put(struct message *message, int field, struct message *inner)
{
    put_bytes(message, field, inner->bytes, inner->used);
    inner->used = 0;
}

/* A field's head is a message of two numbers. */
void message_write(FILE *out, int field, struct message *inner)
{
    struct message head = {0};

    message_varint(&head, tag(field, WIRE_LENGTH));
    message_varint(&head, inner->used);
    fwrite(head.bytes, head.used, 1, out);
    fwrite(inner->bytes, 1, inner->used, out);
    message_free(&head);
    inner->used = 0;
}

void message_free(struct message *message)
{
    free(message->bytes);
    *message = (struct message){0};
}
