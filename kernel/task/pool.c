/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Promises are allocated many at a time and never returned to the heap: so
 * making one takes a few instructions, and the memory of one that has ended can
 * still be looked at. Those that have ended are reused in the order in which
 * they ended.
 */

#include "internal.h"

#include <arch/cpu_number.h>
#include <kernel/console.h>

#define SLAB_PROMISES 64u
#define LINES_AT_END 8u

struct slab {
    struct slab *next;
    struct promise promises[SLAB_PROMISES];
};

/* Of each CPU. */
static struct pool {
    struct slab *slabs;
    struct promise *free_first, *free_last;
    struct promise_stats stats;
} pools[ARCH_CPUS_MAX];
static uint32_t last_id;

#define HERE (&pools[arch_cpu_number()])

static struct promise *next_free(const struct promise *promise)
{
    return (struct promise *)promise->value;
}

static void append(struct pool *pool, struct promise *promise)
{
    promise->value = 0;
    if (pool->free_first == NULL)
        pool->free_first = promise;
    else
        pool->free_last->value = (uintptr_t)promise;
    pool->free_last = promise;
}

static bool grow(struct pool *pool)
{
    struct slab *slab = task_alloc(sizeof *slab);

    if (slab == NULL)
        return false;
    slab->next = pool->slabs;
    pool->slabs = slab;
    pool->stats.bytes += (uint32_t)sizeof slab->promises;
    for (unsigned i = 0; i < SLAB_PROMISES; i++) {
        slab->promises[i] = (struct promise){0};
        append(pool, &slab->promises[i]);
    }
    return true;
}

static uint32_t next_id(void)
{
#if ARCH_CPUS_MAX > 1
    return __atomic_add_fetch(&last_id, 1, __ATOMIC_RELAXED);
#else
    return ++last_id;
#endif
}

struct promise *promise_pool_take(void)
{
    struct pool *pool = HERE;
    struct promise *promise;

    if (pool->free_first == NULL && !grow(pool))
        return NULL;
    promise = pool->free_first;
    pool->free_first = next_free(promise);
    *promise = (struct promise){.id = next_id(),
                                .cpu = (uint16_t)arch_cpu_number(),
                                .flags = PROMISE_LIVE};
    list_init(&promise->watches);
    pool->stats.made++;
    pool->stats.live++;
    return promise;
}

void promise_pool_give(struct promise *promise)
{
    struct pool *pool = HERE;

    promise->flags = 0;
    append(pool, promise);
    pool->stats.live--;
}

struct promise_stats promise_stats(void)
{
    struct promise_stats all = {0};

    for (unsigned i = 0; i < ARCH_CPUS_MAX; i++) {
        const struct promise_stats *stats = &pools[i].stats;

        all.made += stats->made;
        all.live += stats->live;
        all.errors += stats->errors;
        all.bytes += stats->bytes;
    }
    return all;
}

void promise_misused(const struct promise *promise, const char *what,
                     const char *detail)
{
    HERE->stats.errors++;
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

    for (const struct slab *slab = HERE->slabs; slab != NULL; slab = slab->next)
        for (unsigned i = 0; i < SLAB_PROMISES; i++)
            if (is_forgotten(&slab->promises[i]) && ++count <= LINES_AT_END)
                promise_misused(&slab->promises[i],
                                "was neither awaited nor freed", NULL);
    if (count > LINES_AT_END)
        console_line("promise: and %u more", count - LINES_AT_END);
}
