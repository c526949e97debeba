/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRACE_SAID_H
#define TRACE_SAID_H

#include "trace_world.h"

/* Events as text, one a line. */
static char said[1 << 20];
static size_t said_bytes;
static uint64_t last_time;

/* Adds (event), unless it is one that the stream itself needs. */
static void say(const struct event *event)
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
