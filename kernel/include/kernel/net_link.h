/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KERNEL_NET_LINK_H
#define KERNEL_NET_LINK_H

/*
 * The way of a frame from the stack to the device, for a service that wants a
 * link layer of its own, as one in C++ does whose class is to be seen in a
 * profile. A service without such a wish has no use for this header.
 *
 *     stack -> transmit(parts) -> net_link_room(), net_link_put()   copies
 *                              -> net_bell_ring()   with net.kick=each
 *     end of the loop's turn -> flush -> net_bell_ring()   with net.kick=batch
 *
 * The kernel's own pair does exactly this: see kernel/net/link.c.
 * Contexts: thread.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* One piece of a frame; the whole is the pieces in their order. */
struct net_part {
    const void *bytes;
    size_t count;
};

#define NET_PARTS_MAX 8     /* pieces of a frame, at most */
#define NET_FRAME_MAX 1514u /* bytes, with the Ethernet header */

struct net_link {
    /*
     * Sends a frame of (count) pieces, borrowed until this returns. False:
     * there is no room; the stack takes the frame as lost.
     */
    bool (*transmit)(void *context, const struct net_part *parts,
                     unsigned count);

    /* The loop's turn ends: what was held back must be told to the device. */
    void (*flush)(void *context);

    void *context;
};

/* Puts (link), which MUST stay where it is, in the kernel's place. Any time. */
void net_link_set(const struct net_link *link);

/* Memory for one frame of up to NET_FRAME_MAX bytes, or NULL: all of the
 * device's buffers are on their way. The same again until net_link_put(). */
void *net_link_room(void);

/* The frame, (bytes) long, is in net_link_room(): it is queued. The device is
 * not told. */
void net_link_put(size_t bytes);

/* net.kick=each: the device is to be told of each frame as it is queued. */
bool net_link_each(void);

/* How the device is told. One store, or one port write, which leaves the
 * guest: that is what it costs. */
struct net_bell {
    uintptr_t address; /* port, or where to store */
    uint16_t queue;    /* what is written there */
    bool port;
};

/* Where to ring, and whether there is a reason to: false where nothing was
 * queued since the last time, or the device is looking by itself. True counts
 * as a kick. */
bool net_link_bell(struct net_bell *bell);

/*
 * Inline, so that the instruction belongs to whoever rings. What the machine
 * under the guest does for it takes long, and an interrupt that became due in
 * that time is taken at the next instruction; but QEMU without KVM takes it at
 * the next block of code, which may be the caller's. The jump, which goes
 * nowhere, begins a block here.
 */
static inline void net_bell_ring(const struct net_bell *bell)
{
    if (bell->port)
        __asm__ volatile("outw %0, %1\n\t"
                         "jmp 1f\n"
                         "1:"
                         :
                         : "a"(bell->queue), "Nd"((uint16_t)bell->address)
                         : "memory");
    else
        __asm__ volatile("movw %1, %0\n\t"
                         "jmp 1f\n"
                         "1:"
                         : "=m"(*(volatile uint16_t *)bell->address)
                         : "r"(bell->queue)
                         : "memory");
}

#ifdef __cplusplus
}
#endif

#endif
