/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HTTP_TEXT_H
#define HTTP_TEXT_H

/* Text that grows as it is written, on the heap. */

#include <stdbool.h>
#include <stddef.h>

/* Begins as {0}. Whoever has it last frees `bytes`. */
struct http_text {
    char *bytes;
    size_t count;
    size_t room;
    bool failed; /* there was no memory: the text ends early, and stays so */
};

void http_text_add(struct http_text *text, const char *bytes, size_t count);

/* printf's formats, without floating point; at most 511 bytes at a time. */
void http_text_print(struct http_text *text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

void http_text_free(struct http_text *text);

#endif
