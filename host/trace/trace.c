/* SPDX-License-Identifier: Apache-2.0 */
/* Reading a trace. A file is mapped, not read, so that of a large trace only
 * the packets in use are in memory, and the kernel may evict them. */

#include "trace/trace.h"

#include "base/log.h"
#include "base/memory.h"
#include "import/import.h"
#include "trace/console.h"
#include "trace/metadata.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define TRACE_FILE_MAX ((off_t)1 << 40) /* bytes of one file */

/* A file while it is being mapped. */
struct source {
    const char *path;
    int file;
    size_t bytes; /* what is appended later is ignored */
};

static struct source open_source(const char *path)
{
    struct source source = {path, open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC),
                            0};
    struct stat about;

    if (source.file < 0 || fstat(source.file, &about) != 0)
        die("%s: cannot be read: %s", path, strerror(errno));
    if (!S_ISREG(about.st_mode))
        die("%s: is not a file; 'parasite record' reads from pipes and devices",
            path);
    if (about.st_size > TRACE_FILE_MAX)
        die("%s: is larger than 1 TiB", path);
    source.bytes = (size_t)about.st_size;
    return source;
}

static void must_be_mapped(const void *bytes, const char *path)
{
    if (bytes == MAP_FAILED)
        die("%s: cannot be read: %s", path, strerror(errno));
}

static void map_source(const struct source *source, uint8_t *to)
{
    if (source->bytes > 0) {
        must_be_mapped(mmap(to, source->bytes, PROT_READ,
                            MAP_PRIVATE | MAP_FIXED, source->file, 0),
                       source->path);
        madvise(to, source->bytes, MADV_SEQUENTIAL);
    }
    close(source->file);
}

static size_t whole_pages(size_t bytes)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);

    return (bytes + page - 1) / page * page;
}

