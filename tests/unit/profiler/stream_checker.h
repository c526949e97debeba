/* SPDX-License-Identifier: Apache-2.0 */
#ifndef STREAM_CHECKER_H
#define STREAM_CHECKER_H

/*
 * A way out that keeps packets, and every event of them, as the host reads it,
 * for a test to look at. (That the host's reader is right is tested with
 * packets that are not the guest's, host/stream_maker.h.)
 */

#include "../host/event_text.h"

#include <prof/transport.h>
#include <stdlib.h>
#include <string.h>

#define KEPT_MAX 4096u
#define EVENTS_MAX (1u << 20)
#define NODES_MAX (1u << 17)

static struct kept {
    size_t bytes;
    uint8_t data[PROF_PACKET_DEFAULT];
} kept[KEPT_MAX];
static unsigned kept_count;
static unsigned kept_refuse; /* this many are refused from now on */
static unsigned kept_asked;  /* times that a packet was offered */

static struct seen {
    struct event event;
    unsigned packet;
    unsigned bytes; /* the form that was chosen */
} seen[EVENTS_MAX];
static unsigned seen_count;

static struct {
    uint32_t parent;
    uint64_t address;
    unsigned defined; /* times */
} known[NODES_MAX];

static bool keep_open(void)
{
    return true;
}

static bool keep(const void *packet, size_t bytes)
{
    kept_asked++;
    if (kept_refuse > 0) {
        kept_refuse--;
        return false;
    }
    assert_true(kept_count < KEPT_MAX && bytes <= PROF_PACKET_DEFAULT);
    memcpy(kept[kept_count].data, packet, bytes);
    kept[kept_count++].bytes = bytes;
    return true;
}

static const struct prof_transport keeper = {
    .name = "keeper",
    .open = keep_open,
    .send = keep,
};

static void know(const struct event *node)
{
    assert_true(node->node < NODES_MAX);
    if (known[node->node].defined++ > 0) {
        assert_int_equal(known[node->node].parent, node->parent);
        assert_true(known[node->node].address == node->address);
    }
    known[node->node].parent = node->parent;
    known[node->node].address = node->address;
}

static void see_packet(unsigned number)
{
    struct event_reader reader;
    struct packet packet;
    uint64_t clock;

    assert_int_equal(
        packet_check(kept[number].data, kept[number].bytes, &packet),
        PACKET_GOOD);
    assert_int_equal(packet.version, PROF_FORMAT_VERSION);
    assert_true(packet.total_bytes == kept[number].bytes &&
                packet.total_bytes % 8 == 0 && packet.events_bytes > 0 &&
                packet.total_bytes - packet.events_bytes - PROF_PACKET_BYTES <
                    8);
    assert_true(packet.begin <= packet.end);
    clock = packet.begin;
    event_begin(&reader, &packet);
    for (;;) {
        struct seen *next = &seen[seen_count];
        const uint8_t *before = reader.at;

        assert_true(seen_count < EVENTS_MAX);
        if (!event_next(&reader, &next->event))
            break;
        next->packet = number;
        next->bytes = (unsigned)(reader.at - before);
        if (next->event.kind == PROF_EVENT_NODE ||
            next->event.kind == PROF_EVENT_LEAF)
            know(&next->event);
        if (next->event.kind != PROF_EVENT_NODE)
            clock = next->event.time;
        if (next->event.kind == PROF_EVENT_CLOCK)
            assert_true(next->event.as_clock.now == clock);
        seen_count++;
    }
    assert_true(event_all(&reader) && clock == packet.end);
}

/* Reads the packets numbered [first, end). */
static inline void see_from(unsigned first, unsigned end)
{
    seen_count = 0;
    memset(known, 0, sizeof known);
    for (unsigned i = first; i < end; i++)
        see_packet(i);
}

/* Reads all that was kept, but for packet number (lost). */
static inline void see_all_but(unsigned lost)
{
    seen_count = 0;
    memset(known, 0, sizeof known);
    for (unsigned i = 0; i < kept_count; i++)
        if (i != lost)
            see_packet(i);
}

static inline void see_all(void)
{
    see_from(0, kept_count);
}

/* Event number (number) of kind (kind), counted from 0; NULL where none is. */
static inline const struct event *nth(enum prof_event kind, unsigned number)
{
    for (unsigned i = 0; i < seen_count; i++)
        if (seen[i].event.kind == kind && number-- == 0)
            return &seen[i].event;
    return NULL;
}

/* Whether it is a sample of a stack. */
static bool is_sample(const struct seen *it)
{
    return it->event.kind == PROF_EVENT_SAMPLE ||
           it->event.kind == PROF_EVENT_LEAF;
}

/* Sample number (number), counted from 0; NULL where none is. */
static inline const struct seen *nth_sample(unsigned number)
{
    for (unsigned i = 0; i < seen_count; i++)
        if (is_sample(&seen[i]) && number-- == 0)
            return &seen[i];
    return NULL;
}

static inline unsigned count_of_samples(void)
{
    unsigned count = 0;

    for (unsigned i = 0; i < seen_count; i++)
        count += is_sample(&seen[i]);
    return count;
}

static inline unsigned count_of(enum prof_event kind)
{
    unsigned count = 0;

    for (unsigned i = 0; i < seen_count; i++)
        count += seen[i].event.kind == kind;
    return count;
}

/* The events from number (first) on as text, each after its time; but for
 * nodes, which are in (known). */
static inline const char *all_seen(unsigned first)
{
    static char text[4096];
    size_t used = 0;

    for (unsigned i = first; i < seen_count && used < 3500; i++) {
        if (seen[i].event.kind == PROF_EVENT_NODE)
            continue;
        used +=
            (size_t)sprintf(text + used, "%u ", (unsigned)seen[i].event.time);
        event_text(&seen[i].event, text + used);
        used += strlen(strcat(text + used, "\n"));
    }
    return text;
}

#endif
