/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DEBUGCON_H
#define DEBUGCON_H

/*
 * The debug port of Bochs (QEMU: -debugcon): bytes written to port 0xe9 appear
 * on the host. It needs no initialization and is always ready.
 */

#include <stdbool.h>
#include <stddef.h>

/* Whether the port exists: reading it returns its number. Contexts: any. */
bool debugcon_present(void);

/* Writes (bytes) bytes of (data) unchanged. Contexts: any. */
void debugcon_write(const void *data, size_t bytes);

#endif
