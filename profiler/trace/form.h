/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_TRACE_FORM_H
#define PROF_TRACE_FORM_H

/*
 * The frequent events have up to three forms. The wide one has any object. The
 * near one has 16 bits for it, and is used where its number is not far from
 * those of the others in the packet. The brief one has 8 bits for an object
 * that was created recently, and 16 of the time, which must not be long after
 * the event before. Contexts: thread, panic.
 */

#include "trace/recorder.h"

#include <prof/format.h>
#include <stdbool.h>
#include <stdint.h>

/* What the numbers of objects count from, in a packet. */
struct prof_trace_bases {
    bool has_near; /* OBJECTS was put: */
    bool has_tiny; /* RECENT was put: */
    uint32_t near;
    uint32_t tiny;
};

/* An event in the making. */
struct prof_trace_made {
    enum prof_event kind;
    uint32_t bytes;
    uint8_t fields[24];
};

/* Whether (record) is of a kind that has a form. */
bool prof_trace_form_exists(const struct prof_trace_record *record);

/* What must be put before (record), where its time is in reach of a brief form
 * if (soon): PROF_EVENT_RECENT or OBJECTS, with what there is to count from
 * then in (*bases); 0: nothing. */
uint32_t prof_trace_form_base(struct prof_trace_bases *bases,
                              const struct prof_trace_record *record,
                              bool soon);

/* Makes the event, in the shortest form. */
void prof_trace_form_make(struct prof_trace_made *made,
                          const struct prof_trace_bases *bases,
                          const struct prof_trace_record *record, bool soon);

#endif
