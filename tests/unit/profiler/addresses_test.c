/* SPDX-License-Identifier: Apache-2.0 */

/* Prologues that take long to analyse are left to later drains. */

#include "../unit.h"

#include "aggregate/image.h"
#include "profiler_world.h"
#include "unwind/prologue.h"

#define CODE 1000u /* instructions of a byte in a function without a frame */
#define STEPS_MAX 10000u
#define ADDRESSES 100u

static uint8_t text[ADDRESSES + CODE + 64];

/* Addresses at which long functions begin, each sampled once. */
static void sample_addresses(void)
{
    memset(text, 0x90, sizeof text);
    prof_image.text =
        (struct prof_range){(uintptr_t)text, (uintptr_t)text + sizeof text};
    for (uint32_t i = 0; i < ADDRESSES; i++) {
        uintptr_t pc = (uintptr_t)text + i;
        struct prof_address *address =
            prof_address_at(prof_address_in(prof_address_slot(pc), pc));
        struct prof_function *function = prof_function_at(address->record.link);

        function->bytes = CODE;
        address->class = PROF_CLASS_ATTRIBUTED;
        address->pending = 1;
    }
}

static uint32_t count_known(void)
{
    uint32_t known = 0;

    for (uint32_t i = 1; i < prof_addresses.used; i++)
        known += prof_address_at(i)->caller != PROF_CALLER_UNKNOWN;
    return known;
}

static void begin(void)
{
    world_new(WORLD_MEMORY(500));
}

FIXTURE(begin, world_end);

TEST(a_drain_analyses_only_so_much)
{
    uint32_t known = 0, drains = 0;

    sample_addresses();
    while (known < ADDRESSES) {
        uint32_t steps = prof_prologue_steps;

        prof_addresses_catch_up(ADDRESSES, STEPS_MAX);
        assert_in_range(prof_prologue_steps - steps, 1, STEPS_MAX + CODE);
        assert_true(count_known() > known);
        known = count_known();
        drains++;
    }
    assert_in_range(drains, ADDRESSES * (CODE - ADDRESSES) / (STEPS_MAX + CODE),
                    ADDRESSES * CODE / STEPS_MAX + 1);
    for (uint32_t i = 1; i < prof_addresses.used; i++)
        assert_int_equal(prof_address_at(i)->pending, 0);
}

/* Whoever asks first. */
TEST(a_frame_is_looked_for_once)
{
    const uintptr_t begin = (uintptr_t)text;
    const struct prof_range range = {begin, begin + CODE};
    const struct prof_range other = {begin + 1, begin + CODE};
    struct prof_function *function;
    uint32_t steps;

    memset(text, 0x90, sizeof text);
    prof_image.text = (struct prof_range){begin, begin + sizeof text};
    function = prof_function_at(prof_function_of(begin));
    function->bytes = CODE;
    steps = prof_prologue_steps;
    assert_int_equal(prof_prologue_known(begin + CODE - 1, &range), 0);
    assert_int_equal(prof_prologue_steps - steps, CODE);
    assert_int_equal(function->framed, PROF_PROLOGUE_LEAF);
    assert_int_equal(prof_prologue_known(begin + CODE / 2, &range), 0);
    assert_int_equal(prof_prologue_steps - steps, CODE);
    /* of this one nothing is known */
    assert_int_equal(prof_prologue_known(begin + CODE - 1, &other), 0);
    assert_int_equal(prof_prologue_known(begin + CODE / 2, &other), 0);
    assert_int_equal(prof_prologue_steps - steps, 3 * CODE - 2);
}

/* After the prologue, what is on top of the stack decides, and nothing is
 * decoded. */
TEST(the_top_of_the_stack_decides_behind_a_prologue)
{
    const uintptr_t frame = sizeof(void *) == 4 ? 3 : 4;
    uint32_t steps;

    sample_addresses();
    memcpy(text, "\x55\x48\x89\xe5", 4); /* push rbp; mov rbp, rsp */
    if (sizeof(void *) == 4)
        memcpy(text, "\x55\x89\xe5", 3);
    steps = prof_prologue_steps;
    for (uint32_t i = 1; i < prof_addresses.used; i++) {
        struct prof_address *address = prof_address_at(i);
        bool after = address->record.key - (uintptr_t)text >= frame;

        prof_function_at(address->record.link)->record.key = (uintptr_t)text;
        address->caller = PROF_CALLER_UNKNOWN;
        assert_int_equal(prof_address_without_top(address), after);
        assert_int_equal(address->caller,
                         after ? PROF_CALLER_BY_FRAME : PROF_CALLER_UNKNOWN);
        assert_int_equal(address->pending, after ? 0 : 1);
    }
    assert_int_equal(prof_prologue_steps, steps);
}
