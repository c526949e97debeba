/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Packets as lines of text. A packet of 4 KiB takes six lines of 1,050
 * characters: short enough for every terminal program and log to keep whole.
 */

#include "base/crc.h"

#include <prof/format.h>
#include <prof/transport.h>

#define CRC_DIGITS 8u

static const char digits[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

static void write_crc(struct prof_text *out, uint32_t crc)
{
    for (unsigned i = CRC_DIGITS; i-- > 0;)
        prof_text_char(out, "0123456789abcdef"[crc >> (4 * i) & 15]);
}

/* Three bytes as four characters (RFC 4648, section 4): six bits each, from the
 * top; '=' where there was no byte. */
static void write_bytes(struct prof_text *out, const uint8_t *bytes,
                        size_t count)
{
    for (size_t at = 0; at < count; at += 3) {
        uint32_t word = 0;

        for (size_t i = 0; i < 3; i++)
            word = word << 8 | (at + i < count ? bytes[at + i] : 0);
        for (size_t i = 0; i < 4; i++, word <<= 6)
            prof_text_char(out,
                           at + i <= count ? digits[word >> 18 & 63] : '=');
    }
}

static void write_part(struct prof_text *out, const uint8_t *bytes,
                       size_t count)
{
    prof_text_char(out, ' ');
    write_bytes(out, bytes, count);
    prof_text_char(out, ' ');
    write_crc(out, prof_crc32c(0, bytes, count));
    prof_text_char(out, '\n');
}

void prof_transport_text(const void *packet, size_t bytes, prof_text_sink *sink)
{
    const struct prof_packet *head = packet;
    const uint8_t *next = packet;
    size_t parts = (bytes + PROF_LINE_BYTES - 1) / PROF_LINE_BYTES;
    struct prof_text out;

    prof_text_open(&out, sink);
    for (size_t part = 1; part <= parts; part++) {
        size_t count = bytes < PROF_LINE_BYTES ? bytes : PROF_LINE_BYTES;

        prof_text_string(&out, PROF_LINE_MARK);
        prof_text_decimal(&out, head->sequence, 0);
        prof_text_char(&out, '.');
        prof_text_decimal(&out, part, 0);
        prof_text_char(&out, '/');
        prof_text_decimal(&out, parts, 0);
        write_part(&out, next, count);
        next += count;
        bytes -= count;
    }
    prof_text_flush(&out);
}
