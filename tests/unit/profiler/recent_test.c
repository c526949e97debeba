/* SPDX-License-Identifier: Apache-2.0 */

/* The caches of recent samples: what they find is what was noted, and nothing
 * that merely resembles it. */

#include "../unit.h"

#include "aggregate/recent.h"
#include "profiler_world.h"

#define FRAMES 12u

static uint32_t frames[PROF_DEPTH_MAX];
static const uintptr_t kept[PROF_FRAMES_KEPT] = {1, 2, 3, 4, 5};

static const uint32_t *kept_words(void)
{
    return (const uint32_t *)(const void *)kept;
}

static void begin(void)
{
    for (uint32_t i = 0; i < PROF_DEPTH_MAX; i++)
        frames[i] = 0x1000 + 16 * i;
    prof_recent_open();
    prof_recent_reserve();
}

static void end(void)
{
    if (prof_recent.leaves_mask != 0)
        prof_port_free(prof_recent.leaves);
}

static void note(uint32_t count, uint32_t hash, uint32_t number)
{
    prof_recent_note_callers(frames, hash,
                             &(struct prof_callers){.stack = number,
                                                    .count = (uint8_t)count,
                                                    .frames = (uint8_t)count});
}

FIXTURE(begin, end);

TEST(callers_are_found_by_all_their_words)
{
    const struct prof_callers *found;

    for (uint32_t count = 0; count <= PROF_DEPTH_MAX; count++) {
        uint32_t hash = prof_recent_hash(frames, count);

        note(count, hash, count + 1);
        found = prof_recent_find_callers(frames, count, hash);
        assert_non_null(found);
        assert_int_equal(found->stack, count + 1);
        assert_int_equal(found->count, count);
    }
}

/* Even where the hash is the same. */
TEST(one_other_word_is_another_stack)
{
    for (uint32_t count = 1; count <= FRAMES; count++) {
        note(count, 77, 1);
        for (uint32_t at = 0; at < count; at++) {
            frames[at] ^= 1;
            assert_null(prof_recent_find_callers(frames, count, 77));
            frames[at] ^= 1;
        }
        assert_null(prof_recent_find_callers(frames, count - 1, 77));
        assert_non_null(prof_recent_find_callers(frames, count, 77));
    }
}

TEST(every_word_changes_the_hash)
{
    for (uint32_t count = 1; count <= FRAMES; count++) {
        uint32_t hash = prof_recent_hash(frames, count);

        for (uint32_t at = 0; at < count; at++) {
            frames[at] ^= 0x10;
            assert_int_not_equal(prof_recent_hash(frames, count), hash);
            frames[at] ^= 0x10;
        }
    }
}

/* Stacks of chance depth, so that old ones make room for new ones in many laps:
 * what is found is what was noted, and nearly all of the newest are. */
TEST(the_oldest_make_room)
{
    enum { STACKS = 500, TURNS = 40000, NEWEST = 60 };
    uint32_t seed = 1, found = 0, missing = 0;
    static uint32_t when[STACKS]; /* turn in which it was noted, 0 = never */

    memset(when, 0, sizeof when);
    for (uint32_t turn = 1; turn <= TURNS; turn++) {
        uint32_t name = ((seed = seed * 1664525 + 1013904223) >> 8) % STACKS;
        uint32_t count = 1 + name % PROF_DEPTH_MAX, hash;
        const struct prof_callers *callers;

        frames[0] = name;
        hash = prof_recent_hash(frames, count);
        callers = prof_recent_find_callers(frames, count, hash);
        if (callers == NULL)
            callers = prof_recent_find_displaced(frames, count, hash);
        if (callers != NULL) {
            assert_int_equal(callers->stack, name + 1);
            assert_int_not_equal(when[name], 0);
            found++;
            continue;
        }
        missing += when[name] != 0 && turn - when[name] < NEWEST;
        note(count, hash, name + 1);
        when[name] = turn;
    }
    assert_in_range(found, TURNS / 10, TURNS);
    assert_in_range(missing, 0, TURNS / 100);
}

