/* SPDX-License-Identifier: Apache-2.0 */

#include "traps.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#define TRAPS_MAX 64u
#define NESTED_MAX 16u

static uint64_t traps[TRAPS_MAX];
static size_t count;

static struct {
    bool after_return;
    unsigned after_tick;
} kept[NESTED_MAX];
static size_t nested;
static bool leaving;

bool traps_read(const char *text)
{
    char *end;

    do {
        if (count == TRAPS_MAX)
            return false;
        traps[count++] = strtoull(text, &end, 16);
        text = end + 1;
    } while (*end == '+');
    return *end == '\0';
}

bool traps_begin_at(uint64_t address)
{
    size_t i = 0;

    while (i < count && traps[i] != address)
        ++i;
    return i < count;
}

void traps_enter(bool *after_return, unsigned *after_tick)
{
    if (nested == NESTED_MAX) {
        fputs("truth: interrupts are nested too deep\n", stderr);
        abort();
    }
    kept[nested].after_return = *after_return;
    kept[nested].after_tick = *after_tick;
    ++nested;
    *after_return = false;
    *after_tick = 0;
}

void traps_leave(void)
{
    leaving = nested > 0;
}

void traps_end_returned(bool *after_return, unsigned *after_tick)
{
    if (!leaving)
        return;
    leaving = false;
    --nested;
    *after_return = kept[nested].after_return;
    *after_tick += kept[nested].after_tick;
}
