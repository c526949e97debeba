/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Demos that send. `make async` gives them a network, where 10.0.2.100 takes
 * all that it is sent on any connection to port 9. `sink` is such a machine.
 */

#include "demo.h"

#include <kernel/clock.h>
#include <kernel/stream.h>
#include <kernel/task.h>
#include <prof/trace.h>

#define GATEWAY 0x0a000202u /* 10.0.2.2 */
#define SINK 0x0a000264u    /* 10.0.2.100 */
#define DISCARD 9u          /* port */
#define SEGMENT_BYTES 1460u
#define PACKETS 10u
#define SEGMENTS 100u

static const char payload[SEGMENT_BYTES];

/* Waits for an address by DHCP. */
static void wait_for_address(void)
{
    while (net_ip() == 0)
        task_await(promise_sleep(10 * NS_PER_MS));
}

/* ---- ten datagrams, a task for each */

static const struct net_address gateway = {GATEWAY, DISCARD};

static uintptr_t send_packet(void *unused)
{
    (void)unused;
    while (!net_send_datagram(&gateway, payload, sizeof payload))
        task_await(promise_sleep(NS_PER_MS));
    task_yield(); /* it leaves at the end of the loop's turn */
    return 0;
}

static uintptr_t send_packets(void *unused)
{
    static PROF_TRACE_COUNTER(counter, "packets sent");

    (void)unused;
    wait_for_address();
    (void)net_send_datagram(&gateway, payload, 1); /* asks where it is */
    task_await(promise_sleep(10 * NS_PER_MS));
    for (unsigned i = 0; i < PACKETS; i++) {
        task_await(task_start("packet", send_packet, NULL));
        prof_trace_counter_add(&counter, 1);
    }
    task_await(promise_sleep(NS_PER_MS));
    /* When it sends, the driver looks which ones the device has read. */
    (void)net_send_datagram(&gateway, payload, 1);
    task_yield();
    return PACKETS;
}

static struct promise *udp(void)
{
    return net_start() == 0 ? task_start("send packets", send_packets, NULL)
                            : NULL;
}

/* ---- a hundred segments; the kernel counts what is given, sent, acknowledged
 */

static struct promise_result send_all(struct stream *stream)
{
    struct promise_result sent = {.state = PROMISE_RESOLVED};

    for (unsigned i = 0; i < SEGMENTS && sent.state == PROMISE_RESOLVED; i++)
        sent = task_await(stream_send(stream, payload, sizeof payload));
    return sent;
}

static uintptr_t send_segments(void *unused)
{
    const struct net_address sink = {SINK, DISCARD};
    struct promise_result result;

    (void)unused;
    wait_for_address();
    result = task_await(stream_connect(&sink));
    if (result.state != PROMISE_RESOLVED)
        return task_fail_for(result.why);
    struct stream *stream = (struct stream *)result.value;

    result = send_all(stream);
    stream_close(stream);
    if (result.state != PROMISE_RESOLVED)
        return task_fail_for(result.why);
    task_await(promise_sleep(100 * NS_PER_MS)); /* for what is in flight */
    return SEGMENTS;
}

static struct promise *tcp(void)
{
    return net_start() == 0 ? task_start("send segments", send_segments, NULL)
                            : NULL;
}

/* ---- the other end, in another guest */

static uintptr_t take_segments(void *unused)
{
    static struct stream_listener listener;
    static char buffer[4096];
    struct promise_result result;
    uintptr_t bytes = 0;

    (void)unused;
    wait_for_address();
    if (stream_listen(&listener, DISCARD) != 0)
        return 0;
    result = task_await(stream_accept(&listener));
    if (result.state != PROMISE_RESOLVED)
        return task_fail_for(result.why);
    struct stream *stream = (struct stream *)result.value;

    do {
        result = task_await(stream_receive(stream, buffer, sizeof buffer));
        bytes += result.state == PROMISE_RESOLVED ? result.value : 0;
    } while (result.state == PROMISE_RESOLVED && result.value != 0);
    stream_close(stream);
    task_await(promise_sleep(100 * NS_PER_MS)); /* for what is in flight */
    return bytes;
}

static struct promise *sink(void)
{
    return net_start() == 0 ? task_start("take segments", take_segments, NULL)
                            : NULL;
}

/* clang-format off */
const struct demo demo_network[] = {
    {"udp", "ten UDP packets", udp},
    {"tcp", "a hundred TCP segments", tcp},
    {"sink", "takes them, in another guest", sink},
    {NULL, NULL, NULL},
};
/* clang-format on */
