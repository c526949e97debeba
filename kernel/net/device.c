/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The device as lwIP's network interface, and the work of the network in each
 * turn of the loop:
 *
 *     received frames -> lwIP -> callbacks of services
 *     lwIP's timers
 *     hooks of services
 *     recorded actions, written data -> segments
 *     flush: notify the device
 *
 * A received frame is copied into a buffer of lwIP and its own buffer returned
 * to the device at once, so that data kept by lwIP, such as segments out of
 * order, never leave the device without buffers. In causal experiments it is
 * held before that (model.h).
 */

#include "conn.h"
#include "flow.h"
#include "model.h"
#include "net.h"
#include "trace.h"

#include <kernel/clock.h>
#include <kernel/console.h>
#include <kernel/loop.h>
#include <lwip/dhcp.h>
#include <lwip/etharp.h>
#include <lwip/init.h>
#include <lwip/netif.h>
#include <lwip/pbuf.h>
#include <lwip/timeouts.h>
#include <netif/ethernet.h>
#include <prof/causal.h>
#include <prof/loop.h>
#include <virtio_net.h>

#define FRAMES_A_TURN 64 /* before timers run again */
#define MTU (NET_FRAME_MAX - 14u)

struct net_device_counts net_device_counts;
static unsigned handled; /* in experiments: frames that were due, in a turn */

static struct netif netif;

static struct {
    bool (*due)(void *context);
    void (*hook)(void *context);
    void *context;
    struct prof_trace_name *site;
} hooks[NET_HOOKS_MAX];
static unsigned hook_count;

/* ---- sending */

static bool transmit_parts(const struct pbuf *frame)
{
    struct net_part parts[NET_PARTS_MAX];
    unsigned count = 0;

    for (; frame != NULL; frame = frame->next)
        if (frame->len != 0)
            parts[count++] = (struct net_part){frame->payload, frame->len};
    return net_link_transmit(parts, count);
}

static err_t transmit(struct netif *unused, struct pbuf *frame)
{
    struct pbuf *whole;
    bool sent;

    (void)unused;
    net_trace_sent(frame);
    if (pbuf_clen(frame) <= NET_PARTS_MAX)
        return transmit_parts(frame) ? ERR_OK : ERR_BUF;
    whole = pbuf_clone(PBUF_RAW, PBUF_RAM, frame);
    if (whole == NULL)
        return ERR_MEM;
    sent = transmit_parts(whole);
    pbuf_free(whole);
    return sent ? ERR_OK : ERR_BUF;
}

/* ---- receiving */

/* TCP and UDP checksums that the host has verified are not checked again. */
static void set_checks(bool sum_good)
{
    u16_t sums = NETIF_CHECKSUM_CHECK_TCP | NETIF_CHECKSUM_CHECK_UDP;
    u16_t flags = NETIF_CHECKSUM_ENABLE_ALL;

    if (virtio_net_sums())
        flags &= (u16_t) ~(NETIF_CHECKSUM_GEN_TCP | NETIF_CHECKSUM_GEN_UDP);
    if (sum_good)
        flags &= (u16_t)~sums;
    NETIF_SET_CHECKSUM_CTRL(&netif, flags);
}

struct received {
    const uint8_t *frame;
    size_t bytes;
    bool sum_good;
};

static void input(void *context)
{
    const struct received *received = context;
    const uint8_t *frame = received->frame;
    size_t bytes = received->bytes;
    struct pbuf *copy = pbuf_alloc(PBUF_RAW, (u16_t)bytes, PBUF_POOL);

    prof_causal_work();
    net_device_counts.in++;
    if (copy == NULL || pbuf_take(copy, frame, (u16_t)bytes) != ERR_OK) {
        net_device_counts.dropped_in++;
        if (copy != NULL)
            pbuf_free(copy);
        return;
    }
    net_trace_received(copy);
    set_checks(received->sum_good);
    if (netif.input(copy, &netif) != ERR_OK)
        pbuf_free(copy);
}

static bool is_profilers(const uint8_t *frame, size_t bytes)
{
    struct net_flow flow;

    return net_profiler_port != 0 &&
           net_flow_read(frame, bytes, false, &flow) &&
           flow.protocol == NET_FLOW_TCP && flow.own == net_profiler_port;
}

static void take_frame(const uint8_t *frame, size_t bytes, bool sum_good)
{
    struct received received = {frame, bytes, sum_good};

    if (is_profilers(frame, bytes))
        net_profiler_work(input, &received);
    else
        input(&received);
}

static bool take_more(void);
static const struct net_model_taker taker = {take_frame, take_more};

static void take_frames(bool modelled)
{
    const uint8_t *frame;
    size_t bytes;
    bool sum_good;
    unsigned taken = 0;

    while (taken < FRAMES_A_TURN &&
           (frame = virtio_net_take(&bytes, &sum_good)) != NULL) {
        if (modelled)
            net_model_hold(frame, bytes, sum_good, virtio_net_arrived(),
                           &taker);
        else
            take_frame(frame, bytes, sum_good);
        virtio_net_give_back(frame);
        taken++;
    }
    if (taken != 0)
        virtio_net_offer();
}

/* What arrives while a frame is handled is taken in the same turn. */
static bool take_more(void)
{
    if (++handled >= FRAMES_A_TURN)
        return false;
    take_frames(true);
    return true;
}

/* ---- turns of the loop */

static void run_hook(unsigned number)
{
    struct prof_loop_frame frame;

    prof_loop_begin(&frame, hooks[number].site);
    hooks[number].hook(hooks[number].context);
    prof_loop_leave(&frame);
}

static bool in_turn;

