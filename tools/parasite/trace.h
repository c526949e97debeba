/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRACE_H
#define TRACE_H

/*
 * A trace on disk: a folder with the files
 *
 *     metadata   says what the streams' bytes mean (metadata.h)
 *     stream     the packets of CPU 0, one after the other, in order
 *     stream-N   those of CPU N, where there are any
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
    size_t mapped_bytes; /* 0: they are allocated */
    struct pile pile;
    uint64_t garbage; /* bytes that belong to no packet */
};

/* Opens the trace (path): a folder, a file of packets, or a console log. Ends
 * the process if there is no packet in it. */
void trace_open(struct trace *trace, const char *path);

/* Gives all packets to (model). */
void trace_tell(const struct trace *trace, struct model *model);

void trace_close(struct trace *trace);

/* The packets of one CPU, in trace_stream_path(). */
struct trace_stream {
    uint16_t cpu;
    FILE *file;       /* NULL: closed for a while, or for good */
    uint64_t written; /* bytes */
};

/* The path of (name), and of the packets of (cpu), in (folder); to be freed. */
char *trace_path(const char *folder, const char *name);
char *trace_stream_path(const char *folder, uint16_t cpu);

/* How many CPUs the trace in (folder) has files of, CPU 0 being the first of
 * *(cpus), which is to be freed. */
size_t trace_cpus(const char *folder, uint16_t **cpus);

/* Writing. */
struct trace_writer {
    const char *path;
    const char *image; /* to be remembered, or NULL */
    struct trace_stream *streams;
    size_t stream_count;
    uint64_t written; /* bytes */
    struct pile pile;
};

/* Makes the folder (path), or empties it if it holds a trace. */
void trace_create(struct trace_writer *writer, const char *path);

/* Appends (packet) unless it is there already; says whether. */
bool trace_put(struct trace_writer *writer, const struct packet *packet);

/* Nothing is appended for a while: closes the files, until something is. */
void trace_rest(struct trace_writer *writer);

/* Sorts what came out of order and writes the metadata. */
void trace_finish(struct trace_writer *writer, const struct model *model);

#endif
