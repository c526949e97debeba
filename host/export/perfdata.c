/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf.data, as Linux perf writes it for a single program: the image is the
 * program, mapped where it is loaded, and each track is one of its threads.
 * perf takes names, lines and instructions from the image's ELF file, which it
 * finds by its path and knows by its build-id. The layout is that of
 * perf.data-file-format.txt and perf_event_open(2):
 *
 *     header | attribute | records: names, maps, samples | features
 *
 * perf looks a caller up at the very address in the stack. We write addresses
 * inside the call rather than after it, as otherwise a call that ends its
 * function would count for the next one.
 *
 * What has no address of its own, such as [idle], is a map of that name
 * outside of all memory, so that it is seen with `--sort dso`. perf keeps names
 * that begin with "[stack" for itself, so [stack unknown] is turned round.
 *
 * The features, what perf shows with --header, are a table of sections, then
 * their contents. perf itself needs none; others, such as hotspot, require
 * them.
 */

#include "export/export.h"

#include "base/log.h"
#include "image/image.h"
#include "profile/samples.h"
#include "trace/metadata.h"

#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#define PROCESS 1u
#define PSEUDO_ADDRESS 0x7000000000000000u
#define PSEUDO_BYTES 4096u
#define TEXT_ROUND 64u /* texts fill multiples of it */

enum {
    FEATURE_HOSTNAME = 3,
    FEATURE_RELEASE,
    FEATURE_VERSION,
    FEATURE_ARCH,
    FEATURE_CPU_COUNT,
    FEATURE_CPU_NAME,
    FEATURE_CPU_ID,
    FEATURE_COMMAND = 11,
    FEATURES_END
};

struct perf_section {
    uint64_t offset;
    uint64_t bytes;
};

/* A piece that is built in memory: written to (stream), and after closing it in
 * (bytes), to be freed. Starts as zeros. */
struct perf_piece {
    FILE *stream;
    char *bytes;
    size_t count;
};

struct attribute {
    struct perf_event_attr attr;
    struct perf_section ids;
};

struct file_header {
    char magic[8];
    uint64_t bytes;
    uint64_t attribute_bytes;
    struct perf_section attributes;
    struct perf_section data;
    struct perf_section event_types;
    uint64_t features[4];
};

/* The fields after each record that is not a sample. */
struct record_end {
    uint32_t process, thread;
    uint64_t time_ns;
    uint32_t cpu, reserved;
};

struct sample_record {
    struct perf_event_header header;
    uint64_t address;
    uint32_t process, thread;
    uint64_t time_ns;
    uint32_t cpu, reserved;
    uint64_t period;
    uint64_t depth;
    uint64_t stack[1 + VIEW_FRAMES_MAX];
};

struct map_record {
    struct perf_event_header header;
    uint32_t process, thread;
    uint64_t address, bytes, offset;
    uint8_t build_id_bytes, reserved[3], build_id[20];
    uint32_t protection, flags;
};

struct perf {
    struct view *view;
    struct samples samples;
    FILE *out;
    uint64_t sample_bytes;
    struct perf_piece maps;
    struct perf_piece features;
};

static void begin_piece(struct perf_piece *piece)
{
    piece->stream = open_memstream(&piece->bytes, &piece->count);
    if (piece->stream == NULL)
        die("out of memory");
}

/* (text) with at least one zero after it, in a field of (bytes). */
static void put_text(FILE *out, const char *text, size_t bytes)
{
    size_t length = strnlen(text, bytes - 1);

    fwrite(text, 1, length, out);
    while (length++ < bytes)
        putc('\0', out);
}

static uint32_t thread_of(uint32_t track)
{
    return PROCESS + 1 + track;
}

static void put_end(FILE *out, uint32_t thread)
{
    struct record_end end = {.process = PROCESS, .thread = thread};

    fwrite(&end, sizeof end, 1, out);
}

/* A thread's name; perf cuts it to 15 bytes. */
static void put_name(FILE *out, uint32_t thread, const char *name)
{
    struct {
        struct perf_event_header header;
        uint32_t process, thread;
    } record = {{PERF_RECORD_COMM, PERF_RECORD_MISC_USER, 0}, PROCESS, thread};
    const size_t room = 16;

    record.header.size = sizeof record + room + sizeof(struct record_end);
    fwrite(&record, sizeof record, 1, out);
    put_text(out, name, room);
    put_end(out, thread);
}

