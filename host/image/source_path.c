/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nasm records the source's folder as the working directory, and the name of
 * the source with that folder, so libdw joins them to "a/b//a/b/x.asm".
 */

#include "image/source_path.h"

#include <stdbool.h>
#include <string.h>

/* Whether the folder of (bytes) bytes at (end - bytes) is (folder). */
static bool ends_with_folder(const char *path, const char *end,
                             const char *folder, size_t bytes)
{
    const char *from = end - bytes;

    return (size_t)(end - path) >= bytes && memcmp(from, folder, bytes) == 0 &&
           (from == path || from[-1] == '/');
}

static void drop_repetition(char *path)
{
    char *twice = strstr(path, "//");
    const char *name, *slash;

    if (twice == NULL)
        return;
    name = twice + 2;
    slash = strrchr(name, '/');
    if (slash != NULL &&
        ends_with_folder(path, twice, name, (size_t)(slash - name)))
        memmove(twice, slash, strlen(slash) + 1);
}

void source_path_tidy(char *path)
{
    char *to = path;

    drop_repetition(path);
    for (const char *from = path; *from != '\0';) {
        if (strncmp(from, "//", 2) == 0)
            from += 1;
        else if (strncmp(from, "/./", 3) == 0)
            from += 2;
        else
            *to++ = *from++;
    }
    *to = '\0';
}
