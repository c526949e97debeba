/* SPDX-License-Identifier: Apache-2.0 */
#ifndef VIRTIO_VSOCK_H
#define VIRTIO_VSOCK_H

/*
 * The first virtio socket device: connections to the host without a network.
 * Firecracker, Cloud Hypervisor and QEMU have it. Its sockets are those of
 * vsock.h.
 *
 *     virtio_vsock_start(pages)
 *     vsock_listen(virtio_vsock(), port)
 *     virtio_vsock_poll()                now and then, also before vsock_send()
 *
 * The device is polled. Contexts: any, one at a time; an interrupt first asks
 * vsock_busy(), which counts virtio_vsock_poll(), too.
 */

#include "vsock.h"

#define VIRTIO_VSOCK_BLOCK 4096u /* bytes of one vsock_send(), at most */

enum virtio_vsock_error {
    VIRTIO_VSOCK_NONE = 1, /* no such device, or it requires other features */
    VIRTIO_VSOCK_STREAM,   /* it has no stream sockets */
    VIRTIO_VSOCK_QUEUES,   /* a queue is missing or too large */
    VIRTIO_VSOCK_MEMORY,   /* (allocate) failed */
};

/*
 * Finds and starts the device. (allocate) returns page-aligned memory or NULL;
 * about 150 KiB are asked for. Returns 0 or an enum virtio_vsock_error. Once it
 * has returned 0, later calls do nothing and return 0.
 */
int virtio_vsock_start(void *(*allocate)(size_t bytes));

/* Its sockets, NULL before it is started. */
struct vsock *virtio_vsock(void);

/* Takes what the device has received and sent. Never waits. */
void virtio_vsock_poll(void);

/* Lets the device work for about a microsecond, between two polls. */
void virtio_vsock_pause(void);

#endif
