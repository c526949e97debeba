/* SPDX-License-Identifier: Apache-2.0 */
/* The map from keys to numbers: what it finds, and how many slots it looks at,
 * with keys that were chosen so that weaker ones put all into one place. */

#include "../unit.h"

#include "base/index.h"

#define KEYS 20000u
#define PROBES_MAX 8u /* on average; 2.5 are expected where it is half full */

TEST(numbers_are_in_the_order_of_keys)
{
    struct index index = {0};

    assert_int_equal(index_find(&index, 7), INDEX_NONE);
    assert_int_equal(index_probes(&index, 7), 0);
    for (uint32_t i = 0; i < KEYS; i++) {
        bool is_new = false;

        assert_int_equal(index_add(&index, UINT64_C(1) << 40 | i * 3, &is_new),
                         i);
        assert_true(is_new);
    }
    for (uint32_t i = 0; i < KEYS; i++) {
        bool is_new = true;

        assert_int_equal(index_add(&index, UINT64_C(1) << 40 | i * 3, &is_new),
                         i);
        assert_false(is_new);
        assert_int_equal(index_find(&index, UINT64_C(1) << 40 | (i * 3 + 1)),
                         INDEX_NONE);
    }
    assert_int_equal(index.count, KEYS);
    index_free(&index);
    assert_int_equal(index_find(&index, 7), INDEX_NONE);
}

TEST(a_new_key_has_a_copy_of_its_row)
{
    struct index index = {0};
    uint32_t *rows = NULL;

    for (uint32_t i = 0; i < 2 * KEYS; i++) {
        uint32_t row = 5 * i, key = i % KEYS;

        assert_int_equal(index_add_row(&index, key, &rows, &row, sizeof row),
                         key);
        assert_int_equal(rows[key], 5 * key);
    }
    index_free(&index);
    free(rows);
}

/* Keys that are dense, far apart, equal in either half, and those that a
 * multiplication by the golden ratio maps to the same upper bits. */
static uint64_t dense(uint32_t i)
{
    return i;
}

static uint64_t spread(uint32_t i)
{
    return (uint64_t)i << 44;
}

static uint64_t halves(uint32_t i)
{
    return index_pair(i, i);
}

static uint64_t inverse(uint32_t i)
{
    /* 0xf1de83e19937733d is the inverse of 0x9e3779b97f4a7c15 */
    uint64_t mixed = UINT64_C(0xf1de83e19937733d) * i;

    return mixed ^ mixed >> 32;
}

TEST(chosen_keys_do_not_collide)
{
    static uint64_t (*const kinds[])(uint32_t) = {dense, spread, halves,
                                                  inverse};

    for (size_t kind = 0; kind < COUNT(kinds); kind++) {
        struct index index = {0};
        uint64_t probes = 0;

        for (uint32_t i = 0; i < KEYS; i++)
            index_add(&index, kinds[kind](i), NULL);
        assert_int_equal(index.count, KEYS);
        for (uint32_t i = 0; i < KEYS; i++)
            probes += index_probes(&index, kinds[kind](i));
        if (probes > (uint64_t)PROBES_MAX * KEYS)
            fail_msg("kind %u: %llu probes", (unsigned)kind,
                     (unsigned long long)probes);
        index_free(&index);
    }
}
