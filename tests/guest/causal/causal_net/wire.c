/* SPDX-License-Identifier: Apache-2.0 */

#include "wire.h"

#include "causal/random.h"
#include "guest/guest.h"

#include <arch/cpu.h>
#include <frame.h>
#include <kernel/loop.h>
#include <math.h>
#include <prof/causal.h>
#include <string.h>
#include <virtio_net.h>

#define US 1000u /* cycles: QEMU counts instructions, of a nanosecond each */
#define ACK_US 3u
#define IDLE_MAX (20 * US)
#define DEVICE_MAC "RRRRRR"
#define SERVICE_IP 0x0a00020fu
#define CLIENT_IP 0x0a000202u
#define FIRST_PORT 10000u

static const struct frame_ends ends = {
    .service_mac = DEVICE_MAC,
    .service_ip = SERVICE_IP,
    .client_ip = CLIENT_IP,
    .service_port = WIRE_PORT,
};

enum next { NOTHING, SYN, REQUEST, FIN };

struct client {
    struct frame_tcp tcp;
    enum next next;
    bool free;                /* PARTLY: has no connection */
    uint64_t next_at, ack_at; /* 0: never */
    struct frame_tcp old;     /* of the connection before: its last ACK */
    uint64_t old_at;
    uint32_t number, marked; /* of its requests */
    uint32_t sent, answered; /* in this connection */
};

static struct wire now_is;
static struct client clients[WIRE_CLIENTS];
static struct wire_counts counts;
/* Connections of the run before, that are reset. */
static struct frame_tcp gone[2 * WIRE_CLIENTS];
static unsigned gone_count;
static uint64_t schedule; /* PARTLY: when the next connection is opened */
static uint32_t scheduled;
static uint32_t ports;

static uint8_t out_buffer[FRAME_MAX], in_buffer[FRAME_MAX];
static uint8_t arp[FRAME_ARP]; /* the answer to one */
static bool arp_waits;
static uint64_t arrived;

/* What has been sent, and is seen when the doorbell rings. */
static struct frame_segment queued[2048];
static unsigned queued_count;

struct wire_counts wire_counts(void)
{
    counts.least = UINT32_MAX;
    for (unsigned i = 0; i < now_is.clients; i++)
        if (clients[i].number - clients[i].marked < counts.least)
            counts.least = clients[i].number - clients[i].marked;
    return counts;
}

void wire_mark(void)
{
    for (unsigned i = 0; i < now_is.clients; i++)
        clients[i].marked = clients[i].number;
}

/* ---- random durations */

static uint64_t about(uint32_t us, const struct client *client)
{
    return (uint64_t)(us * (double)US *
                      (0.5 + sim_uniform(1, (uint32_t)(client - clients),
                                         client->number)));
}

static uint64_t interval(uint32_t client, uint32_t number)
{
    return (uint64_t)(-(double)now_is.interval_us * US *
                      log(sim_uniform(2, client, number)));
}

/* ---- clients */

static void then(struct client *client, enum next next, uint64_t at)
{
    client->next = next;
    client->next_at = at;
}

static void connect(struct client *client, uint64_t at)
{
    client->free = false;
    client->sent = client->answered = 0;
    client->tcp = (struct frame_tcp){
        .port = (uint16_t)(FIRST_PORT + ports++ % 40000u),
        .to_send = 1000,
    };
    then(client, SYN, at);
}

void wire_begin(const struct wire *wire)
{
    uint64_t now = arch_tsc();

    now_is = *wire;
    counts = (struct wire_counts){0};
    queued_count = 0;
    scheduled = 0;
    schedule = wire->kind == WIRE_PARTLY ? now + 1000 * US : 0;
    for (unsigned i = 0; i < WIRE_CLIENTS; i++) {
        clients[i] = (struct client){.free = true};
        if (i < wire->clients && wire->kind != WIRE_PARTLY)
            connect(&clients[i], now + 1000 * US + about(100, &clients[i]));
    }
}

/* Whoever waits for a client that is gone retransmits, and a connection that
 * is half open takes room of those to come. */
void wire_end(void)
{
    for (unsigned i = 0; i < now_is.clients; i++) {
        if (clients[i].old_at != 0)
            gone[gone_count++] = clients[i].old;
        if (!clients[i].free)
            gone[gone_count++] = clients[i].tcp;
        clients[i] = (struct client){.free = true};
    }
    schedule = 0;
    while (gone_count != 0)
        loop_poll();
}

