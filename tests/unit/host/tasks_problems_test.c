/* SPDX-License-Identifier: Apache-2.0 */
/* What cannot be true is found, at its place, and nothing else is. */

#include "../unit.h"

#include "tasks_maker.h"

struct step {
    enum prof_event kind;
    uint32_t word;  /* object, number or vector */
    uint32_t other; /* kind of an object, or its name */
};

static void put(const struct step *step)
{
    switch (step->kind) {
    case PROF_EVENT_CREATE_WIDE:
        made_create(made, step->word, (enum prof_trace_kind)step->other, 0);
        break;
    case PROF_EVENT_FAIL_WIDE:
    case PROF_EVENT_LABEL_WIDE:
        made_named(made, step->kind, step->word, (uint16_t)step->other);
        break;
    case PROF_EVENT_IRQ_ENTER:
    case PROF_EVENT_IRQ_EXIT:
        made_irq(made, step->kind, (uint8_t)step->word);
        break;
    default:
        made_word(made, step->kind, step->word);
        break;
    }
}

/* A task 1, promises 2 and 3, and the loop runs: four events. */
static void begin(void)
{
    begin_tasks();
    made_create(made, 1, PROF_TRACE_TASK, 0);
    made_create(made, 2, PROF_TRACE_PROMISE, 0);
    made_create(made, 3, PROF_TRACE_PROMISE, 0);
    made_word(made, PROF_EVENT_SWITCH_WIDE, 0);
}

/* There must be one problem, of (kind), in event (event) of the last packet,
 * with that text. */
static void find(enum tasks_problem_kind kind, uint32_t event, const char *says)
{
    char text[TASKS_TEXT_MAX];

    read_all();
    assert_int_equal(all_problems(), 1);
    assert_string_equal(tasks_problem_text(&tasks, &tasks.problems[0], text),
                        says);
    assert_int_equal(tasks.problem_counts[kind], 1);
    assert_int_equal(tasks.problems[0].place.packet, made->sequence - 1);
    assert_int_equal(tasks.problems[0].place.event, event);
}

TEST(each_problem_is_found_at_its_place)
{
    static const struct {
        struct step steps[6]; /* in which there is one problem */
        enum tasks_problem_kind kind;
        uint32_t event;
        const char *says;
    } rows[] = {
        {{{PROF_EVENT_CREATE_WIDE, 2, PROF_TRACE_PROMISE}},
         TASKS_CREATED_TWICE,
         5,
         "promise 2 is created a second time"},
        {{{PROF_EVENT_RESOLVE_WIDE, 9, 0}},
         TASKS_NEVER_CREATED,
         5,
         "other 9 was never created, and no loss is marked in which it was"},
        {{{PROF_EVENT_RESOLVE_WIDE, 2, 0}, {PROF_EVENT_CANCEL_WIDE, 2, 0}},
         TASKS_ENDED_TWICE,
         6,
         "promise 2 ends a second time: it was resolved"},
        /* an end and a loss, and another end: once at most, whatever is lost */
        {{{PROF_EVENT_RESOLVE_WIDE, 2, 0},
          {PROF_EVENT_LOST, 1, 0},
          {PROF_EVENT_FAIL_WIDE, 2, 0}},
         TASKS_ENDED_TWICE,
         7,
         "promise 2 ends a second time: it was resolved"},
        {{{PROF_EVENT_READ_WIDE, 3, 0}},
         TASKS_READ_EARLY,
         5,
         "promise 3 is read before it is resolved"},
        {{{PROF_EVENT_RESOLVE_WIDE, 1, 0}, {PROF_EVENT_SWITCH_WIDE, 1, 0}},
         TASKS_RUNS_ENDED,
         6,
         "task 1 runs after its end: it was resolved"},
        /* 1 starts 4, 4 starts 5, and 5 returns to 1 */
        {{{PROF_EVENT_SWITCH_WIDE, 1, 0},
          {PROF_EVENT_CREATE_WIDE, 4, PROF_TRACE_TASK},
          {PROF_EVENT_CREATE_WIDE, 5, PROF_TRACE_TASK},
          {PROF_EVENT_SWITCH_WIDE, 4, 0},
          {PROF_EVENT_SWITCH_WIDE, 5, 0},
          {PROF_EVENT_SWITCH_WIDE, 1, 0}},
         TASKS_NOT_NESTED,
         10,
         "task 4 has not returned to task 1, which runs again"},
        {{{PROF_EVENT_IRQ_ENTER, 32, 0},
          {PROF_EVENT_SWITCH_WIDE, 1, 0},
          {PROF_EVENT_IRQ_EXIT, 32, 0}},
         TASKS_IRQ_SWITCH,
         6,
         "switch to task 1 inside an interrupt"},
        {{{PROF_EVENT_IRQ_ENTER, 32, 0},
          {PROF_EVENT_IRQ_ENTER, 33, 0},
          {PROF_EVENT_IRQ_EXIT, 32, 0}},
         TASKS_IRQ_EXIT,
         7,
         "interrupt 32 ends that is not the innermost"},
        {{{PROF_EVENT_LABEL_WIDE, 1, 77}},
         TASKS_NO_NAME,
         5,
         "name 77 is used and never defined"},
        {{{(enum prof_event)14, 0, 0}}, /* never used again */
         TASKS_NOT_READ,
         4,
         "the rest of the packet cannot be read"},
    };

    for (size_t i = 0; i < COUNT(rows); ++i) {
        begin();
        for (size_t k = 0; k < COUNT(rows[i].steps); ++k)
            if (rows[i].steps[k].kind != 0)
                put(&rows[i].steps[k]);
        find(rows[i].kind, rows[i].event, rows[i].says);
        end_tasks();
    }
}

FIXTURE(begin, end_tasks);

TEST(time_that_goes_back)
{
    made_flush(made);
    made->time = 0;
    made_word(made, PROF_EVENT_SWITCH_WIDE, 1);
    find(TASKS_TIME_BACK, 0, "the packet begins before the last event");
}

TEST(an_event_beyond_its_packet)
{
    made_word(made, PROF_EVENT_SWITCH_WIDE, 1);
    made->last -= 50;
    find(TASKS_TIME_BEYOND, 5, "the event is later than its packet's end");
}
