/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COLLECT_COLLECTOR_H
#define COLLECT_COLLECTOR_H

/*
 * Many guests' streams at once: from sockets at which guests, or what sends for
 * them, connect; from targets as `parasite record` knows them, which are opened
 * again and again; and from the RAM of guests, which is found by patterns. Each
 * packet is decoded once, added up (rollup.h), passed on to live readers, and
 * kept for a while if that is asked for.
 *
 * One thread does all of it, but for connecting to targets, which may take
 * long, and for what sends batches to the store (store/client.h).
 *
 * Who connects may say in a first line what the connection is for:
 *
 *     parasite send [token=T] [service=S]     a guest's stream follows
 *     parasite read [token=T] guest=NAME      wants one, and sends commands
 *     parasite list [token=T]                 JSON of all guests, then the end
 *     parasite capture [token=T] service=S [guests=NAME,NAME] [begin=UNIX]
 *         [seconds=N] [rate=HZ] [tasks=1] [bytes=N]
 *                                             then a line of JSON a guest
 *     parasite captured [token=T] capture=NAME boot=UUID
 *                                             wants what was captured of one
 *
 * Any other first bytes are a guest's stream. `read`, `capture` and `captured`
 * are answered by a line first, "ok..." or "error: ...". With tokens, each
 * connection by TCP needs one; it says which service may be sent, or all.
 */

#include "store/client.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct push_queue;

struct collector_source {
    enum collector_way {
        COLLECTOR_LISTEN, /* unix:PATH or tcp:HOST:PORT */
        COLLECTOR_TARGET, /* to connect to */
        COLLECTOR_SCAN,   /* shm:PATTERN */
    } way;
    const char *service; /* NULL = none */
    const char *where;
};

struct collector_token {
    char *text;
    char *service; /* NULL = any */
};

struct collector_budget {
    const char *service;
    double per_hour; /* samples of all its guests */
};

/* Zeros are the defaults. */
struct collector_options {
    struct collector_source *sources;
    size_t source_count;
    struct collector_token *tokens;
    size_t token_count;
    struct collector_budget *budgets;
    size_t budget_count;
    const char *images;  /* of -k, or NULL */
    const char *host;    /* NULL = the host's name */
    const char **labels; /* "name=value", of all guests */
    unsigned label_count;
    struct store *store;     /* NULL = none */
    struct push_queue *push; /* gets each closed minute, or NULL */
    FILE *rows;              /* gets a line of JSON for each row, or NULL */
    unsigned bucket_seconds; /* 0 = STORE_BUCKET_SECONDS */
    const char *raw;         /* folder for packets, NULL = they are not kept */
    double raw_seconds;      /* how long; 0 = an hour */
    const char *captures;    /* folder for captures, NULL = that of packets */
    const char *state;       /* file that outlives us, or NULL */
    uint64_t guest_bytes;    /* a second, at most, of a guest; 0 = 1 MB */
    unsigned guests;         /* at most; 0 = 10,000 */
    uint64_t memory;         /* bytes of all guests' tables; 0 = 1,024 MiB */
};

struct collector;

/* Opens what listens; ends the process if it cannot. */
struct collector *collector_open(const struct collector_options *options);

/* Serves until a signal is caught (base/wait.h); then all buckets are closed,
 * and the spool is sent for as long as the store takes it, or until one more
 * signal. */
void collector_run(struct collector *collector);

/* Writes the metrics as Prometheus reads them, and the guests as JSON. From any
 * thread. */
bool collector_metrics(struct collector *collector, FILE *out);
bool collector_guests(struct collector *collector, FILE *out);

/* What the live page shows: all guests with their rates of the last seconds,
 * and the hottest functions of the one that (name) is, "" = none. From any
 * thread. */
json_t *collector_live(struct collector *collector, const char *name);

void collector_close(struct collector *collector);

#endif
