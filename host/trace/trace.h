/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRACE_TRACE_H
#define TRACE_TRACE_H

/*
 * A trace on disk: a folder with the files
 *
 *     metadata   says what the streams' bytes mean (metadata.h)
 *     stream     the packets of CPU 0, one after the other, in order
 *     stream-N   those of CPU N, where there are any
 *     .symbols   the symbols of the image, if it was known (image/stored.h);
 *                readers of the format pass over names with a dot
 *
 * which is a trace of the Common Trace Format as it stands.
 */

#include "trace/model.h"

#include <stdio.h>

#define TRACE_SYMBOLS ".symbols"
#define TRACE_SYMBOLS_MAX (64u << 20) /* bytes; of a larger file none is read */

/* Reading. */
struct trace {
    const char *path;
    char *image;      /* stored path of the image; NULL = unknown */
    uint8_t *symbols; /* content of TRACE_SYMBOLS; NULL = none */
    size_t symbols_bytes;
    uint8_t *bytes; /* of the packets */
    size_t count;
    size_t mapped_bytes; /* 0 = allocated instead */
    struct packet_index index;
    uint64_t garbage; /* bytes outside packets */
    bool imported;    /* another recorder wrote it (import/import.h) */
};

/* Opens the trace (path): a folder, a file of packets, a console log, or
 * another recorder's trace. Ends the process if it contains no packets. */
void trace_open(struct trace *trace, const char *path);

/* Passes all packets to (sink), in the order of their time. */
void trace_each(const struct trace *trace, const struct packet_sink *sink);

/*
 * Passes all events to (sink), in the order of their time: those of a CPU as
 * they come, between those of the others. begin() gets the head of each packet,
 * and its (lane), which stands for the CPU, from 0 on; where it returns false
 * the packet's events are left out. After them comes end().
 */
struct event_sink {
    bool (*begin)(void *owner, uint32_t lane, const struct packet *packet);
    void (*event)(void *owner, uint32_t lane, const struct event *event);
    void (*end)(void *owner, uint32_t lane, const struct event_reader *reader);
    void *owner;
};
void trace_each_event(const struct trace *trace, const struct event_sink *sink);

/* Feeds all packets to (model), as trace_each_event() passes events. */
void trace_feed(const struct trace *trace, struct model *model);

void trace_close(struct trace *trace);

/* (word) of the command line is the trace to read, in place of the default in
 * (path). Ends the process if another was (given) before. */
void trace_choose(const char **path, bool *given, const char *word);

/* The packets of one CPU, in the file trace_stream_name(). */
struct trace_stream {
    uint16_t cpu;
    FILE *file;       /* NULL: closed for a while, or for good */
    uint64_t written; /* bytes */
};

#define TRACE_NAME_MAX sizeof "stream-65535"

/* The file name of (cpu)'s packets, to (name) of TRACE_NAME_MAX. */
void trace_stream_name(uint16_t cpu, char *name);

/* The path of (name), and of the packets of (cpu), in (folder); to be freed. */
char *trace_path(const char *folder, const char *name);
char *trace_stream_path(const char *folder, uint16_t cpu);

/* Returns how many CPUs the trace in (folder) has files of, at most
 * TRACE_CPUS_MAX; *(cpus), to be freed, lists them, CPU 0 first. */
size_t trace_cpus(const char *folder, uint16_t **cpus);

/* Writing. */
struct trace_writer {
    char *path;
    const char *image;      /* to be stored, or NULL */
    const uint8_t *symbols; /* to be stored, or NULL */
    size_t symbols_bytes;
    int folder; /* opened, -1 = before the first packet */
    struct trace_stream *streams;
    size_t stream_count;
    uint64_t written; /* bytes */
    struct packet_index index;
};

/* Chooses the folder (path), made or replaced when the first packet comes.
 * False, with the reason in (why) of PLACE_WHY_MAX: it cannot be written. */
bool trace_create(struct trace_writer *writer, const char *path, char *why);

/* Appends (packet); false if it is there already, or one too many. */
bool trace_put(struct trace_writer *writer, const struct packet *packet);

/* Closes the files until the next packet. */
void trace_suspend(struct trace_writer *writer);

/* Sorts packets that came out of order and writes the metadata. */
void trace_finish(struct trace_writer *writer, const struct model *model);

/* ---- the folder that a trace is written to
 *
 * A trace that is there already is renamed to NAME.old once the new one has its
 * first packet, and replaces an older NAME.old. No file of it is opened for
 * writing, so whoever has it mapped keeps what he sees. Symbolic links are not
 * followed. */

#define PLACE_WHY_MAX 512

/* Whether a trace may be written to (path), without a slash at its end: it is
 * free, an empty folder or a trace. If not, (why) of PLACE_WHY_MAX says it. */
bool place_check(const char *path, char *why);

/* Makes an empty folder (path) in place of what place_check() allowed, and
 * returns it opened; ends the process on failure. */
int place_make(const char *path);

#endif
