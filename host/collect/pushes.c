/* SPDX-License-Identifier: Apache-2.0 */
/* Closed minutes to another system: a profile of each guest. */

#include "collect/parts.h"

#include "base/bytes.h"
#include "base/checked.h"
#include "base/memory.h"
#include "push/push.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define NS_PER_CLOCK (1000000000u / PROF_CLOCK_HZ)
#define NS_PER_S 1000000000u

struct stacks {
    struct index nodes; /* of all CPUs */
    struct push_stack *list;
};

/* The names of a node's stack, the outermost first, to be freed. Without an
 * image there is one name for all. */
static const char **names_of(const struct guest_boot *guest, uint32_t node,
                             unsigned *count)
{
    uint64_t addresses[ROLLUP_STACK_MAX];
    size_t depth = rollup_stack(&guest->rollup, node, addresses);
    const char **names = xreallocarray(NULL, depth + 1, sizeof *names);
    bool has_names = guest->build != NULL && guest->build->has_names;

    names[0] = "[stack unknown]";
    *count = 1;
    if (!has_names || depth == 0)
        return names;
    for (size_t i = 0; i < depth; ++i)
        names[depth - 1 - i] = build_name(guest->build, addresses[i], i > 0);
    *count = (unsigned)depth;
    return names;
}

static void add_cell(struct stacks *stacks, const struct guest_boot *guest,
                     const struct rollup_cell *cell)
{
    struct push_stack fresh = {0};
    bool is_new;
    uint32_t number = index_add(&stacks->nodes, cell->node, &is_new);
    struct push_stack *stack;

    if (is_new) {
        vector_reserve_one(&stacks->list, number, sizeof *stacks->list);
        fresh.names = names_of(guest, cell->node, &fresh.count);
        stacks->list[number] = fresh;
    }
    stack = &stacks->list[number];
    stack->samples = checked_add(stack->samples, cell->samples);
    stack->ns = checked_add(stack->ns, checked_mul(cell->clocks, NS_PER_CLOCK));
}

void pushes_minute(struct collector *collector, struct guest_boot *guest,
                   const struct rollup_bucket *bucket,
                   const struct store_key *key)
{
    char build[2 * STORE_BUILD_BYTES + 1], number[24];
    uint32_t mhz = guest->rollup.rate_mhz;
    struct stacks stacks = {0};
    struct push_profile profile = {
        .service = key->service,
        .build = build,
        .guest = number,
        .host = collector->host,
        .begin_ns = (uint64_t)key->bucket * NS_PER_S,
        .duration_ns = (uint64_t)collector->options.bucket_seconds * NS_PER_S,
        .period_ns = mhz > 0 ? 1000000000000u / mhz : 0,
    };

    if (collector->options.push == NULL || bucket->keys.count == 0)
        return;
    bytes_hex(key->build, STORE_BUILD_BYTES, build);
    snprintf(number, sizeof number, "%016" PRIx64, key->guest);
    for (uint32_t i = 0; i < bucket->keys.count; ++i)
        add_cell(&stacks, guest, &bucket->cells[i]);
    profile.stacks = stacks.list;
    profile.stack_count = stacks.nodes.count;
    push_queue_add(collector->options.push, &profile);
    for (uint32_t i = 0; i < stacks.nodes.count; ++i)
        free((void *)(uintptr_t)stacks.list[i].names);
    free(stacks.list);
    index_free(&stacks.nodes);
}
