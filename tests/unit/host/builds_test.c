/* SPDX-License-Identifier: Apache-2.0 */
/* The images that guests of `parasite serve` run, where they are too many. What
 * reads images is not there: each is found, and has no functions. */

#include "../unit.h"

#include "collect/build.h"
#include "image/find.h"

static struct builds builds;
static unsigned opened, closed;

void image_open(struct image *image, const char *paths)
{
    (void)image;
    (void)paths;
}

bool image_try(struct image *image, const char *paths, char *why)
{
    (void)image;
    (void)paths;
    (void)why;
    return false;
}

bool image_is_of(const struct image *image, const uint8_t *build_id,
                 size_t bytes)
{
    (void)image;
    (void)build_id;
    (void)bytes;
    return false;
}

void image_close(struct image *image)
{
    (void)image;
}

enum image_from image_find_cached(struct image *image,
                                  const struct event_hello *hello)
{
    (void)image;
    (void)hello;
    return IMAGE_FROM_CACHE;
}

void names_open(struct names *names, struct image *image, bool lines,
                bool inlined)
{
    (void)names;
    (void)image;
    (void)lines;
    (void)inlined;
    ++opened;
}

const struct frame *names_at(struct names *names, uint64_t address,
                             bool returned, size_t *count)
{
    static const struct frame none;

    (void)names;
    (void)address;
    (void)returned;
    *count = 1;
    return &none;
}

const char *names_text(const struct names *names, uint32_t number)
{
    (void)names;
    (void)number;
    return "";
}

void names_close(struct names *names)
{
    (void)names;
    ++closed;
}

static void forget(void)
{
    builds_free(&builds);
    opened = closed = 0;
}

FIXTURE(NULL, forget);

/* A guest of the build (number) comes. */
static struct build *come(uint32_t number)
{
    struct event_hello hello = {.build_id_bytes = 20};

    memcpy(hello.build_id, &number, sizeof number);
    return builds_find(&builds, &hello);
}

/* One guest of each of as many as may be; stack 5 of each is described. */
static void fill(void)
{
    for (uint32_t i = 0; i < BUILDS_MAX; ++i) {
        struct build *build = come(i);

        assert_non_null(build);
        build_look(build, &builds, 1000);
        assert_true(build_must_send(build, 5));
    }
    assert_int_equal(opened, BUILDS_MAX);
}

/* The only guest of the build (number) goes. */
static void go(uint32_t number)
{
    struct build *build = come(number);

    builds_leave(&builds, build);
    builds_leave(&builds, build);
    assert_int_equal(build->guests, 0);
}

TEST(the_build_that_was_left_first_is_forgotten)
{
    struct build *build;

    fill();
    builds_leave(&builds, come(7)); /* its first guest stays */
    go(1);
    go(2);
    build = come(1); /* again: now 2 was left first */
    build->unsent = 3;
    builds_leave(&builds, build);
    assert_non_null(come(BUILDS_MAX)); /* instead of 2 */
    assert_int_equal(closed, 1);
    assert_int_equal(builds_unsent(&builds), 3);
    build = come(2); /* instead of 1 */
    assert_int_equal(closed, 2);
    assert_int_equal(builds_unsent(&builds), 3);
    assert_int_equal(builds.count, BUILDS_MAX);
    assert_true(build_must_send(build, 5));
    assert_false(build_must_send(build, 5));
    assert_false(build_must_send(come(7), 5));
    builds_leave(&builds, NULL);
}

TEST(guests_of_all_builds_leave_no_room)
{
    struct build *first;

    fill();
    assert_null(come(BUILDS_MAX));
    assert_null(come(BUILDS_MAX + 1));
    first = come(0);
    builds_leave(&builds, first);
    assert_null(come(BUILDS_MAX));
    builds_leave(&builds, first);
    assert_non_null(come(BUILDS_MAX));
    assert_int_equal(closed, 1);
    assert_null(come(0));
}