/* The answer has come at (at), or the connection is established. */
static void go_on(struct client *client, uint64_t at)
{
    if (now_is.kind == WIRE_OPEN) { /* its schedule begins once */
        if (client->sent == 0)
            then(client, REQUEST, at + about(now_is.round_trip_us, client));
        return;
    }
    then(client, client->answered == now_is.requests ? FIN : REQUEST,
         at + about(now_is.round_trip_us, client));
}

static void closed(struct client *client, uint64_t at)
{
    client->old = client->tcp;
    client->old_at = client->ack_at;
    client->ack_at = 0;
    if (now_is.kind == WIRE_CLOSED) {
        client->number++;
        connect(client, at + about(now_is.round_trip_us, client));
    } else {
        client->free = true;
    }
}

/* What the service has sent reaches a client at (at). */
static void receive(const struct frame_segment *segment, uint64_t at)
{
    struct client *client = clients;

    while (client < clients + now_is.clients &&
           client->tcp.port != segment->port)
        client++;
    if (client == clients + now_is.clients)
        return; /* of an earlier connection: the last that it sends */
    if (!frame_takes(&client->tcp, segment)) {
        counts.strange++;
        return;
    }
    if (!segment->syn && segment->bytes == 0 && !segment->fin)
        return;
    client->ack_at = at + ACK_US * US;
    if (segment->bytes != 0) {
        counts.answers++;
        client->answered++;
        client->number++;
    }
    if (segment->fin)
        closed(client, at);
    else if (segment->syn || segment->bytes != 0)
        go_on(client, at);
}

/* The frame that (client) sends next. */
static size_t send_next(struct client *client, uint64_t at)
{
    static const uint8_t flags[] = {
        [SYN] = FRAME_SYN,
        [REQUEST] = FRAME_ACK | FRAME_PUSH,
        [FIN] = FRAME_ACK | FRAME_FIN,
    };
    enum next next = client->next;
    size_t bytes = next == REQUEST ? WIRE_REQUEST : 0;

    then(client, NOTHING, 0);
    if (next == SYN)
        counts.connections++;
    if (next == REQUEST) {
        counts.requests++;
        client->sent++;
    }
    if (next == REQUEST && now_is.kind == WIRE_OPEN)
        then(client, REQUEST,
             at + interval((uint32_t)(client - clients), client->sent));
    return frame_build(in_buffer, &ends, &client->tcp, flags[next], bytes);
}

/* PARTLY: a client that is free opens a connection. */
static void open_on_schedule(void)
{
    for (unsigned i = 0; i < now_is.clients; i++)
        if (clients[i].free && clients[i].old_at == 0) {
            connect(&clients[i], schedule);
            break;
        }
    schedule += interval(0, scheduled++);
}

/* When (client) sends something next. */
static uint64_t next_at(const struct client *client)
{
    uint64_t at = UINT64_MAX;

    if (client->old_at != 0)
        at = client->old_at;
    if (client->ack_at != 0 && client->ack_at < at)
        at = client->ack_at;
    if (client->next_at != 0 && client->next_at < at)
        at = client->next_at;
    return at;
}

static struct client *next_client(void)
{
    struct client *first = &clients[0];

    for (unsigned i = 1; i < now_is.clients; i++)
        if (next_at(&clients[i]) < next_at(first))
            first = &clients[i];
    return first;
}

/* The next frame that arrives until (until); 0: none. */
static size_t next_frame(uint64_t until)
{
    struct client *client;

    if (gone_count != 0) {
        arrived = until;
        return frame_build(in_buffer, &ends, &gone[--gone_count],
                           FRAME_RST | FRAME_ACK, 0);
    }
    while (schedule != 0 && schedule <= until)
        open_on_schedule();
    client = next_client();
    arrived = next_at(client);
    if (arrived > until)
        return 0;
    if (arrived == client->old_at) {
        client->old_at = 0;
        return frame_build(in_buffer, &ends, &client->old, FRAME_ACK, 0);
    }
    if (arrived != client->ack_at)
        return send_next(client, arrived);
    client->ack_at = 0;
    return frame_build(in_buffer, &ends, &client->tcp, FRAME_ACK, 0);
}

