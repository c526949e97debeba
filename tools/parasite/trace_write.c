/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writing a trace. Packets are appended as they come, so that an end without
 * warning leaves all of them; the metadata is there from the first packet on.
 * Only if packets came out of order is the stream written anew at the end.
 */

#include "trace.h"

#include "metadata.h"
#include "parasite.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define EMPTY "w+be" /* how a file is opened: made anew, or for more */
#define AS_IT_IS "r+be"

static char *path_in(const char *folder, const char *name)
{
    char *path = grown(NULL, strlen(folder) + strlen(name) + 2, 1);

    sprintf(path, "%s/%s", folder, name);
    return path;
}

static FILE *opened(const char *folder, const char *name, const char *how)
{
    char *path = path_in(folder, name);
    FILE *file = fopen(path, how);

    if (file == NULL)
        fail("%s: cannot be written: %s", path, strerror(errno));
    free(path);
    return file;
}

static void must_be_written(const struct trace_writer *writer, bool fine)
{
    if (!fine)
        fail("%s: cannot be written: %s", writer->path, strerror(errno));
}

static bool holds_a_trace(const char *folder)
{
    char *metadata = path_in(folder, "metadata");
    char *stream = path_in(folder, "stream");
    bool both = access(metadata, F_OK) == 0 && access(stream, F_OK) == 0;

    free(metadata);
    free(stream);
    return both;
}

void trace_create(struct trace_writer *writer, const char *path)
{
    static const struct model nothing;

    writer->path = path;
    if (mkdir(path, 0777) != 0) {
        if (errno != EEXIST)
            fail("%s: cannot be made: %s", path, strerror(errno));
        if (!holds_a_trace(path) && rmdir(path) != 0)
            fail("%s: is there already, and no trace; choose another name",
                 path);
        mkdir(path, 0777);
    }
    writer->stream = opened(path, "stream", EMPTY);
    trace_finish(&(struct trace_writer){.path = path}, &nothing);
}

static void write_metadata(const struct trace_writer *writer,
                           const struct model *model)
{
    FILE *out = opened(writer->path, "metadata", EMPTY);

    metadata_write(out, writer->pile.uuid, model, writer->image);
    must_be_written(writer, fclose(out) == 0);
}

void trace_rest(struct trace_writer *writer)
{
    if (writer->stream == NULL)
        return;
    must_be_written(writer, fclose(writer->stream) == 0);
    writer->stream = NULL;
}

/* After a rest. */
static void open_again(struct trace_writer *writer)
{
    if (writer->stream != NULL)
        return;
    writer->stream = opened(writer->path, "stream", AS_IT_IS);
    must_be_written(writer, fseeko(writer->stream, 0, SEEK_END) == 0);
}

bool trace_put(struct trace_writer *writer, const struct packet *packet)
{
    static const struct model nothing;

    if (!pile_put(&writer->pile, packet, writer->written))
        return false;
    open_again(writer);
    must_be_written(writer, fwrite(packet->bytes, packet->total_bytes, 1,
                                   writer->stream) == 1);
    writer->written += packet->total_bytes;
    if (writer->pile.count == 1)
        write_metadata(writer, &nothing);
    return true;
}

/* Copies the packets to a new stream in their order. */
static void write_sorted(struct trace_writer *writer)
{
    FILE *sorted = opened(writer->path, ".sorted", EMPTY);
    char *from = path_in(writer->path, ".sorted");
    char *to = path_in(writer->path, "stream");

    pile_sort(&writer->pile);
    for (size_t i = 0; i < writer->pile.count; ++i) {
        static uint8_t bytes[PROF_PACKET_MAX];
        const struct pile_packet *packet = &writer->pile.packets[i];

        must_be_written(
            writer,
            fseeko(writer->stream, (off_t)packet->offset, SEEK_SET) == 0 &&
                fread(bytes, packet->bytes, 1, writer->stream) == 1 &&
                fwrite(bytes, packet->bytes, 1, sorted) == 1);
    }
    must_be_written(writer, fclose(sorted) == 0 && rename(from, to) == 0);
    free(from);
    free(to);
}

void trace_finish(struct trace_writer *writer, const struct model *model)
{
    if (writer->pile.unsorted) {
        open_again(writer);
        must_be_written(writer, fflush(writer->stream) == 0);
        write_sorted(writer);
    }
    trace_rest(writer);
    write_metadata(writer, model);
}
