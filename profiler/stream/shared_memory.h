/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_SHARED_MEMORY_H
#define PROF_SHARED_MEMORY_H

/* The profiler's own transport: a ring in memory, which the host reads
 * (struct prof_share). Contexts: thread. */

#include <prof/transport.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Makes the ring, of (bytes) bytes or the next power of two below, from
 * prof_port_alloc(); its physical address is (image_offset) below its virtual
 * one. False: no memory.
 */
bool prof_shared_memory_open(size_t bytes, uintptr_t image_offset);

/* Usable from then on. */
extern const struct prof_transport prof_shared_memory_transport;

#endif
