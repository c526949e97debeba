/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LOAD_H
#define LOAD_H

/*
 * A load of sessions: many at a time, on one thread, with epoll.
 *
 *   open    a session begins every 1/rate s, independent of the others
 *   closed  so many run at a time; each that ends makes room for the next
 */

#include "latency.h"
#include "session.h"

#define LOAD_SERVERS_MAX 64

struct load {
    /* the request */
    struct sockaddr_in servers[LOAD_SERVERS_MAX]; /* in turn */
    uint32_t server_count;
    double rate;      /* sessions a second; 0 = closed */
    uint32_t clients; /* closed: at a time */
    struct session_plan plan;
    uint64_t duration_us; /* begin none after that, 0 = no limit */
    uint64_t sessions;    /* begin no more than that, 0 = no limit */
    uint64_t timeout_us;  /* for one session */
    bool progress;        /* print progress on stderr each second */
    uint32_t first;       /* number of the first client, for its name */

    /* the result */
    struct latency due;    /* from the moment a session was due */
    struct latency served; /* from the moment it began */
    uint64_t begun;
    uint64_t done;
    uint64_t failed[FAILURES];
    uint64_t most_at_once;
    uint64_t spent_us; /* from the first begin to the last end */
};

/* Runs it to its end, or until a signal sets *(stop). Returns 0, or -1 with
 * errno if the system has no epoll, memory or file for it. */
int load_run(struct load *load, const volatile bool *stop);

#endif
