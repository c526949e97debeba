/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Perfetto's trace format: a sequence of packets, each a field of the file.
 * Samples are packets of a perf session, objects track events. A stack comes
 * right before the first sample that uses it, with what is new in it.
 * So the file is written in one pass, and a viewer can draw what it has read.
 *
 * A perf sample of Perfetto is one sample. A sum from the guest is written as
 * that many samples, spread evenly over their time; the time itself goes into
 * the counter that each sample carries. Once sums have become SPREAD_MAX
 * samples, each further one is a single sample with all of its time.
 */

#include "export/export.h"

#include "base/log.h"
#include "base/memory.h"
#include "base/path.h"
#include "export/perfetto.h"
#include "export/perfetto_tasks.h"
#include "export/protobuf.h"
#include "image/names.h"
#include "profile/samples.h"
#include "trace/metadata.h"

#include <inttypes.h>
#include <prof/format.h>
#include <stdlib.h>
#include <string.h>

#define NS_PER_CLOCK (1000000000u / PROF_CLOCK_HZ)
#define PROCESS 1u
#define SEQUENCE 1u /* all packets are of one */
#define MAPPING_OF_ALL 1u
#define SPREAD_MAX 1000000u /* samples that sums become, in a whole trace */

struct perfetto {
    struct view *view;
    struct samples samples;
    FILE *out;
    uint64_t *counters; /* ns, by track */
    uint32_t *stacks;   /* ids, by node; 0 = not written yet */
    uint32_t stack_count;
    uint64_t spread;        /* samples that sums became */
    uint64_t not_spread;    /* that are missing beyond SPREAD_MAX */
    struct index strings;   /* numbers of names, as functions */
    struct strings files;   /* of source */
    struct index frames;    /* (function, line) of frames */
    struct message packet;  /* being built */
    struct message message; /* a part of it */
    struct message inner;
};

static uint32_t thread_of(uint32_t track)
{
    return PROCESS + 1 + track;
}

static void end_packet(struct perfetto *perfetto, uint32_t flags)
{
    message_number(&perfetto->packet, PACKET_SEQUENCE, SEQUENCE);
    message_number(&perfetto->packet, PACKET_FLAGS, flags);
    message_write(perfetto->out, TRACE_PACKET, &perfetto->packet);
}

/* Defaults for all packets; resets the interned data. */
static void put_defaults(struct perfetto *perfetto)
{
    uint32_t mhz = perfetto->view->model.rate_mhz;
    struct message *message = &perfetto->message, *inner = &perfetto->inner;

    message_number(inner, TIMEBASE_FREQUENCY, mhz / 1000);
    message_number(inner, TIMEBASE_COUNTER, COUNTER_CPU_CLOCK);
    message_text(inner, TIMEBASE_NAME, "guest time in ns");
    message_put(message, SAMPLE_DEFAULTS_TIMEBASE, inner);
    message_put(inner, DEFAULTS_SAMPLE, message);
    message_number(inner, DEFAULTS_CLOCK, CLOCK_IS_BOOTTIME);
    message_put(&perfetto->packet, PACKET_DEFAULTS, inner);
    end_packet(perfetto, FLAG_CLEARED);
}

static void put_process(struct perfetto *perfetto)
{
    struct message *message = &perfetto->message, *inner = &perfetto->inner;

    message_number(inner, PROCESS_PID, PROCESS);
    message_text(inner, PROCESS_NAME, "guest");
    message_number(message, TRACK_UUID, PROCESS);
    message_put(message, TRACK_PROCESS, inner);
    message_put(&perfetto->packet, PACKET_TRACK, message);
    end_packet(perfetto, FLAG_NEEDS_STATE);
}

