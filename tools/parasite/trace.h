/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRACE_H
#define TRACE_H

/*
 * A trace on disk: a folder with the files
 *
 *     metadata   says what the stream's bytes mean (metadata.h)
 *     stream     the packets, one after the other, in order
 *
 * which is a trace of the Common Trace Format as it stands.
 */

#include "model.h"
#include "pile.h"

#include <stdio.h>

/* Reading. */
struct trace {
    const char *path;
    char *image;    /* path of the image, as remembered; NULL = unknown */
    uint8_t *bytes; /* of the packets */
    size_t count;
    bool mapped;
    struct pile pile;
    uint64_t garbage; /* bytes that belong to no packet */
};

/* Opens the trace (path): a folder, a file of packets, or a console log. Ends
 * the process if there is no packet in it. */
void trace_open(struct trace *trace, const char *path);

/* Gives all packets to (model). */
void trace_tell(const struct trace *trace, struct model *model);

void trace_close(struct trace *trace);

/* Writing. */
struct trace_writer {
    const char *path;
    const char *image; /* to be remembered, or NULL */
    FILE *stream;      /* NULL: closed for a while, or for good */
    uint64_t written;  /* bytes */
    struct pile pile;
};

/* Makes the folder (path), or empties it if it holds a trace. */
void trace_create(struct trace_writer *writer, const char *path);

/* Appends (packet) unless it is there already; says whether. */
bool trace_put(struct trace_writer *writer, const struct packet *packet);

/* Nothing is appended for a while: closes the file, until something is. */
void trace_rest(struct trace_writer *writer);

/* Sorts what came out of order and writes the metadata. */
void trace_finish(struct trace_writer *writer, const struct model *model);

#endif
