/* SPDX-License-Identifier: Apache-2.0 */
/* From a trace to the symbols of what was profiled. */

#include "image/find.h"

#include "base/log.h"
#include "base/memory.h"
#include "image/cache.h"
#include "image/dwarf.h"
#include "image/stored.h"

#include <stdlib.h>
#include <string.h>

const char *image_from_text(enum image_from from)
{
    static const char *const texts[] = {"none", "option", "image", "cache",
                                        "trace"};

    return texts[from];
}

static bool same_functions(const struct image *one, const struct image *other)
{
    if (one->count != other->count)
        return false;
    for (size_t i = 0; i < one->count; ++i) {
        if (one->functions[i].start != other->functions[i].start ||
            strcmp(one->functions[i].name, other->functions[i].name) != 0)
            return false;
    }
    return true;
}

/* Whether (image) and all that follow it are those in the trace. */
static bool are_stored(const struct image *image, const struct image *stored)
{
    while (image != NULL && stored != NULL) {
        bool known = image->build_id_bytes > 0 && stored->build_id_bytes > 0;

        if (!image_is_of(image, stored->build_id, stored->build_id_bytes) ||
            (!known && !same_functions(image, stored)))
            return false;
        image = image->next;
        stored = stored->next;
    }
    return image == NULL && stored == NULL;
}

/* What is looked for. */
struct wanted {
    const struct event_hello *hello;
    struct image stored; /* empty = there is none */
    bool has_stored;
};

static bool is_right(const struct wanted *wanted, const struct image *image)
{
    return image_is_of(image, wanted->hello->build_id,
                       wanted->hello->build_id_bytes) &&
           (!wanted->has_stored || are_stored(image, &wanted->stored));
}

/* Opens (paths) if they are what is looked for. */
static bool open_right(const struct wanted *wanted, struct image *image,
                       const char *paths)
{
    char why[IMAGE_WHY_MAX];

    if (!image_is_there(paths) || !image_try(image, paths, why))
        return false;
    if (is_right(wanted, image))
        return true;
    image_close(image);
    return false;
}

/* The paths of all images in the cache, to be freed; NULL if one is not. One
 * without a build-id may still be where it was. */
static char *cached_paths(const struct wanted *wanted)
{
    const struct image *at = &wanted->stored;
    char *paths = NULL;

    if (!wanted->has_stored)
        return cache_find(wanted->hello->build_id,
                          wanted->hello->build_id_bytes);
    for (; at != NULL; at = at->next) {
        char *one = at->build_id_bytes > 0
                        ? cache_find(at->build_id, at->build_id_bytes)
                        : xstrdup(at->path);
        char *longer = one != NULL ? image_paths_add(paths, one) : NULL;

        free(one);
        free(paths);
        paths = longer;
        if (paths == NULL)
            return NULL;
    }
    return paths;
}

static bool open_cached(const struct wanted *wanted, struct image *image)
{
    char *paths = cached_paths(wanted);
    bool fine = paths != NULL && open_right(wanted, image, paths);

    free(paths);
    return fine;
}

static void read_stored(struct wanted *wanted, const struct trace *trace)
{
    if (trace->symbols == NULL)
        return;
    wanted->has_stored =
        stored_read(&wanted->stored, trace->symbols, trace->symbols_bytes);
    if (!wanted->has_stored)
        log_info("%s: its symbols are damaged or of another version, and not "
                 "used",
                 trace->path);
    else if (!image_is_of(&wanted->stored, wanted->hello->build_id,
                          wanted->hello->build_id_bytes)) {
        image_close(&wanted->stored);
        wanted->has_stored = false;
    }
}

/* There is no image of the trace but the one at its path, which is another. */
static bool open_wrong(struct image *image, const char *paths,
                       const struct event_hello *hello, bool force)
{
    char why[IMAGE_WHY_MAX];

    if (paths == NULL || !image_is_there(paths) ||
        !image_try(image, paths, why))
        return false;
    if (image_fits(image, hello, force))
        return true;
    image_close(image);
    return false;
}

enum image_from image_find(struct image *image, const struct trace *trace,
                           const struct event_hello *hello, const char *given,
                           bool force)
{
    struct wanted wanted = {.hello = hello};
    enum image_from from = IMAGE_FROM_NOWHERE;

    *image = (struct image){0};
    if (given != NULL) {
        image_open(image, given);
        if (!image_fits(image, hello, force))
            exit(STATUS_DATA);
        return IMAGE_FROM_OPTION;
    }
    read_stored(&wanted, trace);
    if (trace->image != NULL && open_right(&wanted, image, trace->image))
        from = IMAGE_FROM_PATH;
    else if (open_cached(&wanted, image))
        from = IMAGE_FROM_CACHE;
    else if (wanted.has_stored)
        from = IMAGE_FROM_TRACE;
    else if (open_wrong(image, trace->image, hello, force))
        from = IMAGE_FROM_PATH;
    if (from == IMAGE_FROM_TRACE)
        *image = wanted.stored;
    else if (wanted.has_stored)
        image_close(&wanted.stored);
    return from;
}

enum image_from image_find_cached(struct image *image,
                                  const struct event_hello *hello)
{
    struct wanted wanted = {.hello = hello};

    *image = (struct image){0};
    return open_cached(&wanted, image) ? IMAGE_FROM_CACHE : IMAGE_FROM_NOWHERE;
}

uint8_t *image_remember(struct image *image, size_t *bytes)
{
    bool known = false;

    cache_keep(image);
    for (struct image *at = image; at != NULL; at = at->next) {
        known = known || at->count > 0;
        dwarf_read_lines(at);
    }
    return known ? stored_make(image, bytes) : NULL;
}