/* Two with the same hash are both found; a third takes the place of one. */
TEST(one_is_displaced_by_another)
{
    uint32_t others[FRAMES];

    memcpy(others, frames, sizeof others);
    others[FRAMES - 1]++;
    note(FRAMES, 76, 1);
    prof_recent_note_callers(
        others, 76,
        &(struct prof_callers){.stack = 2, .count = FRAMES, .frames = FRAMES});
    assert_int_equal(prof_recent_find_callers(others, FRAMES, 76)->stack, 2);
    assert_null(prof_recent_find_callers(frames, FRAMES, 76));
    assert_int_equal(prof_recent_find_displaced(frames, FRAMES, 76)->stack, 1);
    note(FRAMES - 1, 76, 3);
    assert_null(prof_recent_find_displaced(frames, FRAMES, 76));
    assert_int_equal(prof_recent_find_displaced(others, FRAMES, 76)->stack, 2);
    assert_int_equal(prof_recent_find_callers(frames, FRAMES - 1, 76)->stack,
                     3);
}

static struct prof_stack *const stack = (void *)0x900;

static struct prof_recent_leaf leaf_of(uint32_t found_by, uintptr_t word)
{
    return (struct prof_recent_leaf){
        .pc = 0x2000,
        .kept = word,
        .callers = 3,
        .stack = stack,
        .found_by = found_by & 7,
    };
}

static bool finds(uintptr_t pc, uint32_t callers, const uint32_t *words)
{
    return (words != NULL ? prof_recent_find_leaf(pc, callers, words)
                          : prof_recent_find_flat(pc, callers)) != NULL;
}

TEST(a_leaf_is_its_address_and_callers)
{
    struct prof_recent_leaf leaf = leaf_of(PROF_LEAF_FRAME, 0);

    assert_false(finds(0x2000, 3, kept_words()));
    prof_recent_note_leaf(&leaf);
    assert_true(finds(0x2000, 3, kept_words()));
    assert_false(finds(0x2001, 3, kept_words()));
    assert_false(finds(0x2000, 4, kept_words()));
    assert_false(finds(0x2000, 3, NULL));
}

/* A return address that was kept belongs to the leaf: with another one it is
 * called from elsewhere. */
TEST(a_kept_caller_must_be_the_same)
{
    for (uint32_t word = 0; word < PROF_FRAMES_KEPT; word++) {
        struct prof_recent_leaf leaf =
            leaf_of(PROF_LEAF_KEPT + word, kept[word]);

        prof_recent_note_leaf(&leaf);
        assert_true(finds(0x2000, 3, kept_words()));
        leaf.kept++;
        prof_recent_note_leaf(&leaf);
        assert_false(finds(0x2000, 3, kept_words()));
    }
}

TEST(a_flat_leaf_is_none_with_words)
{
    struct prof_recent_leaf leaf = leaf_of(PROF_LEAF_FLAT, 0);

    prof_recent_note_leaf(&leaf);
    assert_true(finds(0x2000, 3, NULL));
    assert_false(finds(0x2000, 3, kept_words()));
}

/* Without memory there is one leaf, no callers, and another try later. */
TEST(without_memory_one_leaf_is_known)
{
    uint32_t hash = prof_recent_hash(frames, FRAMES);
    struct prof_recent_leaf leaf = leaf_of(PROF_LEAF_FRAME, 0);

    end();
    prof_recent_open();
    world_refuse_from = 0;
    world_refuse_count = INT32_MAX;
    prof_recent_reserve();
    note(FRAMES, hash, 5);
    prof_recent_note_leaf(&leaf);
    assert_null(prof_recent_find_callers(frames, FRAMES, hash));
    assert_true(finds(0x2000, 3, kept_words()));
    world_refuse_from = -1;
    prof_recent_reserve();
    assert_false(finds(0x2000, 3, kept_words()));
    note(FRAMES, hash, 5);
    assert_non_null(prof_recent_find_callers(frames, FRAMES, hash));
}
