/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Promises are allocated many at a time and never returned to the heap: so
 * making one takes a few instructions, and the memory of one that has ended can
 * still be looked at. Those that have ended are reused in the order in which
 * they ended.
 */

#include "internal.h"

#include <kernel/console.h>

#define SLAB_PROMISES 64u

static struct promise *free_first, *free_last;
static struct promise_stats stats;
static uint32_t last_id;

static struct promise *next_free(const struct promise *promise)
{
    return (struct promise *)promise->value;
}

static void append(struct promise *promise)
{
    promise->value = 0;
    if (free_first == NULL)
        free_first = promise;
    else
        free_last->value = (uintptr_t)promise;
    free_last = promise;
}

static bool grow(void)
{
    struct promise *slab = task_alloc(SLAB_PROMISES * sizeof *slab);

    if (slab == NULL)
        return false;
    stats.bytes += SLAB_PROMISES * (uint32_t)sizeof *slab;
    for (unsigned i = 0; i < SLAB_PROMISES; i++) {
        slab[i] = (struct promise){0};
        append(&slab[i]);
    }
    return true;
}

struct promise *promise_pool_take(void)
{
    struct promise *promise;

    if (free_first == NULL && !grow())
        return NULL;
    promise = free_first;
    free_first = next_free(promise);
    *promise = (struct promise){.id = ++last_id, .flags = PROMISE_LIVE};
    list_init(&promise->watches);
    stats.made++;
    stats.live++;
    return promise;
}

void promise_pool_give(struct promise *promise)
{
    promise->flags = 0;
    append(promise);
    stats.live--;
}

struct promise_stats promise_stats(void)
{
    return stats;
}

void promise_misused(const struct promise *promise, const char *what,
                     const char *detail)
{
    stats.errors++;
    if (promise == NULL) {
        console_line("promise: %s", what);
        return;
    }
    console_line("promise: %s (%lu) %s%s%s", promise_name(promise),
                 (unsigned long)promise->id, what, detail == NULL ? "" : ": ",
                 detail == NULL ? "" : detail);
}
