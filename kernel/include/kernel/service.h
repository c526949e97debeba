/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KERNEL_SERVICE_H
#define KERNEL_SERVICE_H

/* What a service gives the kernel, and what it may ask of it. */

#include <stddef.h>
#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The service's beginning, called once with everything running. What it
 * returns is the image's exit code, unless it is SERVICE_LOOP: then the event
 * loop runs until loop_stop() and the code is 0.
 */
int service_main(void);
#define SERVICE_LOOP (-1)

/*
 * Takes "key=value" from the command line. Returns false where it has no such
 * key or cannot use the value; the kernel then says so in one line. A service
 * without options leaves this out.
 */
bool service_option(const char *key, const char *value);

/* Bytes of the boot module number (index); NULL where there is none. */
const void *service_module(size_t index, size_t *bytes);

/* Bytes of RAM that the heap has taken. A service that does the same over and
 * over, and whose heap grows, loses memory. */
size_t service_heap_bytes(void);

/* Bytes of it that malloc() has given out and not got back, with what it needs
 * itself beside each piece. Linear in the free pieces. Contexts: thread. */
size_t service_heap_in_use(void);

/* Ends the image with exit code (code), 0 to 127, after a last report. */
void kernel_exit(int code) __attribute__((noreturn));

#ifdef __cplusplus
}
#endif

#endif
