/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What tests/net talks to, as tasks: one for each port and for each connection.
 *
 *     port 7   sends back what it receives
 *          13  what the image holds now, as lines "name number"; then it ends
 *          19  line numbers without end
 *          21  sends back a byte, but says "late" before, if there is none for
 *              100 ms
 *          23  sends "good-bye" and ends
 *          25  receives the number of a port of the host, says "hello" there,
 *              and passes on the answer
 */

#include <kernel/clock.h>
#include <kernel/console.h>
#include <kernel/service.h>
#include <kernel/stream.h>
#include <kernel/task.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BUFFER 4096u

/* Sends a text. False: the connection has ended. */
static bool say(struct stream *stream, const char *text)
{
    return task_await(stream_send(stream, text, strlen(text))).state ==
           PROMISE_RESOLVED;
}

static uintptr_t echo(void *context)
{
    struct stream *stream = context;
    char *buffer = malloc(BUFFER);

    while (buffer != NULL) {
        const struct promise_result got =
            task_await(stream_receive(stream, buffer, BUFFER));

        if (got.state != PROMISE_RESOLVED || got.value == 0 ||
            task_await(stream_send(stream, buffer, got.value)).state !=
                PROMISE_RESOLVED)
            break;
    }
    free(buffer);
    stream_close(stream);
    return 0;
}

static uintptr_t statistics(void *stream)
{
    struct net_stats net;
    char text[400];

    net_stats(&net);
    snprintf(text, sizeof text,
             "connections %lu\nclosing %lu\npcbs %lu\npcbs_waiting %lu\n"
             "buffers %lu\nsegments %lu\nheap_pieces %lu\nrefusals %lu\n"
             "accepted %lu\nheap_bytes %lu\ntasks %lu\npromises %lu\n"
             "errors %lu\n",
             (unsigned long)net.connections, (unsigned long)net.closing,
             (unsigned long)net.pcbs, (unsigned long)net.pcbs_waiting,
             (unsigned long)net.buffers, (unsigned long)net.segments,
             (unsigned long)net.heap_pieces, (unsigned long)net.refusals,
             (unsigned long)net.accepted, (unsigned long)service_heap_bytes(),
             (unsigned long)task_stats().live,
             (unsigned long)promise_stats().live,
             (unsigned long)promise_stats().errors);
    say(stream, text);
    stream_close(stream);
    return 0;
}

static uintptr_t count(void *stream)
{
    char line[16];

    for (unsigned i = 0; snprintf(line, sizeof line, "%u\n", i) > 0; i++)
        if (!say(stream, line))
            break;
    stream_close(stream);
    return 0;
}

static uintptr_t patient(void *stream)
{
    char byte;
    struct promise_result got;

    for (;;) {
        got = task_await(
            promise_timeout(stream_receive(stream, &byte, 1), 100 * NS_PER_MS));
        if (got.why == &promise_timed_out && say(stream, "late\n"))
            continue;
        if (got.state != PROMISE_RESOLVED || got.value == 0 ||
            task_await(stream_send(stream, &byte, 1)).state != PROMISE_RESOLVED)
            break;
    }
    stream_close(stream);
    return 0;
}

static uintptr_t farewell(void *stream)
{
    say(stream, "good-bye\n");
    stream_close(stream);
    return 0;
}

#define HOST 0x0a000202u /* 10.0.2.2 */

/* Says hello to (address); returns whether (from) got the answer. */
static bool introduce(struct stream *from, const struct net_address *address)
{
    const struct promise_result connected = task_await(stream_connect(address));
    struct stream *to = (struct stream *)connected.value;
    struct promise_result got = {0};
    char answer[64];

    if (connected.state != PROMISE_RESOLVED)
        return say(from, connected.why->text);
    if (say(to, "hello"))
        got = task_await(stream_receive(to, answer, sizeof answer));
    stream_close(to);
    return got.state == PROMISE_RESOLVED &&
           task_await(stream_send(from, answer, got.value)).state ==
               PROMISE_RESOLVED;
}

static uintptr_t passing_on(void *stream)
{
    char line[8] = "";
    const struct promise_result got =
        task_await(stream_receive(stream, line, sizeof line - 1));

    if (got.state == PROMISE_RESOLVED) {
        const struct net_address address = {HOST, (uint16_t)atoi(line)};

        introduce(stream, &address);
    }
    stream_close(stream);
    return 0;
}

/* A port, and the task for each of its connections. */
struct port {
    uint16_t number;
    task_function *serve;
    struct stream_listener listener;
};

static uintptr_t serve(void *context)
{
    struct port *port = context;
    struct promise_result accepted;

    do {
        accepted = task_await(stream_accept(&port->listener));
        if (accepted.state != PROMISE_RESOLVED)
            continue;
        struct promise *task =
            task_start("connection", port->serve, (void *)accepted.value);

        if (task == NULL)
            stream_abort((struct stream *)accepted.value);
        promise_free(task);
    } while (accepted.state != PROMISE_CANCELLED);
    return 0;
}

int service_main(void)
{
    static struct port ports[] = {
        {7, echo, {{0}, {0}}},      {13, statistics, {{0}, {0}}},
        {19, count, {{0}, {0}}},    {21, patient, {{0}, {0}}},
        {23, farewell, {{0}, {0}}}, {25, passing_on, {{0}, {0}}},
    };

    if (net_start() != 0)
        return 1;
    for (unsigned i = 0; i < sizeof ports / sizeof *ports; i++) {
        if (stream_listen(&ports[i].listener, ports[i].number) != 0)
            return 1;
        promise_free(task_start("port", serve, &ports[i]));
    }
    return SERVICE_LOOP;
}
