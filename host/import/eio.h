/* SPDX-License-Identifier: Apache-2.0 */
#ifndef IMPORT_EIO_H
#define IMPORT_EIO_H

/*
 * What eio-trace says in records of the Fuchsia trace format. Each ring, which
 * is a domain of OCaml, is a CPU here. The rings' events come one ring after
 * the other, so all are collected, and put in order of time at the end.
 */

#include "import/recording.h"

struct eio_text {
    const char *text;
    size_t bytes;
};

/* One event, decoded. */
struct eio_event {
    uint64_t time;   /* clocks */
    uint64_t thread; /* kernel object: a ring's or a fiber's */
    uint8_t type; /* of the Fuchsia trace format: 0 instant, 2 begin, 3 end */
    struct eio_text category;
    struct eio_text name;
    uint64_t id;             /* an argument, 0 = it is not there */
    struct eio_text message; /* or a context's type */
};

struct eio_act;

/* Starts as zeros. */
struct eio {
    struct eio_act *acts;
    size_t count;
    struct index fibers; /* by id */
    uint16_t *cpus;      /* of each fiber: where it ran last */
    struct strings texts;
    uint32_t depths[STREAM_CPUS]; /* of the collector's phases, nested */
    uint64_t begins[STREAM_CPUS];
    uint64_t time; /* of the last event */
    uint16_t cpu;
};

void eio_take(struct eio *eio, const struct eio_event *event);

/* The fiber (id) runs from now on. */
void eio_wake(struct eio *eio, uint64_t time, uint64_t cpu, uint64_t id);

/* The object (id) has a name. */
void eio_name(struct eio *eio, uint64_t id, struct eio_text name);

/* Emits to (recording) all that was taken, and frees it. */
void eio_finish(struct eio *eio, struct recording *recording);

#endif
