/* SPDX-License-Identifier: Apache-2.0 */
#ifndef VIRTIO_CONSOLE_H
#define VIRTIO_CONSOLE_H

/*
 * Port 0 of the first virtio-console: QEMU's -device virtio-serial-pci with
 * -device virtconsole. Blocks of bytes go out, single bytes come in.
 * Contexts: thread.
 */

#include <stdbool.h>
#include <stddef.h>

#define VIRTIO_CONSOLE_BLOCK 4096u /* bytes of a block, at most */

/*
 * Finds the device and makes it ready, in memory from (allocate), which gives
 * pages, or NULL. False: there is none, or no memory for it. Once it has been
 * true it stays so.
 */
bool virtio_console_start(void *(*allocate)(size_t bytes));

/*
 * Sends (bytes) bytes, which are copied. False: all blocks are still on their
 * way, or it is more than a block. Never waits.
 */
bool virtio_console_send(const void *data, size_t bytes);

/* Waits until all is sent, for about a second at most. */
void virtio_console_finish(void);

/* A byte that came in, or -1. */
int virtio_console_receive(void);

#endif
