/* SPDX-License-Identifier: Apache-2.0 */
/* Static pictures of timelines: of any times, and where events are missing. */

#include "../unit.h"

#include "tasks_maker.h"
#include "timeline/timeline.h"

static struct timeline_trace trace;
static char *picture;

static void begin(void)
{
    begin_tasks();
    trace = (struct timeline_trace){.name = "x.trace"};
}

static void end(void)
{
    end_tasks();
    parts_free(&trace.parts);
    free(picture);
    picture = NULL;
}

static void draw(struct svg_range range)
{
    struct timeline timeline = {.traces = &trace, .count = 1, .title = "x"};
    size_t bytes;
    FILE *out = open_memstream(&picture, &bytes);

    read_all();
    trace.tasks = tasks;
    parts_free(&trace.parts);
    parts_find(&trace.parts, &tasks);
    timeline.begin = tasks.begin + (uint64_t)trace.shift;
    timeline.end = tasks.end + (uint64_t)trace.shift;
    assert_true(timeline_write_svg(&timeline, &range, out));
    fclose(out);
}

static unsigned count(const char *text)
{
    unsigned found = 0;

    for (const char *at = picture; (at = strstr(at, text)) != NULL; ++at)
        ++found;
    return found;
}

static const struct svg_range whole = {0, UINT64_MAX};

FIXTURE(begin, end);

/* A grid whose last line is at 2^64 or beyond. */
TEST(a_clock_near_its_end_has_few_lines)
{
    made_script(made, "create 1 promise");
    made->step = UINT64_MAX - made->time - 5;
    made_script(made, "resolve 1");
    draw(whole);
    assert_in_range(count("class=\"g\""), 3, 13);
}

TEST(any_range_has_few_lines)
{
    static const struct svg_range ranges[] = {
        {UINT64_MAX, UINT64_MAX},
        {UINT64_MAX - 1, UINT64_MAX},
        {UINT64_MAX - 7, UINT64_MAX},
        {INT64_MAX, UINT64_MAX},
        {0, 1},
        {5, 3},
    };

    made->time = UINT64_MAX - 10 * STEP;
    made_script(made, "create 1 promise; resolve 1");
    for (size_t i = 0; i < COUNT(ranges); ++i) {
        free(picture);
        draw(ranges[i]);
        assert_in_range(count("class=\"g\""), 0, 13);
        tasks_free(&tasks);
    }
}

TEST(any_shift_can_be_drawn)
{
    static const int64_t shifts[] = {INT64_MIN, INT64_MAX, -1, 1};

    made->time = UINT64_MAX / 2;
    made_script(made, "create 1 task; switch 1; suspend");
    for (size_t i = 0; i < COUNT(shifts); ++i) {
        free(picture);
        trace.shift = shifts[i];
        draw(whole);
        /* the line of the task, from the left to the right */
        assert_int_equal(count("class=\"o\" d=\"M0.0 78.5H1200.0\""), 1);
        tasks_free(&tasks);
    }
}

TEST(what_never_ended_is_drawn_to_the_end)
{
    made_script(made, "create 1 promise; step %u; create 2 task",
                6 * PROF_CLOCK_HZ);
    draw(whole);
    assert_int_equal(count("class=\"o\" d=\"M0.0 78.5H1200.0\""), 1);
    assert_int_equal(count(">promise 1, pending 6.0 s<"), 1);
}

TEST(what_rests_is_not_pending)
{
    made_script(made, "create 1 callback; step %u; create 2 task",
                6 * PROF_CLOCK_HZ);
    draw(whole);
    assert_int_equal(count(">callback 1<"), 1);
}

TEST(what_is_unknown_is_hatched)
{
    made_script(made,
                "create 1 task; create 2 promise; switch 1; step 0;"
                "lost 17; step %u; switch 0; switch 1",
                6 * STEP);
    draw(whole);
    /* the gap; the task's unknown time; the promise may have ended in it; the
     * loop's unknown time */
    assert_int_equal(count("class=\"x\""), 3);
    assert_int_equal(count("class=\"u\""), 1);
    assert_int_equal(count("promise 2, pending"), 0);
}

/* The loop is below the interrupts, white where it runs itself. */
TEST(the_loop_and_interrupts_are_rows)
{
    made_script(made,
                "create 1 callback; switch 0; suspend; step %u;"
                "irq_enter 43; defer 1 43; irq_exit 43; switch 0; switch 1;"
                "switch 0; irq_enter 32; irq_exit 32",
                6 * STEP);
    draw(whole);
    assert_int_equal(count(">irq 32<"), 1);
    assert_int_equal(count(">irq 43<"), 1);
    assert_int_equal(count(">event loop<"), 1);
    assert_int_equal(count("class=\"o\" d=\"M0.0 56.5H1200.0\""), 1);
    assert_int_equal(count("class=\"o\" d=\"M0.0 78.5H1200.0\""), 1);
    assert_int_equal(count("class=\"o\" d=\"M0.0 100.5H1200.0\""), 1);
    assert_int_equal(count("class=\"q\""), 2);
    /* the work, on both rows */
    assert_int_equal(count("class=\"y\""), 2);
    /* where it is left, and the loop whose idleness ends */
    assert_int_equal(count("class=\"a9\""), 1);
    assert_int_equal(count("class=\"a7\""), 1);
    /* the loop three times, the callback once */
    assert_int_equal(count("class=\"r\""), 4);
}

