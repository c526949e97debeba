/* SPDX-License-Identifier: Apache-2.0 */
/* gzip in base64, in pieces of a fixed size. */

#include "page/packed.h"

#include "base/log.h"

#include <stdint.h>
#include <zlib.h>

#define GZIP_WINDOW (15 + 16) /* of deflateInit2(): the largest, with a head */
#define FEED_BYTES ((size_t)1 << 30) /* at a time: zlib counts in 32 bits */
#define PIECE_BYTES 12288u           /* a multiple of three, as base64 needs */

struct packing {
    z_stream stream;
    uint8_t piece[PIECE_BYTES];
    FILE *out;
};

static void put_base64(const uint8_t *bytes, size_t count, FILE *out)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                 "abcdefghijklmnopqrstuvwxyz0123456789+/";

    for (size_t i = 0; i < count; i += 3) {
        size_t left = count - i < 3 ? count - i : 3;
        uint32_t word = 0;

        for (size_t j = 0; j < 3; ++j)
            word = word << 8 | (j < left ? bytes[i + j] : 0);
        for (size_t j = 0; j < 4; ++j, word = word << 6 & 0xffffff)
            putc(j <= left ? digits[word >> 18] : '=', out);
    }
}

static void put_piece(struct packing *packing)
{
    z_stream *stream = &packing->stream;

    put_base64(packing->piece, PIECE_BYTES - stream->avail_out, packing->out);
    stream->next_out = packing->piece;
    stream->avail_out = PIECE_BYTES;
}

/* Compresses the stream's input, or finishes it (Z_FINISH); the last piece,
 * which is not full, is left. */
static void squeeze(struct packing *packing, int how)
{
    z_stream *stream = &packing->stream;

    while (deflate(stream, how) != Z_STREAM_END && stream->avail_out == 0)
        put_piece(packing);
}

static void feed_part(struct packing *packing, const struct packed_part *part)
{
    const uint8_t *bytes = part->bytes;

    for (size_t left = part->count; left > 0;) {
        size_t count = left < FEED_BYTES ? left : FEED_BYTES;

        packing->stream.next_in = (Bytef *)(uintptr_t)bytes;
        packing->stream.avail_in = (uInt)count;
        squeeze(packing, Z_NO_FLUSH);
        bytes += count;
        left -= count;
    }
}

void packed_write(const struct packed_part *parts, size_t count, FILE *out)
{
    struct packing packing = {.out = out};
    z_stream *stream = &packing.stream;

    if (deflateInit2(stream, Z_BEST_COMPRESSION, Z_DEFLATED, GZIP_WINDOW, 8,
                     Z_DEFAULT_STRATEGY) != Z_OK)
        die("out of memory");
    stream->next_out = packing.piece;
    stream->avail_out = PIECE_BYTES;
    for (size_t i = 0; i < count; ++i)
        feed_part(&packing, &parts[i]);
    squeeze(&packing, Z_FINISH);
    put_piece(&packing);
    deflateEnd(stream);
}
