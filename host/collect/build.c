/* SPDX-License-Identifier: Apache-2.0 */
/* An image is searched for when its first guest comes, and then each minute:
 * whoever records a guest with -k puts its image into the cache. */

#include "collect/build.h"

#include "base/log.h"
#include "base/memory.h"
#include "base/text.h"
#include "image/find.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LOOK_SECONDS 60

void builds_give(struct builds *builds, const char *paths)
{
    char *rest = xstrdup(paths), *at = rest;
    static const char mark[] = {IMAGE_PATHS_MARK, '\0'};

    for (char *path; (path = strsep(&at, mark)) != NULL;) {
        struct image image = {0};

        image_open(&image, xstrdup(path));
        VECTOR_ADD(builds->given, builds->given_count, image);
    }
    free(rest);
}

static const struct image *given_image(const struct builds *builds,
                                       const struct event_hello *hello)
{
    for (size_t i = 0; i < builds->given_count; ++i) {
        const struct image *image = &builds->given[i];

        if (image->build_id_bytes > 0 && hello->build_id_bytes > 0 &&
            image_is_of(image, hello->build_id, hello->build_id_bytes))
            return image;
    }
    return NULL;
}

void build_look(struct build *build, const struct builds *builds, int64_t now)
{
    const struct image *given;
    char why[IMAGE_WHY_MAX];

    if (build->has_names || now < build->looked + LOOK_SECONDS)
        return;
    build->looked = now;
    given = given_image(builds, &build->hello);
    build->is_given =
        given != NULL && image_try(&build->image, given->path, why);
    if (!build->is_given &&
        (build->hello.build_id_bytes == 0 ||
         image_find_cached(&build->image, &build->hello) == IMAGE_FROM_NOWHERE))
        return;
    names_open(&build->names, &build->image, false, false);
    build->has_names = true;
}

static void free_build(struct build *build)
{
    if (build->has_names)
        names_close(&build->names);
    image_close(&build->image);
    index_free(&build->sent);
    free(build->sent_with_names);
    free(build);
}

/* Forgets the build that no guest runs and that was left first; false: there is
 * none. */
static bool forget_oldest(struct builds *builds)
{
    size_t oldest = builds->count;

    for (size_t i = 0; i < builds->count; ++i)
        if (builds->all[i]->guests == 0 &&
            (oldest == builds->count ||
             builds->all[i]->used < builds->all[oldest]->used))
            oldest = i;
    if (oldest == builds->count)
        return false;
    builds->unsent += builds->all[oldest]->unsent;
    free_build(builds->all[oldest]);
    builds->all[oldest] = builds->all[--builds->count];
    return true;
}

static bool has_room(struct builds *builds)
{
    if (builds->count < BUILDS_MAX || forget_oldest(builds))
        return true;
    if (!builds->is_full)
        log_error("guests run %u builds: further ones have no names of "
                  "functions",
                  BUILDS_MAX);
    builds->is_full = true;
    return false;
}

static struct build *use(struct builds *builds, struct build *build)
{
    ++build->guests;
    build->used = ++builds->uses;
    return build;
}

void builds_leave(struct builds *builds, struct build *build)
{
    if (build == NULL)
        return;
    --build->guests;
    build->used = ++builds->uses;
}

struct build *builds_find(struct builds *builds,
                          const struct event_hello *hello)
{
    uint8_t id[STORE_BUILD_BYTES] = {0};
    struct build *build;

    memcpy(id, hello->build_id,
           hello->build_id_bytes < sizeof id ? hello->build_id_bytes
                                             : sizeof id);
    for (size_t i = 0; i < builds->count; ++i)
        if (memcmp(builds->all[i]->id, id, sizeof id) == 0)
            return use(builds, builds->all[i]);
    if (!has_room(builds))
        return NULL;
    build = xreallocarray(NULL, 1, sizeof *build);
    *build = (struct build){.hello = *hello, .looked = INT64_MIN / 2};
    memcpy(build->id, id, sizeof id);
    VECTOR_ADD(builds->all, builds->count, build);
    return use(builds, build);
}

bool build_service(const struct build *build, char *name, size_t room)
{
    const char *file;

    if (!build->is_given)
        return false;
    file = path_name(build->image.path);
    snprintf(name, room, "%.*s", (int)strcspn(file, "."), file);
    return *name != '\0';
}

bool build_must_send(struct build *build, uint64_t stack)
{
    uint32_t number = index_find(&build->sent, stack);
    static const uint8_t no = 0;

    if (number == INDEX_NONE && build->sent.count == BUILD_STACKS_MAX) {
        ++build->unsent;
        return false;
    }
    if (number != INDEX_NONE &&
        build->sent_with_names[number] >= build->has_names)
        return false;
    number = index_add_row(&build->sent, stack, &build->sent_with_names, &no,
                           sizeof no);
    build->sent_with_names[number] = build->has_names;
    return true;
}

void builds_send_again(struct builds *builds)
{
    for (size_t i = 0; i < builds->count; ++i) {
        struct build *build = builds->all[i];

        index_free(&build->sent);
        free(build->sent_with_names);
        build->sent_with_names = NULL;
    }
}

uint64_t builds_unsent(const struct builds *builds)
{
    uint64_t count = builds->unsent;

    for (size_t i = 0; i < builds->count; ++i)
        count += builds->all[i]->unsent;
    return count;
}

const char *build_name(struct build *build, uint64_t address, bool returned)
{
    size_t count;
    const struct frame *frames =
        names_at(&build->names, address, returned, &count);

    return names_text(&build->names, frames[0].function);
}

void builds_free(struct builds *builds)
{
    for (size_t i = 0; i < builds->count; ++i)
        free_build(builds->all[i]);
    for (size_t i = 0; i < builds->given_count; ++i)
        image_close(&builds->given[i]);
    free(builds->given);
    free(builds->all);
    *builds = (struct builds){0};
}
