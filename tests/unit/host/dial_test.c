/* SPDX-License-Identifier: Apache-2.0 */
/* Targets that are down are tried less and less often, and after others. */

#include "../unit.h"

#include "collect/parts.h"

#define LINES 5u

static struct line *lines[LINES];

static void begin_lines(void)
{
    for (size_t i = 0; i < LINES; ++i)
        lines[i] = calloc(1, sizeof *lines[i]);
}

static void end_lines(void)
{
    for (size_t i = 0; i < LINES; ++i)
        free(lines[i]);
}

FIXTURE(begin_lines, end_lines);

static int pause_of(struct line *line, bool fine, double took)
{
    line->fine = fine;
    return (int)dial_pause(line, took);
}

TEST(a_target_that_answers_at_once_is_tried_each_second)
{
    for (unsigned i = 0; i < 20; ++i)
        assert_int_equal(pause_of(lines[0], i % 2 == 0, 0.01), 1);
    assert_int_equal(pause_of(lines[0], true, 9), 1);
}

TEST(one_that_is_down_is_tried_less_often)
{
    static const int pauses[] = {2, 4, 8, 16, 32, 64, 64, 64};

    for (size_t i = 0; i < COUNT(pauses); ++i)
        assert_int_equal(pause_of(lines[0], false, 10), pauses[i]);
    /* its machine is up again, and the guest will be */
    assert_int_equal(pause_of(lines[0], false, 0.01), 1);
    assert_int_equal(pause_of(lines[0], false, 10), 2);
}

TEST(those_that_are_down_come_last)
{
    pause_of(lines[0], false, 10);
    pause_of(lines[1], false, 10);
    assert_int_equal(dial_next(lines, LINES, 0), 2);
    assert_int_equal(dial_next(lines, LINES, DIALERS_SLOW), 2);
    assert_int_equal(dial_next(lines, 2, 0), 0);
    assert_int_equal(dial_next(lines, 0, 0), 0);
}

TEST(they_do_not_get_all_threads)
{
    for (size_t i = 0; i < LINES; ++i)
        pause_of(lines[i], false, 10);
    assert_true(DIALERS_SLOW < DIALERS);
    assert_int_equal(dial_next(lines, LINES, DIALERS_SLOW - 1), 0);
    assert_int_equal(dial_next(lines, LINES, DIALERS_SLOW), LINES);
}
