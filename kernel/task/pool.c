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
#define LINES_AT_END 8u

struct slab {
    struct slab *next;
    struct promise promises[SLAB_PROMISES];
};

static struct slab *slabs;
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
    struct slab *slab = task_alloc(sizeof *slab);

    if (slab == NULL)
        return false;
    slab->next = slabs;
    slabs = slab;
    stats.bytes += (uint32_t)sizeof slab->promises;
    for (unsigned i = 0; i < SLAB_PROMISES; i++) {
        slab->promises[i] = (struct promise){0};
        append(&slab->promises[i]);
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
    console_line("promise: %s (%lu), made at %s:%lu, %s%s%s",
                 promise_name(promise), (unsigned long)promise->id,
                 promise->site->file, (unsigned long)promise->site->line, what,
                 detail == NULL ? "" : ": ", detail == NULL ? "" : detail);
}

/* Somebody still has it, and nobody waits for it or has seen its result. */
static bool is_forgotten(const struct promise *promise)
{
    return (promise->flags & PROMISE_OWNED) != 0 &&
           (promise->flags & PROMISE_READ) == 0 && promise->watchers == 0;
}

void promise_at_end(void)
{
    unsigned count = 0;

    for (const struct slab *slab = slabs; slab != NULL; slab = slab->next)
        for (unsigned i = 0; i < SLAB_PROMISES; i++)
            if (is_forgotten(&slab->promises[i]) && ++count <= LINES_AT_END)
                promise_misused(&slab->promises[i],
                                "was neither awaited nor freed", NULL);
    if (count > LINES_AT_END)
        console_line("promise: and %u more", count - LINES_AT_END);
}