/* The other CPU is below, with its loop, and the callback that runs there. */
TEST(each_cpu_has_rows_of_its_own)
{
    made_script(made, "create 1 task; switch 0; switch 1; irq_enter 43;"
                      "irq_exit 43; create 2 callback; switch 0; suspend");
    made_flush(made);
    made->cpu = 1;
    made_script(made, "switch 0; switch 2; resolve 2; switch 0");
    draw(whole);
    assert_int_equal(count(">CPU 0<"), 1);
    assert_int_equal(count(">CPU 1<"), 1);
    assert_int_equal(count(">irq 43 of CPU 0<"), 1);
    assert_int_equal(count(">irq 43 of CPU 1<"), 0);
    assert_int_equal(count(">event loop of CPU 0<"), 1);
    assert_int_equal(count(">event loop of CPU 1<"), 1);
    /* the task, two rows between, the loop; from the task to the callback */
    assert_int_equal(count(" 100.5H1200.0"), 1);
    assert_int_equal(count(" 166.5H1200.0"), 1);
    assert_int_equal(count(">callback 2<"), 1);
    assert_int_equal(count("M545.5 100.5L545.5 188.5"), 1);
    /* the idleness of one ends where its part does */
    assert_int_equal(count("<rect class=\"i\""), 1);
    assert_int_equal(count("x=\"763.6\" y=\"40.0\" width=\"436.4\" "
                           "height=\"66.0\""),
                     1);
}

/* Of many in a row as many are drawn as can be seen. */
TEST(interrupts_are_no_more_than_pixels)
{
    made_script(made, "switch 0");
    for (unsigned i = 0; i < 20000; ++i)
        made_script(made, "irq_enter 32; irq_exit 32");
    draw(whole);
    assert_in_range(count("class=\"q\""), 500, 1200);
}

/* Names for counters, and steps: two of one scale, one below 0. */
static const char counted[] =
    "name 3 bytes #given; name 4 bytes #taken; name 5 <lag>;"
    "create 1 task; switch 1; counter 3 100; counter 4 40; counter 3 200;"
    "counter 5 0xfffffffffffffffe; switch 0; counter 4 200; create 2 task";

TEST(counters_are_step_lines_below_the_rows)
{
    made_script(made, "%s", counted);
    draw(whole);
    assert_int_equal(count("<path class=\"c c0\""), 1);
    assert_int_equal(count("<path class=\"c c1\""), 1);
    assert_int_equal(count("<path class=\"c c2\""), 1);
    /* below one row; 18 of the lane are its gap, and 200 is its top */
    assert_int_equal(count("V102.0H1200.0\"/>"), 2);
    assert_int_equal(count(">bytes #given, up to 200<"), 1);
    assert_int_equal(count(">bytes #taken, up to 200<"), 1);
    assert_int_equal(count(">&lt;lag&gt;, up to 10<"), 1);
}

/* Those outside of objects on the row of the event loop. */
TEST(steps_are_marked_on_the_line_of_who_made_them)
{
    made_script(made, "%s", counted);
    draw(whole);
    assert_int_equal(count("<path class=\"m c0\""), 1);
    assert_int_equal(count("<path class=\"m c1\""), 1);
    assert_int_equal(count("<path class=\"m c2\""), 1);
    assert_int_equal(count("81.5v5"), 4);
}

TEST(without_counters_there_is_no_lane)
{
    made_script(made, "create 1 task; create 2 task");
    draw(whole);
    assert_int_equal(count("--c:"), 0);
    assert_int_equal(count("class=\"c "), 0);
}

TEST(a_counter_that_begins_later_is_not_drawn)
{
    made_script(made, "%s", counted);
    draw((struct svg_range){0, 2 * STEP});
    assert_int_equal(count("class=\"c "), 0);
    assert_int_equal(count("up to"), 0);
}

/* Many steps in a pixel are one; any values and times have a place. */
TEST(any_steps_have_a_small_picture)
{
    made_script(made, "name 3 x; create 1 task; switch 1");
    for (unsigned i = 0; i < 5000; ++i)
        made_script(made, "counter 3 %u", i);
    made_script(made,
                "counter 3 0x8000000000000000; step %llu;"
                "counter 3 0x7fffffffffffffff",
                (unsigned long long)UINT64_MAX / 4);
    draw(whole);
    assert_in_range(strlen(picture), 1000, 8000);
    assert_int_equal(count("nan"), 0);
    assert_int_equal(count("inf"), 0);
}
