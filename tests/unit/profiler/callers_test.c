/* SPDX-License-Identifier: Apache-2.0 */

/* Callers like and unlike the ones before them: every sample is in the stack of
 * its words up to the first that is not code, and there are no other stacks. */

#include "../unit.h"

#include "profiler_world.h"

#define SAMPLES 20000u
#define STACKS_MAX 400000u
#define WORDS_MAX 70u

static uintptr_t random_word(void)
{
    static const uintptr_t no_code[] = {0, 5, 0x1000, 0x2000000, UINT32_MAX};

    return unit_below(40) == 0 ? no_code[unit_below(5)]
                               : 0x3000 + unit_below(6) * 16;
}

/* Changes some of the (count) words, innermost first, and returns how many
 * there are then. */
static uint32_t change(uintptr_t *words, uint32_t count)
{
    uint32_t drop = unit_below(4) == 0 ? unit_below(count + 1) : unit_below(3);
    uint32_t add = unit_below(3), kept;

    if (drop > count)
        drop = count;
    kept = count - drop;
    if (kept + add > WORDS_MAX)
        add = 0;
    memmove(words + add, words + drop, kept * sizeof *words);
    for (uint32_t i = 0; i < add; i++)
        words[i] = random_word();
    if (kept + add != 0 && unit_below(30) == 0)
        words[unit_below(kept + add)] = random_word();
    return kept + add;
}

static uint8_t used[STACKS_MAX];
static uint64_t samples[STACKS_MAX];

/* Counts a sample at (pc) where it should be. */
static void count_in(uintptr_t pc, const uintptr_t *words, uint32_t count)
{
    uint32_t code = 0, stack = 0;

    while (code < count && words[code] > 0x1000 && words[code] < 0x1000000)
        code++;
    while (code-- > 0) {
        stack = *prof_stack_slot(stack, words[code]);
        assert_int_not_equal(stack, 0);
        used[stack] = 1;
    }
    stack = *prof_stack_slot(stack, pc);
    assert_in_range(stack, 1, STACKS_MAX - 1);
    used[stack] = 1;
    samples[stack]++;
}

static void begin(void)
{
    world_new(WORLD_MEMORY(500));
}

FIXTURE(begin, world_end);

TEST(every_sample_is_in_the_stack_of_its_words)
{
    uintptr_t words[WORDS_MAX];
    uint32_t count = 0;

    unit_seed = 1;
    for (uint64_t i = 1; i <= SAMPLES; i++) {
        uintptr_t pc = 0x1500 + unit_below(4);

        count = change(words, count);
        tick(pc, i * WORLD_PERIOD, words, count);
        prof_drain();
        count_in(pc, words, count);
    }
    for (uint32_t i = 1; i < prof_stacks.used; i++) {
        assert_true(used[i]);
        assert_int_equal(prof_stack_at(i)->self.samples, samples[i]);
    }
}

/* Without memory for some of them, and with it again. */
TEST(refused_memory_leaves_no_wrong_callers)
{
    uintptr_t words[WORDS_MAX];
    uint64_t tsc = 0;

    memset(samples, 0, sizeof samples);
    for (uint32_t turn = 0; turn < 40; turn++) {
        uint32_t count = 3 + turn % 5;

        for (uint32_t i = 0; i < count; i++)
            words[i] = 0x3000 + unit_below(2000) * 16;
        for (uint32_t i = 0; i < 60; i++) {
            words[0] = 0x4000 + unit_below(2000) * 16;
            tick(0x1500, tsc += WORLD_PERIOD, words, count);
            world_refuse_from = i == 20 ? 0 : -1;
            world_refuse_count = INT32_MAX;
            prof_drain();
            world_refuse_from = -1;
            prof_drain();
            count_in(0x1500, words, count);
        }
    }
    for (uint32_t i = 1; i < prof_stacks.used; i++)
        assert_int_equal(prof_stack_at(i)->self.samples, samples[i]);
}
