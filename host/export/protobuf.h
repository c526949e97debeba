/* SPDX-License-Identifier: Apache-2.0 */
#ifndef EXPORT_PROTOBUF_H
#define EXPORT_PROTOBUF_H

/*
 * An encoder for protocol buffers, as far as our exports need it: varints,
 * fixed64 and length-delimited fields. A message is built in memory and then
 * becomes a field of another one, or is written; so a file of any size needs no
 * more memory than its largest message.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* A message being built. Starts as zeros. */
struct message {
    uint8_t *bytes;
    size_t used;
};

/* A bare number, as in packed fields. */
void message_varint(struct message *message, uint64_t value);

/* Fields: a number, one of eight bytes, a text, in which what is not UTF-8 is
 * replaced, and a whole message, which is empty afterwards and may be
 * reused. */
void message_number(struct message *message, int field, uint64_t value);
void message_fixed(struct message *message, int field, uint64_t value);
void message_text(struct message *message, int field, const char *text);
void message_put(struct message *message, int field, struct message *inner);

/* Writes (inner) as a field of the outermost message, the file, and empties it.
 * ferror(out) reports errors. */
void message_write(FILE *out, int field, struct message *inner);

void message_free(struct message *message);

#endif
