/* SPDX-License-Identifier: Apache-2.0 */
/* What cannot be true is found, at its place, and nothing else is. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tasks_maker.h"

static struct made *made;
static struct tasks tasks;

static int begin(void **state)
{
    (void)state;
    made = calloc(1, sizeof *made);
    made->packet_room = 4096;
    made->step = 100;
    made_create(made, 1, PROF_TRACE_TASK, 0);
    made_create(made, 2, PROF_TRACE_PROMISE, 0);
    made_create(made, 3, PROF_TRACE_PROMISE, 0);
    made_word(made, PROF_EVENT_SWITCH_WIDE, 0);
    return 0;
}

static int end(void **state)
{
    (void)state;
    tasks_free(&tasks);
    free(made->bytes);
    free(made);
    return 0;
}

static void take(uint8_t *at, size_t bytes)
{
    struct packet packet;

    assert_int_equal(packet_check(at, bytes, &packet), PACKET_GOOD);
    tasks_take(&tasks, &packet);
}

/* Reads all packets; there must be one problem, of (kind), in event (event) of
 * the last packet, with that text. */
static void find(enum tasks_problem_kind kind, uint32_t event, const char *says)
{
    uint64_t sum = 0;
    char text[TASKS_TEXT_MAX];

    made_flush(made);
    for (unsigned i = 0; i < made->sequence; ++i) {
        size_t bytes;
        uint8_t *at = made_packet(made, i, &bytes);

        take(at, bytes);
    }
    tasks_finish(&tasks);
    for (int i = 0; i < TASKS_PROBLEM_KINDS; ++i)
        sum += tasks.problem_counts[i];
    assert_int_equal(sum, 1);
    assert_int_equal(tasks.problem_counts[kind], 1);
    assert_int_equal(tasks.problems[0].place.packet, made->sequence - 1);
    assert_int_equal(tasks.problems[0].place.event, event);
    assert_string_equal(tasks_problem_text(&tasks, &tasks.problems[0], text),
                        says);
}

static void a_second_creation(void **state)
{
    (void)state;
    made_create(made, 2, PROF_TRACE_PROMISE, 0);
    find(TASKS_CREATED_TWICE, 5, "promise 2 is created a second time");
}

static void an_object_that_was_never_created(void **state)
{
    (void)state;
    made_word(made, PROF_EVENT_RESOLVE_WIDE, 9);
    find(TASKS_NEVER_CREATED, 5,
         "other 9 was never created, and no loss is marked in which it was");
}

static void a_second_end(void **state)
{
    (void)state;
    made_word(made, PROF_EVENT_RESOLVE_WIDE, 2);
    made_word(made, PROF_EVENT_CANCEL_WIDE, 2);
    find(TASKS_ENDED_TWICE, 6, "promise 2 ends a second time: it was resolved");
}

/* An end and a loss, and another end: once at most, whatever is missing. */
static void a_second_end_after_a_loss(void **state)
{
    (void)state;
    made_word(made, PROF_EVENT_RESOLVE_WIDE, 2);
    made_word(made, PROF_EVENT_LOST, 1);
    made_named(made, PROF_EVENT_FAIL_WIDE, 2, 0);
    find(TASKS_ENDED_TWICE, 7, "promise 2 ends a second time: it was resolved");
}

static void a_read_before_the_resolution(void **state)
{
    (void)state;
    made_word(made, PROF_EVENT_READ_WIDE, 3);
    find(TASKS_READ_EARLY, 5, "promise 3 is read before it is resolved");
}

static void a_task_that_runs_after_its_end(void **state)
{
    (void)state;
    made_word(made, PROF_EVENT_RESOLVE_WIDE, 1);
    made_word(made, PROF_EVENT_SWITCH_WIDE, 1);
    find(TASKS_RUNS_ENDED, 6, "task 1 runs after its end: it was resolved");
}

/* 1 starts 4, 4 starts 5, and 5 returns to 1. */
static void switches_that_do_not_nest(void **state)
{
    (void)state;
    made_word(made, PROF_EVENT_SWITCH_WIDE, 1);
    made_create(made, 4, PROF_TRACE_TASK, 0);
    made_create(made, 5, PROF_TRACE_TASK, 0);
    made_word(made, PROF_EVENT_SWITCH_WIDE, 4);
    made_word(made, PROF_EVENT_SWITCH_WIDE, 5);
    made_word(made, PROF_EVENT_SWITCH_WIDE, 1);
    find(TASKS_NOT_NESTED, 10,
         "task 4 has not returned to task 1, which runs again");
}

static void a_switch_inside_an_interrupt(void **state)
{
    (void)state;
    made_irq(made, PROF_EVENT_IRQ_ENTER, 32);
    made_word(made, PROF_EVENT_SWITCH_WIDE, 1);
    made_irq(made, PROF_EVENT_IRQ_EXIT, 32);
    find(TASKS_IRQ_SWITCH, 6, "switch to task 1 inside an interrupt");
}

static void an_interrupt_that_ends_out_of_turn(void **state)
{
    (void)state;
    made_irq(made, PROF_EVENT_IRQ_ENTER, 32);
    made_irq(made, PROF_EVENT_IRQ_ENTER, 33);
    made_irq(made, PROF_EVENT_IRQ_EXIT, 32);
    find(TASKS_IRQ_EXIT, 7, "interrupt 32 ends that is not the innermost");
}

static void time_that_goes_back(void **state)
{
    (void)state;
    made_flush(made);
    made->time = 0;
    made_word(made, PROF_EVENT_SWITCH_WIDE, 1);
    find(TASKS_TIME_BACK, 0, "the packet begins before the last event");
}

static void an_event_beyond_its_packet(void **state)
{
    (void)state;
    made_word(made, PROF_EVENT_SWITCH_WIDE, 1);
    made->last -= 50;
    find(TASKS_TIME_BEYOND, 5, "the event is later than its packet's end");
}

static void a_name_that_is_never_defined(void **state)
{
    (void)state;
    made_named(made, PROF_EVENT_LABEL_WIDE, 1, 77);
    find(TASKS_NO_NAME, 5, "name 77 is used and never defined");
}

static void bytes_that_are_no_event(void **state)
{
    (void)state;
    made_word(made, (enum prof_event)14, 0); /* never used again */
    find(TASKS_NOT_READ, 4, "the rest of the packet cannot be read");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
    static const struct CMUnitTest tests[] = {
        TEST(a_second_creation),
        TEST(an_object_that_was_never_created),
        TEST(a_second_end),
        TEST(a_second_end_after_a_loss),
        TEST(a_read_before_the_resolution),
        TEST(a_task_that_runs_after_its_end),
        TEST(switches_that_do_not_nest),
        TEST(a_switch_inside_an_interrupt),
        TEST(an_interrupt_that_ends_out_of_turn),
        TEST(time_that_goes_back),
        TEST(an_event_beyond_its_packet),
        TEST(a_name_that_is_never_defined),
        TEST(bytes_that_are_no_event),
    };

    return cmocka_run_group_tests_name("tasks_problems", tests, NULL, NULL);
}
