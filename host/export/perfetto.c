/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Perfetto's trace format: a sequence of packets (perfetto.proto).
 * Samples are packets of a perf session, objects track events. A stack comes
 * right before the first sample that uses it, with what is new in it.
 * So the file is written in one pass, and a viewer can draw what it has read.
 *
 * A perf sample of Perfetto is one sample. A sum from the guest is written as
 * that many samples, spread evenly over their time; the time itself goes into
 * the counter that each sample carries. Once sums have become SPREAD_MAX
 * samples, each further one is a single sample with all of its time.
 *
 * Objects are track events. Lanes of CPUs are tracks, and so are sites, whose
 * objects share tracks below them where they do not overlap. An arrow is a flow
 * between two instants, which lie in the slices of its ends.
 */

#include "export/export.h"

#include "base/log.h"
#include "base/memory.h"
#include "base/text.h"
#include "export/protobuf.h"
#include "export/story.h"
#include "image/names.h"
#include "profile/samples.h"
#include "trace/metadata.h"

#include <inttypes.h>
#include <perfetto.pb-c.h>
#include <stdlib.h>
#include <string.h>

#define PROCESS 1u
#define SEQUENCE 1u /* all packets are of one */
#define MAPPING_OF_ALL 1u
#define SPREAD_MAX 1000000u /* samples that sums become, in a whole trace */

enum { FLAG_CLEARED = 1, FLAG_NEEDS_STATE = 2 };
enum { CLOCK_IS_BOOTTIME = 6, COUNTER_CPU_CLOCK = 1, MODE_GUEST_KERNEL = 4 };
enum { TYPE_SLICE_BEGIN = 1, TYPE_SLICE_END, TYPE_INSTANT, TYPE_COUNTER };

/* Tracks of objects by what they are of. */
#define TRACK_OF_LANE (1ull << 32)
#define TRACK_OF_COUNTER (2ull << 32)
#define TRACK_OF_SITE (3ull << 32)
#define TRACK_OF_OBJECTS (4ull << 32)

/* What is new in a stack, for the packet of its first sample. */
struct interned {
    Perfetto__Interned message;
    Perfetto__Text texts[2 * VIEW_FRAMES_MAX];
    size_t text_count;
    Perfetto__Text *functions[VIEW_FRAMES_MAX];
    Perfetto__Text *files[VIEW_FRAMES_MAX];
    Perfetto__Frame frames[VIEW_FRAMES_MAX];
    Perfetto__Frame *frame_list[VIEW_FRAMES_MAX];
    Perfetto__Stack stack;
    Perfetto__Stack *stack_list;
    uint64_t ids[VIEW_FRAMES_MAX]; /* of the stack's frames */
};

/* Tracks for objects: as few for each site as it has objects at one time, so
 * that thousands of short ones share a few. */

#define TRACKS_OF_SITE_MAX 1000u
#define TRACKS_NONE UINT32_MAX

/* A track by the end of what is on it; the earliest is the root of a heap. */
struct track_end {
    uint64_t end;
    uint32_t track;
};

struct track_site {
    struct track_end *heap;
    size_t count;
};

/* Starts as zeros. */
struct tracks {
    struct index keys; /* of sites */
    struct track_site *sites;
    uint32_t count;   /* of all tracks */
    uint64_t refused; /* objects, because of TRACKS_OF_SITE_MAX */
};

struct perfetto {
    struct view *view;
    struct samples samples;
    FILE *out;
    uint64_t *counters; /* ns, by track */
    uint32_t *stacks;   /* ids, by node; 0 = not written yet */
    uint32_t stack_count;
    uint64_t spread;       /* samples that sums became */
    uint64_t not_spread;   /* that are missing beyond SPREAD_MAX */
    struct index strings;  /* numbers of names, as functions */
    struct strings files;  /* of source */
    struct index frames;   /* (function, line) of frames */
    struct interned *made; /* for the next packet */

    const struct tasks *tasks;
    uint64_t flows;
    struct tracks tracks;
    struct index task_counters; /* that have a track */
    uint64_t track;             /* of the last object, 0 = none */
    uint64_t end;               /* of it */
};

static uint32_t thread_of(uint32_t track)
{
    return PROCESS + 1 + track;
}

