/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRACE_SAID_H
#define TRACE_SAID_H

#include "trace_world.h"

#include <stdio.h>

/* Events as text, one a line. */
static char said[1 << 20];
static size_t said_bytes;
static uint64_t last_time;

static char *add_text(const char *name)
{
    char *to = said + said_bytes;

    assert_true(said_bytes < sizeof said - 500);
    return to + sprintf(to, "%s ", name);
}

/* Those with more than one number. */
static void say_more(const struct event *event, char *to)
{
    switch (event->kind) {
    case PROF_EVENT_CREATE:
        sprintf(to, "%u kind %u site %u", event->as_create.object,
                event->as_create.object_kind, event->as_create.site);
        break;
    case PROF_EVENT_NAME:
        sprintf(to, "%u %s", event->as_name.number, event->as_name.text);
        break;
    case PROF_EVENT_SITE:
        sprintf(to, "%u %s", event->as_site.number, event->as_site.text);
        break;
    case PROF_EVENT_COUNTER:
        sprintf(to, "%u %lld", event->as_counter.counter,
                (long long)event->as_counter.value);
        break;
    case PROF_EVENT_PAUSE:
        sprintf(to, "%u %u", event->as_pause.why, event->as_pause.clocks);
        break;
    case PROF_EVENT_FAIL:
    case PROF_EVENT_LABEL:
        sprintf(to, "%u %u", event->as_fail.object, event->as_fail.why);
        break;
    case PROF_EVENT_DEFER:
        sprintf(to, "%u %u", event->as_defer.object, event->as_defer.vector);
        break;
    case PROF_EVENT_BECOME:
    case PROF_EVENT_SIGNAL:
    case PROF_EVENT_WAKE:
    case PROF_EVENT_AWAIT:
        sprintf(to, "%u %u", event->as_wake.object, event->as_wake.by);
        break;
    default: /* ALIVE */
        sprintf(to, "%u of %u kind %u ended %u site %u label %u",
                event->as_alive.object, event->as_alive.creator,
                event->as_alive.object_kind, event->as_alive.ended,
                event->as_alive.site, event->as_alive.label);
        break;
    }
}

static void say(const struct event *event)
{
    char *to;

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
        break;
    }
    to = add_text(event_name(event->kind));
    switch (event->kind) {
    case PROF_EVENT_HISTORY:
        break;
    case PROF_EVENT_IRQ_ENTER:
    case PROF_EVENT_IRQ_EXIT:
        sprintf(to, "%u", event->as_irq_enter.vector);
        break;
    case PROF_EVENT_SUSPEND:
        sprintf(to, "%u", event->as_suspend.why);
        break;
    case PROF_EVENT_SWITCH:
    case PROF_EVENT_READ:
    case PROF_EVENT_TRY_READ:
    case PROF_EVENT_RESOLVE:
    case PROF_EVENT_CANCEL:
    case PROF_EVENT_GONE:
    case PROF_EVENT_SEND:
    case PROF_EVENT_RECEIVE:
    case PROF_EVENT_LOST:
    case PROF_EVENT_BYE:
        sprintf(to, "%u", event->as_read.source);
        break;
    default:
        say_more(event, to);
        break;
    }
    strcat(to, "\n");
    said_bytes += strlen(said + said_bytes);
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
    prof_stream_push(prof_cpu_here());
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
