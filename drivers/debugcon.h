/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DEBUGCON_H
#define DEBUGCON_H

/*
 * The debug port of Bochs, which QEMU has as -debugcon: bytes written to port
 * 0xe9 come out on the host, with no device to be set up and none to ask.
 */

#include <stdbool.h>
#include <stddef.h>

/* Whether the port is there: it reads as its own number. Contexts: any. */
bool debugcon_present(void);

/* Writes (bytes) bytes of (data) as they are. Contexts: any. */
void debugcon_write(const void *data, size_t bytes);

#endif
