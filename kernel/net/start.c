/* SPDX-License-Identifier: Apache-2.0 */
/* Starting the network; formatting of addresses and errors. */

#include "net.h"

#include <kernel/clock.h>
#include <kernel/console.h>
#include <malloc.h>
#include <stdio.h>
#include <virtio_net.h>

static bool started;

static void *pages(size_t bytes)
{
    return memalign(VIRTIO_PAGE_BYTES, bytes);
}

static int print_error(int error)
{
    static const char *const why[] = {
        [VIRTIO_NET_NONE] = "no virtio network device",
        [VIRTIO_NET_QUEUES] = "the device's queues have more than 256 entries",
        [VIRTIO_NET_MEMORY] = "not enough memory",
        [VIRTIO_NET_LINE] = "the device has no interrupt line",
    };

    console_line("net: %s", why[error]);
    return error == VIRTIO_NET_MEMORY ? NET_EMEMORY : NET_ENODEVICE;
}

int net_start(void)
{
    int error;

    if (started)
        return 0;
    error = virtio_net_start(pages);
    if (error != 0)
        return print_error(error);
    net_device_start();
    started = true;
    return 0;
}

uint32_t net_ip(void)
{
    return started ? net_device_ip() : 0;
}

const char *net_reason_text(enum net_reason reason)
{
    switch (reason) {
    case NET_RESET:
        return "reset by the peer";
    case NET_TIMEOUT:
        return "the peer does not answer";
    }
    return "unknown";
}

const char *net_address_text(const struct net_address *address,
                             char text[NET_ADDRESS_TEXT])
{
    snprintf(text, NET_ADDRESS_TEXT, "%u.%u.%u.%u:%u",
             (unsigned)(address->ip >> 24), (unsigned)(address->ip >> 16 & 255),
             (unsigned)(address->ip >> 8 & 255), (unsigned)(address->ip & 255),
             (unsigned)address->port);
    return text;
}
