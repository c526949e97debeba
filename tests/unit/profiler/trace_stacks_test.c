/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Stacks of suspends: each distinct one is defined once, as the chain of
 * functions that led there, and a suspend without one is counted.
 */

#include "../unit.h"

#include "trace/stacks.h"
#include "trace_world.h"

#include <prof/prof.h>

#define BYTES 4096u
#define SUSPENDS_MAX 2000u

static PROF_TRACE_NAME(disk, "disk");
static PROF_TRACE_SITE(site, "here");
static uint32_t memory[BYTES / 4];
static uint32_t task;

/* ---- what came out */

static struct event suspends[SUSPENDS_MAX];
static struct event nodes[SUSPENDS_MAX];
static unsigned suspend_count, node_count;

static void take(const struct event *event)
{
    if (event->kind == PROF_EVENT_SUSPEND ||
        event->kind == PROF_EVENT_SUSPEND_STACK) {
        assert_true(suspend_count < SUSPENDS_MAX);
        suspends[suspend_count++] = *event;
    } else if (event->kind == PROF_EVENT_NODE) {
        assert_true(node_count < SUSPENDS_MAX);
        nodes[node_count++] = *event;
    }
}

static void send(void)
{
    prof_trace_flush();
    prof_stream_push();
    suspend_count = node_count = 0;
    trace_each(0, take);
}

static const struct event *node_of(uint32_t node)
{
    for (unsigned i = 0; i < node_count; i++)
        if (nodes[i].node == node)
            return &nodes[i];
    return NULL;
}

/* Writes to (addresses) the stack of suspend (number), and returns how many
 * these are. */
static unsigned stack_of(unsigned number, uint64_t *addresses)
{
    unsigned count = 0;
    uint32_t node;

    assert_int_equal(suspends[number].kind, PROF_EVENT_SUSPEND_STACK);
    node = PROF_SUSPEND_NODE(suspends[number].as_suspend_stack.stack, 0);
    while (node != 0) {
        const struct event *found = node_of(node);

        assert_non_null(found);
        assert_true(count < PROF_SUSPEND_DEPTH_MAX);
        addresses[count++] = found->address;
        node = found->parent;
    }
    return count;
}

/* ---- stacks that are made */

/* Frames from the innermost on, as a stack has them: the next frame and the
 * return address, with nothing between. Only (words) of it are the stack. */
static uintptr_t frames[2 * 200];

static void link_frames(unsigned count, uintptr_t first)
{
    for (unsigned i = 0; i < count; i++) {
        frames[2 * i] = i + 1 < count ? (uintptr_t)&frames[2 * (i + 1)] : 0;
        frames[2 * i + 1] = first + i;
    }
    prof_stack_set((uintptr_t)frames, (uintptr_t)(frames + 2 * count));
}

/* prof_trace_suspend() at (caller), whose frame is frames[0]. */
static void suspend_at(uintptr_t caller)
{
    uint32_t stack = prof_trace_stack_from(caller, (uintptr_t)frames);

    prof_trace_store(&prof_trace_cpus[0], PROF_TRACE_DID_SUSPEND | disk.tag,
                     stack, 0, 0);
}

static void begin(void)
{
    open_stream();
    disk.tag = site.tag = 0;
    trace_open(PROF_TRACE_MEMORY_MIN, PROF_TRACE_STREAM);
    prof_trace_stacks_open(memory, sizeof memory, 0x1000, 0x9000, 8);
    task = prof_trace_create(PROF_TRACE_TASK, &site);
    prof_trace_switch(task);
    prof_trace_fail(task, &disk); /* gives it a number */
}

static void end(void)
{
    prof_trace_stacks_open(NULL, 0, 0, 0, 0);
    trace_close();
}

FIXTURE(begin, end);

TEST(a_stack_is_its_return_addresses)
{
    uint64_t found[PROF_SUSPEND_DEPTH_MAX];

    link_frames(3, 0x2000);
    suspend_at(0x1234);
    send();
    assert_int_equal(stack_of(0, found), 4);
    assert_int_equal(found[0], 0x1234);
    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(found[1 + i], 0x2000 + i);
    assert_int_equal(stats().stacks, 1);
    assert_int_equal(stats().stacks_lost, 0);
}

TEST(equal_stacks_are_one)
{
    for (unsigned i = 0; i < 60; i++) {
        link_frames(1 + i % 3, 0x2000);
        suspend_at(0x1234 + i % 2);
    }
    send();
    assert_int_equal(suspend_count, 60);
    for (unsigned i = 6; i < 60; i++)
        assert_int_equal(suspends[i].as_suspend_stack.stack,
                         suspends[i - 6].as_suspend_stack.stack);
    assert_int_equal(stats().stacks, 6);
    assert_int_equal(node_count, 2 * (2 + 3 + 4));
}

