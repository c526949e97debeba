/* SPDX-License-Identifier: Apache-2.0 */
#ifndef IRC_VIRTIO_NET_H
#define IRC_VIRTIO_NET_H

#include <kernel/net_link.h>

/*
 * The way of a frame to the network device, as a class: what a kernel in C++
 * would have, and what a profile of one shows by its full name. The kernel's
 * driver in C has the rings; this decides when the device is told.
 */
class VirtioNet
{
  public:
    /* Takes the place of the kernel's own link. The object stays for good. */
    void attach();

    /* Queues one frame; with net.kick=each the device is told at once. */
    bool transmit(const net_part *parts, unsigned count);

    /* The loop's turn ends: tells the device of what was queued in it. */
    void flush();

  private:
    net_link link_ = {};
};

#endif
