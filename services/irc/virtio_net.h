/* SPDX-License-Identifier: Apache-2.0 */
#ifndef IRC_VIRTIO_NET_H
#define IRC_VIRTIO_NET_H

#include <kernel/net_link.h>

/*
 * The link layer as a C++ class, so that profiles contain its qualified names.
 * The kernel's driver in C manages the queues; this class decides when the
 * device is notified.
 */
class VirtioNet
{
  public:
    /* Replaces the kernel's own link. The object MUST stay valid. */
    void attach();

    /* Queues a frame; with net.kick=each notifies the device at once. */
    bool transmit(const net_part *parts, unsigned count);

    /* At the end of the loop's turn: notifies the device of queued frames. */
    void flush();

  private:
    net_link link_ = {};
};

#endif
