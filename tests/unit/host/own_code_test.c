/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Which code is the profiler's: by addresses, whatever the functions there are
 * called; by their names only where the image does not say it; and none where
 * there is no profiler.
 */

#include "../unit.h"

#include "image/own_code.h"

#define ABOVE UINT64_C(0x200000)

static struct own_code own;

static void free_own(void)
{
    own_code_free(&own);
}

FIXTURE(NULL, free_own);

static struct image_symbol named[] = {
    {0x1000, 0x1010, "prof_essor"},      {0x1010, 0x101f, "work"},
    {0x101f, 0x1020, "prof_code_begin"}, {0x1020, 0x1030, "prof_init"},
    {0x1030, 0x1040, "drain"},           {0x1040, 0x1041, "prof_code_end"},
    {0x1050, 0x1060, "prof_essor2"},
};
static struct image_symbol older[] = {
    {ABOVE + 0x1000, ABOVE + 0x1010, "prof_init"},
    {ABOVE + 0x1010, ABOVE + 0x1020, "drain"},
    {ABOVE + 0x1030, ABOVE + 0x1040, "prof_drain"},
};
static struct image_symbol without[] = {
    {2 * ABOVE, 2 * ABOVE + 0x10, "prof_essor"},
};

static bool has(uint64_t address)
{
    return own_code_has(&own, address);
}

TEST(addresses_tell)
{
    struct image image = {.functions = named, .count = 7};

    own_code_find(&own, &image);
    assert_false(has(0x1008) || has(0x1018));
    assert_true(has(0x1020) && has(0x1030) && has(0x103f));
    assert_false(has(0x1040) || has(0x1058) || has(0));
}

/* One of the two is not enough, nor if they are the wrong way round. */
TEST(names_tell_where_no_addresses_do)
{
    struct image image = {.functions = named, .count = 5};
    struct image_symbol turned[] = {{0x1000, 0x1001, "prof_code_end"},
                                    {0x1001, 0x1010, "drain"},
                                    {0x1010, 0x1020, "prof_init"},
                                    {0x1020, 0x1030, "prof_code_begin"}};

    own_code_find(&own, &image);
    assert_true(has(0x1008) && has(0x1020));
    assert_false(has(0x1018) || has(0x1038) || has(0x1050));
    own_code_free(&own);
    image = (struct image){.functions = turned, .count = 4};
    own_code_find(&own, &image);
    assert_true(has(0x1018));
    assert_false(has(0x1008));
}

TEST(without_a_profiler_nothing_is_own)
{
    struct image image = {.functions = without, .count = 1};

    own_code_find(&own, &image);
    assert_false(has(2 * ABOVE));
    own_code_free(&own);
    own_code_find(&own, NULL);
    assert_false(has(0x1020));
    own_code_free(&own);
    image = (struct image){0};
    own_code_find(&own, &image);
    assert_false(has(0x1020));
}

/* Each image says it of itself. */
TEST(of_several_images)
{
    struct image third = {.functions = without, .count = 1},
                 second = {.functions = older, .count = 3, .next = &third},
                 first = {.functions = named, .count = 7, .next = &second};

    own_code_find(&own, &first);
    assert_true(has(0x1030) && has(ABOVE + 0x1008) && has(ABOVE + 0x1030));
    assert_false(has(0x1008) || has(ABOVE + 0x1018) || has(ABOVE + 0x1028));
    assert_false(has(2 * ABOVE));
}
