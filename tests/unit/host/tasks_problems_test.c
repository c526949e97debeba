/* SPDX-License-Identifier: Apache-2.0 */
/* What cannot be true is found, at its place, and nothing else is: in the
 * events themselves, and where those that came or are marked as lost are not as
 * many as the recorder says that it has recorded. */

#include "../unit.h"

#include "tasks_maker.h"

#define ALL UINT32_MAX
#define NONE TASKS_PROBLEM_KINDS

/* There is no problem but one of (kind), in event (event) of the packet
 * (packet), with that text. */
static void find(enum tasks_problem_kind kind, uint32_t packet, uint32_t event,
                 const char *says)
{
    char text[TASKS_TEXT_MAX];

    for (unsigned i = 0; i < TASKS_PROBLEM_KINDS; ++i)
        assert_int_equal(tasks.problem_counts[i], i == kind);
    if (kind == NONE)
        return;
    assert_string_equal(tasks_problem_text(&tasks, &tasks.problems[0], text),
                        says);
    assert_int_equal(tasks.problems[0].place.packet, packet);
    assert_int_equal(tasks.problems[0].place.event, event);
}

/* A task 1, promises 2 and 3, and the loop runs: four events. */
#define BEGINNING "create 1 task; create 2 promise; create 3 promise; switch 0;"

TEST(each_problem_is_found_at_its_place)
{
    static const struct {
        const char *script; /* after BEGINNING */
        enum tasks_problem_kind kind;
        uint32_t event;
        const char *says;
    } rows[] = {
        {"create 2 promise", TASKS_CREATED_TWICE, 5,
         "promise 2 is created a second time"},
        {"resolve 9", TASKS_NEVER_CREATED, 5,
         "other 9 was never created, and no loss is marked in which it was"},
        {"resolve 2; cancel 2", TASKS_ENDED_TWICE, 6,
         "promise 2 ends a second time: it was resolved"},
        /* an end and a loss, and another end: once at most, whatever is lost */
        {"resolve 2; lost 1; fail 2", TASKS_ENDED_TWICE, 7,
         "promise 2 ends a second time: it was resolved"},
        {"read 3", TASKS_READ_EARLY, 5,
         "promise 3 is read before it is resolved"},
        {"resolve 1; switch 1", TASKS_RUNS_ENDED, 6,
         "task 1 runs after its end: it was resolved"},
        /* 1 starts 4, 4 starts 5, and 5 returns to 1 */
        {"switch 1; create 4 task; create 5 task; switch 4; switch 5; switch 1",
         TASKS_NOT_NESTED, 10,
         "task 4 has not returned to task 1, which runs again"},
        {"irq_enter 32; switch 1; irq_exit 32", TASKS_IRQ_SWITCH, 6,
         "switch to task 1 inside an interrupt"},
        {"irq_enter 32; irq_enter 33; irq_exit 32", TASKS_IRQ_EXIT, 7,
         "interrupt 32 ends that is not the innermost"},
        {"label 1 77", TASKS_NO_NAME, 5, "name 77 is used and never defined"},
    };

    for (size_t i = 0; i < COUNT(rows); ++i) {
        begin_tasks();
        made_script(made, BEGINNING "%s", rows[i].script);
        read_all();
        find(rows[i].kind, 0, rows[i].event, rows[i].says);
        end_tasks();
    }
}

FIXTURE(begin_tasks, end_tasks);

TEST(a_kind_that_is_never_used_again)
{
    made_script(made, BEGINNING);
    made_bare(made, (enum prof_event)14);
    read_all();
    find(TASKS_NOT_READ, 0, 4, "the rest of the packet cannot be read");
}

TEST(time_that_goes_back)
{
    made_script(made, BEGINNING "flush");
    made->time = 0;
    made_script(made, "switch 1");
    read_all();
    find(TASKS_TIME_BACK, 1, 0, "the packet begins before the last event");
}

TEST(an_event_beyond_its_packet)
{
    made_script(made, BEGINNING "switch 1");
    made->last -= 50;
    read_all();
    find(TASKS_TIME_BEYOND, 0, 5, "the event is later than its packet's end");
}

FIXTURE(NULL, NULL);

/* What a packet of the recorder begins with, after (recorded) events. */
#define PACKET(recorded) "; flush; switch 0; recorded " #recorded ";"

