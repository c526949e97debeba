/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TIMELINE_TIMELINE_H
#define TIMELINE_TIMELINE_H

/*
 * The objects of one or more traces on one axis of time. docs/timeline.md
 * describes the page and its payload.
 */

#include "base/index.h"
#include "flame/flame.h"
#include "page/columns.h"
#include "profile/view.h"
#include "tasks/tasks.h"
#include "timeline/parts.h"

#include <stdbool.h>
#include <stdio.h>

/* The functions in which tasks were suspended, of all traces that have them, as
 * one tree for the page: nodes, a function and its caller, count from 1. */

struct waits_node {
    uint32_t parent;
    uint32_t function; /* a name */
};

/* Starts as zeros. */
struct waits {
    struct strings names;
    struct index nodes;      /* of (caller's node, name) */
    struct index stacks;     /* of (trace, the guest's node) */
    struct waits_node *tree; /* in the order of their numbers */
    uint32_t *leaves;        /* the node of each stack */
};

/* Adds the stacks of the waits of trace number (trace), whose names are those
 * of (view), which is open. */
void waits_add(struct waits *waits, size_t trace, const struct tasks *tasks,
               struct view *view);

/* The node at which the wait (stretch) of that trace began, 0 = not known. */
uint32_t waits_of(const struct waits *waits, size_t trace,
                  const struct tasks_stretch *stretch);

/* The columns of the tree. */
void waits_put(const struct waits *waits, struct columns *columns);

void waits_free(struct waits *waits);

#define TIMELINE_TRACES_MAX 16u

/* How a trace was aligned with the first one. */
enum timeline_how { TIMELINE_AS_IS, TIMELINE_UTC, TIMELINE_PACKETS };

struct timeline_trace {
    const char *name;
    struct tasks tasks;
    struct timeline_parts parts; /* when finished */
    struct view *view;           /* its samples; NULL = they are not wanted */
    int64_t moved;               /* clocks: what the user says to add */
    int64_t shift;         /* clocks: added to its times to have common ones */
    enum timeline_how how; /* that was found */
    uint64_t packets;      /* PACKETS: so many */
    double error;          /* clocks, each way */
    double rate;           /* its clock was too slow by this part */
};

/* A packet from one trace to another: numbers of traces, and of messages in
 * their tasks. */
struct timeline_packet {
    size_t from;
    size_t to;
    uint32_t sent;
    uint32_t received;
};

/* Starts as zeros, or with (has_views): then traces are read with samples, and
 * the names of their views are still to be opened. */
struct timeline {
    bool has_views;
    struct timeline_trace *traces;
    size_t count;
    /* clocks, common, modulo 2^64: of the first event, and of the last */
    uint64_t begin;
    uint64_t end;
    struct timeline_packet *packets; /* between traces aligned by them */
    size_t packet_count;
    const char *title;
    struct waits waits;
    const struct flame *samples; /* of the first trace, finished; NULL = none */
};

/* Adds the trace at (path), which has the name (name). Ends the process if it
 * is no trace. Returns whether it has objects. */
bool timeline_add(struct timeline *timeline, const char *path,
                  const char *name);

/* After the last trace: makes the clocks one (clocks.h), and finds packets. */
void timeline_finish(struct timeline *timeline);

void timeline_free(struct timeline *timeline);

/* Clocks since the first event. */
struct svg_range {
    uint64_t from;
    uint64_t to; /* UINT64_MAX: to the end */
};

/* A picture that is drawn several times. */
struct timeline_drawing;
struct timeline_drawing *timeline_drawing_open(const struct timeline *timeline);
void timeline_drawing_close(struct timeline_drawing *drawing);

/* For page_picture_draw(), of a drawing: half as much of the time with each
 * (step). */
bool timeline_draw_less(void *owner, unsigned step, FILE *out, char *about,
                        size_t room);

/* Write the page, or a picture of (range) with the traces below each other.
 * Return whether all of it was written. */
bool timeline_write_page(const struct timeline *timeline, FILE *out);
bool timeline_write_svg(const struct timeline *timeline,
                        const struct svg_range *range, FILE *out);

#endif