static void put_thread(struct perfetto *perfetto, uint32_t track)
{
    struct message *message = &perfetto->message, *inner = &perfetto->inner;

    message_number(inner, THREAD_PID, PROCESS);
    message_number(inner, THREAD_TID, thread_of(track));
    message_text(inner, THREAD_NAME, perfetto->samples.tracks[track].name);
    message_number(message, TRACK_UUID, thread_of(track));
    message_number(message, TRACK_PARENT, PROCESS);
    message_put(message, TRACK_THREAD, inner);
    message_put(&perfetto->packet, PACKET_TRACK, message);
    end_packet(perfetto, FLAG_NEEDS_STATE);
}

/* Adds a string to the interned data. */
static void put_string(struct perfetto *perfetto, int field, uint32_t id,
                       const char *text)
{
    message_number(&perfetto->inner, STRING_ID, id);
    message_text(&perfetto->inner, STRING_TEXT, text);
    message_put(&perfetto->message, field, &perfetto->inner);
}

static uint32_t function_id(struct perfetto *perfetto, uint32_t function)
{
    bool is_new;
    uint32_t id = 1 + index_add(&perfetto->strings, function, &is_new);

    if (is_new)
        put_string(perfetto, INTERNED_FUNCTION, id,
                   names_text(&perfetto->view->names, function));
    return id;
}

/* 0 = unknown. */
static uint32_t file_id(struct perfetto *perfetto, const char *file)
{
    uint32_t before = strings_count(&perfetto->files);
    uint32_t id = strings_put(&perfetto->files, file);

    if (id > 0 && id >= before)
        put_string(perfetto, INTERNED_FILE, id, file);
    return id;
}

static uint32_t frame_id(struct perfetto *perfetto, const struct frame *frame)
{
    bool is_new;
    uint32_t id =
        1 + index_add(&perfetto->frames,
                      index_pair(frame->function, frame->line), &is_new);
    struct source_line source;
    uint32_t function, file;

    if (!is_new)
        return id;
    source = frame_source(&perfetto->view->names, frame);
    function = function_id(perfetto, frame->function);
    file = file_id(perfetto, source.file);
    message_number(&perfetto->inner, FRAME_ID, id);
    message_number(&perfetto->inner, FRAME_FUNCTION, function);
    message_number(&perfetto->inner, FRAME_MAPPING, MAPPING_OF_ALL);
    message_number(&perfetto->inner, FRAME_ADDRESS, 0);
    if (file > 0) {
        message_number(&perfetto->inner, FRAME_FILE, file);
        message_number(&perfetto->inner, FRAME_LINE, source.line);
    }
    message_put(&perfetto->message, INTERNED_FRAME, &perfetto->inner);
    free(source.file);
    return id;
}

/* Older readers drop frames without a mapping, so all are in the image. */
static void put_mapping(struct perfetto *perfetto)
{
    const struct view *view = perfetto->view;
    const char *path = view->names.image != NULL ? view->image.path : "[image]";
    char build_id[65];

    metadata_build_id(&view->model.hello, build_id);
    put_string(perfetto, INTERNED_PATH, MAPPING_OF_ALL, path_name(path));
    put_string(perfetto, INTERNED_BUILD_ID, MAPPING_OF_ALL, build_id);
    message_number(&perfetto->inner, MAPPING_ID, MAPPING_OF_ALL);
    message_number(&perfetto->inner, MAPPING_BUILD_ID, MAPPING_OF_ALL);
    message_number(&perfetto->inner, MAPPING_PATH, MAPPING_OF_ALL);
    message_put(&perfetto->message, INTERNED_MAPPING, &perfetto->inner);
    message_put(&perfetto->packet, PACKET_INTERNED, &perfetto->message);
    end_packet(perfetto, FLAG_NEEDS_STATE);
}

/* The id of the stack of (node); new data goes into the packet. */
static uint32_t stack_id(struct perfetto *perfetto, uint32_t node)
{
    static struct frame frames[VIEW_FRAMES_MAX];
    struct message stack = {0};
    size_t depth;

    if (perfetto->stacks[node] > 0)
        return perfetto->stacks[node];
    perfetto->stacks[node] = ++perfetto->stack_count;
    depth = view_frames(perfetto->view, node, frames);
    message_number(&stack, STACK_ID, perfetto->stack_count);
    while (depth-- > 0)
        message_number(&stack, STACK_FRAME, frame_id(perfetto, &frames[depth]));
    message_put(&perfetto->message, INTERNED_STACK, &stack);
    message_put(&perfetto->packet, PACKET_INTERNED, &perfetto->message);
    message_free(&stack);
    return perfetto->stack_count;
}

