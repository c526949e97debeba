/* SPDX-License-Identifier: Apache-2.0 */

/* Arithmetic of any numbers: what does not fit is the nearest that does. */

#include "../unit.h"

#include <math.h>

#include "base/checked.h"

#define MOST UINT64_MAX

TEST(sums_are_limited)
{
    assert_true(checked_add(2, 3) == 5);
    assert_true(checked_add(MOST, 0) == MOST);
    assert_true(checked_add(MOST, 1) == MOST);
    assert_true(checked_sub(3, 2) == 1);
    assert_true(checked_sub(2, 3) == 0);
    assert_true(checked_sub(0, MOST) == 0);
    assert_true(checked_mul(1u << 31, 1u << 31) == (uint64_t)1 << 62);
    assert_true(checked_mul((uint64_t)1 << 32, (uint64_t)1 << 32) == MOST);
}

TEST(differences_have_a_sign)
{
    assert_true(checked_plus(3, -5) == -2);
    assert_true(checked_plus(INT64_MAX, 1) == INT64_MAX);
    assert_true(checked_plus(INT64_MIN, -1) == INT64_MIN);
    assert_true(checked_offset(3, -2) == 1);
    assert_true(checked_offset(3, -5) == 0);
    assert_true(checked_offset(0, INT64_MIN) == 0);
    assert_true(checked_offset(MOST, -1) == MOST - 1);
    assert_true(checked_offset(MOST - 1, 1) == MOST);
    assert_true(checked_offset(MOST, 1) == MOST);
    assert_true(checked_delta(3, 5) == -2);
    assert_true(checked_delta(5, 3) == 2);
    assert_true(checked_delta(0, MOST) == INT64_MIN);
    assert_true(checked_delta(MOST, 0) == INT64_MAX);
    assert_true(checked_delta(0, (uint64_t)1 << 63) == INT64_MIN);
    assert_true(checked_delta(0, INT64_MAX) == -INT64_MAX);
    assert_true(checked_size(-7) == 7);
    assert_true(checked_size(INT64_MIN) == (uint64_t)1 << 63);
    assert_true(checked_size(INT32_MIN) == (uint64_t)1 << 31);
}

TEST(fractions_are_converted)
{
    assert_true(checked_u64(1.9) == 1);
    assert_true(checked_u64(-1) == 0);
    assert_true(checked_u64(NAN) == 0);
    assert_true(checked_u64(INFINITY) == MOST);
    assert_true(checked_u64(0x1p64) == MOST);
    assert_true(checked_u64(0x1p63) == (uint64_t)1 << 63);
    assert_true(checked_i64(-1.9) == -1);
    assert_true(checked_i64(NAN) == 0);
    assert_true(checked_i64(-INFINITY) == INT64_MIN);
    assert_true(checked_i64(0x1p63) == INT64_MAX);
    assert_true(checked_i64(-0x1p63) == INT64_MIN);
}

TEST(numbers_are_scaled)
{
    uint64_t found;

    assert_true(checked_scale(7, 10, 4) == 17);
    assert_true(checked_scale(7, 10, 0) == 7);
    assert_true(checked_scale(MOST, MOST, MOST) == MOST);
    assert_true(checked_scale(MOST, 1000, 1) == MOST);
    assert_true(checked_scale(MOST, 1000000000, 1000000000) == MOST);
    found = checked_scale((uint64_t)1 << 62, 1000000000, 3000000000);
    assert_true(found == ((uint64_t)1 << 62) / 3);
    found = checked_scale(MOST - 1, MOST / 2, MOST);
    assert_in_range(found >> 12, (MOST / 2 >> 12) - 1, (MOST / 2 >> 12) + 1);
}