TEST(deeper_callers_are_cut)
{
    uint64_t found[PROF_SUSPEND_DEPTH_MAX];

    link_frames(50, 0x2000);
    suspend_at(0x1234);
    send();
    assert_int_equal(stack_of(0, found), 8);
    assert_int_equal(found[7], 0x2006);
}

/* Where a frame pointer makes no sense, or a return address is no code. */
TEST(a_walk_ends_where_it_must)
{
    static const struct {
        unsigned word;
        uintptr_t value;
        unsigned count;
    } cases[] = {{3, 0x900, 2}, /* below the code */
                 {3, 0x9000, 2},
                 {0, 1, 2}, /* not aligned */
                 {2, 0, 3},
                 {2, UINTPTR_MAX - 7, 3}};
    uint64_t found[PROF_SUSPEND_DEPTH_MAX];

    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        link_frames(4, 0x2000 + 0x100 * i);
        frames[cases[i].word] =
            cases[i].value == 1 ? frames[0] + 1 : cases[i].value;
        suspend_at(0x1234);
    }
    link_frames(4, 0x3000);
    frames[4] = (uintptr_t)frames; /* a ring */
    suspend_at(0x1234);
    link_frames(4, 0x4000);
    frames[2] = (uintptr_t)(frames + 8); /* beyond the stack */
    suspend_at(0x1234);
    send();
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(stack_of(i, found), cases[i].count);
    assert_int_equal(stack_of(5, found), 4);
    assert_int_equal(stack_of(6, found), 3);
}

TEST(without_a_stack_it_is_counted)
{
    link_frames(2, 0x2000);
    suspend_at(0x900); /* no code */
    prof_stack_set(0, 0);
    suspend_at(0x1234);
    prof_trace_stacks[0].busy = 1; /* an interrupt in the middle */
    link_frames(2, 0x2000);
    suspend_at(0x1234);
    prof_trace_stacks[0].busy = 0;
    send();
    assert_int_equal(suspend_count, 3);
    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(suspends[i].kind, PROF_EVENT_SUSPEND);
    assert_int_equal(stats().stacks_lost, 3);
    assert_int_equal(stats().stacks, 0);
}

/* All stacks that found room stay what they are. */
TEST(room_ends)
{
    uint64_t found[PROF_SUSPEND_DEPTH_MAX];
    unsigned whole = 0;

    for (unsigned i = 0; i < 200; i++) {
        link_frames(5, 0x2000 + 16 * i);
        suspend_at(0x1234);
    }
    send();
    assert_int_equal(suspend_count, 200);
    for (unsigned i = 0; i < 200; i++) {
        if (suspends[i].kind == PROF_EVENT_SUSPEND)
            continue;
        assert_int_equal(stack_of(i, found), 6);
        assert_int_equal(found[1], 0x2000 + 16 * i);
        whole++;
    }
    assert_true(whole >= 32);
    assert_int_equal(stats().stacks, whole);
    assert_int_equal(stats().stacks_lost, 200 - whole);
}

TEST(each_dump_defines_its_stacks)
{
    (void)prof_trace_set_mode(PROF_TRACE_OFF);
    (void)prof_trace_set_mode(PROF_TRACE_FLIGHT);
    link_frames(3, 0x2000);
    for (unsigned dump = 1; dump <= 2; dump++) {
        suspend_at(0x1234);
        assert_int_equal(prof_trace_dump(), PROF_OK);
        suspend_count = node_count = 0;
        trace_each(PROF_CPU_HISTORY, take);
        assert_int_equal(suspend_count, dump);
        assert_int_equal(node_count, 4 * dump);
    }
}

/* ---- real ones */

static __attribute__((noinline)) void inner(void)
{
    prof_trace_suspend(&disk);
    __asm__ volatile("");
}

static __attribute__((noinline)) void outer(void)
{
    inner();
    __asm__ volatile("");
}

TEST(the_first_is_who_called)
{
    uintptr_t here = (uintptr_t)__builtin_frame_address(0);
    uint64_t found[PROF_SUSPEND_DEPTH_MAX];

    prof_trace_stacks_open(memory, sizeof memory, 0, UINT32_MAX, 8);
    prof_stack_set(here - 4096, here + 4096);
    outer();
    prof_trace_switch(PROF_TRACE_NONE);
    outer(); /* the loop goes idle: no stack */
    send();
    assert_true(stack_of(0, found) >= 1);
    assert_in_range(found[0], (uintptr_t)inner, (uintptr_t)inner + 512);
    assert_int_equal(suspends[1].kind, PROF_EVENT_SUSPEND);
    assert_int_equal(stats().stacks_lost, 0);
}
