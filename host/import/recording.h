/* SPDX-License-Identifier: Apache-2.0 */
#ifndef IMPORT_RECORDING_H
#define IMPORT_RECORDING_H

/*
 * What another recorder saw, as a guest of ours would have reported it. Others
 * name objects by numbers of 64 bits, mention some that they never created, say
 * with each event who does it, and go on to name an object that has become
 * another one. All calls take that.
 *
 * An object that is mentioned before its creation is one from before the trace.
 * What happens to an object after its end is left out, except that it may run.
 */

#include "base/index.h"

#include <prof/format.h>
#include <prof/trace.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Writes packets as a guest does (<prof/format.h>), to memory. One packet is in
 * the making; it ends where it is full, or where the CPU changes, so that
 * packets in the order of their begin have the events in their order. */

#define STREAM_CPUS 256u

/* Starts as zeros. */
struct stream {
    uint8_t *bytes;
    size_t count;
    size_t room;
    size_t packet;  /* where the one in the making begins; count = none */
    uint64_t time;  /* clocks, of the last event; it never goes back */
    uint64_t begin; /* of the packet */
    uint16_t cpu;
    uint32_t sequences[STREAM_CPUS]; /* of each CPU's next packet */
    struct strings names;            /* that are defined, by their numbers */
};

/* The events that follow happen on (cpu) at (time). */
void stream_at(struct stream *stream, uint64_t time, uint16_t cpu);

/* Puts an event with (bytes) bytes of fields, at most 255. */
void stream_put(struct stream *stream, enum prof_event kind, const void *fields,
                size_t bytes);

/* The number of a name of (bytes) bytes, which is defined if it is new: up to
 * its first NUL, and to 250 bytes. 0 if it is empty, or there are too many. */
uint16_t stream_name(struct stream *stream, const void *text, size_t bytes);

/* Ends the last packet, and frees all but (bytes). */
void stream_end(struct stream *stream);

#define RECORDING_LOOP 0u         /* the event loop, as an object */
#define RECORDING_NONE UINT32_MAX /* no object */

struct recording_object {
    uint32_t becomes; /* another one, RECORDING_NONE = it does not */
    uint32_t scope;   /* the innermost one that it is in, RECORDING_NONE */
    uint32_t outer;   /* of a scope: the one that it is in */
    bool ended;
};

/* Starts as zeros, then recording_begin(). */
struct recording {
    struct stream stream;
    uint64_t events;
    struct recording_object *objects;
    struct index keys;             /* of objects */
    uint32_t current[STREAM_CPUS]; /* objects */
    bool left[STREAM_CPUS];        /* it was suspended */
};

void recording_begin(struct recording *recording);

/* Passes on the packets, and frees the rest. */
void recording_end(struct recording *recording, uint8_t **bytes, size_t *count);

/* The events that follow happen on (cpu) at (time), in clocks. */
void recording_at(struct recording *recording, uint64_t time, uint16_t cpu);

/* The object that the recorder calls (key), after all that it became; the event
 * loop if that is RECORDING_LOOP_KEY, or if there are too many. */
#define RECORDING_LOOP_KEY UINT64_MAX
uint32_t recording_object(struct recording *recording, uint64_t key);

/* The current object creates one; nothing if (key) is known. */
void recording_create(struct recording *recording, uint64_t key,
                      enum prof_trace_kind kind);

/* (object) runs from now on; the one before waits. */
void recording_run(struct recording *recording, uint32_t object);

/* The same, and the one before goes on when it returns. */
void recording_start(struct recording *recording, uint32_t object);

/* The current object waits, for the reason (why). */
void recording_suspend(struct recording *recording, uint16_t why);

/* The event loop has nothing to do. */
void recording_idle(struct recording *recording, uint16_t why);

/* (object) looks at (source), and must wait or has a result. It runs for it, if
 * it does not, but for no time. */
void recording_read(struct recording *recording, uint32_t object,
                    uint32_t source, bool must_wait);

/* The current object does it. */
void recording_resolve(struct recording *recording, uint32_t object);
void recording_fail(struct recording *recording, uint32_t object, uint16_t why);
void recording_become(struct recording *recording, uint32_t object,
                      uint32_t other);
void recording_signal(struct recording *recording, uint32_t source,
                      uint32_t object);

void recording_label(struct recording *recording, uint32_t object,
                     uint16_t label);
void recording_counter(struct recording *recording, uint16_t counter,
                       int64_t value);

/* Nothing else ran for (clocks) until now. */
void recording_pause(struct recording *recording, uint16_t why,
                     uint64_t clocks);

/* Events are missing here. */
void recording_lose(struct recording *recording);

/* The readers: whether the (count) bytes are theirs, and reading them, which
 * returns how many bytes made no sense. */

bool mirage_is(const uint8_t *bytes, size_t count);
uint64_t mirage_read(struct recording *recording, const uint8_t *bytes,
                     size_t count);

bool eio_is(const uint8_t *bytes, size_t count);
uint64_t eio_read(struct recording *recording, const uint8_t *bytes,
                  size_t count);

#endif
