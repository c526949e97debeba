/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PUSH_PUSH_H
#define PUSH_PUSH_H

/*
 * Sends profiles of guests to other systems:
 *
 *     otlp:http://HOST:PORT[/PATH]       OpenTelemetry's profiles, which are
 *                                        alpha: /v1development/profiles
 *     pyroscope:http://HOST:PORT[/PATH]  /push.v1.PusherService/Push
 *
 * and the same with https. There is no spool: a profile that could not be sent
 * is the caller's to send again. Its id follows from guest, build and time, so
 * that a receiver can tell it from a new one.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define PUSH_WHY 512

/* Samples of one stack. */
struct push_stack {
    const char *const *names; /* of functions, the outermost first */
    unsigned count;
    uint64_t samples;
    uint64_t ns;
};

/* What a guest did in a span of time. Texts may be empty. */
struct push_profile {
    const char *service, *build, *guest, *host;
    uint64_t begin_ns; /* since 1970 */
    uint64_t duration_ns;
    uint64_t period_ns; /* between samples; 0 = unknown */
    const struct push_stack *stacks;
    size_t stack_count;
};

enum push_form { PUSH_OTLP, PUSH_PYROSCOPE };

struct push; /* a receiver */

/* NULL and a line in (why), of PUSH_WHY bytes, if (target) is none of the
 * above. */
struct push *push_open(const char *target, char *why);
void push_close(struct push *push);

/* Sends (profile) and waits for the answer, at most 30 s. False and (why) if it
 * was not taken. */
bool push_send(struct push *push, const struct push_profile *profile,
               char *why);

/*
 * Profiles that are sent by a thread of their own, in the order in which they
 * were added. One that the receiver refuses is lost. Where it does not answer,
 * or asks for patience (408, 429, 5xx), it is tried again after a second, then
 * after twice as long, up to 30 s. Of what waits meanwhile the oldest is lost
 * beyond a limit.
 */
struct push_queue;

struct push_counts {
    uint64_t sent, lost;
    uint64_t waiting;       /* bytes */
    char problem[PUSH_WHY]; /* of the last request, "" = none */
};

/* (limit): bytes that may wait. NULL and (why) as for push_open(). */
struct push_queue *push_queue_open(const char *target, size_t limit, char *why);
/* Adds a copy. */
void push_queue_add(struct push_queue *queue,
                    const struct push_profile *profile);
void push_queue_counts(struct push_queue *queue, struct push_counts *counts);
/* Sends what waits, up to the first that is not taken; says what is lost. */
void push_queue_close(struct push_queue *queue);

/* Writes the body of the request. */
void push_encode(enum push_form form, const struct push_profile *profile,
                 FILE *out);

#endif
