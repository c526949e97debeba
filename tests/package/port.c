/* SPDX-License-Identifier: Apache-2.0 */
/* What the profiler needs of a kernel, for an image that only links it. */

#include <prof/port.h>
#include <prof/prof.h>
#include <stddef.h>

void *memcpy(void *to, const void *from, size_t count);
void *memmove(void *to, const void *from, size_t count);
void *memset(void *to, int byte, size_t count);
int memcmp(const void *left, const void *right, size_t count);
int links_everything(void);

void *memcpy(void *to, const void *from, size_t count)
{
    return memmove(to, from, count);
}

void *memmove(void *to, const void *from, size_t count)
{
    unsigned char *a = to;
    const unsigned char *b = from;

    if (a <= b)
        for (size_t i = 0; i < count; ++i)
            __asm__ volatile("" : : "r"(a[i] = b[i]) : "memory");
    else
        while (count-- > 0)
            __asm__ volatile("" : : "r"(a[count] = b[count]) : "memory");
    return to;
}

void *memset(void *to, int byte, size_t count)
{
    unsigned char *a = to;

    for (size_t i = 0; i < count; ++i)
        __asm__ volatile("" : : "r"(a[i] = (unsigned char)byte) : "memory");
    return to;
}

int memcmp(const void *left, const void *right, size_t count)
{
    const unsigned char *a = left, *b = right;

    for (size_t i = 0; i < count; ++i)
        if (a[i] != b[i])
            return a[i] < b[i] ? -1 : 1;
    return 0;
}

void (*current_eoi_mechanism)(void);

void prof_port_write(const char *text, size_t bytes)
{
    (void)text;
    (void)bytes;
}

int links_everything(void)
{
    static unsigned char memory[PROF_MEMORY_DEFAULT];
    static const struct prof_config config;

    return prof_init(memory, sizeof memory, &config);
}
