/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_CHECKED_H
#define BASE_CHECKED_H

/* Arithmetic of numbers that somebody else has written, such as those of a
 * trace or of an image: any of 64 bits. What does not fit is the nearest number
 * that does, so that no result is small where it should be large. */

#include <stdint.h>

static inline uint64_t checked_add(uint64_t a, uint64_t b)
{
    uint64_t sum;

    return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

/* 0 where (b) is greater. */
static inline uint64_t checked_sub(uint64_t a, uint64_t b)
{
    return a > b ? a - b : 0;
}

static inline uint64_t checked_mul(uint64_t a, uint64_t b)
{
    uint64_t product;

    return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

/* With (b) of either sign. */
static inline uint64_t checked_offset(uint64_t a, int64_t b)
{
    uint64_t sum;

    if (!__builtin_add_overflow(a, b, &sum))
        return sum;
    return b < 0 ? 0 : UINT64_MAX;
}

/* Of numbers with a sign. */
static inline int64_t checked_plus(int64_t a, int64_t b)
{
    int64_t sum;

    if (!__builtin_add_overflow(a, b, &sum))
        return sum;
    return a < 0 ? INT64_MIN : INT64_MAX;
}

/* (a) - (b). */
static inline int64_t checked_delta(uint64_t a, uint64_t b)
{
    if (a >= b)
        return a - b > INT64_MAX ? INT64_MAX : (int64_t)(a - b);
    return b - a > INT64_MAX ? INT64_MIN : -(int64_t)(b - a);
}

/* How far from 0 it is; of INT64_MIN, too. */
static inline uint64_t checked_size(int64_t value)
{
    return value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
}

/* Rounded towards 0; 0 of what is no number. */
static inline uint64_t checked_u64(double value)
{
    if (!(value > 0))
        return 0;
    return value >= 0x1p64 ? UINT64_MAX : (uint64_t)value;
}

static inline int64_t checked_i64(double value)
{
    if (value != value)
        return 0;
    if (value >= 0x1p63)
        return INT64_MAX;
    return value <= -0x1p63 ? INT64_MIN : (int64_t)value;
}

/* (value) * (times) / (per), rounded down; where a part of it has more than 64
 * bits, that is as exact as a double is. Not scaled if (per) is 0. */
static inline uint64_t checked_scale(uint64_t value, uint64_t times,
                                     uint64_t per)
{
    uint64_t product, rest;

    if (per == 0)
        return value;
    if (!__builtin_mul_overflow(value, times, &product))
        return product / per;
    rest =
        __builtin_mul_overflow(value % per, times, &product)
            ? checked_u64((double)(value % per) / (double)per * (double)times)
            : product / per;
    return checked_add(checked_mul(value / per, times), rest);
}

#endif
