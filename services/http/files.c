/* SPDX-License-Identifier: Apache-2.0 */

#include "files.h"

#include <stdint.h>
#include <string.h>

#define BLOCK 512u
#define NAME_AT 0u
#define NAME_BYTES 100u
#define SIZE_AT 124u
#define SIZE_BYTES 12u
#define SUM_AT 148u
#define SUM_BYTES 8u
#define KIND_AT 156u
#define MAGIC_AT 257u
#define PREFIX_AT 345u
#define PREFIX_BYTES 155u

/* An octal number after blanks, ended by a blank or NUL. */
static bool octal(const char *at, size_t bytes, uint64_t *value)
{
    size_t i = 0;

    *value = 0;
    while (i < bytes && at[i] == ' ')
        i++;
    if (i == bytes || at[i] < '0' || at[i] > '7')
        return false;
    for (; i < bytes && at[i] >= '0' && at[i] <= '7'; i++)
        *value = *value * 8 + (uint64_t)(at[i] - '0');
    return i == bytes || at[i] == ' ' || at[i] == '\0';
}

/* In the checksum of the header its own field counts as blanks. */
static bool sum_right(const char *header)
{
    uint64_t stored, sum = 0;

    for (size_t i = 0; i < BLOCK; i++)
        sum += i >= SUM_AT && i < SUM_AT + SUM_BYTES ? ' '
                                                     : (unsigned char)header[i];
    return octal(header + SUM_AT, SUM_BYTES, &stored) && stored == sum;
}

static size_t add_name(char *name, size_t used, const char *from, size_t bytes)
{
    const char *end = memchr(from, '\0', bytes);
    size_t count = end != NULL ? (size_t)(end - from) : bytes;

    memcpy(name + used, from, count);
    return used + count;
}

/* Prefix and name fit: 155 + 1 + 100 bytes. */
static void read_name(const char *header, char name[HTTP_NAME_MAX])
{
    size_t used = 0;

    if (memcmp(header + MAGIC_AT, "ustar", 6) == 0)
        used = add_name(name, used, header + PREFIX_AT, PREFIX_BYTES);
    if (used != 0)
        name[used++] = '/';
    used = add_name(name, used, header + NAME_AT, NAME_BYTES);
    name[used] = '\0';
}

bool http_files_next(const void *archive, size_t archive_bytes, size_t *at,
                     struct http_file *file)
{
    while (*at < archive_bytes && archive_bytes - *at >= BLOCK) {
        const char *header = (const char *)archive + *at;
        size_t left = archive_bytes - *at - BLOCK;
        char name[HTTP_NAME_MAX];
        const char *plain = name;
        uint64_t bytes;

        if (!sum_right(header) ||
            !octal(header + SIZE_AT, SIZE_BYTES, &bytes) || bytes > left)
            return false;
        file->bytes = header + BLOCK;
        file->count = (size_t)bytes;
        *at += BLOCK + file->count;
        *at += (BLOCK - file->count % BLOCK) % BLOCK;
        if (header[KIND_AT] != '0' && header[KIND_AT] != '\0')
            continue;
        read_name(header, name);
        while (strncmp(plain, "./", 2) == 0 || *plain == '/')
            plain += *plain == '/' ? 1 : 2;
        strcpy(file->name, plain);
        return true;
    }
    return false;
}

bool http_files_find(const void *archive, size_t archive_bytes,
                     const char *name, struct http_file *file)
{
    size_t at = 0;

    while (http_files_next(archive, archive_bytes, &at, file))
        if (strcmp(file->name, name) == 0)
            return true;
    return false;
}

const char *http_files_type(const char *name)
{
    static const char *const types[][2] = {
        {".html", "text/html; charset=utf-8"},
        {".txt", "text/plain; charset=utf-8"},
        {".css", "text/css; charset=utf-8"},
        {".js", "text/javascript; charset=utf-8"},
        {".json", "application/json"},
        {".svg", "image/svg+xml"},
        {".png", "image/png"},
        {".jpg", "image/jpeg"},
        {".gz", "application/gzip"},
    };
    const char *suffix = strrchr(name, '.');

    for (size_t i = 0; suffix != NULL && i < sizeof types / sizeof *types; i++)
        if (strcmp(suffix, types[i][0]) == 0)
            return types[i][1];
    return "application/octet-stream";
}
