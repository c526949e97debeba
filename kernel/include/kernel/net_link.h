/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KERNEL_NET_LINK_H
#define KERNEL_NET_LINK_H

/*
 * The link layer between the TCP/IP stack and the device. Only for services
 * that replace it, such as one in C++ whose class should appear in profiles.
 *
 *     stack -> transmit(parts) -> net_link_room(), net_link_put()   copies
 *                              -> net_bell_ring()   with net.kick=each
 *     end of the loop's turn -> flush -> net_bell_ring()   with net.kick=batch
 *
 * The kernel's own link does exactly this: see kernel/net/link.c.
 * Contexts: thread.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A piece of a frame; pieces are in order. */
struct net_part {
    const void *bytes;
    size_t count;
};

#define NET_PARTS_MAX 8     /* maximum number of pieces of a frame */
#define NET_FRAME_MAX 1514u /* bytes, with the Ethernet header */

struct net_link {
    /*
     * Sends a frame of (count) pieces, which are valid until this returns.
     * Returns false if there is no room; the frame is then dropped.
     */
    bool (*transmit)(void *context, const struct net_part *parts,
                     unsigned count);

    /* Called at the end of the loop's turn: notifies the device of queued
     * frames. */
    void (*flush)(void *context);

    void *context;
};

/* Replaces the current link by (link), which MUST remain valid. */
void net_link_set(const struct net_link *link);

/* Returns a buffer for a frame of up to NET_FRAME_MAX bytes, the same one until
 * net_link_put(); NULL if all buffers are in flight. */
void *net_link_room(void);

/* Queues the frame of (bytes) bytes in the buffer of net_link_room(). Does not
 * notify the device. */
void net_link_put(size_t bytes);

/* Returns whether the device must be notified of each frame at once:
 * net.kick=each. */
bool net_link_each(void);

/* How to notify the device: by a store or a port write, which costs an exit to
 * the hypervisor. */
struct net_bell {
    uintptr_t address; /* port or memory address */
    uint16_t queue;    /* value to write */
    bool port;
    bool wide; /* 32 bits, at a memory address; else 16 */
};

/* Fills *bell. Returns whether to ring it: false if nothing was queued since
 * the last call, or the device is polling. A true result counts as a kick. */
bool net_link_bell(struct net_bell *bell);

/*
 * Notifies the device. Inline, so that samples of the exit are attributed to
 * the caller. An interrupt that becomes pending during the exit is taken at the
 * next instruction; but QEMU without KVM takes it at the next translation
 * block, which could belong to the caller's caller. The jump begins such a
 * block here.
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
    else if (bell->wide)
        __asm__ volatile("movl %1, %0\n\t"
                         "jmp 1f\n"
                         "1:"
                         : "=m"(*(volatile uint32_t *)bell->address)
                         : "r"((uint32_t)bell->queue)
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
