/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Frames to the device. A frame is copied into one of the device's buffers, so
 * that the memory it was built in can be reused at once.
 *
 * Notifying the device is an exit to the hypervisor, which costs more than all
 * the rest. With net.kick=batch the device is notified once per turn of the
 * loop, with net.kick=each of every frame. If all buffers are in flight, it is
 * notified at once and given a short time to free one, because a lost frame
 * delays its receiver by a quarter of a second.
 */

#include "agents.h"
#include "net.h"

#include <kernel/clock.h>
#include <prof/causal.h>
#include <string.h>
#include <virtio_net.h>

#define ROOM_WAIT_NS 1000000u
#define WAIT_NS (5 * NS_PER_S)

/* Ethernet, IPv4 (RFC 791), TCP (RFC 793) and UDP (RFC 768). */
#define ETHERNET_BYTES 14u
#define KIND_AT 12u
#define KIND_IPV4 0x0800u
#define IP_FRAGMENT_AT 6u
#define IP_FRAGMENT_MASK 0x3fffu
#define IP_PROTOCOL_AT 9u
#define IP_SOURCE_AT 12u
#define IP_TCP 6u
#define IP_UDP 17u
#define TCP_SUM_AT 16u
#define UDP_SUM_AT 6u
#define ADDRESS_WORDS 4u /* both addresses, 16 bits each */

static bool pending; /* frames are queued, and the device is not notified */
struct net_link_counts net_link_counts;

static void ring(void)
{
    struct net_bell bell;

    if (net_link_bell(&bell))
        net_bell_ring(&bell);
}

/* ---- the calls of <kernel/net_link.h> */

void *net_link_room(void)
{
    void *room = virtio_net_room();
    uint64_t begin_ns;

    if (room != NULL)
        return room;
    ring();
    begin_ns = clock_real_ns(); /* the device's time is never virtual */
    while (room == NULL && clock_real_ns() - begin_ns < ROOM_WAIT_NS)
        room = virtio_net_room();
    return room;
}

static uint16_t get16(const uint8_t *at)
{
    return (uint16_t)(at[0] << 8 | at[1]);
}

static void put16(uint8_t *at, uint16_t value)
{
    at[0] = (uint8_t)(value >> 8);
    at[1] = (uint8_t)value;
}

/* Sum of the pseudo header of the packet at (ip), folded to 16 bits. */
static uint16_t pseudo_sum(const uint8_t *ip, uint8_t protocol, size_t bytes)
{
    uint32_t sum = protocol + (uint32_t)bytes;

    for (unsigned i = 0; i < ADDRESS_WORDS; i++)
        sum += get16(ip + IP_SOURCE_AT + 2 * i);
    sum = (sum & UINT16_MAX) + (sum >> 16);
    return (uint16_t)(sum + (sum >> 16));
}

/*
 * If the device computes checksums, lwIP does not: stores the initial value for
 * the device in the frame and returns its position. Checksums that lwIP does
 * compute, those of ICMP and fragments, are left unchanged.
 */
static struct virtio_net_sum leave_sum(uint8_t *frame, size_t bytes)
{
    uint8_t *ip = frame + ETHERNET_BYTES;
    size_t header = (size_t)(ip[0] & 0xf) * 4;
    struct virtio_net_sum sum = {0};
    uint8_t protocol = ip[IP_PROTOCOL_AT];
    size_t total = get16(ip + 2);

    if (!virtio_net_sums() || bytes < ETHERNET_BYTES + 20 ||
        get16(frame + KIND_AT) != KIND_IPV4 ||
        (protocol != IP_TCP && protocol != IP_UDP) ||
        (get16(ip + IP_FRAGMENT_AT) & IP_FRAGMENT_MASK) != 0 ||
        total > bytes - ETHERNET_BYTES || header + 8 > total)
        return sum;
    sum.start = (uint16_t)(ETHERNET_BYTES + header);
    sum.offset = protocol == IP_TCP ? TCP_SUM_AT : UDP_SUM_AT;
    put16(frame + sum.start + sum.offset,
          pseudo_sum(ip, protocol, total - header));
    return sum;
}

void net_link_put(size_t bytes)
{
    uint8_t *frame = virtio_net_room();
    struct virtio_net_sum sum = leave_sum(frame, bytes);

    if (prof_causal_running()) {
        uint64_t began = prof_causal_aside();

        net_agents_queued(frame, bytes);
        prof_causal_aside_end(began);
    }
    virtio_net_put(bytes, &sum);
    pending = true;
}

bool net_link_each(void)
{
    return net_settings.each;
}

bool net_link_bell(struct net_bell *bell)
{
    const struct virtio_queue *out = virtio_net_out();

    if (!pending)
        return false;
    pending = false;
    if (prof_causal_running()) {
        uint64_t began = prof_causal_aside();

        net_agents_sent();
        prof_causal_aside_end(began);
    }
    bell->address = out->notify;
    bell->queue = out->index;
    bell->port = out->device->notify_by == VIRTIO_NOTIFY_PORT;
    bell->wide = out->device->notify_by == VIRTIO_NOTIFY_32;
    return virtio_kick_wanted(virtio_net_out());
}

/* ---- the kernel's own link */

static size_t total(const struct net_part *parts, unsigned count)
{
    size_t bytes = 0;

    for (unsigned i = 0; i < count; i++)
        bytes += parts[i].count;
    return bytes;
}

static bool transmit(void *unused, const struct net_part *parts, unsigned count)
{
    uint8_t *room = net_link_room();
    size_t bytes = 0;

    (void)unused;
    if (room == NULL || total(parts, count) > NET_FRAME_MAX)
        return false;
    for (unsigned i = 0; i < count; i++) {
        memcpy(room + bytes, parts[i].bytes, parts[i].count);
        bytes += parts[i].count;
    }
    net_link_put(bytes);
    if (net_link_each())
        ring();
    return true;
}

static void flush(void *unused)
{
    (void)unused;
    ring();
}

static const struct net_link own = {transmit, flush, NULL};
static const struct net_link *in_force = &own;

void net_link_set(const struct net_link *link)
{
    in_force = link;
}

bool net_link_transmit(const struct net_part *parts, unsigned count)
{
    bool sent = in_force->transmit(in_force->context, parts, count);

    net_link_counts.out += sent;
    net_link_counts.dropped_out += !sent;
    return sent;
}

void net_link_flush(void)
{
    in_force->flush(in_force->context);
}

void net_link_wait(void)
{
    const uint64_t begin_ns = clock_real_ns();

    while (!virtio_all_done(virtio_net_out()) &&
           clock_real_ns() - begin_ns < WAIT_NS)
        continue;
}
