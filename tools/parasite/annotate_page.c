/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The page: a frame, written by hand, around the JSON document. The frame says
 * where style, document and script go; nothing else is in the page, and nothing
 * is fetched. The document is gzipped, in base64, since it repeats itself:
 * 1.2 MB are 0.1 MB then.
 */

#include "annotate.h"
#include "parasite.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define GZIP_WINDOW (15 + 16) /* the largest, and gzip's head around it */

/* The assembler reads the files from the folder that the build runs in. */
#define FILE_AS(name, path)                                                    \
    __asm__(".section .rodata\n" #name ":\n"                                   \
            ".incbin \"" path "\"\n"                                           \
            ".byte 0\n"                                                        \
            ".previous\n");                                                    \
    extern const char name[]

FILE_AS(annotate_frame, "tools/annotate/page.html");
FILE_AS(annotate_style, "tools/annotate/page.css");
FILE_AS(annotate_script, "tools/annotate/page.js");

static uint8_t *squeezed(char *text, size_t bytes, size_t *count)
{
    z_stream stream = {0};
    uint8_t *out;

    if (deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, GZIP_WINDOW, 8,
                     Z_DEFAULT_STRATEGY) != Z_OK)
        fail("no memory to compress in");
    *count = deflateBound(&stream, bytes);
    out = grown(NULL, *count, 1);
    stream.next_in = (Bytef *)text;
    stream.avail_in = (uInt)bytes;
    stream.next_out = out;
    stream.avail_out = (uInt)*count;
    if (deflate(&stream, Z_FINISH) != Z_STREAM_END)
        fail("the page is too large: %zu bytes; raise --percent-limit", bytes);
    *count = stream.total_out;
    deflateEnd(&stream);
    return out;
}

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

static void put_document(struct annotate *annotate, FILE *out)
{
    char *text = NULL;
    size_t bytes = 0, count;
    FILE *memory = open_memstream(&text, &bytes);
    uint8_t *packed;

    if (memory == NULL || !annotate_write_json(annotate, memory) ||
        fclose(memory) != 0)
        fail("no memory for the page");
    packed = squeezed(text, bytes, &count);
    put_base64(packed, count, out);
    free(packed);
    free(text);
}

/* Writes the frame up to (mark), and returns what follows it. */
static const char *put_up_to(const char *frame, const char *mark, FILE *out)
{
    const char *here = strstr(frame, mark);

    fwrite(frame, 1, (size_t)(here - frame), out);
    return here + strlen(mark);
}

bool annotate_write_page(struct annotate *annotate, FILE *out)
{
    const char *rest = put_up_to(annotate_frame, "@CSS@", out);

    fputs(annotate_style, out);
    rest = put_up_to(rest, "@DATA@", out);
    put_document(annotate, out);
    rest = put_up_to(rest, "@JS@", out);
    fputs(annotate_script, out);
    fputs(rest, out);
    return !ferror(out);
}
