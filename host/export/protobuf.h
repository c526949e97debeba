/* SPDX-License-Identifier: Apache-2.0 */
#ifndef EXPORT_PROTOBUF_H
#define EXPORT_PROTOBUF_H

/* Writing the messages of pprof.proto and perfetto.proto, by protobuf-c. A file
 * is one message, whose fields may be written one after the other: so it may be
 * of any size. */

#include <protobuf-c/protobuf-c.h>
#include <stdio.h>

/* Writes (message); ferror(out) reports errors. */
void protobuf_write(const ProtobufCMessage *message, FILE *out);

/* A copy of (text), to be freed, in which what is not UTF-8 is replaced. */
char *protobuf_text(const char *text);

#endif