static void write_packet(const struct perfetto *perfetto,
                         Perfetto__Packet *packet, uint32_t flags)
{
    Perfetto__Trace trace = PERFETTO__TRACE__INIT;

    packet->sequence = SEQUENCE;
    packet->flags = flags;
    trace.n_packet = 1;
    trace.packet = &packet;
    protobuf_write(&trace.base, perfetto->out);
}

/* Defaults for all packets; resets the interned data. */
static void put_defaults(const struct perfetto *perfetto)
{
    Perfetto__Packet packet = PERFETTO__PACKET__INIT;
    Perfetto__Defaults defaults = PERFETTO__DEFAULTS__INIT;
    Perfetto__SampleDefaults sample = PERFETTO__SAMPLE_DEFAULTS__INIT;
    Perfetto__Timebase timebase = PERFETTO__TIMEBASE__INIT;
    char name[] = "guest time in ns";

    timebase.frequency = perfetto->view->model.rate_mhz / 1000;
    timebase.counter = COUNTER_CPU_CLOCK;
    timebase.name = name;
    sample.timebase = &timebase;
    defaults.sample = &sample;
    defaults.clock = CLOCK_IS_BOOTTIME;
    packet.defaults = &defaults;
    write_packet(perfetto, &packet, FLAG_CLEARED);
}

static void write_track(const struct perfetto *perfetto, Perfetto__Track *track,
                        uint64_t parent)
{
    Perfetto__Packet packet = PERFETTO__PACKET__INIT;

    track->has_parent = parent != 0;
    track->parent = parent;
    packet.track = track;
    write_packet(perfetto, &packet, FLAG_NEEDS_STATE);
}

static void put_process(const struct perfetto *perfetto)
{
    Perfetto__Track track = PERFETTO__TRACK__INIT;
    Perfetto__Process process = PERFETTO__PROCESS__INIT;
    char name[] = "guest";

    process.pid = PROCESS;
    process.name = name;
    track.uuid = PROCESS;
    track.process = &process;
    write_track(perfetto, &track, 0);
}

static void put_thread(const struct perfetto *perfetto, uint32_t number)
{
    Perfetto__Track track = PERFETTO__TRACK__INIT;
    Perfetto__Thread thread = PERFETTO__THREAD__INIT;

    thread.pid = PROCESS;
    thread.tid = thread_of(number);
    thread.name = protobuf_text(perfetto->samples.tracks[number].name);
    track.uuid = thread_of(number);
    track.thread = &thread;
    write_track(perfetto, &track, PROCESS);
    free(thread.name);
}

/* ---- stacks */

static void set_text(Perfetto__Text *text, uint32_t id, const char *chars)
{
    perfetto__text__init(text);
    text->id = id;
    text->text = protobuf_text(chars);
}

static Perfetto__Text *add_text(struct interned *made, uint32_t id,
                                const char *chars)
{
    Perfetto__Text *text = &made->texts[made->text_count++];

    set_text(text, id, chars);
    return text;
}

static void forget_interned(struct interned *made)
{
    while (made->text_count > 0)
        free(made->texts[--made->text_count].text);
    perfetto__interned__init(&made->message);
    made->message.function = made->functions;
    made->message.file = made->files;
    made->message.frame = made->frame_list;
    made->message.stack = &made->stack_list;
    made->stack_list = &made->stack;
}

static uint32_t function_id(struct perfetto *perfetto, uint32_t function)
{
    Perfetto__Interned *message = &perfetto->made->message;
    bool is_new;
    uint32_t id = 1 + index_add(&perfetto->strings, function, &is_new);

    if (is_new)
        message->function[message->n_function++] = add_text(
            perfetto->made, id, names_text(&perfetto->view->names, function));
    return id;
}

/* 0 = unknown. */
static uint32_t file_id(struct perfetto *perfetto, const char *file)
{
    Perfetto__Interned *message = &perfetto->made->message;
    uint32_t before = strings_count(&perfetto->files);
    uint32_t id = strings_put(&perfetto->files, file);

    if (id > 0 && id >= before)
        message->file[message->n_file++] = add_text(perfetto->made, id, file);
    return id;
}