static void take_turn(void)
{
    bool modelled = net_model_turn();

    in_turn = true;
    handled = 0;
    (void)virtio_interrupts(virtio_net_in(), modelled);
    take_frames(modelled);
    sys_check_timeouts();
    for (unsigned i = 0; i < hook_count; i++)
        if (hooks[i].due(hooks[i].context))
            run_hook(i);
    net_conn_turn();
    net_link_flush();
    in_turn = false;
}

/* ---- before the image ends */

/* Of the frames that have come, only those of (peer) are handled: the others
 * are for services, which have ended. */
static void take_frames_of(const struct net_address *peer, bool data)
{
    const uint8_t *frame;
    struct net_flow flow;
    size_t bytes;
    bool sum_good;

    while ((frame = virtio_net_take(&bytes, &sum_good)) != NULL) {
        if (net_flow_read(frame, bytes, false, &flow) &&
            flow.protocol == NET_FLOW_TCP && flow.ip == peer->ip &&
            flow.port == peer->port && !flow.begins && (data || !flow.data))
            take_frame(frame, bytes, sum_good);
        virtio_net_give_back(frame);
    }
    virtio_net_offer();
}

/*
 * Until the peer has all of (conn), or (closes) has closed its side; false: it
 * has taken nothing for too long. lwIP cannot be called from its own callbacks,
 * and its timers would call services: no segment is sent again.
 */
static bool work_for(const struct net_conn *conn,
                     const struct net_address *peer, bool closes)
{
    const uint64_t began_ns = clock_real_ns();
    uint64_t now_ns, since_ns = began_ns;
    uint32_t left, before = 0;

    while (net_conn_output(conn, &left) && (closes || left != 0)) {
        net_link_flush();
        now_ns = clock_real_ns();
        if (left != before)
            since_ns = now_ns;
        before = left;
        if (in_turn || now_ns - since_ns >= NET_FLUSH_S * NS_PER_S ||
            now_ns - began_ns >= NET_FLUSH_ALL_S * NS_PER_S)
            return false;
        take_frames_of(peer, closes);
    }
    return true;
}

bool net_flush(struct net_conn *conn)
{
    const struct net_address peer = net_peer(conn);

    return work_for(conn, &peer, false);
}

void net_finish(struct net_conn *conn)
{
    const struct net_address peer = net_peer(conn);

    net_close(conn);
    if (!in_turn)
        net_conn_end(conn);
    (void)work_for(conn, &peer, true);
    net_link_flush();
    net_link_wait();
}

static bool is_hook_due(void)
{
    for (unsigned i = 0; i < hook_count; i++)
        if (hooks[i].due(hooks[i].context))
            return true;
    return false;
}

static bool has_frames(void)
{
    return net_conn_waiting() || is_hook_due() ||
           virtio_interrupts(virtio_net_in(), true);
}

/* lwIP's timers are looked at in each turn; where there is nothing else to do,
 * the first that is due is a turn. lwIP's clock has whole milliseconds. */
static uint64_t lwip_due_ns(void)
{
    uint32_t sleep_ms = sys_timeouts_sleeptime();

    if (sleep_ms == SYS_TIMEOUTS_SLEEPTIME_INFINITE)
        return UINT64_MAX;
    return (clock_ns() / NS_PER_MS + sleep_ms) * NS_PER_MS;
}

bool net_each_turn_at(struct prof_trace_name *site, bool (*due)(void *context),
                      void (*hook)(void *context), void *context)
{
    if (hook_count == NET_HOOKS_MAX)
        return false;
    hooks[hook_count].due = due;
    hooks[hook_count].hook = hook;
    hooks[hook_count].context = context;
    hooks[hook_count].site = site;
    hook_count++;
    return true;
}

/* ---- beginning */

static void print_address(struct netif *unused)
{
    uint32_t ip = net_device_ip();

    (void)unused;
    if (ip != 0)
        console_line("net: address %u.%u.%u.%u by %s", (unsigned)(ip >> 24),
                     (unsigned)(ip >> 16 & 0xff), (unsigned)(ip >> 8 & 0xff),
                     (unsigned)(ip & 0xff),
                     net_settings.dhcp ? "DHCP" : "net.ip");
}

static err_t init(struct netif *unused)
{
    (void)unused;
    netif.name[0] = 'v';
    netif.name[1] = 'n';
    netif.hostname = "parasite";
    netif.mtu = MTU;
    netif.hwaddr_len = VIRTIO_NET_MAC;
    virtio_net_mac(netif.hwaddr);
    netif.flags = NETIF_FLAG_BROADCAST | NETIF_FLAG_ETHARP |
                  NETIF_FLAG_ETHERNET | NETIF_FLAG_LINK_UP;
    netif.output = etharp_output;
    netif.linkoutput = transmit;
    set_checks(false);
    return ERR_OK;
}

void net_device_start(void)
{
    static PROF_TRACE_SITE(site, "network");
    static struct loop_source source = {.waiting = has_frames,
                                        .turn = take_turn,
                                        .due_ns = lwip_due_ns,
                                        .site = &site,
                                        .device = VIRTIO_NETWORK};
    const ip4_addr_t ip = {lwip_htonl(net_settings.ip)};
    const ip4_addr_t mask = {lwip_htonl(net_settings.mask)};
    const ip4_addr_t gateway = {lwip_htonl(net_settings.gateway)};

    lwip_init();
    netif_add(&netif, &ip, &mask, &gateway, NULL, init, ethernet_input);
    netif_set_default(&netif);
    netif_set_status_callback(&netif, print_address);
    netif_set_up(&netif);
    if (net_settings.dhcp && dhcp_start(&netif) != ERR_OK)
        console_line("net: no memory for DHCP");
    loop_add(&source);
}

uint32_t net_device_ip(void)
{
    return lwip_ntohl(ip4_addr_get_u32(netif_ip4_addr(&netif)));
}
