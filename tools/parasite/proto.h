/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROTO_H
#define PROTO_H

/*
 * Protocol buffers, as far as our exports need them: varints and what has a
 * length. A message is put together in memory and then becomes a field of
 * another one, or is written; so a file of any size needs no more memory than
 * its largest message.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* A message in the making. Starts as zeros. */
struct message {
    uint8_t *bytes;
    size_t used;
};

/* A number alone, as packed fields hold them. */
void message_varint(struct message *message, uint64_t value);

/* Fields: a number, a text, and a whole message, which is empty again
 * afterwards and may be used for the next one. */
void message_number(struct message *message, int field, uint64_t value);
void message_text(struct message *message, int field, const char *text);
void message_put(struct message *message, int field, struct message *inner);

/* Writes (inner) as a field of the outermost message, the file. It is empty
 * again afterwards. What went wrong, ferror(out) says. */
void message_write(FILE *out, int field, struct message *inner);

void message_free(struct message *message);

#endif
