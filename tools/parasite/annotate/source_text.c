/* SPDX-License-Identifier: Apache-2.0 */
/* Source files, read as a whole. */

#include "annotate/source_text.h"

#include "base/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define SOURCE_MAX (16 << 20) /* bytes of one file */

/* The path is from the image, so it may lead anywhere. */
static bool is_source(const char *path)
{
    struct stat about;

    return stat(path, &about) == 0 && S_ISREG(about.st_mode) &&
           about.st_size <= SOURCE_MAX;
}

/* The bytes of (path), followed by a NUL, or NULL. */
static char *read_whole(const char *path, size_t *bytes)
{
    FILE *in = is_source(path) ? fopen(path, "rb") : NULL;
    size_t room = 4096, got;
    char *text;

    if (in == NULL)
        return NULL;
    text = xreallocarray(NULL, room + 1, 1);
    *bytes = 0;
    while ((got = fread(text + *bytes, 1, room - *bytes, in)) > 0) {
        *bytes += got;
        if (*bytes == room)
            text = xreallocarray(text, (room *= 2) + 1, 1);
    }
    if (ferror(in)) { /* a folder, for example */
        free(text);
        text = NULL;
    } else {
        text[*bytes] = '\0';
    }
    fclose(in);
    return text;
}

/* Below (folder): tries the whole path, then without its first folder, and so
 * on; the bare file name only if (bare). */
static char *read_below(const char *folder, bool bare, const char *path,
                        size_t *bytes)
{
    char *text = NULL;

    for (; path != NULL && text == NULL; path = strchr(path, '/')) {
        char *there;

        path += *path == '/';
        if (!bare && strchr(path, '/') == NULL)
            break;
        there = xreallocarray(NULL, strlen(folder) + strlen(path) + 2, 1);
        sprintf(there, "%s/%s", folder, path);
        text = read_whole(there, bytes);
        free(there);
    }
    return text;
}

static void split(struct listing_file *file, size_t bytes)
{
    char *at = file->text, *end = file->text + bytes;

    while (at < end) {
        char *stop = memchr(at, '\n', (size_t)(end - at));

        vector_reserve_one(&file->lines, file->count, sizeof *file->lines);
        file->lines[file->count++] = at;
        stop = stop != NULL ? stop : end;
        *stop = '\0';
        if (stop > at && stop[-1] == '\r')
            stop[-1] = '\0';
        at = stop + 1;
    }
}

static void read_file(struct listing *listing, struct listing_file *file,
                      const char *path)
{
    size_t bytes;

    *file = (struct listing_file){.text = read_whole(path, &bytes)};
    if (file->text == NULL && listing->folder != NULL)
        file->text = read_below(listing->folder, true, path, &bytes);
    else if (file->text == NULL)
        file->text = read_below(".", false, path, &bytes);
    if (file->text != NULL)
        split(file, bytes);
    else if (listing->missing++ == 0)
        listing->first_missing = xstrdup(path);
}

const char *listing_line(struct listing *listing, const char *path,
                         uint32_t number)
{
    uint32_t before = strings_count(&listing->paths);
    uint32_t at = strings_put(&listing->paths, path);
    struct listing_file *file;

    if (at == 0)
        return NULL;
    if (strings_count(&listing->paths) > before) {
        vector_reserve_one(&listing->files, at - 1, sizeof *listing->files);
        read_file(listing, &listing->files[at - 1], path);
    }
    file = &listing->files[at - 1];
    return number >= 1 && number <= file->count ? file->lines[number - 1]
                                                : NULL;
}

void listing_close(struct listing *listing)
{
    for (uint32_t i = 0; i + 1 < strings_count(&listing->paths); ++i) {
        free(listing->files[i].text);
        free(listing->files[i].lines);
    }
    free(listing->files);
    free((char *)listing->first_missing);
    strings_free(&listing->paths);
}
