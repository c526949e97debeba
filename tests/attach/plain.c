/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program that knows of no profiler, for callers to be found in: functions
 * with large and small frames, saved registers, recursion and pushed arguments.
 * It never ends.
 */

#define OWN __attribute__((noipa))

int work(void);

volatile unsigned sink;

OWN unsigned small(unsigned a, unsigned turns)
{
    while (turns-- > 0)
        a = a * 1664525 + 1013904223;
    return a;
}

OWN unsigned many(unsigned a, unsigned b, unsigned c, unsigned d, unsigned e,
                  unsigned f, unsigned g, unsigned h)
{
    return small(a ^ b, 20 + (h & 3)) + small(c ^ d, 10) + (e ^ f) + g;
}

OWN unsigned wide(unsigned a)
{
    volatile unsigned room[70];
    unsigned sum = 0;

    for (unsigned i = 0; i < 70; ++i)
        room[i] = a + i;
    for (unsigned i = 0; i < 70; i += 7)
        sum += many(room[i], i, sum, a, room[i + 1], 3, 4, i);
    return sum;
}

OWN unsigned again(unsigned a, unsigned depth)
{
    unsigned kept = small(a, 5);

    if (depth == 0)
        return wide(a) + kept;
    return again(a + depth, depth - 1) * kept + 1;
}

OWN unsigned either(unsigned a)
{
    if (a & 1)
        return again(a, 3 + (a >> 8 & 7)) + 1;
    return wide(a) - many(a, 1, 2, 3, 4, 5, 6, 7);
}

int work(void)
{
    for (;;)
        sink += either(sink + 1);
}
