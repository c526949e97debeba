/* SPDX-License-Identifier: Apache-2.0 */

/* What a panic sends of samples that were not drained yet: every one of them,
 * and without memory from a heap that may be damaged. */

#include "../unit.h"

#include "aggregate/drain.h"
#include "stream/stream.h"
#include "profiler_world.h"
#include "stream_checker.h"

/* 600 ticks more than the vector and the overflow table hold. */
static void queue_600(uint64_t tsc)
{
    for (unsigned i = 0; i < 600; i++)
        world_tick(i < 50 ? 0x1000 : 0x2000 + 16 * i, tsc += WORLD_PERIOD);
}

/* What the stream got: samples with their stacks, and others. */
static void count_emitted(uint64_t *stacks, uint64_t *others)
{
    *stacks = *others = 0;
    see_all();
    for (unsigned i = 0; i < seen_count; i++) {
        *stacks += is_sample(&seen[i]);
        if (!is_sample(&seen[i]))
            *others += event_samples(&seen[i].event);
    }
    assert_int_equal(seen[seen_count - 1].event.kind, PROF_EVENT_BYE);
    assert_false(prof_stream_on());
}

FIXTURE(world_small, world_end);

/* No memory is asked for: there is some, but the heap may be damaged. */
TEST(a_panic_emits_what_is_queued)
{
    uint64_t stacks, others;

    kept_count = 0;
    prof_transport_use(&keeper);
    world_tick(0x1000, WORLD_PERIOD);
    prof_drain();
    queue_600(WORLD_PERIOD);
    world_allocations = 0;
    prof_transport_panic(101);
    assert_int_equal(world_allocations, 0);
    count_emitted(&stacks, &others);
    assert_true(stacks > 51); /* there was room for some of the new ones */
    assert_int_equal(stacks + others, 601);
}

static jmp_buf after_panic;

/* Nothing returns from a panic. */
static void panic_now(void)
{
    world_on_alloc = NULL;
    world_allocations = 0;
    prof_transport_panic(101);
    longjmp(after_panic, 1);
}

TEST(a_panic_in_a_drain_emits_addresses)
{
    struct prof_packet head;
    uint64_t stacks, others;

    kept_count = 0;
    prof_transport_use(&keeper);
    queue_600(0);
    world_on_alloc = panic_now;
    if (setjmp(after_panic) == 0)
        prof_drain();
    assert_null(world_on_alloc);
    assert_int_equal(world_allocations, 0);
    count_emitted(&stacks, &others);
    memcpy(&head, kept[kept_count - 1].data, sizeof head);
    assert_int_equal(stacks, 0);
    assert_true(others > 0);
    assert_int_equal(others + head.discarded, 600);
}
