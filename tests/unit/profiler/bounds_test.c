/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Stacks that nobody has set: what the walk may read of them, and where they
 * end. Pages on either side may not be touched.
 */

#include "../unit.h"

#include "sample/cpu_state.h"
#include "sample/cpu_state.h"

#include <prof/format.h>
#include <prof/prof.h>
#include <sys/mman.h>

#define PAGE 4096u
#define PAGES 8u
#define WORDS (PAGES * PAGE / sizeof(uintptr_t))
#define PAGE_WORDS (PAGE / sizeof(uintptr_t))
#define TEXT 0x100000u
#define TEXT_BYTES 0x10000u
#define UPPER ((UINTPTR_MAX / 2 + 1) | TEXT)

static uintptr_t *stack; /* WORDS words */
static uint32_t vector[4096 + PROF_FRAMES_MARGIN];
static uintptr_t asked;

static void make_stack(void)
{
    char *pages = mmap(NULL, (PAGES + 2) * PAGE, PROT_NONE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    stack = (uintptr_t *)(void *)(pages + PAGE);
    assert_true(pages != MAP_FAILED);
    assert_int_equal(mprotect(stack, PAGES * PAGE, PROT_READ | PROT_WRITE), 0);
}

static uintptr_t at(size_t word)
{
    return (uintptr_t)&stack[word];
}

static void open_with(struct prof_config config)
{
    memset(prof_cpus, 0, sizeof prof_cpus);
    memset(stack, 0, PAGES * PAGE);
    if (config.text.end == 0)
        config.text = (struct prof_range){TEXT, TEXT + TEXT_BYTES};
    prof_frames_open(&prof_cpus[0].frames, vector, 4096);
    prof_cpus[0].depth = 64;
    prof_bounds_open(&config);
    prof_stack_set(config.stack.begin, config.stack.end);
}

/* (count) frames of (words) words each from word (from) on; the outermost one
 * has (last) for its caller's. */
static void make_frames(size_t from, size_t count, size_t words, uintptr_t last)
{
    for (size_t i = 0; i < count; i++) {
        stack[from + i * words] =
            i + 1 < count ? at(from + (i + 1) * words) : last;
        stack[from + i * words + 1] = TEXT + 1 + i;
    }
}

static void walk(uintptr_t sp, uintptr_t fp, uint32_t frames, uint32_t reason)
{
    uint32_t walk = prof_walk(sp, fp);

    assert_int_equal(prof_walk_words(walk), PROF_FRAMES_HEAD + frames);
    assert_int_equal(prof_walk_reason(walk), reason);
}

FIXTURE(make_stack, NULL);

TEST(a_page_is_read_without_configuration)
{
    open_with((struct prof_config){0});
    make_frames(20, 5, 8, 0);
    walk(at(10), at(20), 5, 0);
    make_frames(PAGE_WORDS - 12, 3, 8, 0); /* into the next page */
    walk(at(PAGE_WORDS - 20), at(PAGE_WORDS - 12), 2, PROF_WALK_OUTSIDE);
    make_frames(WORDS - 40, 3, 8, 0); /* to the last word of all */
    walk(at(WORDS - 50), at(WORDS - 40), 3, 0);
    walk(at(WORDS - 3), 0, 0, 0);
}

TEST(mapped_memory_is_read)
{
    open_with((struct prof_config){.memory = {at(0), at(WORDS)}});
    make_frames(PAGE_WORDS - 12, 30, 32, 0);
    walk(at(PAGE_WORDS - 20), at(PAGE_WORDS - 12), 30, 0);
    make_frames(WORDS - 40, 3, 8, 0);
    walk(at(WORDS - 50), at(WORDS - 40), 3, 0);
    make_frames(0, 2, 5 * PAGE_WORDS, 0); /* more than 16 KiB apart */
    walk(at(0), at(0), 1, PROF_WALK_OUTSIDE);
    assert_int_equal(prof_walk(at(WORDS) + PAGE, at(0)),
                     PROF_WALK_OUTSIDE << PROF_WALK_STOP_SHIFT);
}

static uintptr_t mapped_end(uintptr_t address)
{
    asked = address;
    return address < at(WORDS) ? at(2 * PAGE_WORDS) : 0;
}

TEST(who_knows_the_end_is_asked)
{
    open_with((struct prof_config){.mapped_end = mapped_end});
    make_frames(PAGE_WORDS - 12, 3, 8, 0);
    walk(at(PAGE_WORDS - 20), at(PAGE_WORDS - 12), 3, 0);
    assert_true(asked == at(PAGE_WORDS - 20));
    make_frames(2 * PAGE_WORDS - 12, 2, 16, 0);
    walk(at(2 * PAGE_WORDS - 20), at(2 * PAGE_WORDS - 12), 1, 0);
    assert_int_equal(prof_walk(at(WORDS), at(0)),
                     PROF_WALK_OUTSIDE << PROF_WALK_STOP_SHIFT);
}

TEST(a_stack_that_was_set_is_not_left)
{
    open_with((struct prof_config){.stack = {at(100), at(200)}});
    make_frames(20, 5, 8, 0);
    assert_int_equal(prof_walk(at(10), at(20)),
                     PROF_WALK_OUTSIDE << PROF_WALK_STOP_SHIFT);
    prof_stack_set(0, 0);
    walk(at(10), at(20), 5, 0);
}

TEST(no_stack_pointer_reads_nothing)
{
    open_with((struct prof_config){0});
    assert_int_equal(prof_walk(0, 0), 0);
}

TEST(a_frame_pointer_never_cleared_is_an_end)
{
    static const uintptr_t left[] = {3, 0x2badb002, 0x10000, UINTPTR_MAX - 7};

    for (size_t i = 0; i < sizeof left / sizeof *left; i++) {
        open_with((struct prof_config){.stack = {at(0), at(WORDS)}});
        make_frames(20, 5, 8, left[i]);
        walk(at(10), at(20), 5, 0);
        walk(at(10), at(20), 5, 0); /* known by now */
        open_with((struct prof_config){0});
        make_frames(PAGE_WORDS - 40, 5, 8, left[i]);
        walk(at(PAGE_WORDS - 50), at(PAGE_WORDS - 40), 5, 0);
    }
}

TEST(a_lost_frame_pointer_is_none)
{
    for (size_t above = 1; above < 128; above += 9) {
        open_with((struct prof_config){.stack = {at(0), at(WORDS)}});
        make_frames(20, 5, 8, 0x10000);
        stack[20 + 4 * 8 + 1 + above] = TEXT + 100; /* a caller */
        walk(at(10), at(20), 5, PROF_WALK_OUTSIDE);
        stack[20 + 4 * 8] = at(3);
        walk(at(10), at(20), 5, PROF_WALK_FALLING);
        stack[20 + 4 * 8] = 3;
        walk(at(10), at(20), 5, PROF_WALK_UNALIGNED);
    }
}

TEST(what_user_code_left_is_an_end)
{
    struct prof_config config = {.text = {UPPER, UPPER + TEXT_BYTES}};

    config.stack = (struct prof_range){at(0), at(WORDS)};
    open_with(config);
    make_frames(20, 5, 8, 0x10000);
    stack[60] = UPPER + 5;
    walk(at(10), at(20), 5, PROF_WALK_OUTSIDE);
    prof_cpus[0].user_seen = true;
    walk(at(10), at(20), 5, 0);
}
