/* SPDX-License-Identifier: Apache-2.0 */
/* Errors that end the program. */

#include "embed/embed.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define STATUS_DATA 1

const char *embed_program = "embed";

static void print_failure(const char *path, const char *format, va_list words)
{
    fflush(stdout);
    fprintf(stderr, "%s: %s: ", embed_program, path);
    vfprintf(stderr, format, words);
    fputc('\n', stderr);
}

void embed_fail(const char *path, const char *format, ...)
{
    va_list words;

    va_start(words, format);
    print_failure(path, format, words);
    va_end(words);
    exit(STATUS_DATA);
}

void *embed_alloc(size_t count, size_t bytes)
{
    void *memory = calloc(count > 0 ? count : 1, bytes);

    if (memory == NULL)
        embed_fail("memory", "no room for %zu entries", count);
    return memory;
}
