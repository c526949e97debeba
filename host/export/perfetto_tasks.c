/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Objects in Perfetto's format: track events. Lanes of CPUs are tracks, and so
 * are sites, whose objects share tracks below them where they do not overlap.
 * An arrow is a flow between two instants, which lie in the slices of its ends.
 */

#include "export/perfetto_tasks.h"

#include "base/log.h"
#include "export/perfetto.h"
#include "export/protobuf.h"
#include "export/story.h"
#include "export/tracks.h"

#include <inttypes.h>
#include <prof/format.h>

#define NS_PER_CLOCK (1000000000u / PROF_CLOCK_HZ)

/* Tracks by what they are of. */
#define TRACK_OF_LANE (1ull << 32)
#define TRACK_OF_COUNTER (2ull << 32)
#define TRACK_OF_SITE (3ull << 32)
#define TRACK_OF_OBJECTS (4ull << 32)

struct perfetto_tasks {
    FILE *out;
    const struct tasks *tasks;
    uint32_t sequence;
    uint64_t parent;
    uint64_t flows;
    struct tracks tracks;
    struct index counters; /* that have a track */
    uint64_t track;        /* of the last object, 0 = none */
    uint64_t end;          /* of it */
    struct message packet;
    struct message message;
    struct message inner;
};

static void end_packet(struct perfetto_tasks *perfetto)
{
    message_number(&perfetto->packet, PACKET_SEQUENCE, perfetto->sequence);
    message_number(&perfetto->packet, PACKET_FLAGS, FLAG_NEEDS_STATE);
    message_write(perfetto->out, TRACE_PACKET, &perfetto->packet);
}

static void put_track(struct perfetto_tasks *perfetto, uint64_t track,
                      uint64_t parent, const char *name, bool is_counter)
{
    struct message *message = &perfetto->message;

    message_number(message, TRACK_UUID, track);
    message_text(message, TRACK_NAME, name);
    message_number(message, TRACK_PARENT, parent);
    if (is_counter)
        message_put(message, TRACK_COUNTER, &perfetto->inner);
    message_put(&perfetto->packet, PACKET_TRACK, message);
    end_packet(perfetto);
}

/* Starts an event in perfetto->message; put_event() ends it. */
static void begin_event(struct perfetto_tasks *perfetto, uint64_t type,
                        uint64_t track, const char *name)
{
    message_number(&perfetto->message, EVENT_TYPE, type);
    message_number(&perfetto->message, EVENT_TRACK, track);
    if (name != NULL)
        message_text(&perfetto->message, EVENT_NAME, name);
}

static void put_event(struct perfetto_tasks *perfetto, uint64_t time)
{
    uint64_t clocks = perfetto->tasks->begin + time;

    message_number(&perfetto->packet, PACKET_TIME, clocks * NS_PER_CLOCK);
    message_put(&perfetto->packet, PACKET_EVENT, &perfetto->message);
    end_packet(perfetto);
}

static void put_span(struct perfetto_tasks *perfetto, uint64_t track,
                     struct story_span span, const char *name)
{
    begin_event(perfetto, TYPE_SLICE_BEGIN, track, name);
    put_event(perfetto, span.from);
    begin_event(perfetto, TYPE_SLICE_END, track, NULL);
    put_event(perfetto, span.to);
}

static void put_lane(void *owner, uint32_t lane, const char *name)
{
    struct perfetto_tasks *perfetto = owner;

    put_track(perfetto, TRACK_OF_LANE + lane, perfetto->parent, name, false);
}

static void put_slice(void *owner, uint32_t lane, struct story_span span,
                      const char *name)
{
    put_span(owner, TRACK_OF_LANE + lane, span, name);
}

static void put_arrow(void *owner, struct story_point from,
                      struct story_point to, const char *kind)
{
    struct perfetto_tasks *perfetto = owner;

