/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HTTP_TEXT_H
#define HTTP_TEXT_H

/* Text on the heap that grows as it is written. */

#include <stdbool.h>
#include <stddef.h>

/* Initially {0}. The last owner frees `bytes`. */
struct http_text {
    char *bytes;
    size_t count;
    size_t room;
    bool failed; /* an allocation failed; the text is truncated */
};

void http_text_add(struct http_text *text, const char *bytes, size_t count);

/* Formats as printf, without floating point; at most 511 bytes per call. */
void http_text_print(struct http_text *text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

void http_text_free(struct http_text *text);

#endif
