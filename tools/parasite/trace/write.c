/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writing a trace. Packets are appended as they come, so that all of them
 * survive a crash; the metadata exists from the first packet on. Only if
 * packets came out of order are the streams rewritten at the end.
 */

#include "trace/trace.h"

#include "base/log.h"
#include "base/memory.h"
#include "trace/metadata.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define EMPTY "w+be" /* fopen() modes: truncated, or appended to */
#define AS_IT_IS "r+be"

/* Opens the file (path) and frees (path). */
static FILE *open_file(char *path, const char *how)
{
    FILE *file = fopen(path, how);

    if (file == NULL)
        die("%s: cannot be written: %s", path, strerror(errno));
    free(path);
    return file;
}

static void must_be_written(const struct trace_writer *writer, bool fine)
{
    if (!fine)
        die("%s: cannot be written: %s", writer->path, strerror(errno));
}

static bool is_trace(const char *folder)
{
    char *metadata = trace_path(folder, "metadata");
    char *stream = trace_stream_path(folder, 0);
    bool both = access(metadata, F_OK) == 0 && access(stream, F_OK) == 0;

    free(metadata);
    free(stream);
    return both;
}

static struct trace_stream *add_stream(struct trace_writer *writer,
                                       uint16_t cpu)
{
    struct trace_stream *stream;

    vector_reserve_one(&writer->streams, writer->stream_count,
                       sizeof *writer->streams);
    stream = &writer->streams[writer->stream_count++];
    *stream = (struct trace_stream){.cpu = cpu};
    stream->file = open_file(trace_stream_path(writer->path, cpu), EMPTY);
    return stream;
}

/* Removes streams of an earlier trace for CPUs that this one may not have. */
static void remove_streams(const char *folder)
{
    uint16_t *cpus;
    size_t count = trace_cpus(folder, &cpus);

    for (size_t i = 1; i < count; ++i) {
        char *path = trace_stream_path(folder, cpus[i]);

        unlink(path);
        free(path);
    }
    free(cpus);
}

void trace_create(struct trace_writer *writer, const char *path)
{
    static const struct model nothing;

    writer->path = path;
    if (mkdir(path, 0777) != 0) {
        if (errno != EEXIST)
            die("%s: cannot be made: %s", path, strerror(errno));
        if (!is_trace(path) && rmdir(path) != 0)
            die("%s: is there already, and no trace; choose another name",
                path);
        mkdir(path, 0777);
    }
    remove_streams(path);
    add_stream(writer, 0);
    trace_finish(&(struct trace_writer){.path = path}, &nothing);
}

static void write_metadata(const struct trace_writer *writer,
                           const struct model *model)
{
    FILE *out = open_file(trace_path(writer->path, "metadata"), EMPTY);

    metadata_write(out, writer->index.uuid, model, writer->image);
    must_be_written(writer, fclose(out) == 0);
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

/* After trace_suspend(). */
static void open_again(struct trace_writer *writer, struct trace_stream *stream)
{
    if (stream->file != NULL)
        return;
    stream->file =
        open_file(trace_stream_path(writer->path, stream->cpu), AS_IT_IS);
    must_be_written(writer, fseeko(stream->file, 0, SEEK_END) == 0);
}

static struct trace_stream *stream_of(struct trace_writer *writer, uint16_t cpu)
{
    for (size_t i = 0; i < writer->stream_count; ++i)
        if (writer->streams[i].cpu == cpu)
            return &writer->streams[i];
    return add_stream(writer, cpu);
}

bool trace_put(struct trace_writer *writer, const struct packet *packet)
{
    static const struct model nothing;
    struct trace_stream *stream = stream_of(writer, packet->cpu);

    if (!packet_index_add(&writer->index, packet, stream->written))
        return false;
    open_again(writer, stream);
    must_be_written(writer, fwrite(packet->bytes, packet->total_bytes, 1,
                                   stream->file) == 1);
    stream->written += packet->total_bytes;
    writer->written += packet->total_bytes;
    if (writer->index.count == 1)
        write_metadata(writer, &nothing);
    return true;
}

/* Copies the packets of a stream to a new file in order. */
static void write_sorted(struct trace_writer *writer,
                         struct trace_stream *stream)
{
    FILE *sorted = open_file(trace_path(writer->path, ".sorted"), EMPTY);
    char *from = trace_path(writer->path, ".sorted");
    char *to = trace_stream_path(writer->path, stream->cpu);

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
    must_be_written(writer, fclose(sorted) == 0 && rename(from, to) == 0);
    free(from);
    free(to);
}

void trace_finish(struct trace_writer *writer, const struct model *model)
{
    if (writer->index.unsorted) {
        packet_index_sort(&writer->index);
        for (size_t i = 0; i < writer->stream_count; ++i)
            write_sorted(writer, &writer->streams[i]);
    }
    trace_suspend(writer);
    write_metadata(writer, model);
}
