/* SPDX-License-Identifier: Apache-2.0 */

/*
 * 64-bit division, which the compiler calls by these names. The functions in
 * libgcc are built without frame pointers and use the register for other data,
 * so samples in them would lose their callers. These keep frame pointers.
 *
 * If the divisor has more than 32 bits, it is shifted left as far as possible.
 * The quotient of the upper halves is then correct or one too large (Knuth, The
 * Art of Computer Programming, vol. 2, 4.3.1, theorem B).
 */

#include <stddef.h>
#include <stdint.h>

uint64_t __udivmoddi4(uint64_t n, uint64_t d, uint64_t *rest);
uint64_t __udivdi3(uint64_t n, uint64_t d);
uint64_t __umoddi3(uint64_t n, uint64_t d);
int64_t __divmoddi4(int64_t n, int64_t d, int64_t *rest);
int64_t __divdi3(int64_t n, int64_t d);
int64_t __moddi3(int64_t n, int64_t d);

struct divided {
    uint64_t quotient;
    uint64_t rest;
};

/* (high:low) / d; requires high < d. A divisor of 0 raises an exception. */
static inline uint32_t divide_step(uint32_t high, uint32_t low, uint32_t d,
                                   uint32_t *rest)
{
    uint32_t quotient;

    __asm__("divl %4"
            : "=a"(quotient), "=d"(*rest)
            : "0"(low), "1"(high), "rm"(d)
            : "cc");
    return quotient;
}

static inline struct divided divide_by_half(uint64_t n, uint32_t d)
{
    uint32_t upper, lower, rest = 0;

    upper = divide_step(0, (uint32_t)(n >> 32), d, &rest);
    lower = divide_step(rest, (uint32_t)n, d, &rest);
    return (struct divided){(uint64_t)upper << 32 | lower, rest};
}

/* d has more than 32 bits. */
static inline struct divided divide_by_whole(uint64_t n, uint64_t d)
{
    int up = __builtin_clz((uint32_t)(d >> 32));
    uint64_t divisor = d << up, top = up == 0 ? 0 : n >> (64 - up);
    uint64_t low = n << up, product, rest;
    uint32_t rest_high = 0, quotient;

    if (top == 0 && low < divisor)
        return (struct divided){0, n};
    if (up == 0) /* both have 64 bits */
        return (struct divided){1, n - d};
    quotient = divide_step((uint32_t)top, (uint32_t)(low >> 32),
                           (uint32_t)(divisor >> 32), &rest_high);
    product = (uint64_t)quotient * (uint32_t)divisor;
    rest = (uint64_t)rest_high << 32 | (uint32_t)low;
    if (product > rest) {
        quotient--;
        product -= divisor;
    }
    return (struct divided){quotient, (rest - product) >> up};
}

static inline struct divided divide(uint64_t n, uint64_t d)
{
    return d >> 32 == 0 ? divide_by_half(n, (uint32_t)d)
                        : divide_by_whole(n, d);
}

static inline uint64_t negate_if(int64_t sign, uint64_t value)
{
    return sign < 0 ? 0 - value : value;
}

/* The remainder has the sign of the dividend. */
static inline struct divided divide_signed(int64_t n, int64_t d)
{
    struct divided divided =
        divide(negate_if(n, (uint64_t)n), negate_if(d, (uint64_t)d));

    return (struct divided){negate_if(n ^ d, divided.quotient),
                            negate_if(n, divided.rest)};
}

uint64_t __udivmoddi4(uint64_t n, uint64_t d, uint64_t *rest)
{
    struct divided divided = divide(n, d);

    if (rest != NULL)
        *rest = divided.rest;
    return divided.quotient;
}

uint64_t __udivdi3(uint64_t n, uint64_t d)
{
    return divide(n, d).quotient;
}

uint64_t __umoddi3(uint64_t n, uint64_t d)
{
    return divide(n, d).rest;
}

int64_t __divmoddi4(int64_t n, int64_t d, int64_t *rest)
{
    struct divided divided = divide_signed(n, d);

    if (rest != NULL)
        *rest = (int64_t)divided.rest;
    return (int64_t)divided.quotient;
}

int64_t __divdi3(int64_t n, int64_t d)
{
    return (int64_t)divide_signed(n, d).quotient;
}

int64_t __moddi3(int64_t n, int64_t d)
{
    return (int64_t)divide_signed(n, d).rest;
}
