/* SPDX-License-Identifier: Apache-2.0 */
#include "virtio_net.h"

#include <string.h>

/* Functions that profiles should show. */
#define NAMED __attribute__((noinline))

/* Inlined, so that its time is attributed to the caller. */
static inline __attribute__((always_inline)) void ring()
{
    net_bell bell;

    if (net_link_bell(&bell))
        net_bell_ring(&bell);
}

NAMED bool VirtioNet::transmit(const net_part *parts, unsigned count)
{
    char *frame = static_cast<char *>(net_link_room());
    size_t bytes = 0;

    if (frame == nullptr)
        return false;
    for (unsigned i = 0; i < count; i++) {
        memcpy(frame + bytes, parts[i].bytes, parts[i].count);
        bytes += parts[i].count;
    }
    net_link_put(bytes);
    if (net_link_each())
        ring();
    return true;
}

NAMED void VirtioNet::flush()
{
    ring();
}

void VirtioNet::attach()
{
    link_.context = this;
    link_.transmit = [](void *context, const net_part *parts, unsigned count) {
        return static_cast<VirtioNet *>(context)->transmit(parts, count);
    };
    link_.flush = [](void *context) {
        static_cast<VirtioNet *>(context)->flush();
    };
    net_link_set(&link_);
}
