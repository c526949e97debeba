/* SPDX-License-Identifier: Apache-2.0 */

/* What the compiler calls in any freestanding program. */

#include <stddef.h>

void *memcpy(void *to, const void *from, size_t bytes);
void *memmove(void *to, const void *from, size_t bytes);
void *memset(void *to, int value, size_t bytes);
int memcmp(const void *a, const void *b, size_t bytes);

void *memcpy(void *to, const void *from, size_t bytes)
{
    void *end = to;

    __asm__ volatile("rep movsb"
                     : "+D"(end), "+S"(from), "+c"(bytes)::"memory");
    return to;
}

void *memmove(void *to, const void *from, size_t bytes)
{
    unsigned char *t = to;
    const unsigned char *f = from;

    if (t <= f || t >= f + bytes)
        return memcpy(to, from, bytes);
    while (bytes-- > 0)
        ((volatile unsigned char *)t)[bytes] = f[bytes];
    return to;
}

void *memset(void *to, int value, size_t bytes)
{
    void *end = to;

    __asm__ volatile("rep stosb"
                     : "+D"(end), "+c"(bytes)
                     : "a"(value)
                     : "memory");
    return to;
}

int memcmp(const void *a, const void *b, size_t bytes)
{
    const unsigned char *x = a, *y = b;

    for (; bytes > 0; bytes--, x++, y++)
        if (*x != *y)
            return *x - *y;
    return 0;
}
