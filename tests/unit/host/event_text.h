/* SPDX-License-Identifier: Apache-2.0 */
#ifndef EVENT_TEXT_H
#define EVENT_TEXT_H

/* An event that was read, as text: its name and its fields, in the order of
 * <prof/events.def>, but for lines of source, which change. */

#include "trace/event.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static inline int text_number(char *to, uint64_t number)
{
    return sprintf(to, " %" PRId64, (int64_t)number);
}

static inline int text_word(char *to, const char *word)
{
    return sprintf(to, " %s", word);
}

#define TEXT_uint8 text_number
#define TEXT_name8 text_number
#define TEXT_tiny text_number
#define TEXT_object_kind text_number
#define TEXT_uint16 text_number
#define TEXT_int16(to, number) text_number(to, (uint64_t)(number))
#define TEXT_near text_number
#define TEXT_walk_stop text_number
#define TEXT_uint32 text_number
#define TEXT_uint64 text_number
#define TEXT_int64(to, number) text_number(to, (uint64_t)(number))
#define TEXT_address text_number
#define TEXT_clock text_number
#define TEXT_text text_word
#define TEXT_bytes32(to, bytes) text_word(to, (bytes)[0] == 0 ? "" : "bytes")

/* Writes it to (to), where there is room for all of it. */
static inline void event_text(const struct event *event, char *to)
{
    to += sprintf(to, "%s", event_name(event->kind));
    switch (event->kind) {
    case PROF_EVENT_SAMPLE:
        text_number(to, event->node);
        break;
    case PROF_EVENT_NODE:
    case PROF_EVENT_LEAF:
        sprintf(to, " %u %u %#" PRIx64, event->node, event->parent,
                event->address);
        break;
#define PROF_EVENT(NAME, name, kind, meaning, fields)                          \
    case PROF_EVENT_##NAME: {                                                  \
        const struct event_##name *it = &event->as_##name;                     \
        fields break;                                                          \
    }
#define PROF_FIELD(type, name, meaning)                                        \
    if (strcmp(#name, "line") != 0)                                            \
        to += TEXT_##type(to, it->name);
#include <prof/events.def>
    default: /* no fields */
        break;
    }
}

#endif
