/* SPDX-License-Identifier: Apache-2.0 */
/* Events that came or are marked as lost are as many as the recorder says that
 * it has recorded; or it is found that they are not. */

#include "../unit.h"

#include "tasks_maker.h"

/* What a packet of the recorder begins with, after (recorded) events. */
static void begin_packet(uint32_t recorded)
{
    made_flush(made);
    made_word(made, PROF_EVENT_SWITCH_WIDE, 0);
    made_word(made, PROF_EVENT_RECORDED, recorded);
}

static void put_events(unsigned count)
{
    for (unsigned i = 0; i < count; ++i)
        made_counter(made, 0, i);
}

static void says(const char *wanted)
{
    char text[TASKS_TEXT_MAX];

    assert_int_equal(tasks.problem_count, wanted != NULL);
    if (wanted != NULL)
        assert_string_equal(
            tasks_problem_text(&tasks, &tasks.problems[0], text), wanted);
}

FIXTURE(begin_tasks, end_tasks);

TEST(what_came_is_what_was_recorded)
{
    begin_packet(0);
    put_events(3);
    made_word(made, PROF_EVENT_SWITCH_WIDE, 7);
    begin_packet(4);
    put_events(2);
    made_word(made, PROF_EVENT_RECORDED, 6); /* at the end as well */
    read_all();
    says(NULL);
}

/* As far apart as two counts can be. */
TEST(half_of_all_are_too_many)
{
    begin_packet(0);
    put_events(3);
    begin_packet(3 + (UINT32_MAX / 2 + 1));
    read_all();
    assert_int_equal(tasks.problem_count, 1);
    assert_int_equal(tasks.problems[0].kind, TASKS_TOO_MANY);
}

/* LOST, and a switch that nobody has recorded; the last loss is marked at the
 * end of a packet. */
TEST(losses_that_are_marked)
{
    begin_packet(0);
    put_events(3);
    made_word(made, PROF_EVENT_LOST, 10);
    made_word(made, PROF_EVENT_SWITCH_WIDE, 7);
    made_word(made, PROF_EVENT_SWITCH_WIDE, 8);
    made_word(made, PROF_EVENT_LOST, 10);
    begin_packet(24);
    made_word(made, PROF_EVENT_SWITCH_WIDE, 9);
    put_events(1);
    begin_packet(25);
    read_all();
    says(NULL);
    assert_int_equal(tasks.loss_count, 2);
}

/* Two interrupts had begun when LOST was marked, and a third begins then. The
 * switch that follows a loss says nothing of them; the next one does. */
TEST(interrupts_that_began_in_a_loss)
{
    begin_packet(0);
    made_word(made, PROF_EVENT_LOST, 10);
    made_word(made, PROF_EVENT_SWITCH_WIDE, 7);
    made_irq(made, PROF_EVENT_IRQ_ENTER, 32);
    made_irq(made, PROF_EVENT_IRQ_EXIT, 32);
    made_irq(made, PROF_EVENT_IRQ_EXIT, 32);
    begin_packet(13);
    made_irq(made, PROF_EVENT_IRQ_EXIT, 33);
    made_word(made, PROF_EVENT_SWITCH_WIDE, 8);
    made_irq(made, PROF_EVENT_IRQ_EXIT, 34);
    read_all();
    says("interrupt 34 ends that is not the innermost");
}

TEST(a_loss_that_is_not)
{
    begin_packet(0);
    put_events(3);
    begin_packet(13);
    put_events(1);
    begin_packet(14); /* it is reported once */
    read_all();
    says("10 events are missing before, and not marked as lost");
    assert_int_equal(tasks.problems[0].place.packet, 1);
}

TEST(more_than_were_recorded)
{
    begin_packet(1);
    put_events(3);
    begin_packet(2);
    read_all();
    says("before, there are 2 events more than were recorded");
}

TEST(a_packet_that_is_missing_had_so_many)
{
    begin_packet(0);
    put_events(3);
    begin_packet(3);
    put_events(40);
    begin_packet(43);
    put_events(2);
    begin_packet(45);
    read_without(1);
    says(NULL);
    assert_int_equal(tasks.loss_count, 1);
    assert_int_equal(tasks.losses[0].packets, 1);
    assert_int_equal(tasks.losses[0].events, 40);
}

TEST(a_late_reader_knows_what_it_has_missed)
{
    begin_packet(0);
    put_events(30);
    begin_packet(30);
    put_events(2);
    begin_packet(32);
    read_without(0);
    says(NULL);
    assert_int_equal(tasks.cpus[0].before, 30);
    assert_int_equal(tasks.loss_count, 0);
}

/* Each dump of a flight recorder counts from its beginning. */
TEST(a_dump_counts_anew)
{
    for (unsigned dump = 0; dump < 2; ++dump) {
        begin_packet(0);
        made_event(made, PROF_EVENT_HISTORY, NULL, 0);
        made_word(made, PROF_EVENT_SWITCH_WIDE, 5);
        put_events(3);
        begin_packet(3);
        put_events(1);
        made_word(made, PROF_EVENT_RECORDED, 4);
    }
    read_all();
    says(NULL);
}

TEST(nobody_knows_what_was_not_read)
{
    begin_packet(0);
    put_events(3);
    made_event(made, (enum prof_event)250, NULL, 0); /* of a later version */
    begin_packet(5);
    made_word(made, PROF_EVENT_LOST, 0); /* nobody knows how many */
    begin_packet(50);
    read_all();
    says(NULL);
}
