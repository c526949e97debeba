/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRACE_WORLD_H
#define TRACE_WORLD_H

/*
 * A recorder of its own for each test, and a stream whose packets are kept and
 * read back with the host's decoder.
 */

#include "stream_world.h"
#include "trace/names.h"
#include "trace/objects.h"
#include "trace/reader.h"
#include "trace/send.h"

#include <prof/error.h>
#include <prof/trace.h>
#include <stdlib.h>

static void *trace_memory;

/* A recorder of (bytes), in (mode). */
static inline void trace_open(size_t bytes, enum prof_trace_mode mode)
{
    memset(prof_trace_cpus, 0, sizeof prof_trace_cpus);
    prof_trace_cpus[0].objects.next = 0;
    trace_memory = malloc(bytes);
    assert_int_equal(prof_trace_open(trace_memory, bytes), PROF_OK);
    assert_int_equal(prof_trace_set_mode(mode), PROF_OK);
}

static inline void trace_close(void)
{
    if (prof_trace_cpus[0].records != NULL)
        (void)prof_trace_set_mode(PROF_TRACE_OFF);
    free(trace_memory);
    trace_memory = NULL;
    prof_trace_cpus[0].records = NULL;
}

static inline struct prof_trace_stats stats(void)
{
    struct prof_trace_stats now;

    prof_trace_stats(&now);
    return now;
}

/* Calls (take) for each event in the packets of (cpu) that were kept. */
static inline void trace_each(uint16_t cpu,
                              void (*take)(const struct event *event))
{
    struct event_reader reader;
    struct packet found;
    struct event event;

    for (unsigned i = 0; i < kept_count; i++) {
        assert_int_equal(packet_check(kept[i].data, kept[i].bytes, &found),
                         PACKET_GOOD);
        if (found.cpu != cpu)
            continue;
        event_begin(&reader, &found);
        while (event_next(&reader, &event))
            take(&event);
        assert_true(reader.at == reader.end);
    }
}

/* Events as text, one a line. */
static char said[1 << 20];
static size_t said_bytes;
static uint64_t last_time;

/* Adds (event), unless it is one that the stream itself needs. */
static inline void say(const struct event *event)
{
    char *to = said + said_bytes;

    assert_true(said_bytes < sizeof said - 500);
    assert_true(event->time >= last_time);
    last_time = event->time;
    switch (event->kind) {
    case PROF_EVENT_HELLO:
    case PROF_EVENT_CLOCK:
    case PROF_EVENT_RECORDED:
    case PROF_EVENT_OBJECTS:
    case PROF_EVENT_RECENT:
    case PROF_EVENT_START:
    case PROF_EVENT_STOP:
        return;
    default:
        event_text(event, to);
        strcat(to, "\n");
        said_bytes += strlen(to);
    }
}

static inline const char *all_said(uint16_t cpu)
{
    said_bytes = 0;
    last_time = 0;
    said[0] = '\0';
    trace_each(cpu, say);
    return said;
}

/* Everything is drained and sent. */
static inline const char *sent(void)
{
    prof_trace_flush();
    prof_stream_push();
    return all_said(0);
}

static inline void said_begins(const char *text)
{
    assert_memory_equal(said, text, strlen(text));
}

static inline unsigned lines_with(const char *text)
{
    unsigned count = 0;

    for (const char *at = said; (at = strstr(at, text)) != NULL; at++)
        count++;
    return count;
}

#endif
