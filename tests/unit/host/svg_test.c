/* SPDX-License-Identifier: Apache-2.0 */
/* Static pictures of timelines: of any times, and where events are missing. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tasks_maker.h"
#include "timeline/svg.h"

#define STEP 100u

static struct made *made;
static struct timeline_trace trace;
static char *picture;

static int begin(void **state)
{
    (void)state;
    made = calloc(1, sizeof *made);
    made->packet_room = 4096;
    made->step = STEP;
    trace = (struct timeline_trace){.name = "x.trace"};
    return 0;
}

static int end(void **state)
{
    (void)state;
    tasks_free(&trace.tasks);
    free(made->bytes);
    free(made);
    free(picture);
    picture = NULL;
    return 0;
}

static void draw(struct svg_range range)
{
    struct timeline timeline = {.traces = &trace, .count = 1, .title = "x"};
    size_t bytes;
    FILE *out = open_memstream(&picture, &bytes);

    made_flush(made);
    for (unsigned i = 0; i < made->sequence; ++i) {
        struct packet packet;
        const uint8_t *at = made_packet(made, i, &bytes);

        assert_int_equal(packet_check(at, bytes, &packet), PACKET_GOOD);
        tasks_take(&trace.tasks, &packet);
    }
    tasks_finish(&trace.tasks);
    timeline.begin = trace.tasks.begin + (uint64_t)trace.shift;
    timeline.end = trace.tasks.end + (uint64_t)trace.shift;
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

/* A grid whose last line is at 2^64 or beyond. */
static void a_clock_near_its_end_has_few_lines(void **state)
{
    (void)state;
    made_create(made, 1, PROF_TRACE_PROMISE, 0);
    made->step = UINT64_MAX - made->time - 5;
    made_word(made, PROF_EVENT_RESOLVE_WIDE, 1);
    draw(whole);
    assert_in_range(count("class=\"g\""), 3, 13);
}

static void any_range_has_few_lines(void **state)
{
    static const struct svg_range ranges[] = {
        {UINT64_MAX, UINT64_MAX},
        {UINT64_MAX - 1, UINT64_MAX},
        {UINT64_MAX - 7, UINT64_MAX},
        {INT64_MAX, UINT64_MAX},
        {0, 1},
        {5, 3},
    };

    (void)state;
    made->time = UINT64_MAX - 10 * STEP;
    made_create(made, 1, PROF_TRACE_PROMISE, 0);
    made_word(made, PROF_EVENT_RESOLVE_WIDE, 1);
    for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; ++i) {
        free(picture);
        draw(ranges[i]);
        assert_in_range(count("class=\"g\""), 0, 13);
        tasks_free(&trace.tasks);
    }
}

static void any_shift_can_be_drawn(void **state)
{
    static const int64_t shifts[] = {INT64_MIN, INT64_MAX, -1, 1};

    (void)state;
    made->time = UINT64_MAX / 2;
    made_create(made, 1, PROF_TRACE_TASK, 0);
    made_word(made, PROF_EVENT_SWITCH_WIDE, 1);
    made_suspend(made, 0);
    for (size_t i = 0; i < sizeof shifts / sizeof shifts[0]; ++i) {
        free(picture);
        trace.shift = shifts[i];
        draw(whole);
        /* the line of the task, from the left to the right */
        assert_int_equal(count("class=\"o\" d=\"M0.0 56.5H1200.0\""), 1);
        tasks_free(&trace.tasks);
    }
}

static void what_never_ended_is_drawn_to_the_end(void **state)
{
    (void)state;
    made_create(made, 1, PROF_TRACE_PROMISE, 0);
    made->step = 6 * PROF_CLOCK_HZ;
    made_create(made, 2, PROF_TRACE_TASK, 0);
    draw(whole);
    assert_int_equal(count("class=\"o\" d=\"M0.0 56.5H1200.0\""), 1);
    assert_int_equal(count(">promise 1, pending 6.0 s<"), 1);
}

static void what_rests_is_not_pending(void **state)
{
    (void)state;
    made_create(made, 1, PROF_TRACE_CALLBACK, 0);
    made->step = 6 * PROF_CLOCK_HZ;
    made_create(made, 2, PROF_TRACE_TASK, 0);
    draw(whole);
    assert_int_equal(count(">callback 1<"), 1);
}

static void what_is_unknown_is_hatched(void **state)
{
    (void)state;
    made_create(made, 1, PROF_TRACE_TASK, 0);
    made_create(made, 2, PROF_TRACE_PROMISE, 0);
    made_word(made, PROF_EVENT_SWITCH_WIDE, 1);
    made->step = 0;
    made_word(made, PROF_EVENT_LOST, 17);
    made->step = 6 * STEP;
    made_word(made, PROF_EVENT_SWITCH_WIDE, 0);
    made_word(made, PROF_EVENT_SWITCH_WIDE, 1);
    draw(whole);
    /* the gap; the task's unknown time; the promise may have ended in it */
    assert_int_equal(count("class=\"x\""), 2);
    assert_int_equal(count("class=\"u\""), 1);
    assert_int_equal(count("promise 2, pending"), 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
    static const struct CMUnitTest tests[] = {
        TEST(a_clock_near_its_end_has_few_lines),
        TEST(any_range_has_few_lines),
        TEST(any_shift_can_be_drawn),
        TEST(what_never_ended_is_drawn_to_the_end),
        TEST(what_rests_is_not_pending),
        TEST(what_is_unknown_is_hatched),
    };

    return cmocka_run_group_tests_name("svg", tests, NULL, NULL);
}
