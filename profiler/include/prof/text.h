/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_TEXT_H
#define PROF_TEXT_H

/* Text output without a C library. Buffers up to PROF_TEXT_BYTES bytes and
 * passes them to a sink when the buffer is full or flushed, so nothing is ever
 * cut. Contexts: those of the sink; no allocation, no shared state. */

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PROF_TEXT_BYTES 128u

typedef void prof_text_sink(const char *text, size_t bytes);

struct prof_text {
    prof_text_sink *sink; /* where full buffers go */
    size_t used;          /* bytes waiting in buffer */
    size_t column;        /* bytes since the last newline */
    char buffer[PROF_TEXT_BYTES];
};

void prof_text_open(struct prof_text *out, prof_text_sink *sink);
void prof_text_flush(struct prof_text *out);

void prof_text_char(struct prof_text *out, char c);
void prof_text_string(struct prof_text *out, const char *s);

/* (value) in decimal, right-aligned in (width) columns; 0: no padding. */
void prof_text_decimal(struct prof_text *out, uint64_t value, unsigned width);

/* (value) / (unit) with as many decimals as (unit), a power of ten, has zeros;
 * what is before the point in (width) columns. */
void prof_text_fixed(struct prof_text *out, uint64_t value, unsigned width,
                     uint32_t unit);

/*
 * Writes (format) with %s, %u, %ju and %%. A number may have a width, in
 * blanks. A precision is not printf's: the value is in units of the last of so
 * many decimals, up to 9, and the width is that before the point. "%4.2u %%"
 * with 123 writes "   1.23 %".
 */
__attribute__((format(printf, 2, 3))) void
prof_text_format(struct prof_text *out, const char *format, ...);

/* (value) as 0x..., with at least (digits) digits. */
void prof_text_hex(struct prof_text *out, uint64_t value, unsigned digits);

/* Pads with blanks up to column (column). */
void prof_text_column(struct prof_text *out, size_t column);

#ifdef __cplusplus
}
#endif

#endif
