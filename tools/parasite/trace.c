/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading a trace. A file is mapped, not read: of a large trace only the
 * packets that are looked at are in memory, and the kernel may drop them.
 */

#include "trace.h"

#include "console.h"
#include "metadata.h"
#include "parasite.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static char *path_in(const char *folder, const char *name)
{
    char *path = grown(NULL, strlen(folder) + strlen(name) + 2, 1);

    sprintf(path, "%s/%s", folder, name);
    return path;
}

static void map_file(struct trace *trace, const char *path)
{
    int file = open(path, O_RDONLY | O_CLOEXEC);
    struct stat about;

    if (file < 0 || fstat(file, &about) != 0)
        fail("%s: cannot be read: %s", path, strerror(errno));
    trace->count = (size_t)about.st_size;
    if (trace->count > 0) {
        trace->bytes =
            mmap(NULL, trace->count, PROT_READ, MAP_PRIVATE, file, 0);
        if (trace->bytes == MAP_FAILED)
            fail("%s: cannot be read: %s", path, strerror(errno));
        madvise(trace->bytes, trace->count, MADV_SEQUENTIAL);
        trace->mapped = true;
    }
    close(file);
}

static void unmap(struct trace *trace)
{
    if (trace->mapped)
        munmap(trace->bytes, trace->count);
    else
        free(trace->bytes);
    trace->bytes = NULL;
    trace->mapped = false;
}

static void note_packet(void *owner, const struct packet *packet)
{
    struct trace *trace = owner;

    pile_put(&trace->pile, packet, (uint64_t)(packet->bytes - trace->bytes));
}

/* A console log's packets are copied to where its text ends. */
struct copy {
    struct trace *trace;
    uint8_t *bytes;
    size_t count;
};

static void copy_packet(void *owner, const struct packet *packet)
{
    struct copy *copy = owner;

    if (!pile_put(&copy->trace->pile, packet, copy->count))
        return;
    copy->bytes = grown(copy->bytes, copy->count + packet->total_bytes, 1);
    memcpy(copy->bytes + copy->count, packet->bytes, packet->total_bytes);
    copy->count += packet->total_bytes;
}

static void read_console(struct trace *trace)
{
    struct copy copy = {.trace = trace};
    struct console *console = grown(NULL, 1, sizeof *console);

    *console = (struct console){.sink = {copy_packet, &copy}};
    console_feed(console, trace->bytes, trace->count);
    console_end(console);
    unmap(trace);
    trace->bytes = copy.bytes;
    trace->count = copy.count;
    trace->garbage = 0;
    free(console);
}

void trace_open(struct trace *trace, const char *path)
{
    struct packet_sink sink = {note_packet, trace};
    struct stat about;

    *trace = (struct trace){.path = path};
    if (stat(path, &about) != 0)
        fail("%s: %s; a trace is made by 'parasite record -o %s ...'", path,
             strerror(errno), path);
    if (S_ISDIR(about.st_mode)) {
        char *stream = path_in(path, "stream");
        char *metadata = path_in(path, "metadata");

        map_file(trace, stream);
        trace->image = metadata_env(metadata, "image");
        free(stream);
        free(metadata);
    } else {
        map_file(trace, path);
    }
    packet_scan(trace->bytes, trace->count, true, &sink, &trace->garbage);
    if (trace->pile.count == 0)
        read_console(trace);
    if (trace->pile.count == 0)
        fail("%s: there is no packet in it; is it a trace, or the log of a "
             "guest that ran with prof.out=?",
             path);
    if (trace->pile.foreign > 0)
        say("%s: packets of another boot are left out; 'parasite record' makes "
            "a trace of each",
            path);
    pile_sort(&trace->pile);
}

/* A checksum is looked at each time: the file may be written to meanwhile. */
void trace_tell(const struct trace *trace, struct model *model)
{
    for (size_t i = 0; i < trace->pile.count; ++i) {
        const struct pile_packet *where = &trace->pile.packets[i];
        struct packet packet;

        if (packet_check(trace->bytes + where->offset, where->bytes, &packet) ==
            PACKET_GOOD)
            model_take(model, &packet);
    }
}

void trace_close(struct trace *trace)
{
    unmap(trace);
    pile_free(&trace->pile);
    free(trace->image);
}
