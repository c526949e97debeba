/* SPDX-License-Identifier: Apache-2.0 */
#ifndef VIRTIO_CONSOLE_H
#define VIRTIO_CONSOLE_H

/*
 * Port 0 of the first virtio-console: QEMU's -device virtio-serial-pci with
 * -device virtconsole. Output is in blocks, input in single bytes.
 * Contexts: thread.
 */

#include <stdbool.h>
#include <stddef.h>

#define VIRTIO_CONSOLE_BLOCK 4096u /* bytes of a block, at most */

/*
 * Finds and starts the device. (allocate) returns page-aligned memory or NULL.
 * False: no device, or no memory. Once it has returned true, later calls do
 * nothing and return true.
 */
bool virtio_console_start(void *(*allocate)(size_t bytes));

/*
 * Sends a copy of (bytes) bytes. False: all blocks are in flight, or it is more
 * than a block. Never waits.
 */
bool virtio_console_send(const void *data, size_t bytes);

/* Waits until all is sent. Gives up where nothing is for some seconds. */
void virtio_console_finish(void);

/* The next received byte, or -1. */
int virtio_console_receive(void);

/* Calls (on_input) in an interrupt when bytes come, at least once before all
 * are read. False: the device has no interrupt line, and must be polled. */
bool virtio_console_listen(void (*on_input)(void));

#endif