    ++perfetto->flows;
    begin_event(perfetto, TYPE_INSTANT, TRACK_OF_LANE + from.lane, kind);
    message_fixed(&perfetto->message, EVENT_FLOW, perfetto->flows);
    put_event(perfetto, from.time);
    begin_event(perfetto, TYPE_INSTANT, TRACK_OF_LANE + to.lane, kind);
    message_fixed(&perfetto->message, EVENT_FLOW_END, perfetto->flows);
    put_event(perfetto, to.time);
}

static void end_object(struct perfetto_tasks *perfetto)
{
    if (perfetto->track == 0)
        return;
    begin_event(perfetto, TYPE_SLICE_END, perfetto->track, NULL);
    put_event(perfetto, perfetto->end);
    perfetto->track = 0;
}

static void put_site(struct perfetto_tasks *perfetto,
                     const struct tasks_object *object)
{
    const char *site = guest_names_text(&perfetto->tasks->names, object->site);

    put_track(perfetto, TRACK_OF_SITE + object->site, perfetto->parent,
              *site != '\0' ? site : "[site unknown]", false);
}

static void put_object(void *owner, uint32_t number, struct story_span span,
                       const char *name)
{
    struct perfetto_tasks *perfetto = owner;
    const struct tasks_object *object = &perfetto->tasks->objects[number];
    bool is_new, is_new_site;
    uint32_t track;

    end_object(perfetto);
    track = tracks_take(&perfetto->tracks, object->site, span.from, span.to,
                        &is_new, &is_new_site);
    if (is_new_site)
        put_site(perfetto, object);
    if (track == TRACKS_NONE)
        return;
    perfetto->track = TRACK_OF_OBJECTS + track;
    perfetto->end = span.to;
    if (is_new)
        put_track(perfetto, perfetto->track, TRACK_OF_SITE + object->site,
                  guest_names_text(&perfetto->tasks->names, object->site),
                  false);
    begin_event(perfetto, TYPE_SLICE_BEGIN, perfetto->track, name);
    put_event(perfetto, span.from);
}

static void put_state(void *owner, uint32_t number, struct story_span span,
                      const char *name)
{
    struct perfetto_tasks *perfetto = owner;

    (void)number;
    if (perfetto->track != 0)
        put_span(perfetto, perfetto->track, span, name);
}

static void put_counter(void *owner, uint32_t counter, uint64_t time,
                        int64_t value)
{
    struct perfetto_tasks *perfetto = owner;
    uint64_t track = TRACK_OF_COUNTER + counter;
    bool is_new;

    index_add(&perfetto->counters, counter, &is_new);
    if (is_new)
        put_track(perfetto, track, perfetto->parent,
                  guest_names_text(&perfetto->tasks->names, counter), true);
    begin_event(perfetto, TYPE_COUNTER, track, NULL);
    message_number(&perfetto->message, EVENT_COUNTER, (uint64_t)value);
    put_event(perfetto, time);
}

void perfetto_put_tasks(FILE *out, struct view *view, uint32_t sequence,
                        uint64_t parent)
{
    struct tasks tasks = {0};
    struct perfetto_tasks perfetto = {
        .out = out, .tasks = &tasks, .sequence = sequence, .parent = parent};
    struct story_sink sink = {&perfetto,  put_lane,  put_slice,  put_arrow,
                              put_object, put_state, put_counter};

    tasks_read(&tasks, &view->trace);
    story_put(view, &tasks, &sink);
    end_object(&perfetto);
    if (perfetto.tracks.refused > 0)
        log_info("%" PRIu64 " objects are not in the file: there are more than "
                 "%u of one site at a time",
                 perfetto.tracks.refused, TRACKS_OF_SITE_MAX);
    tracks_free(&perfetto.tracks);
    index_free(&perfetto.counters);
    message_free(&perfetto.packet);
    message_free(&perfetto.message);
    message_free(&perfetto.inner);
    tasks_free(&tasks);
}
