/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_TRACE_ENCODE_H
#define PROF_TRACE_ENCODE_H

/*
 * From records to events, for the stream and for dumps. Contexts: thread,
 * panic. Nothing is allocated.
 */

#include "stream/interning.h"
#include "trace/form.h"
#include "trace/recorder.h"

#include <prof/format.h>
#include <stdbool.h>
#include <stdint.h>

/* The packet that events go to. */
struct prof_trace_place {
    const struct prof_interning *interning; /* NULL: no room, and none soon */
    uint32_t sequence;
};

/* Where events go. */
struct prof_trace_sink {
    /* Makes room for (bytes) of events at (tsc), in a new packet if need be. */
    struct prof_trace_place (*room)(uint64_t tsc, uint32_t bytes);
    /* Puts an event, for which there is room. */
    bool (*put)(enum prof_event kind, uint64_t tsc, const void *fields,
                uint32_t bytes);
    /* Whether (tsc) is in reach of a brief form. */
    bool (*soon)(uint64_t tsc);
    /* Events that the reader has put, or marked as lost. */
    uint32_t (*passed)(void);
    uint32_t *notes; /* by name: what interning.h keeps, 0 at first */
    uint32_t number; /* which of two notes each stack has for it (stacks.h) */

    /* Written by the encoder. */
    struct prof_trace_bases bases; /* in this packet */
    uint32_t sequence;             /* of that */
    uint32_t current;              /* the last that was switched to */
    uint64_t bytes;                /* of all events so far */
};

/* Puts (record), which happened at (tsc), with the definitions that are due
 * before it. False: the sink has no room. */
bool prof_trace_encode(struct prof_trace_sink *sink, uint64_t tsc,
                       const struct prof_trace_record *record);

/* The same for a suspend with a stack. */
bool prof_trace_encode_stack(struct prof_trace_sink *sink, uint64_t tsc,
                             const struct prof_trace_record *record);

/* Room for (bytes) of events of one packet. In another packet than before, the
 * current object is put first. */
struct prof_trace_place prof_trace_encode_room(struct prof_trace_sink *sink,
                                               uint64_t tsc, uint32_t bytes);

/* Puts an event of (kind) with its (fields), with no names. */
bool prof_trace_encode_plain(struct prof_trace_sink *sink, enum prof_event kind,
                             uint64_t tsc, const void *fields, uint32_t bytes);

/* Puts RECORDED: how many events of objects there should be before it. */
bool prof_trace_encode_count(struct prof_trace_sink *sink, uint64_t tsc);

/* Puts the definition of name (number), if it is due. */
bool prof_trace_encode_name(struct prof_trace_sink *sink, uint64_t tsc,
                            uint32_t number);

#endif