/* Maps (sources), each on a page boundary; passes their packets to (sink). */
static void map_sources(struct trace *trace, const struct source *sources,
                        size_t count, const struct packet_sink *sink)
{
    for (size_t i = 0; i < count; ++i)
        trace->mapped_bytes += whole_pages(sources[i].bytes);
    if (trace->mapped_bytes > 0) {
        trace->bytes = mmap(NULL, trace->mapped_bytes, PROT_READ,
                            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        must_be_mapped(trace->bytes, trace->path);
    }
    for (size_t i = 0; i < count; ++i) {
        trace->count = whole_pages(trace->count);
        map_source(&sources[i], trace->bytes + trace->count);
        packet_scan(trace->bytes + trace->count, sources[i].bytes, true, sink,
                    &trace->garbage);
        trace->count += sources[i].bytes;
    }
}

static void unmap_packets(struct trace *trace)
{
    if (trace->mapped_bytes > 0)
        munmap(trace->bytes, trace->mapped_bytes);
    else
        free(trace->bytes);
    trace->bytes = NULL;
    trace->mapped_bytes = 0;
}

static void note_packet(void *owner, const struct packet *packet)
{
    struct trace *trace = owner;

    packet_index_add(&trace->index, packet,
                     (uint64_t)(packet->bytes - trace->bytes));
}

/* The packets of a console log are copied out of its text. */
struct copy {
    struct trace *trace;
    uint8_t *bytes;
    size_t count;
};

static void copy_packet(void *owner, const struct packet *packet)
{
    struct copy *copy = owner;

    if (!packet_index_add(&copy->trace->index, packet, copy->count))
        return;
    copy->bytes =
        xreallocarray(copy->bytes, copy->count + packet->total_bytes, 1);
    memcpy(copy->bytes + copy->count, packet->bytes, packet->total_bytes);
    copy->count += packet->total_bytes;
}

static void read_console(struct trace *trace)
{
    struct copy copy = {.trace = trace};
    struct console *console = xreallocarray(NULL, 1, sizeof *console);

    *console = (struct console){.sink = {copy_packet, &copy}};
    console_feed(console, trace->bytes, trace->count);
    console_end(console);
    unmap_packets(trace);
    trace->bytes = copy.bytes;
    trace->count = copy.count;
    trace->garbage = 0;
    free(console);
}

/* Replaces another recorder's trace by packets in memory; false: none. */
static bool read_imported(struct trace *trace, const struct packet_sink *sink)
{
    enum import_format format = import_format_of(trace->bytes, trace->count);
    struct imported imported;

    if (format == IMPORT_NONE)
        return false;
    import_read(format, trace->bytes, trace->count, &imported);
    unmap_packets(trace);
    trace->bytes = imported.bytes;
    trace->count = imported.count;
    trace->imported = true;
    packet_scan(trace->bytes, trace->count, true, sink, &trace->garbage);
    trace->garbage = imported.unread;
    if (imported.events == 0)
        die("%s: is a trace of %s, without any event that can be read",
            trace->path, import_name(format));
    if (imported.unread > 0)
        log_info("%s: %llu bytes make no sense and are left out", trace->path,
                 (unsigned long long)imported.unread);
    return true;
}

static uint8_t *read_symbols(const char *folder, size_t *bytes)
{
    char *path = trace_path(folder, TRACE_SYMBOLS);
    int file = open(path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
    uint8_t *symbols = NULL;
    struct stat about;
    ssize_t got = 0;

    if (file >= 0 && fstat(file, &about) == 0 && S_ISREG(about.st_mode) &&
        about.st_size > 0 && about.st_size <= TRACE_SYMBOLS_MAX) {
        symbols = xreallocarray(NULL, (size_t)about.st_size, 1);
        got = read(file, symbols, (size_t)about.st_size);
    }
    if (file >= 0)
        close(file);
    free(path);
    *bytes = got > 0 ? (size_t)got : 0;
    return symbols;
}

static void map_folder(struct trace *trace, const char *folder,
                       const struct packet_sink *sink)
{
    char *metadata = trace_path(folder, "metadata");
    struct source *sources = NULL;
    uint16_t *cpus;
    size_t count = trace_cpus(folder, &cpus);

    for (size_t i = 0; i < count; ++i) {
        vector_reserve_one(&sources, i, sizeof *sources);
        sources[i] = open_source(trace_stream_path(folder, cpus[i]));
    }
    map_sources(trace, sources, count, sink);
    trace->image = metadata_env(metadata, "image");
    trace->symbols = read_symbols(folder, &trace->symbols_bytes);
    while (count > 0)
        free((char *)sources[--count].path);
    free(sources);
    free(cpus);
    free(metadata);
}

void trace_open(struct trace *trace, const char *path)
{
    struct packet_sink sink = {note_packet, trace};
    struct stat about;

    *trace = (struct trace){.path = path};
    if (stat(path, &about) != 0)
        die("%s: %s; 'parasite record -o %s ...' records a trace", path,
            strerror(errno), path);
    if (S_ISDIR(about.st_mode)) {
        map_folder(trace, path, &sink);
    } else {
        struct source source = open_source(path);

        map_sources(trace, &source, 1, &sink);
    }
    if (trace->index.count == 0 && !read_imported(trace, &sink))
        read_console(trace);
    if (trace->index.count == 0)
        die("%s: contains no packets; is it a trace, or the log of a guest "
            "that ran with prof.out=?",
            path);
    if (trace->index.foreign > 0)
        log_info(
            "%s: contains more than one boot, the first is shown; 'parasite "
            "record' makes a trace of each",
            path);
    if (trace->index.excess > 0)
        log_info(
            "%s: %llu packets are left out: a trace has at most %u packets "
            "of %d CPUs",
            path, (unsigned long long)trace->index.excess, TRACE_PACKETS_MAX,
            TRACE_CPUS_MAX);
    packet_index_sort(&trace->index);
}

/* Checksums are verified each time: the file may be written meanwhile. */
void trace_each(const struct trace *trace, const struct packet_sink *sink)
{
    for (size_t i = 0; i < trace->index.count; ++i) {
        const struct packet_entry *where = &trace->index.packets[i];
        struct packet packet;

        if (packet_check(trace->bytes + where->offset, where->bytes, &packet) ==
            PACKET_GOOD)
            sink->take(sink->owner, &packet);
    }
}

/* The place of a lane's CPU in the model, which may move it in memory. */
struct feeder {
    struct model *model;
    size_t cpus[TRACE_CPUS_MAX];
};

static bool feed_head(void *owner, uint32_t lane, const struct packet *packet)
{
    struct feeder *feeder = owner;
    const struct model_cpu *cpu = model_begin_packet(feeder->model, packet);

    if (cpu != NULL)
        feeder->cpus[lane] = (size_t)(cpu - feeder->model->cpus);
    return cpu != NULL;
}

static void feed_event(void *owner, uint32_t lane, const struct event *event)
{
    struct feeder *feeder = owner;

    model_take_event(feeder->model, &feeder->model->cpus[feeder->cpus[lane]],
                     event);
}

static void feed_end(void *owner, uint32_t lane,
                     const struct event_reader *reader)
{
    struct feeder *feeder = owner;

    (void)lane;
    model_end_packet(feeder->model, event_all(reader));
}

void trace_feed(const struct trace *trace, struct model *model)
{
    struct feeder feeder = {.model = model};

    trace_each_event(
        trace, &(struct event_sink){feed_head, feed_event, feed_end, &feeder});
}

void trace_choose(const char **path, bool *given, const char *word)
{
    if (*given)
        die_usage("one trace at a time: '%s' or '%s'?", *path, word);
    *path = word;
    *given = true;
}

void trace_close(struct trace *trace)
{
    unmap_packets(trace);
    packet_index_free(&trace->index);
    free(trace->image);
    free(trace->symbols);
}
