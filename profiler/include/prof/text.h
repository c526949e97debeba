/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_TEXT_H
#define PROF_TEXT_H

/* Text output without a C library. Collects up to PROF_TEXT_BYTES bytes and
 * passes them to a sink when the buffer is full or flushed; nothing is ever
 * cut. Contexts: those of the sink. No allocation, no shared state. */

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PROF_TEXT_BYTES 128u

/* Writes (bytes) bytes of (text), such as prof_port_write(). */
typedef void prof_text_sink(const char *text, size_t bytes);

struct prof_text {
    prof_text_sink *sink; /* receives full buffers */
    size_t used;          /* bytes in buffer */
    size_t column;        /* bytes since the last newline */
    char buffer[PROF_TEXT_BYTES];
};

/* Initialises (out) to write to (sink), at column 0. */
void prof_text_open(struct prof_text *out, prof_text_sink *sink);

/* Passes what is buffered to the sink. */
void prof_text_flush(struct prof_text *out);

/* Write one character, or a NUL-terminated string. */
void prof_text_char(struct prof_text *out, char c);
void prof_text_string(struct prof_text *out, const char *s);

/* Writes (value) in decimal, right-aligned in (width) columns; 0: no
 * padding. */
void prof_text_decimal(struct prof_text *out, uint64_t value, unsigned width);

/* Writes (value) / (unit), where (unit) is a power of ten, with as many
 * decimals as (unit) has zeros, and the integer part right-aligned in (width)
 * columns. */
void prof_text_fixed(struct prof_text *out, uint64_t value, unsigned width,
                     uint32_t unit);

/*
 * Writes (format) like printf(), with %s, %u, %ju and %% only. %u and %ju may
 * have a width, padded with blanks, and a precision of up to 9. Unlike in
 * printf(), the precision makes the value a fixed-point number: it is the
 * number of decimals, the value is in units of the last one, and the width is
 * that of the integer part. "%4.2u %%" with 123 writes "   1.23 %".
 */
__attribute__((format(printf, 2, 3))) void
prof_text_format(struct prof_text *out, const char *format, ...);

/* Writes (value) as 0x..., with at least (digits) hexadecimal digits. */
void prof_text_hex(struct prof_text *out, uint64_t value, unsigned digits);

/* Writes blanks up to column (column), counted from 0. */
void prof_text_column(struct prof_text *out, size_t column);

#ifdef __cplusplus
}
#endif

#endif
