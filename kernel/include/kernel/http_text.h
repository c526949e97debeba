/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KERNEL_HTTP_TEXT_H
#define KERNEL_HTTP_TEXT_H

/* A growing text on the heap, such as the body of a response. Contexts:
 * thread. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Initially {0}. The last owner frees `bytes`. */
struct http_text {
    char *bytes;
    size_t count;
    size_t room;
    bool failed; /* an allocation failed; the text is truncated */
};

/* Appends (count) bytes. */
void http_text_add(struct http_text *text, const char *bytes, size_t count);

/* Appends text formatted as by printf(), without floating point; at most 511
 * bytes per call. */
void http_text_print(struct http_text *text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

void http_text_free(struct http_text *text);

/*
 * Appends the name of the function at (address), or the address if it has no
 * name, with a backslash before each byte that is in (escaped).
 */
void http_name_add(struct http_text *text, uintptr_t address,
                   const char *escaped);

#endif
