/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KERNEL_SERVICE_H
#define KERNEL_SERVICE_H

/* The interface between the kernel and a service. */

#include <stddef.h>
#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Entry point, defined by the service and called once when the kernel is ready.
 * Returns the image's exit code; or SERVICE_LOOP, and then the event loop runs
 * until loop_stop(), and the exit code is 0.
 */
int service_main(void);
#define SERVICE_LOOP (-1)

/*
 * Sets an option "key=value" of the command line. Defined by a service that has
 * options. Returns false for an unknown key or an invalid value; the kernel
 * then prints a line.
 */
bool service_option(const char *key, const char *value);

/* Returns boot module number (index), from 0, and its size in *bytes; NULL if
 * there is none. */
const void *service_module(size_t index, size_t *bytes);

/* Returns the bytes of RAM that the heap occupies. If they grow while a service
 * repeats the same work, the service leaks memory. */
size_t service_heap_bytes(void);

/* Returns the bytes of the heap in allocated blocks, with malloc()'s overhead.
 * Linear in the number of free blocks. Contexts: thread. */
size_t service_heap_in_use(void);

/* Ends the image with exit code (code), 0 to 127, after a final report. */
void kernel_exit(int code) __attribute__((noreturn));

#ifdef __cplusplus
}
#endif

#endif