static uint32_t frame_id(struct perfetto *perfetto, const struct frame *frame)
{
    struct interned *made = perfetto->made;
    bool is_new;
    uint32_t id =
        1 + index_add(&perfetto->frames,
                      index_pair(frame->function, frame->line), &is_new);
    struct source_line source;
    Perfetto__Frame *new;

    if (!is_new)
        return id;
    source = frame_source(&perfetto->view->names, frame);
    new = &made->frames[made->message.n_frame];
    perfetto__frame__init(new);
    made->message.frame[made->message.n_frame++] = new;
    new->id = id;
    new->function = function_id(perfetto, frame->function);
    new->mapping = MAPPING_OF_ALL;
    new->file = file_id(perfetto, source.file);
    new->line = source.line;
    new->has_file = new->has_line = new->file > 0;
    free(source.file);
    return id;
}

/* Older readers drop frames without a mapping, so all are in the image. */
static void put_mapping(const struct perfetto *perfetto)
{
    const struct view *view = perfetto->view;
    const char *path = view->names.image != NULL ? view->image.path : "[image]";
    Perfetto__Packet packet = PERFETTO__PACKET__INIT;
    Perfetto__Interned interned = PERFETTO__INTERNED__INIT;
    Perfetto__Text texts[2], *paths = &texts[0], *build_ids = &texts[1];
    Perfetto__Mapping mapping = PERFETTO__MAPPING__INIT, *mappings = &mapping;
    char build_id[65];

    metadata_build_id(&view->model.hello, build_id);
    set_text(paths, MAPPING_OF_ALL, path_name(path));
    set_text(build_ids, MAPPING_OF_ALL, build_id);
    mapping.id = mapping.build_id = mapping.path = MAPPING_OF_ALL;
    interned.n_path = interned.n_build_id = interned.n_mapping = 1;
    interned.path = &paths;
    interned.build_id = &build_ids;
    interned.mapping = &mappings;
    packet.interned = &interned;
    write_packet(perfetto, &packet, FLAG_NEEDS_STATE);
    free(texts[0].text);
    free(texts[1].text);
}

/* The id of the stack of (node); new data goes into the next packet. */
static uint32_t stack_id(struct perfetto *perfetto, uint32_t node)
{
    static struct frame frames[VIEW_FRAMES_MAX];
    struct interned *made = perfetto->made;
    size_t depth;

    if (perfetto->stacks[node] > 0)
        return perfetto->stacks[node];
    perfetto->stacks[node] = ++perfetto->stack_count;
    depth = view_frames(perfetto->view, node, frames);
    for (size_t i = 0; i < depth; ++i)
        made->ids[i] = frame_id(perfetto, &frames[depth - 1 - i]);
    perfetto__stack__init(&made->stack);
    made->stack.id = perfetto->stack_count;
    made->stack.n_frame = depth;
    made->stack.frame = made->ids;
    made->message.n_stack = 1;
    return perfetto->stack_count;
}

/* ---- samples */

