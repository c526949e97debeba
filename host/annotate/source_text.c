/* SPDX-License-Identifier: Apache-2.0 */
/* Source files, read as a whole. */

#include "annotate/source_text.h"

#include "base/memory.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SOURCE_MAX (16 << 20) /* bytes of one file */

/* Whether (path), which has no links and no dots, is below (folder), and no
 * folder in between nor the file is hidden. */
static bool is_below(const char *path, const char *folder)
{
    size_t bytes = strlen(folder);

    while (bytes > 0 && folder[bytes - 1] == '/')
        --bytes;
    return strncmp(path, folder, bytes) == 0 && path[bytes] == '/' &&
           strstr(path + bytes, "/.") == NULL;
}

static bool is_allowed(const struct listing *listing, const char *path)
{
    char *folders[] = {realpath(".", NULL),
                       listing->folder != NULL ? realpath(listing->folder, NULL)
                                               : NULL};
    bool allowed = false;

    for (int i = 0; i < 2; ++i) {
        allowed = allowed || (folders[i] != NULL && is_below(path, folders[i]));
        free(folders[i]);
    }
    return allowed;
}

/* The bytes of (file), followed by a NUL, or NULL if they are too many. */
static char *read_bytes(int file, size_t *bytes)
{
    size_t room = 4096;
    ssize_t got = 1;
    char *text = xreallocarray(NULL, room + 1, 1);

    for (*bytes = 0; got > 0 && *bytes <= SOURCE_MAX; *bytes += (size_t)got) {
        if (*bytes == room)
            text = xreallocarray(text, (room *= 2) + 1, 1);
        got = read(file, text + *bytes, room - *bytes);
        if (got <= 0)
            break;
    }
    if (got != 0) { /* or a folder, for example */
        free(text);
        return NULL;
    }
    text[*bytes] = '\0';
    return text;
}

/* The bytes of (path), followed by a NUL, or NULL. The path is from the image,
 * so it may lead anywhere: to a file that is there and not allowed,
 * *(left_out). */
static char *read_whole(const struct listing *listing, const char *path,
                        size_t *bytes, bool *left_out)
{
    char *real = realpath(path, NULL), *text = NULL;
    struct stat about;
    int file = -1;

    if (real != NULL && !is_allowed(listing, real))
        *left_out = true;
    else if (real != NULL)
        file = open(real, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
    free(real);
    if (file < 0)
        return NULL;
    if (fstat(file, &about) == 0 && S_ISREG(about.st_mode))
        text = read_bytes(file, bytes);
    close(file);
    return text;
}

/* Below the folder: tries the whole path, then without its first folder, and so
 * on; the bare file name only in a folder that was given. */
static char *read_below(const struct listing *listing, const char *path,
                        size_t *bytes, bool *left_out)
{
    bool bare = listing->folder != NULL;
    const char *folder = bare ? listing->folder : ".";
    char *text = NULL;

    for (; path != NULL && text == NULL; path = strchr(path, '/')) {
        char *there;

        path += *path == '/';
        if (!bare && strchr(path, '/') == NULL)
            break;
        there = xreallocarray(NULL, strlen(folder) + strlen(path) + 2, 1);
        sprintf(there, "%s/%s", folder, path);
        text = read_whole(listing, there, bytes, left_out);
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
    bool left_out = false;

    *file = (struct listing_file){
        .text = read_whole(listing, path, &bytes, &left_out)};
    if (file->text == NULL)
        file->text = read_below(listing, path, &bytes, &left_out);
    if (file->text != NULL)
        split(file, bytes);
    else if (left_out && listing->left_out++ == 0)
        listing->first_left_out = xstrdup(path);
    else if (!left_out && listing->missing++ == 0)
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
    free((char *)listing->first_left_out);
    strings_free(&listing->paths);
}
