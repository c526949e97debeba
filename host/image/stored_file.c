/* SPDX-License-Identifier: Apache-2.0 */
/* The file around stored symbols: its head, and compression by zlib. */

#include "image/stored.h"

#include "base/bytes.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define HEAD_BYTES 24u
#define RATIO_MAX 1100u /* deflate makes a thousandth of a text at best */

static const uint8_t magic[8] = "PRFSYMS";

uint8_t *stored_make(const struct image *image, size_t *bytes)
{
    size_t count;
    uint8_t *payload = stored_payload(image, &count), *file;
    uLongf packed;

    if (payload == NULL)
        return NULL;
    packed = compressBound(count);
    file = xreallocarray(NULL, HEAD_BYTES + packed, 1);

    memcpy(file, magic, sizeof magic);
    put_le(file + 8, STORED_VERSION, 4);
    put_le(file + 12, crc32c(0, payload, count), 4);
    put_le(file + 16, count, 8);
    if (compress2(file + HEAD_BYTES, &packed, payload, count,
                  Z_DEFAULT_COMPRESSION) != Z_OK) {
        free(file);
        file = NULL;
    }
    free(payload);
    *bytes = HEAD_BYTES + packed;
    return file;
}

bool stored_read(struct image *image, const uint8_t *bytes, size_t count)
{
    uLongf unpacked;
    uint8_t *payload;
    bool fine;

    *image = (struct image){0};
    if (count < HEAD_BYTES || memcmp(bytes, magic, sizeof magic) != 0 ||
        le32(bytes + 8) != STORED_VERSION ||
        le64(bytes + 16) > STORED_PAYLOAD_MAX ||
        le64(bytes + 16) / RATIO_MAX > count)
        return false;
    unpacked = le64(bytes + 16);
    payload = xreallocarray(NULL, unpacked + 1, 1);
    fine = uncompress(payload, &unpacked, bytes + HEAD_BYTES,
                      count - HEAD_BYTES) == Z_OK &&
           unpacked == le64(bytes + 16) &&
           crc32c(0, payload, unpacked) == le32(bytes + 12) &&
           stored_read_payload(image, payload, unpacked);
    free(payload);
    return fine;
}