void wire_idle(void)
{
    const struct prof_moment now = prof_causal_now();
    uint64_t first = next_at(next_client()), soon = IDLE_MAX, due;

    if (arp_waits || gone_count != 0 || queued_count != 0)
        return;
    if (schedule != 0 && schedule < first)
        first = schedule;
    if (first < now.real + soon)
        soon = first > now.real ? first - now.real : 0;
    if (prof_causal_next(&due) && due < now.virtual_time + soon)
        soon = due > now.virtual_time ? due - now.virtual_time : 0;
    guest_execute((uint32_t)soon);
}

/* ---- the driver */

static struct virtio_device device;
static struct virtio_queue in = {.device = &device}, out = {.device = &device};

int __wrap_virtio_net_start(void *(*allocate)(size_t bytes));
void __wrap_virtio_net_mac(uint8_t mac[VIRTIO_NET_MAC]);
bool __wrap_virtio_net_sums(void);
uint8_t *__wrap_virtio_net_room(void);
void __wrap_virtio_net_put(size_t bytes, const struct virtio_net_sum *sum);
const uint8_t *__wrap_virtio_net_take(size_t *bytes, bool *sum_good);
uint64_t __wrap_virtio_net_arrived(void);
void __wrap_virtio_net_stamp(bool on);
void __wrap_virtio_net_give_back(const uint8_t *frame);
void __wrap_virtio_net_offer(void);
struct virtio_queue *__wrap_virtio_net_in(void);
struct virtio_queue *__wrap_virtio_net_out(void);
uint32_t __wrap_virtio_net_interrupts(void);
bool __wrap_virtio_interrupts(struct virtio_queue *queue, bool wanted);
bool __wrap_virtio_kick_wanted(struct virtio_queue *queue);

int __wrap_virtio_net_start(void *(*allocate)(size_t bytes))
{
    (void)allocate;
    return 0;
}

void __wrap_virtio_net_mac(uint8_t mac[VIRTIO_NET_MAC])
{
    memcpy(mac, ends.service_mac, VIRTIO_NET_MAC);
}

bool __wrap_virtio_net_sums(void)
{
    return true;
}

uint8_t *__wrap_virtio_net_room(void)
{
    return out_buffer;
}

void __wrap_virtio_net_put(size_t bytes, const struct virtio_net_sum *sum)
{
    (void)sum;
    if (frame_asks(out_buffer, bytes, CLIENT_IP)) {
        frame_answer(arp, out_buffer);
        arp_waits = true;
    } else if (queued_count == sizeof queued / sizeof *queued) {
        counts.strange++;
    } else if (frame_read(out_buffer, bytes, &queued[queued_count])) {
        queued_count++;
    }
}

bool __wrap_virtio_kick_wanted(struct virtio_queue *queue)
{
    uint64_t now = arch_tsc();

    (void)queue;
    for (unsigned i = 0; i < queued_count; i++)
        receive(&queued[i], now);
    queued_count = 0;
    return false;
}

const uint8_t *__wrap_virtio_net_take(size_t *bytes, bool *sum_good)
{
    *sum_good = true;
    if (arp_waits) {
        arp_waits = false;
        arrived = arch_tsc();
        *bytes = FRAME_ARP;
        return arp;
    }
    *bytes = next_frame(arch_tsc());
    return *bytes == 0 ? NULL : in_buffer;
}

uint64_t __wrap_virtio_net_arrived(void)
{
    return arrived;
}

void __wrap_virtio_net_stamp(bool on)
{
    (void)on;
}

void __wrap_virtio_net_give_back(const uint8_t *frame)
{
    (void)frame;
}

void __wrap_virtio_net_offer(void)
{
}

struct virtio_queue *__wrap_virtio_net_in(void)
{
    return &in;
}

struct virtio_queue *__wrap_virtio_net_out(void)
{
    return &out;
}

uint32_t __wrap_virtio_net_interrupts(void)
{
    return 0;
}

bool __wrap_virtio_interrupts(struct virtio_queue *queue, bool wanted)
{
    uint64_t now = arch_tsc();

    (void)queue;
    (void)wanted;
    return arp_waits || gone_count != 0 || (schedule != 0 && schedule <= now) ||
           next_at(next_client()) <= now;
}
