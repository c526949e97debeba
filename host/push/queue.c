/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Profiles that wait for their receiver, as bodies of requests, oldest first. A
 * thread sends them one after the other. It takes one out while it sends it.
 */

#include "push/push.h"

#include "base/condition.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/wait.h"
#include "push/post.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define RETRY_MAX 30 /* seconds; the first time 1, then twice as long */

struct body {
    struct body *next;
    char *bytes;
    size_t count;
};

struct push_queue {
    struct push *push;
    pthread_t thread;
    pthread_mutex_t lock; /* of all that follows */
    pthread_cond_t changed;
    struct body *first, **last;
    struct push_counts counts;
    size_t limit;
    bool ends;
};

static void free_body(struct body *body)
{
    free(body->bytes);
    free(body);
}

/* Takes out the oldest. Called with the lock. */
static struct body *take_first(struct push_queue *queue)
{
    struct body *body = queue->first;

    queue->first = body->next;
    if (queue->first == NULL)
        queue->last = &queue->first;
    queue->counts.waiting -= body->count;
    return body;
}

static void lose(struct push_queue *queue, struct body *body)
{
    ++queue->counts.lost;
    free_body(body);
}

/* Waits for (seconds), or until it is to end. Called with the lock. */
static void rest(struct push_queue *queue, unsigned seconds)
{
    double until = seconds_now() + seconds;

    while (!queue->ends && condition_wait(&queue->changed, &queue->lock, until))
        continue;
}

/* Sends (body) until it is taken, refused or dropped. Called with the lock,
 * which others have while a request is on its way. */
static void send_body(struct push_queue *queue, struct body *body)
{
    unsigned seconds = 1;

    for (;;) {
        char why[PUSH_WHY] = "";
        enum push_outcome outcome;

        pthread_mutex_unlock(&queue->lock);
        outcome = push_post(queue->push, body->bytes, body->count, why);
        if (outcome != PUSH_TAKEN && strcmp(why, queue->counts.problem) != 0)
            log_error("a profile is not taken: %s", why);
        pthread_mutex_lock(&queue->lock);
        memcpy(queue->counts.problem, why, sizeof why);
        if (outcome == PUSH_TAKEN) {
            ++queue->counts.sent;
            free_body(body);
            return;
        }
        if (outcome == PUSH_AWAY)
            rest(queue, seconds);
        if (outcome == PUSH_REFUSED || queue->ends) {
            lose(queue, body);
            return;
        }
        seconds = 2 * seconds < RETRY_MAX ? 2 * seconds : RETRY_MAX;
    }
}

static void *send_queued(void *owner)
{
    struct push_queue *queue = owner;

    pthread_mutex_lock(&queue->lock);
    for (;;) {
        while (queue->first == NULL && !queue->ends)
            pthread_cond_wait(&queue->changed, &queue->lock);
        if (queue->first == NULL)
            break;
        send_body(queue, take_first(queue));
        /* a receiver that is away when it ends is not waited for */
        while (queue->ends && queue->counts.problem[0] != '\0' &&
               queue->first != NULL)
            lose(queue, take_first(queue));
    }
    pthread_mutex_unlock(&queue->lock);
    return NULL;
}

struct push_queue *push_queue_open(const char *target, size_t limit, char *why)
{
    struct push *push = push_open(target, why);
    struct push_queue *queue;

    if (push == NULL)
        return NULL;
    queue = xreallocarray(NULL, 1, sizeof *queue);
    *queue = (struct push_queue){.push = push, .limit = limit};
    queue->last = &queue->first;
    pthread_mutex_init(&queue->lock, NULL);
    condition_init(&queue->changed);
    if (pthread_create(&queue->thread, NULL, send_queued, queue) != 0)
        die("no thread for '%s'", target);
    return queue;
}

void push_queue_add(struct push_queue *queue,
                    const struct push_profile *profile)
{
    struct body *body = xreallocarray(NULL, 1, sizeof *body);

    *body = (struct body){.next = NULL};
    body->bytes = push_body(queue->push, profile, &body->count);
    pthread_mutex_lock(&queue->lock);
    *queue->last = body;
    queue->last = &body->next;
    queue->counts.waiting += body->count;
    while (queue->counts.waiting > queue->limit)
        lose(queue, take_first(queue));
    pthread_cond_broadcast(&queue->changed);
    pthread_mutex_unlock(&queue->lock);
}

void push_queue_counts(struct push_queue *queue, struct push_counts *counts)
{
    pthread_mutex_lock(&queue->lock);
    *counts = queue->counts;
    pthread_mutex_unlock(&queue->lock);
}

void push_queue_close(struct push_queue *queue)
{
    pthread_mutex_lock(&queue->lock);
    queue->ends = true;
    pthread_cond_broadcast(&queue->changed);
    pthread_mutex_unlock(&queue->lock);
    pthread_join(queue->thread, NULL);
    if (queue->counts.lost > 0)
        log_error("%llu profiles were not taken: %s",
                  (unsigned long long)queue->counts.lost,
                  queue->counts.problem[0] != '\0' ? queue->counts.problem
                                                   : "too many waited");
    push_close(queue->push);
    pthread_cond_destroy(&queue->changed);
    pthread_mutex_destroy(&queue->lock);
    free(queue);
}