static void put_sample(struct perfetto *perfetto, const struct sample *sample,
                       uint64_t time_ns, uint64_t counter)
{
    Perfetto__Packet packet = PERFETTO__PACKET__INIT;
    Perfetto__Sample message = PERFETTO__SAMPLE__INIT;

    message.cpu = perfetto->samples.tracks[sample->track].cpu;
    message.pid = PROCESS;
    message.tid = thread_of(sample->track);
    message.stack = stack_id(perfetto, sample->node);
    message.mode = MODE_GUEST_KERNEL;
    message.counter_ns = counter;
    packet.has_time_ns = true;
    packet.time_ns = time_ns;
    packet.sample = &message;
    if (perfetto->made->message.n_stack > 0)
        packet.interned = &perfetto->made->message;
    write_packet(perfetto, &packet, FLAG_NEEDS_STATE);
    if (packet.interned != NULL)
        forget_interned(perfetto->made);
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

static void take_sample(void *owner, const struct sample *sample)
{
    struct perfetto *perfetto = owner;
    uint64_t *counter = &perfetto->counters[sample->track];
    uint64_t ns = sample->count.clocks * MODEL_NS_PER_CLOCK;
    uint64_t end = sample->time * MODEL_NS_PER_CLOCK;
    uint64_t count = samples_to_write(perfetto, sample);
    uint64_t each = count > 0 ? ns / count : 0;

    for (uint64_t left = count; left-- > 0;) {
        uint64_t before = left * each;

        put_sample(perfetto, sample, end > before ? end - before : 0,
                   *counter + ns - before);
    }
    *counter += ns;
}

/* ---- tracks of objects */

static void sink_end(struct track_site *site, size_t at)
{
    for (;;) {
        size_t child = 2 * at + 1;
        struct track_end moved = site->heap[at];

        if (child >= site->count)
            return;
        if (child + 1 < site->count &&
            site->heap[child + 1].end < site->heap[child].end)
            ++child;
        if (site->heap[child].end >= moved.end)
            return;
        site->heap[at] = site->heap[child];
        site->heap[child] = moved;
        at = child;
    }
}

static void rise_end(struct track_site *site, size_t at)
{
    while (at > 0 && site->heap[(at - 1) / 2].end > site->heap[at].end) {
        struct track_end moved = site->heap[at];

        site->heap[at] = site->heap[(at - 1) / 2];
        site->heap[(at - 1) / 2] = moved;
        at = (at - 1) / 2;
    }
}

/* A track of site (number), free from (begin) to (end), and whether it or its
 * site is new; TRACKS_NONE: too many. Objects come by their begin. */
static uint32_t take_track(struct tracks *tracks, uint32_t number,
                           uint64_t begin, uint64_t end, bool *is_new,
                           bool *is_new_site)
{
    static const struct track_site none;
    uint32_t at = index_add_row(&tracks->keys, number, &tracks->sites, &none,
                                sizeof none);
    struct track_site *site = &tracks->sites[at];

    *is_new_site = site->count == 0;
    *is_new = site->count == 0 || site->heap[0].end > begin;
    if (!*is_new) {
        site->heap[0].end = end;
        number = site->heap[0].track;
        sink_end(site, 0);
        return number;
    }
    if (site->count == TRACKS_OF_SITE_MAX) {
        ++tracks->refused;
        *is_new = false;
        return TRACKS_NONE;
    }
    vector_reserve_one(&site->heap, site->count, sizeof *site->heap);
    site->heap[site->count] = (struct track_end){end, tracks->count};
    rise_end(site, site->count++);
    return tracks->count++;
}

static void free_tracks(struct tracks *tracks)
{
    for (uint32_t i = 0; i < tracks->keys.count; ++i)
        free(tracks->sites[i].heap);
    free(tracks->sites);
    index_free(&tracks->keys);
}

static void put_track(const struct perfetto *perfetto, uint64_t uuid,
                      uint64_t parent, const char *name, bool is_counter)
{
    Perfetto__Track track = PERFETTO__TRACK__INIT;
    Perfetto__Counter counter = PERFETTO__COUNTER__INIT;

    track.uuid = uuid;
    track.name = protobuf_text(name);
    if (is_counter)
        track.counter = &counter;
    write_track(perfetto, &track, parent);
    free(track.name);
}

static Perfetto__Event event_of(uint32_t type, uint64_t track, const char *name)
{
    Perfetto__Event event = PERFETTO__EVENT__INIT;

    event.type = type;
    event.track = track;
    if (name != NULL)
        event.name = protobuf_text(name);
    return event;
}

static void write_event(const struct perfetto *perfetto, uint64_t time,
                        Perfetto__Event event)
{
    Perfetto__Packet packet = PERFETTO__PACKET__INIT;

    packet.has_time_ns = true;
    packet.time_ns = (perfetto->tasks->begin + time) * MODEL_NS_PER_CLOCK;
    packet.event = &event;
    write_packet(perfetto, &packet, FLAG_NEEDS_STATE);
    free(event.name);
}

static void put_span(const struct perfetto *perfetto, uint64_t track,
                     struct story_span span, const char *name)
{
    write_event(perfetto, span.from, event_of(TYPE_SLICE_BEGIN, track, name));
    write_event(perfetto, span.to, event_of(TYPE_SLICE_END, track, NULL));
}

static void put_lane(void *owner, uint32_t lane, const char *name)
{
    put_track(owner, TRACK_OF_LANE + lane, PROCESS, name, false);
}

static void put_slice(void *owner, uint32_t lane, struct story_span span,
                      const char *name)
{
    put_span(owner, TRACK_OF_LANE + lane, span, name);
}

static void put_arrow(void *owner, struct story_point from,
                      struct story_point to, const char *kind)
{
    struct perfetto *perfetto = owner;
    Perfetto__Event begin =
        event_of(TYPE_INSTANT, TRACK_OF_LANE + from.lane, kind);
    Perfetto__Event end = event_of(TYPE_INSTANT, TRACK_OF_LANE + to.lane, kind);

    begin.has_flow = end.has_flow_end = true;
    begin.flow = end.flow_end = ++perfetto->flows;
    write_event(perfetto, from.time, begin);
    write_event(perfetto, to.time, end);
}

static void end_object(struct perfetto *perfetto)
{
    if (perfetto->track != 0)
        write_event(perfetto, perfetto->end,
                    event_of(TYPE_SLICE_END, perfetto->track, NULL));
    perfetto->track = 0;
}

static void put_object(void *owner, uint32_t number, struct story_span span,
                       const char *name)
{
    struct perfetto *perfetto = owner;
    const struct tasks_object *object = &perfetto->tasks->objects[number];
    const char *site = guest_names_text(&perfetto->tasks->names, object->site);
    bool is_new, is_new_site;
    uint32_t track;

    end_object(perfetto);
    track = take_track(&perfetto->tracks, object->site, span.from, span.to,
                       &is_new, &is_new_site);
    if (is_new_site)
        put_track(perfetto, TRACK_OF_SITE + object->site, PROCESS,
                  *site != '\0' ? site : "[site unknown]", false);
    if (track == TRACKS_NONE)
        return;
    perfetto->track = TRACK_OF_OBJECTS + track;
    perfetto->end = span.to;
    if (is_new)
        put_track(perfetto, perfetto->track, TRACK_OF_SITE + object->site, site,
                  false);
    write_event(perfetto, span.from,
                event_of(TYPE_SLICE_BEGIN, perfetto->track, name));
}

static void put_state(void *owner, uint32_t number, struct story_span span,
                      const char *name)
{
    const struct perfetto *perfetto = owner;

    (void)number;
    if (perfetto->track != 0)
        put_span(perfetto, perfetto->track, span, name);
}

static void put_counter(void *owner, uint32_t counter, uint64_t time,
                        int64_t value)
{
    struct perfetto *perfetto = owner;
    uint64_t track = TRACK_OF_COUNTER + counter;
    Perfetto__Event event = event_of(TYPE_COUNTER, track, NULL);
    bool is_new;

    index_add(&perfetto->task_counters, counter, &is_new);
    if (is_new)
        put_track(perfetto, track, PROCESS,
                  guest_names_text(&perfetto->tasks->names, counter), true);
    event.has_value = true;
    event.value = value;
    write_event(perfetto, time, event);
}

static void put_tasks(struct perfetto *perfetto)
{
    const struct story_sink sink = {perfetto,   put_lane,   put_slice,
                                    put_arrow,  put_object, put_state,
                                    put_counter};

    perfetto->tasks = view_tasks(perfetto->view);
    story_put(perfetto->view, perfetto->tasks, &sink);
    end_object(perfetto);
    if (perfetto->tracks.refused > 0)
        log_info("%" PRIu64 " objects are not in the file: there are more than "
                 "%u of one site at a time",
                 perfetto->tracks.refused, TRACKS_OF_SITE_MAX);
}

/* ---- the file */

static void close_all(struct perfetto *perfetto)
{
    free(perfetto->counters);
    free(perfetto->stacks);
    index_free(&perfetto->strings);
    strings_free(&perfetto->files);
    index_free(&perfetto->frames);
    free(perfetto->made);
    free_tracks(&perfetto->tracks);
    index_free(&perfetto->task_counters);
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
    perfetto.made = xreallocarray(NULL, 1, sizeof *perfetto.made);
    perfetto.made->text_count = 0;
    forget_interned(perfetto.made);
    put_defaults(&perfetto);
    put_process(&perfetto);
    for (uint32_t i = 0; i < perfetto.samples.track_count; ++i) {
        perfetto.counters[i] = 0;
        put_thread(&perfetto, i);
    }
    put_mapping(&perfetto);
    samples_each(&perfetto.samples, take_sample, &perfetto);
    put_tasks(&perfetto);
    if (perfetto.not_spread > 0)
        log_info("%" PRIu64 " samples are not in the file: of sums at most %u "
                 "are written one by one; all of their time is there",
                 perfetto.not_spread, SPREAD_MAX);
    close_all(&perfetto);
    return ferror(out) == 0;
}
