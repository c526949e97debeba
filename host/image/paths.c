/* SPDX-License-Identifier: Apache-2.0 */
/* Several images, as one list of paths. */

#include "base/checked.h"
#include "base/log.h"
#include "base/memory.h"
#include "image/image.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define APART (1u << 20) /* code that is moved begins at a multiple of that */

static bool is_file(const char *path)
{
    struct stat about;

    return stat(path, &about) == 0 && S_ISREG(about.st_mode) &&
           access(path, R_OK) == 0;
}

/* The first of *(paths), to be freed, which is taken off; NULL if there is
 * none. A name that is a file's is not split. */
static char *next_path(const char **paths)
{
    const char *mark = NULL;
    char *path;

    if (**paths == '\0')
        return NULL;
    if (!is_file(*paths))
        mark = strchr(*paths, IMAGE_PATHS_MARK);
    path = xstrdup(*paths);
    if (mark != NULL)
        path[mark - *paths] = '\0';
    *paths = mark != NULL ? mark + 1 : *paths + strlen(*paths);
    return path;
}

static bool overlaps(const struct image *a, const struct image *b)
{
    return a->begin + a->moved < b->end + b->moved &&
           b->begin + b->moved < a->end + a->moved;
}

/* Moves (added) up until it is apart from all that precede it; false if there
 * is no room above them. */
static bool keep_apart(const struct image *first, struct image *added)
{
    const struct image *at = first;

    while (at != added) {
        if (overlaps(at, added)) {
            uint64_t least = at->end + at->moved - added->begin;

            added->moved = checked_add(least, APART - 1) / APART * APART;
            if (added->moved < least ||
                added->moved > UINT64_MAX - added->end) {
                added->moved = 0;
                return false;
            }
            at = first;
        } else {
            at = at->next;
        }
    }
    for (size_t i = 0; i < added->count; ++i) {
        struct image_symbol *function = &added->functions[i];

        function->start = checked_add(function->start, added->moved);
        function->end = checked_add(function->end, added->moved);
    }
    return true;
}

bool image_try(struct image *image, const char *paths, char *why)
{
    struct image *last = image;
    char *path = next_path(&paths);
    bool fine = path != NULL;

    snprintf(why, IMAGE_WHY_MAX, "an image has a name");
    *image = (struct image){0};
    while (path != NULL && fine) {
        fine = image_try_one(last, path, why);
        last->own_path = path;
        if (fine && !keep_apart(image, last)) {
            snprintf(why, IMAGE_WHY_MAX,
                     "%s: overlaps another image, and there are no addresses "
                     "above it",
                     path);
            fine = false;
        }
        path = fine ? next_path(&paths) : NULL;
        if (path != NULL) {
            last->next = xreallocarray(NULL, 1, sizeof *last->next);
            *last->next = (struct image){0};
            last = last->next;
        }
    }
    if (!fine)
        image_close(image);
    return fine;
}

void image_open(struct image *image, const char *paths)
{
    char why[IMAGE_WHY_MAX];

    if (!image_try(image, paths, why))
        die("%s", why);
}

bool image_is_there(const char *paths)
{
    bool there = *paths != '\0';
    char *path;

    while (there && (path = next_path(&paths)) != NULL) {
        there = is_file(path);
        free(path);
    }
    return there;
}

char *image_paths_add(const char *paths, const char *path)
{
    size_t used = paths != NULL ? strlen(paths) + 1 : 0;
    char *both = xreallocarray(NULL, used + strlen(path) + 1, 1);

    if (used > 0)
        sprintf(both, "%s%c", paths, IMAGE_PATHS_MARK);
    strcpy(both + used, path);
    return both;
}

char *image_paths_real(const char *paths)
{
    char *whole = NULL, *path;

    while ((path = next_path(&paths)) != NULL) {
        char *real = realpath(path, NULL);
        char *longer = image_paths_add(whole, real != NULL ? real : path);

        free(whole);
        free(real);
        free(path);
        whole = longer;
    }
    return whole;
}