static void put_map(FILE *out, const struct segment *segment, const char *path,
                    const struct event_hello *hello)
{
    struct map_record record = {
        .header = {PERF_RECORD_MMAP2, PERF_RECORD_MISC_USER, 0},
        .process = PROCESS,
        .thread = PROCESS,
        .address = segment->address,
        .bytes = segment->bytes,
        .offset = segment->offset,
        .protection = PROT_READ | PROT_EXEC,
        .flags = MAP_PRIVATE,
    };
    size_t room = (strlen(path) + 8) & ~(size_t)7;

    if (hello != NULL && hello->build_id_bytes > 0 &&
        hello->build_id_bytes <= sizeof record.build_id) {
        record.header.misc |= PERF_RECORD_MISC_MMAP_BUILD_ID;
        record.build_id_bytes = (uint8_t)hello->build_id_bytes;
        memcpy(record.build_id, hello->build_id, hello->build_id_bytes);
    }
    record.header.size =
        (uint16_t)(sizeof record + room + sizeof(struct record_end));
    fwrite(&record, sizeof record, 1, out);
    put_text(out, path, room);
    put_end(out, PROCESS);
}

/* There is a map even without the image, so that its build-id is known. */
static void put_image(const struct perf *perf)
{
    const struct view *view = perf->view;
    const struct event_hello *hello = &view->model.hello;
    struct segment text = {hello->text_begin,
                           hello->text_end - hello->text_begin, 0, 0};
    const char *file =
        view->names.image != NULL ? image_file(&view->image) : NULL;
    char *path = file != NULL ? realpath(file, NULL) : NULL;
    size_t count = 0;
    struct segment *segments =
        path != NULL ? segments_read(path, &count) : NULL;

    for (size_t i = 0; i < count; ++i)
        put_map(perf->maps.stream, &segments[i], path, hello);
    if (count == 0)
        put_map(perf->maps.stream, &text, "[image]", hello);
    free(segments);
    free(path);
}

static void make_maps(struct perf *perf)
{
    struct view *view = perf->view;

    begin_piece(&perf->maps);
    put_name(perf->maps.stream, PROCESS, "guest");
    for (uint32_t i = 0; i < perf->samples.track_count; ++i)
        put_name(perf->maps.stream, thread_of(i), perf->samples.tracks[i].name);
    put_image(perf);
    for (uint32_t i = 1; i < MODEL_PSEUDOS; ++i) {
        struct segment segment = {PSEUDO_ADDRESS + i * PSEUDO_BYTES,
                                  PSEUDO_BYTES, 0, 0};
        const char *name = names_text(&view->names, view->pseudo_names[i]);

        put_map(perf->maps.stream, &segment,
                i == MODEL_UNDEFINED ? "[unknown stack]" : name, NULL);
    }
    fclose(perf->maps.stream);
}

static uint64_t address_of(const struct model *model, uint32_t node, bool first)
{
    if (node < MODEL_PSEUDOS)
        return PSEUDO_ADDRESS + node * PSEUDO_BYTES;
    return model->nodes[node].address - (first ? 0 : 1);
}

static void make_sample(const struct perf *perf, const struct sample *sample,
                        struct sample_record *record)
{
    static uint32_t stack[VIEW_FRAMES_MAX];
    const struct model *model = &perf->view->model;
    size_t depth = model_stack(model, sample->node, stack, VIEW_FRAMES_MAX);

    record->header = (struct perf_event_header){
        PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER,
        (uint16_t)(offsetof(struct sample_record, stack) + 8 * (1 + depth))};
    record->process = PROCESS;
    record->thread = thread_of(sample->track);
    record->time_ns = sample->time * MODEL_NS_PER_CLOCK;
    record->cpu = perf->samples.tracks[sample->track].cpu;
    record->period = view_amount(perf->view, &sample->count);
    record->depth = 1 + depth;
    record->stack[0] = (uint64_t)PERF_CONTEXT_USER;
    for (size_t i = 0; i < depth; ++i)
        record->stack[1 + i] = address_of(model, stack[i], i == 0);
    record->address = record->stack[1];
}

static void measure_sample(void *owner, const struct sample *sample)
{
    static struct sample_record record;
    struct perf *perf = owner;

    make_sample(perf, sample, &record);
    perf->sample_bytes += record.header.size;
}

static void write_sample(void *owner, const struct sample *sample)
{
    static struct sample_record record;
    struct perf *perf = owner;

    make_sample(perf, sample, &record);
    fwrite(&record, record.header.size, 1, perf->out);
}

