/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writing a trace. Packets are appended as they come, each by one write, so
 * that all of them survive a crash; the metadata exists from the first packet
 * on. Only if packets came out of order are the streams rewritten at the end.
 *
 * No file is ever truncated: each is new, and whole ones are put in place by
 * renaming, so that a reader never sees a file shrink. All are opened in the
 * folder that was made for them, whatever it is called by then.
 */

#include "trace/trace.h"

#include "base/log.h"
#include "base/memory.h"
#include "trace/metadata.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define METADATA_MADE ".metadata"
#define STREAM_MADE ".sorted"
#define SYMBOLS_MADE ".symbols.new"

static void must_be_written(const struct trace_writer *writer, bool fine)
{
    if (!fine)
        die("%s: cannot be written: %s", writer->path, strerror(errno));
}

/* Opens (name) in the folder; (how) is O_EXCL for a new file, or 0. */
static FILE *open_file(const struct trace_writer *writer, const char *name,
                       int how)
{
    int flags = O_RDWR | O_NOFOLLOW | O_CLOEXEC | (how != 0 ? O_CREAT : 0);
    int file = openat(writer->folder, name, flags | how, 0666);
    FILE *stream = file >= 0 ? fdopen(file, "r+b") : NULL;

    if (stream == NULL)
        die("%s/%s: cannot be written: %s", writer->path, name,
            strerror(errno));
    return stream;
}

/* That of a stream: nothing stays behind in this process. A packet is as large
 * as a buffer would be. */
static FILE *open_stream(const struct trace_writer *writer, const char *name,
                         int how)
{
    FILE *stream = open_file(writer, name, how);

    (void)setvbuf(stream, NULL, _IONBF, 0);
    return stream;
}

static void rename_file(const struct trace_writer *writer, const char *from,
                        const char *to)
{
    must_be_written(writer,
                    renameat(writer->folder, from, writer->folder, to) == 0);
}

static struct trace_stream *stream_of(const struct trace_writer *writer,
                                      uint16_t cpu)
{
    for (size_t i = 0; i < writer->stream_count; ++i) {
        if (writer->streams[i].cpu == cpu)
            return &writer->streams[i];
    }
    return NULL;
}

static struct trace_stream *add_stream(struct trace_writer *writer,
                                       uint16_t cpu)
{
    char name[TRACE_NAME_MAX];
    struct trace_stream *stream;

    trace_stream_name(cpu, name);
    vector_reserve_one(&writer->streams, writer->stream_count,
                       sizeof *writer->streams);
    stream = &writer->streams[writer->stream_count++];
    *stream = (struct trace_stream){.cpu = cpu};
    stream->file = open_stream(writer, name, O_EXCL);
    return stream;
}

bool trace_create(struct trace_writer *writer, const char *path, char *why)
{
    size_t bytes = strlen(path);

    while (bytes > 1 && path[bytes - 1] == '/')
        --bytes;
    writer->path = strndup(path, bytes);
    if (writer->path == NULL)
        die("no memory");
    writer->folder = -1;
    return place_check(writer->path, why);
}

static void write_metadata(const struct trace_writer *writer,
                           const struct model *model)
{
    FILE *out = open_file(writer, METADATA_MADE, O_EXCL);

    metadata_write(out, writer->index.uuid, model, writer->image);
    must_be_written(writer, fclose(out) == 0);
    rename_file(writer, METADATA_MADE, "metadata");
}

static void write_symbols(const struct trace_writer *writer)
{
    FILE *out;

    if (writer->symbols == NULL)
        return;
    out = open_file(writer, SYMBOLS_MADE, O_EXCL);
    must_be_written(
        writer, fwrite(writer->symbols, writer->symbols_bytes, 1, out) == 1);
    must_be_written(writer, fclose(out) == 0);
    rename_file(writer, SYMBOLS_MADE, TRACE_SYMBOLS);
}

/* A trace always has the stream of CPU 0. */
static void begin_folder(struct trace_writer *writer)
{
    static const struct model nothing;

    writer->folder = place_make(writer->path);
    add_stream(writer, 0);
    write_metadata(writer, &nothing);
    write_symbols(writer);
}

void trace_suspend(struct trace_writer *writer)
{
    for (size_t i = 0; i < writer->stream_count; ++i) {
        struct trace_stream *stream = &writer->streams[i];

        if (stream->file != NULL)
            must_be_written(writer, fclose(stream->file) == 0);
        stream->file = NULL;
    }
}

static void open_again(struct trace_writer *writer, struct trace_stream *stream)
{
    char name[TRACE_NAME_MAX];

    if (stream->file != NULL)
        return;
    trace_stream_name(stream->cpu, name);
    stream->file = open_stream(writer, name, 0);
    must_be_written(writer, fseeko(stream->file, 0, SEEK_END) == 0);
}

bool trace_put(struct trace_writer *writer, const struct packet *packet)
{
    struct trace_stream *stream = stream_of(writer, packet->cpu);

    if (!packet_index_add(&writer->index, packet,
                          stream != NULL ? stream->written : 0))
        return false;
    if (writer->folder < 0)
        begin_folder(writer);
    stream = stream_of(writer, packet->cpu);
    if (stream == NULL)
        stream = add_stream(writer, packet->cpu);
    open_again(writer, stream);
    must_be_written(writer, fwrite(packet->bytes, packet->total_bytes, 1,
                                   stream->file) == 1);
    stream->written += packet->total_bytes;
    writer->written += packet->total_bytes;
    return true;
}

/* Copies the packets of a stream to a new file in order. */
static void write_sorted(struct trace_writer *writer,
                         struct trace_stream *stream)
{
    FILE *sorted = open_file(writer, STREAM_MADE, O_EXCL);
    char name[TRACE_NAME_MAX];

    open_again(writer, stream);
    must_be_written(writer, fflush(stream->file) == 0);
    for (size_t i = 0; i < writer->index.count; ++i) {
        static uint8_t bytes[PROF_PACKET_MAX];
        const struct packet_entry *packet = &writer->index.packets[i];

        if (packet->cpu != stream->cpu)
            continue;
        must_be_written(writer,
                        fseeko(stream->file, (off_t)packet->offset, SEEK_SET) ==
                                0 &&
                            fread(bytes, packet->bytes, 1, stream->file) == 1 &&
                            fwrite(bytes, packet->bytes, 1, sorted) == 1);
    }
    must_be_written(writer, fclose(sorted) == 0);
    trace_stream_name(stream->cpu, name);
    rename_file(writer, STREAM_MADE, name);
}

void trace_finish(struct trace_writer *writer, const struct model *model)
{
    if (writer->folder < 0)
        return;
    if (writer->index.unsorted) {
        packet_index_sort(&writer->index);
        for (size_t i = 0; i < writer->stream_count; ++i)
            write_sorted(writer, &writer->streams[i]);
    }
    trace_suspend(writer);
    write_metadata(writer, model);
    close(writer->folder);
    writer->folder = -1;
}
