/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Feeds anything to what puts a symbol table into an image: it refuses it and
 * leaves it as it was, or changes nothing but the space, which then has a table
 * that the profiler's reader accepts.
 *
 * The first byte selects: 1 = the image is stripped, and its twin follows, from
 * where the next two bytes say.
 */

#define _GNU_SOURCE /* memfd_create(), close_range() */

#include "fuzz.h"

#include "embed/embed.h"

#include <libelf.h>
#include <prof/error.h>
#include <prof/symbols.h>
#include <setjmp.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#define HEAD_BYTES 3u

const char *embed_program = "fill_fuzz";
static jmp_buf refused;

/* In place of host/embed/fail.c, where they end the process. */
void embed_fail(const char *path, const char *format, ...)
{
    (void)path;
    (void)format;
    longjmp(refused, 1);
}

void *embed_alloc(size_t count, size_t bytes)
{
    void *memory = calloc(count > 0 ? count : 1, bytes);

    if (memory == NULL)
        longjmp(refused, 1);
    return memory;
}

/* A file with (bytes) of (data); (path) names it. */
static int file_of(const uint8_t *data, size_t bytes, char path[64])
{
    int file = memfd_create("image", 0);

    require(file >= 0 && write(file, data, bytes) == (ssize_t)bytes);
    snprintf(path, 64, "/proc/self/fd/%d", file);
    return file;
}

/* Where the space is, in a copy of the image: the one that fill_image() used
 * is closed. */
static struct space space_of(const uint8_t *data, size_t bytes)
{
    struct space space = {0};
    char *copy = malloc(bytes);
    Elf *elf;

    memcpy(copy, data, bytes);
    elf = elf_memory(copy, bytes);
    require(elf != NULL && space_find(elf, &space) == SPACE_FOUND);
    elf_end(elf);
    free(copy);
    return space;
}

/* Only the space differs, and has a table. A table for 64 bits is one for here
 * as well. */
static void look_at(int file, const uint8_t *data, size_t bytes,
                    const struct filled *filled)
{
    struct space space = space_of(data, bytes);
    uint64_t after = space.at + space.bytes;
    uint8_t *now = malloc(bytes + 1), *table = malloc(filled->bytes);
    int error;

    require(space.bytes == filled->reserved && after <= bytes);
    require(pread(file, now, bytes + 1, 0) == (ssize_t)bytes);
    require(memcmp(now, data, space.at) == 0);
    require(memcmp(now + after, data + after, bytes - after) == 0);
    require(filled->bytes <= space.bytes);
    memcpy(table, now + space.at, filled->bytes);
    error = prof_symbols_open(table, filled->bytes, filled->build_id,
                              filled->build_id_bytes);
    require(error == (space.bits == 64 ? PROF_OK : PROF_ESYM_WIDTH));
    prof_symbols_open(NULL, 0, NULL, 0);
    free(table);
    free(now);
}

static void expect_unchanged(int file, const uint8_t *data, size_t bytes)
{
    uint8_t *now = malloc(bytes + 1);

    require(pread(file, now, bytes + 1, 0) == (ssize_t)bytes);
    require(memcmp(now, data, bytes) == 0);
    free(now);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    static struct filled filled;
    static int file;
    char image[64], twin[64];
    struct fill fill = {.image = image};
    size_t whole;

    if (bytes <= HEAD_BYTES)
        return 0;
    whole = (size_t)data[1] << 8 | data[2];
    bytes -= HEAD_BYTES;
    if (data[0] != 1 || whole > bytes)
        whole = bytes;
    file = file_of(data + HEAD_BYTES, whole, image);
    if (data[0] == 1) {
        file_of(data + HEAD_BYTES + whole, bytes - whole, twin);
        fill.symbols = twin;
    }
    if (setjmp(refused) == 0) {
        filled = fill_image(&fill);
        look_at(file, data + HEAD_BYTES, whole, &filled);
    } else {
        expect_unchanged(file, data + HEAD_BYTES, whole);
    }
    close_range((unsigned)file, ~0u, 0); /* what was refused stays open */
    return 0;
}
