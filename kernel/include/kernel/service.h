/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KERNEL_SERVICE_H
#define KERNEL_SERVICE_H

/* What a service defines for the kernel, and what it may call. */

#include <stddef.h>
#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Entry point of the service, called once when the kernel is ready. Its result
 * is the image's exit code, except for SERVICE_LOOP: then the event loop runs
 * until loop_stop(), and the code is 0.
 */
int service_main(void);
#define SERVICE_LOOP (-1)

/*
 * Sets option "key=value" of the command line. Returns false for an unknown key
 * or an invalid value; the kernel then prints a line. Optional: a service
 * without options need not define it.
 */
bool service_option(const char *key, const char *value);

/* Boot module number (index) and its size; NULL if there is none. */
const void *service_module(size_t index, size_t *bytes);

/* Bytes of RAM in use by the heap. If it grows while a service repeats the same
 * work, the service leaks memory. */
size_t service_heap_bytes(void);

/* Bytes of it in blocks that are allocated, with malloc()'s own overhead. Takes
 * time linear in the number of free blocks. Contexts: thread. */
size_t service_heap_in_use(void);

/* Ends the image with exit code (code), 0 to 127, after a last report. */
void kernel_exit(int code) __attribute__((noreturn));

#ifdef __cplusplus
}
#endif

#endif