#define EVENTS_1 "counter;"
#define EVENTS_2 EVENTS_1 EVENTS_1
#define EVENTS_3 EVENTS_2 EVENTS_1
#define EVENTS_10 EVENTS_3 EVENTS_3 EVENTS_3 EVENTS_1
#define EVENTS_40 EVENTS_10 EVENTS_10 EVENTS_10 EVENTS_10

#define DUMP                                                                   \
    PACKET(0) "history; switch 5;" EVENTS_3 PACKET(3) EVENTS_1 "recorded 4"

TEST(events_are_as_many_as_were_recorded)
{
    static const struct {
        const char *script;
        uint32_t without; /* the packet with that number, or ALL */
        enum tasks_problem_kind kind;
        uint32_t event; /* of packet 1 */
        const char *says;
        uint32_t losses, packets, events; /* how many; of the first */
    } rows[] = {
        /* the count is at the end as well */
        {PACKET(0) EVENTS_3 "switch 7" PACKET(4) EVENTS_2 "recorded 6", ALL,
         NONE, 0, NULL, 0, 0, 0},
        /* as far apart as two counts can be */
        {PACKET(0) EVENTS_3 PACKET(2147483651), ALL, TASKS_TOO_MANY, 2,
         "before, there are 2147483648 events more than were recorded", 0, 0,
         0},
        /* LOST, and a switch that nobody has recorded; the last loss is marked
           at the end of a packet */
        {PACKET(0) EVENTS_3 "lost 10; switch 7; switch 8; lost 10" PACKET(
             24) "switch 9;" EVENTS_1 PACKET(25),
         ALL, NONE, 0, NULL, 2, 0, 10},
        /* Two interrupts had begun when LOST was marked, and a third begins
           then. The switch that follows a loss says nothing of them; the next
           one does. */
        {PACKET(0) "lost 10; switch 7; irq_enter 32; irq_exit 32; irq_exit "
                   "32" PACKET(13) "irq_exit 33; switch 8; irq_exit 34",
         ALL, TASKS_IRQ_EXIT, 5, "interrupt 34 ends that is not the innermost",
         1, 0, 10},
        /* a loss that is not marked is reported once */
        {PACKET(0) EVENTS_3 PACKET(13) EVENTS_1 PACKET(14), ALL,
         TASKS_NOT_MARKED, 2,
         "10 events are missing before, and not marked as lost", 0, 0, 0},
        {PACKET(1) EVENTS_3 PACKET(2), ALL, TASKS_TOO_MANY, 2,
         "before, there are 2 events more than were recorded", 0, 0, 0},
        /* a packet that is missing had so many */
        {PACKET(0) EVENTS_3 PACKET(3) EVENTS_40 PACKET(43) EVENTS_2 PACKET(45),
         1, NONE, 0, NULL, 1, 1, 40},
        /* each dump of a flight recorder counts from its beginning */
        {DUMP DUMP, ALL, NONE, 0, NULL, 0, 0, 0},
    };

    for (size_t i = 0; i < COUNT(rows); ++i) {
        begin_tasks();
        made_script(made, "%s", rows[i].script);
        read_without(rows[i].without);
        find(rows[i].kind, 1, rows[i].event, rows[i].says);
        assert_int_equal(tasks.loss_count, rows[i].losses);
        if (tasks.loss_count > 0) {
            assert_int_equal(tasks.losses[0].packets, rows[i].packets);
            assert_int_equal(tasks.losses[0].events, rows[i].events);
        }
        end_tasks();
    }
}

FIXTURE(begin_tasks, end_tasks);

TEST(a_late_reader_knows_what_it_has_missed)
{
    made_script(made, PACKET(0) EVENTS_40 PACKET(40) EVENTS_2 PACKET(42));
    read_without(0);
    find(NONE, 0, 0, NULL);
    assert_int_equal(tasks.cpus[0].before, 40);
    assert_int_equal(tasks.loss_count, 0);
}

TEST(nobody_knows_what_was_not_read)
{
    made_script(made, PACKET(0) EVENTS_3);
    made_bare(made, (enum prof_event)250); /* of a later version */
    made_script(made, PACKET(5) "lost 0"   /* nobody knows how many */
                PACKET(50));
    read_all();
    find(NONE, 0, 0, NULL);
}