static void put_sample(struct perfetto *perfetto, const struct sample *sample,
                       uint64_t time_ns, uint64_t counter)
{
    struct message *message = &perfetto->message;
    uint32_t stack = stack_id(perfetto, sample->node);

    message_number(&perfetto->packet, PACKET_TIME, time_ns);
    message_number(message, SAMPLE_CPU,
                   perfetto->samples.tracks[sample->track].cpu);
    message_number(message, SAMPLE_PID, PROCESS);
    message_number(message, SAMPLE_TID, thread_of(sample->track));
    message_number(message, SAMPLE_MODE, MODE_GUEST_KERNEL);
    message_number(message, SAMPLE_COUNTER, counter);
    message_number(message, SAMPLE_STACK, stack);
    message_put(&perfetto->packet, PACKET_SAMPLE, message);
    end_packet(perfetto, FLAG_NEEDS_STATE);
}

/* How many samples (sample) becomes. */
static uint64_t samples_to_write(struct perfetto *perfetto,
                                 const struct sample *sample)
{
    uint64_t count = sample->count.samples;

    if (!sample->is_lump || count <= 1)
        return count;
    if (count > SPREAD_MAX - perfetto->spread) {
        perfetto->not_spread += count - 1;
        return 1;
    }
    perfetto->spread += count;
    return count;
}

static void take(void *owner, const struct sample *sample)
{
    struct perfetto *perfetto = owner;
    uint64_t *counter = &perfetto->counters[sample->track];
    uint64_t ns = sample->count.clocks * NS_PER_CLOCK;
    uint64_t end = sample->time * NS_PER_CLOCK;
    uint64_t count = samples_to_write(perfetto, sample);
    uint64_t each = count > 0 ? ns / count : 0;

    for (uint64_t left = count; left-- > 0;) {
        uint64_t before = left * each;

        put_sample(perfetto, sample, end > before ? end - before : 0,
                   *counter + ns - before);
    }
    *counter += ns;
}

static void close_all(struct perfetto *perfetto)
{
    free(perfetto->counters);
    free(perfetto->stacks);
    index_free(&perfetto->strings);
    strings_free(&perfetto->files);
    index_free(&perfetto->frames);
    message_free(&perfetto->packet);
    message_free(&perfetto->message);
    message_free(&perfetto->inner);
    samples_close(&perfetto->samples);
}

bool export_perfetto(struct view *view, FILE *out)
{
    struct perfetto perfetto = {.view = view, .out = out};
    uint32_t nodes = model_nodes(&view->model);

    samples_open(&perfetto.samples, view);
    perfetto.counters = xreallocarray(NULL, perfetto.samples.track_count,
                                      sizeof *perfetto.counters);
    perfetto.stacks = xreallocarray(NULL, nodes, sizeof *perfetto.stacks);
    memset(perfetto.stacks, 0, nodes * sizeof *perfetto.stacks);
    put_defaults(&perfetto);
    put_process(&perfetto);
    for (uint32_t i = 0; i < perfetto.samples.track_count; ++i) {
        perfetto.counters[i] = 0;
        put_thread(&perfetto, i);
    }
    put_mapping(&perfetto);
    samples_each(&perfetto.samples, take, &perfetto);
    perfetto_put_tasks(out, view, SEQUENCE, PROCESS);
    if (perfetto.not_spread > 0)
        log_info("%" PRIu64 " samples are not in the file: of sums at most %u "
                 "are written one by one; all of their time is there",
                 perfetto.not_spread, SPREAD_MAX);
    close_all(&perfetto);
    return ferror(out) == 0;
}