static struct attribute attribute_of(const struct model *model)
{
    return (struct attribute){
        .attr = {.type = PERF_TYPE_SOFTWARE,
                 .size = sizeof(struct perf_event_attr),
                 .config = PERF_COUNT_SW_CPU_CLOCK,
                 .sample_freq = model->rate_mhz / 1000,
                 .sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID |
                                PERF_SAMPLE_TIME | PERF_SAMPLE_CALLCHAIN |
                                PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD,
                 .freq = 1,
                 .exclude_kernel = 1,
                 .exclude_hv = 1,
                 .mmap = 1,
                 .mmap2 = 1,
                 .comm = 1,
                 .sample_id_all = 1,
                 .use_clockid = 1,
                 .clockid = CLOCK_MONOTONIC}};
}

/* ---- features */

static void put_feature(FILE *out, const char *text)
{
    uint32_t bytes = (uint32_t)(strlen(text) / TEXT_ROUND + 1) * TEXT_ROUND;

    fwrite(&bytes, sizeof bytes, 1, out);
    put_text(out, text, bytes);
}

/* As perf counts: one more than the highest number. */
static uint32_t cpus_of(const struct model *model)
{
    uint32_t count = 0;

    for (size_t i = 0; i < model->cpu_count; ++i)
        if (model->cpus[i].cpu >= count)
            count = model->cpus[i].cpu + 1;
    return count;
}

static void put_feature_of(const struct model *model, int feature, FILE *out)
{
    uint32_t cpus[2] = {cpus_of(model), cpus_of(model)};
    const uint32_t words = 2;
    const char *arch = metadata_arch(&model->hello);

    switch (feature) {
    case FEATURE_ARCH:
        put_feature(out, strcmp(arch, "i386") == 0 ? "i686" : arch);
        break;
    case FEATURE_CPU_COUNT:
        fwrite(cpus, sizeof cpus, 1, out);
        break;
    case FEATURE_COMMAND:
        fwrite(&words, sizeof words, 1, out);
        put_feature(out, "parasite");
        put_feature(out, "record");
        break;
    case FEATURE_CPU_ID: /* vendor, family, model and stepping are parsed */
        put_feature(out, "unknown,0,0,0");
        break;
    default: /* about the machine, which the guest does not report */
        put_feature(out, "unikernel");
        break;
    }
}

static bool has_feature(int feature)
{
    return feature <= FEATURE_CPU_ID || feature == FEATURE_COMMAND;
}

/* Builds the features, at (offset) of the file; returns the header's bits. */
static uint64_t make_features(struct perf_piece *features,
                              const struct model *model, uint64_t offset)
{
    struct perf_piece texts = {0};
    uint64_t bits = 0;
    long at = 0;

    begin_piece(features);
    begin_piece(&texts);
    for (int i = FEATURE_HOSTNAME; i < FEATURES_END; ++i)
        offset += has_feature(i) ? sizeof(struct perf_section) : 0;
    for (int i = FEATURE_HOSTNAME; i < FEATURES_END; ++i) {
        struct perf_section section = {offset + (uint64_t)at, 0};

        if (!has_feature(i))
            continue;
        bits |= 1ull << i;
        put_feature_of(model, i, texts.stream);
        section.bytes = (uint64_t)(ftell(texts.stream) - at);
        at += (long)section.bytes;
        fwrite(&section, sizeof section, 1, features->stream);
    }
    fclose(texts.stream);
    fwrite(texts.bytes, 1, texts.count, features->stream);
    free(texts.bytes);
    fclose(features->stream);
    return bits;
}

/* ---- the file */

static void write_head(struct perf *perf)
{
    struct attribute attribute = attribute_of(&perf->view->model);
    struct file_header header = {
        .magic = "PERFILE2",
        .bytes = sizeof header,
        .attribute_bytes = sizeof attribute,
        .attributes = {sizeof header, sizeof attribute},
        .data = {sizeof header + sizeof attribute,
                 perf->maps.count + perf->sample_bytes},
    };

    header.features[0] = make_features(&perf->features, &perf->view->model,
                                       header.data.offset + header.data.bytes);
    fwrite(&header, sizeof header, 1, perf->out);
    fwrite(&attribute, sizeof attribute, 1, perf->out);
}

bool export_perf(struct view *view, FILE *out)
{
    struct perf perf = {.view = view, .out = out};

    samples_open(&perf.samples, view);
    make_maps(&perf);
    samples_each(&perf.samples, measure_sample, &perf);
    write_head(&perf);
    fwrite(perf.maps.bytes, 1, perf.maps.count, out);
    samples_each(&perf.samples, write_sample, &perf);
    fwrite(perf.features.bytes, 1, perf.features.count, out);
    free(perf.maps.bytes);
    free(perf.features.bytes);
    samples_close(&perf.samples);
    return ferror(out) == 0;
}
