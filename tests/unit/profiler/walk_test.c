/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The walk in assembly, over stacks made by hand. Each lies between pages that
 * may not be touched, so that a frame read outside it would be noticed; and
 * for any content, the walk must find what a slow walk in C finds.
 */

#include "../unit.h"

#include "sample/cpu_state.h"

#include <prof/prof.h>

#include <prof/format.h>
#include <sys/mman.h>

#define PAGE 4096u
#define WORDS (PAGE / sizeof(uintptr_t))
#define TEXT 0x100000u
#define TEXT_BYTES 0x10000u

static uintptr_t *stack; /* one page, and WORDS words */
static uint32_t vector[4096 + PROF_FRAMES_MARGIN];

static void make_stack(void)
{
    char *pages =
        mmap(NULL, 3 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    stack = (uintptr_t *)(void *)(pages + PAGE);
    assert_true(pages != MAP_FAILED);
    assert_int_equal(mprotect(stack, PAGE, PROT_READ | PROT_WRITE), 0);
}

static uintptr_t at(size_t word)
{
    return (uintptr_t)&stack[word];
}

static void fresh(uint32_t depth)
{
    memset(prof_cpus, 0, sizeof prof_cpus);
    memset(stack, 0, PAGE);
    prof_frames_open(&prof_cpus[0].frames, vector, 4096);
    prof_cpus[0].depth = depth;
    prof_stack_set(at(0), at(WORDS));
}

/* (count) frames of (words) words each from word (from) on. */
static void make_frames(size_t from, size_t count, size_t words)
{
    for (size_t i = 0; i < count; i++) {
        stack[from + i * words] =
            i + 1 < count ? at(from + (i + 1) * words) : 0;
        stack[from + i * words + 1] = TEXT + 1 + i;
    }
}

/* One walk that must give (frames) frames and end for (reason), 0 = well. */
static void walk(uintptr_t sp, uintptr_t fp, uint32_t frames, uint32_t reason)
{
    uint32_t before = prof_cpus[0].frames.head;
    uint32_t walk = prof_walk(sp, fp);
    uint32_t got = prof_walk_words(walk);
    const uint32_t *words = prof_frames_at(&prof_cpus[0].frames, before);

    assert_int_equal(got, PROF_FRAMES_HEAD + frames);
    assert_int_equal(prof_cpus[0].frames.head, before + got);
    for (uint32_t i = 0; i < frames; i++)
        assert_int_equal(words[PROF_FRAMES_HEAD + i], TEXT + 1 + i);
    assert_int_equal(prof_walk_reason(walk), reason);
}

FIXTURE(make_stack, NULL);

TEST(whole_stacks_are_walked_to_their_end)
{
    for (size_t frames = 1; frames <= 127; frames++) {
        fresh(127);
        make_frames(10, frames, 3);
        walk(at(5), at(10), (uint32_t)frames, 0);
    }
    fresh(127);
    make_frames(WORDS - 2, 1, 2);
    walk(at(0), at(WORDS - 2), 1, 0);
}

TEST(the_words_at_the_stack_pointer_are_kept)
{
    fresh(64);
    for (size_t i = 0; i < WORDS; i++)
        stack[i] = ~(uintptr_t)i;
    make_frames(10, 2, 4);
    walk(at(3), at(10), 2, 0);
    for (uint32_t i = 0; i < PROF_FRAMES_KEPT; i++)
        assert_true(prof_frames_kept(vector, i) == ~(uintptr_t)(3 + i));
}

TEST(beyond_the_stack_there_are_no_words)
{
    for (uint32_t there = 2; there <= PROF_FRAMES_KEPT; there++) {
        fresh(64);
        memset(vector, 0xff, sizeof vector);
        for (size_t i = 0; i < WORDS; i++)
            stack[i] = ~(uintptr_t)i;
        make_frames(WORDS - 2, 1, 2);
        walk(at(WORDS - there), at(WORDS - 2), 1, 0);
        for (uint32_t i = 0; i < PROF_FRAMES_KEPT; i++)
            assert_true(prof_frames_kept(vector, i) ==
                        (i < there ? stack[WORDS - there + i] : 0));
    }
}

TEST(a_small_stack_is_read_as_far_as_it_goes)
{
    for (size_t words = 2; words <= PROF_FRAMES_KEPT + 1; words++) {
        fresh(64);
        prof_stack_set(at(100), at(100 + words));
        make_frames(100 + words - 2, 1, 2);
        walk(at(100), at(100 + words - 2), 1, 0);
        walk(at(100), 0, 0, 0);
    }
    prof_stack_set(at(100), at(101));
    assert_int_equal(prof_walk(at(100), at(100)),
                     PROF_WALK_OUTSIDE << PROF_WALK_STOP_SHIFT);
}

/* What lies in a frame is not looked at, but for the next one's place. */
TEST(what_is_no_code_does_not_end_a_walk)
{
    fresh(64);
    make_frames(10, 3, 3);
    stack[11] = stack[14] = stack[17] = 0;
    assert_int_equal(prof_walk(at(3), at(10)), PROF_FRAMES_HEAD + 3);
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(vector[PROF_FRAMES_HEAD + i], 0);
}

TEST(no_frame_pointer_is_the_end)
{
    fresh(64);
    walk(at(3), 0, 0, 0);
}

TEST(each_reason_is_reported)
{
    const size_t word = sizeof(uintptr_t);
    const struct {
        uintptr_t frame; /* in place of the third of three */
        uint32_t reason;
    } thirds[] = {
        {at(16) + word / 2, PROF_WALK_UNALIGNED},
        {at(WORDS - 1), PROF_WALK_OUTSIDE},
        {at(0), PROF_WALK_FALLING},
        {at(0) - word, PROF_WALK_OUTSIDE},
        {at(13), PROF_WALK_FALLING},
        {at(10), PROF_WALK_FALLING},
    };

    fresh(5);
    make_frames(10, 9, 3);
    walk(at(3), at(10), 5, PROF_WALK_DEPTH);
    fresh(64);
    walk(at(3), at(10) + 1, 0, PROF_WALK_UNALIGNED);
    fresh(64);
    walk(at(9), at(8), 0, PROF_WALK_OUTSIDE);
    fresh(64);
    walk(at(9), at(WORDS - 1), 0, PROF_WALK_OUTSIDE);
    fresh(64);
    walk(at(9), (uintptr_t) - (intptr_t)word, 0, PROF_WALK_OUTSIDE);
    for (size_t i = 0; i < COUNT(thirds); i++) {
        fresh(64);
        make_frames(10, 3, 3);
        stack[13] = thirds[i].frame;
        walk(at(3), at(10), 2, thirds[i].reason);
    }
}

TEST(another_stack_is_not_read)
{
    const uint32_t outside = PROF_WALK_OUTSIDE << PROF_WALK_STOP_SHIFT;

    fresh(64);
    make_frames(10, 3, 3);
    assert_int_equal(prof_walk(at(0) - PAGE, at(10)), outside);
    assert_int_equal(prof_walk(at(WORDS), at(10)), outside);
    prof_stack_set(at(100), at(101));
    assert_int_equal(prof_walk(at(3), at(10)), outside);
    assert_int_equal(prof_walk(0, 0), 0);
    assert_int_equal(prof_cpus[0].frames.head, 0);
}

TEST(want_of_room_cuts_and_is_counted)
{
    for (uint32_t room = 0; room < 12; room++) {
        fresh(64);
        make_frames(10, 20, 3);
        prof_cpus[0].frames.head = 4096 - room;
        if (room > PROF_FRAMES_HEAD)
            walk(at(3), at(10), room - PROF_FRAMES_HEAD, PROF_WALK_ROOM);
        else
            assert_int_equal(prof_walk(at(3), at(10)),
                             PROF_WALK_ROOM << PROF_WALK_STOP_SHIFT);
    }
}

/* Counters that wrap, and a sample that runs over the corner. */
TEST(the_corner_is_no_obstacle)
{
    fresh(127);
    make_frames(10, 100, 3);
    prof_cpus[0].frames.head = prof_cpus[0].frames.tail = UINT32_MAX - 20;
    for (int i = 0; i < 1000; i++) {
        walk(at(3), at(10), 100, 0);
        prof_frames_release(&prof_cpus[0].frames, prof_cpus[0].frames.head);
    }
}

/* ---- any content */

static uintptr_t some_word(void)
{
    switch (unit_below(8)) {
    case 0:
        return (uint32_t)unit_random();
    case 1:
        return (uintptr_t)0 - unit_below(64);
    case 2:
        return unit_below(4) == 0 ? 0 : at(unit_below(WORDS)) + unit_below(3);
    case 3:
    case 4:
        return TEXT + unit_below(TEXT_BYTES);
    default:
        return at(unit_below(WORDS));
    }
}

/* The same in C, one test after the other. */
static uint32_t slow_walk(uintptr_t sp, uintptr_t fp, uint32_t depth)
{
    uintptr_t low = sp;
    uint32_t frames = 0;

    while (frames < depth && fp != 0 && fp % sizeof fp == 0 && fp >= low &&
           fp <= at(WORDS - 2)) {
        const uintptr_t *frame = (const uintptr_t *)fp;

        frames++;
        low = fp + sizeof fp;
        fp = frame[0];
    }
    return frames;
}

TEST(anything_can_be_walked)
{
    for (int turn = 0; turn < 20000; turn++) {
        uint32_t depth = 1 + unit_below(127);
        uintptr_t sp, fp;
        uint32_t frames, walk;

        fresh(depth);
        for (size_t i = 0; i < WORDS; i++)
            stack[i] = some_word();
        for (size_t i = unit_below(8); i + 3 < WORDS; i += 2 + unit_below(6)) {
            stack[i] = at(i + 2 + unit_below(8));
            stack[i + 1] = TEXT + 1 + unit_below((TEXT_BYTES - 1));
        }
        sp = at(unit_below((WORDS - 1)));
        fp = unit_below(4) == 0 ? some_word() : sp + unit_below(64) / 8 * 8;
        frames = slow_walk(sp, fp, depth);
        walk = prof_walk(sp, fp);
        assert_int_equal(prof_walk_words(walk), PROF_FRAMES_HEAD + frames);
        assert_true(prof_walk_reason(walk) < PROF_WALK_REASONS);
    }
}
