/* SPDX-License-Identifier: Apache-2.0 */

/* The image's own 64-bit division against one bit at a time. */

#include "../unit.h"

uint64_t __udivmoddi4(uint64_t n, uint64_t d, uint64_t *rest);
uint64_t __udivdi3(uint64_t n, uint64_t d);
uint64_t __umoddi3(uint64_t n, uint64_t d);
int64_t __divmoddi4(int64_t n, int64_t d, int64_t *rest);
int64_t __divdi3(int64_t n, int64_t d);
int64_t __moddi3(int64_t n, int64_t d);

static uint64_t divide_slowly(uint64_t n, uint64_t d, uint64_t *rest)
{
    uint64_t quotient = 0, left = 0;

    for (int bit = 63; bit >= 0; bit--) {
        uint64_t out = left >> 63; /* the 65th bit */

        left = left << 1 | (n >> bit & 1);
        quotient <<= 1;
        if (out != 0 || left >= d) {
            left -= d;
            quotient |= 1;
        }
    }
    *rest = left;
    return quotient;
}

static void check(uint64_t n, uint64_t d)
{
    uint64_t rest, our_rest, quotient = divide_slowly(n, d, &rest);

    assert_true(__udivdi3(n, d) == quotient);
    assert_true(__umoddi3(n, d) == rest);
    assert_true(__udivmoddi4(n, d, &our_rest) == quotient && our_rest == rest);
    assert_true(__udivmoddi4(n, d, NULL) == quotient);
}

static uint64_t absolute(int64_t value)
{
    return value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
}

static void check_signed(int64_t n, int64_t d)
{
    uint64_t rest, quotient = divide_slowly(absolute(n), absolute(d), &rest);
    int64_t our_rest;

    if ((n < 0) != (d < 0))
        quotient = 0 - quotient;
    if (n < 0)
        rest = 0 - rest;
    assert_true((uint64_t)__divdi3(n, d) == quotient);
    assert_true((uint64_t)__moddi3(n, d) == rest);
    assert_true((uint64_t)__divmoddi4(n, d, &our_rest) == quotient &&
                (uint64_t)our_rest == rest);
}

/* Powers of two and what is next to them, up to the ends. */
TEST(test_edges)
{
    for (int a = 0; a < 64; a++)
        for (int b = 0; b < 64; b++)
            for (int by = 0; by < 25; by++) {
                uint64_t n = (UINT64_C(1) << a) + (uint64_t)(by % 5) - 2;
                uint64_t d = (UINT64_C(1) << b) + (uint64_t)(by / 5) - 2;

                if (d == 0)
                    continue;
                check(n, d);
                check_signed((int64_t)n, (int64_t)d);
            }
}

TEST(test_any)
{
    for (int i = 0; i < 200000; i++) {
        uint64_t n = unit_number(), d = unit_number();

        if (d == 0)
            continue;
        check(n, d);
        check_signed((int64_t)n, (int64_t)d);
    }
}
