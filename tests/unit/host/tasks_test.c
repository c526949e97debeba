/* SPDX-License-Identifier: Apache-2.0 */
/* What the model of tasks makes of events, also where some are missing. */

#include "../unit.h"

#include "tasks/sites.h"
#include "tasks_maker.h"

static const struct tasks_object *object(uint32_t id)
{
    uint32_t number = tasks_object(&tasks, id);

    assert_int_not_equal(number, TASKS_NONE);
    return &tasks.objects[number];
}

/* What object (id) did, the last first: "RWr", by letters of the states. */
static const char *stretches(uint32_t id)
{
    static const char letters[] = "pRPWrEu";
    static char text[64];
    size_t used = 0;

    for (uint32_t i = object(id)->stretches; i != TASKS_NONE;
         i = tasks.stretches[i].before) {
        assert_true(used < sizeof text - 1);
        text[used++] = letters[tasks.stretches[i].state];
    }
    text[used] = '\0';
    return text;
}

static const struct tasks_edge *edge(enum tasks_edge_kind kind)
{
    for (uint32_t i = 0; i < tasks.edge_count; ++i) {
        if (tasks.edges[i].kind == kind)
            return &tasks.edges[i];
    }
    fail_msg("no edge %s", tasks_edge_word((uint8_t)kind));
    return NULL;
}

/* A task, object 1, that waits for a promise, object 2, which the loop resolves
 * and which wakes it. Ten events, the last at 10 * STEP. */
static void make_wait(void)
{
    made_word(made, PROF_EVENT_SWITCH_WIDE, 0);
    made_create(made, 1, PROF_TRACE_TASK, 1);
    made_word(made, PROF_EVENT_SWITCH_WIDE, 1);
    made_create(made, 2, PROF_TRACE_PROMISE, 2);
    made_word(made, PROF_EVENT_TRY_READ_WIDE, 2);
    made_suspend(made, 3);
    made_word(made, PROF_EVENT_SWITCH_WIDE, 0);
    made_word(made, PROF_EVENT_RESOLVE_WIDE, 2);
    made_two(made, PROF_EVENT_WAKE_WIDE, 1, 2);
    made_word(made, PROF_EVENT_SWITCH_WIDE, 1);
    made_word(made, PROF_EVENT_READ_WIDE, 2);
    made_word(made, PROF_EVENT_RESOLVE_WIDE, 1);
    made_word(made, PROF_EVENT_SWITCH_WIDE, 0);
}

static void make_names(void)
{
    made_site(made, 1, 12, "client@services/a.c");
    made_site(made, 2, 30, "answer@services/b.c");
    made_name(made, 3, "waits for an answer");
}

FIXTURE(begin_tasks, end_tasks);

TEST(a_wait_is_running_waiting_ready_running)
{
    const struct tasks_object *task, *promise;

    make_names();
    make_wait();
    read_all();
    task = object(1);
    promise = object(2);
    assert_int_equal(all_problems(), 0);
    assert_string_equal(stretches(1), "RrWR");
    assert_int_equal(task->clocks[TASKS_RUNNING], 3 * STEP + 3 * STEP);
    assert_int_equal(task->clocks[TASKS_WAITING], 3 * STEP);
    assert_int_equal(task->clocks[TASKS_READY], STEP);
    assert_int_equal(task->ending, TASKS_RESOLVED);
    assert_int_equal(task->runs, 2);
    assert_int_equal(promise->creator, tasks_object(&tasks, 1));
    assert_int_equal(task->creator, TASKS_LOOP);
    assert_int_equal(promise->end - promise->begin, 4 * STEP);
    assert_int_equal(edge(TASKS_WAKE)->by, tasks_object(&tasks, 2));
    assert_int_equal(edge(TASKS_WAKE)->from, TASKS_LOOP);
    assert_int_equal(edge(TASKS_READ)->from, tasks_object(&tasks, 1));
}

TEST(waits_know_their_reason_and_their_object)
{
    const struct tasks_stretch *wait;

    make_names();
    make_wait();
    read_all();
    wait = &tasks.stretches[object(1)->stretches];
    while (wait->state != TASKS_WAITING)
        wait = &tasks.stretches[wait->before];
    assert_string_equal(guest_names_text(&tasks.names, wait->why),
                        "waits for an answer");
    assert_int_equal(wait->other, tasks_object(&tasks, 2));
}

TEST(names_and_sites_are_known)
{
    char text[TASKS_TEXT_MAX];

    make_wait(); /* used before they are defined */
    make_names();
    made_name(made, 9, "now called so");
    made_named(made, PROF_EVENT_LABEL_WIDE, 1, 9);
    read_all();
    assert_string_equal(guest_names_text(&tasks.names, 1), "client");
    assert_string_equal(guest_names_file(&tasks.names, 1), "services/a.c");
    assert_int_equal(guest_names_line(&tasks.names, 1), 12);
    assert_string_equal(guest_names_file(&tasks.names, 3), "");
    tasks_title(&tasks, tasks_object(&tasks, 2), text);
    assert_string_equal(text, "answer 2");
    tasks_title(&tasks, tasks_object(&tasks, 1), text);
    assert_string_equal(text, "now called so 1");
    assert_int_equal(tasks.label_count, 1);
    assert_int_equal(all_problems(), 0);
}

TEST(who_starts_another_task_is_paused_meanwhile)
{
    made_create(made, 1, PROF_TRACE_TASK, 0);
    made_word(made, PROF_EVENT_SWITCH_WIDE, 1);
    made_create(made, 2, PROF_TRACE_TASK, 0);
    made_word(made, PROF_EVENT_SWITCH_WIDE, 2);
    made_suspend(made, 0);
    made_word(made, PROF_EVENT_SWITCH_WIDE, 1);
    made_word(made, PROF_EVENT_RESOLVE_WIDE, 1);
    made_word(made, PROF_EVENT_SWITCH_WIDE, 0);
    read_all();
    assert_int_equal(all_problems(), 0);
    assert_string_equal(stretches(1), "RPR");
    assert_string_equal(stretches(2), "WR");
    assert_int_equal(object(1)->clocks[TASKS_PAUSED], 2 * STEP);
    assert_int_equal(object(2)->end, TASKS_NEVER);
}

TEST(interrupts_nest_and_act)
{
    made_create(made, 1, PROF_TRACE_CALLBACK, 0);
    made_word(made, PROF_EVENT_SWITCH_WIDE, 0);
    made_suspend(made, 0); /* the loop is idle */
    made_irq(made, PROF_EVENT_IRQ_ENTER, 33);
    made_irq(made, PROF_EVENT_IRQ_ENTER, 34);
    made_irq(made, PROF_EVENT_IRQ_EXIT, 34);
    MADE_EVENT(made, PROF_EVENT_DEFER_WIDE,
               (struct prof_event_defer_wide){1, 33});
    made_irq(made, PROF_EVENT_IRQ_EXIT, 33);
    made_word(made, PROF_EVENT_SWITCH_WIDE, 1);
    made_word(made, PROF_EVENT_SWITCH_WIDE, 0);
    read_all();
    assert_int_equal(all_problems(), 0);
    assert_int_equal(tasks.irq_count, 2);
    assert_int_equal(tasks.irqs[1].depth, 1);
    assert_int_equal(tasks.irqs[0].to - tasks.irqs[0].from, 4 * STEP);
    assert_int_equal(tasks.irqs[0].object, TASKS_LOOP);
    assert_int_equal(edge(TASKS_DEFER)->from, TASKS_INTERRUPT | 0);
    assert_int_equal(object(0)->clocks[TASKS_WAITING], 6 * STEP);
    assert_string_equal(stretches(1), "Rr");
    assert_int_equal(object(1)->clocks[TASKS_READY], 2 * STEP);
}

TEST(counters_and_pauses_are_kept)
{
    made_name(made, 1, "bytes");
    made_counter(made, 1, -5);
    made_counter(made, 1, 1ll << 40);
    MADE_EVENT(made, PROF_EVENT_PAUSE, (struct prof_event_pause){1, STEP});
    read_all();
    assert_int_equal(tasks.counter_count, 2);
    assert_int_equal(tasks.counters[0].value, -5);
    assert_true(tasks.counters[1].value == 1ll << 40);
    assert_int_equal(tasks.pauses[0].to - tasks.pauses[0].from, STEP);
}

TEST(what_an_object_becomes_is_followed)
{
    for (uint32_t i = 1; i <= 3; ++i)
        made_create(made, i, PROF_TRACE_PROMISE, 0);
    made_two(made, PROF_EVENT_BECOME_WIDE, 1, 2);
    made_two(made, PROF_EVENT_BECOME_WIDE, 2, 3);
    made_word(made, PROF_EVENT_RESOLVE_WIDE, 3);
    made_word(made, PROF_EVENT_READ_WIDE, 1);
    read_all();
    assert_int_equal(tasks_became(&tasks, tasks_object(&tasks, 1)),
                     tasks_object(&tasks, 3));
    assert_int_equal(object(1)->ending, TASKS_BECAME);
    assert_int_equal(all_problems(), 0);
}

/* ---- where something is missing */

TEST(a_late_reader_does_not_invent)
{
    make_wait();
    made_flush(made);
    made_word(made, PROF_EVENT_SWITCH_WIDE, 1);
    made_word(made, PROF_EVENT_READ_WIDE, 2);
    made_word(made, PROF_EVENT_RESOLVE_WIDE, 4);
    read_without(0);
    assert_int_equal(all_problems(), 0);
    assert_false(object(1)->created);
    assert_string_equal(stretches(1), "R");
}

TEST(a_late_reader_learns_who_is_alive)
{
    make_names();
    MADE_EVENT(made, PROF_EVENT_ALIVE,
               (struct prof_event_alive){7, 3, PROF_TRACE_SLEEP, 0, 1, 3});
    MADE_EVENT(made, PROF_EVENT_ALIVE,
               (struct prof_event_alive){8, 7, PROF_TRACE_TASK, 1, 1, 0});
    made_word(made, PROF_EVENT_SWITCH_WIDE, 7);
    read_all();
    assert_int_equal(object(7)->kind, PROF_TRACE_SLEEP);
    assert_int_equal(object(7)->creator, tasks_object(&tasks, 3));
    assert_int_equal(object(8)->ending, TASKS_LOST);
    assert_int_equal(object(7)->ending, TASKS_OPEN);
    assert_int_equal(object(7)->label, 3);
    assert_int_equal(all_problems(), 0);
}

/* The wait, whose resolution and wake are in a packet that is lost. */
TEST(nothing_is_known_across_a_lost_packet)
{
    const struct tasks_stretch *last;

    made_create(made, 1, PROF_TRACE_TASK, 0);
    made_word(made, PROF_EVENT_SWITCH_WIDE, 1);
    made_create(made, 2, PROF_TRACE_PROMISE, 0);
    made_suspend(made, 0);
    made_word(made, PROF_EVENT_SWITCH_WIDE, 0);
    made_flush(made);
    made_word(made, PROF_EVENT_RESOLVE_WIDE, 2);
    made_create(made, 3, PROF_TRACE_PROMISE, 0);
    made_two(made, PROF_EVENT_WAKE_WIDE, 1, 2);
    made_flush(made);
    made_word(made, PROF_EVENT_SWITCH_WIDE, 1);
    made_word(made, PROF_EVENT_READ_WIDE, 2);
    made_word(made, PROF_EVENT_READ_WIDE, 3);
    read_without(1);
    assert_int_equal(all_problems(), 0);
    assert_int_equal(tasks.loss_count, 1);
    assert_int_equal(tasks.losses[0].packets, 1);
    assert_int_equal(tasks.losses[0].from, 5 * STEP);
    assert_int_equal(tasks.losses[0].to, 9 * STEP);
    assert_string_equal(stretches(1), "RuWR");
    last = &tasks.stretches[tasks.stretches[object(1)->stretches].before];
    assert_int_equal(last->from, 5 * STEP);
    assert_int_equal(last->to, 9 * STEP);
}

TEST(a_marked_loss_is_one)
{
    made_create(made, 1, PROF_TRACE_TASK, 0);
    made_word(made, PROF_EVENT_SWITCH_WIDE, 1);
    made_irq(made, PROF_EVENT_IRQ_ENTER, 32);
    made_word(made, PROF_EVENT_LOST, 17);
    made_irq(made, PROF_EVENT_IRQ_EXIT, 40);
    made_word(made, PROF_EVENT_RESOLVE_WIDE, 5);
    read_all();
    assert_int_equal(all_problems(), 0);
    assert_int_equal(tasks.losses[0].events, 17);
    assert_string_equal(stretches(1), "uR");
}

TEST(pending_promises_survive_a_loss)
{
    made_create(made, 1, PROF_TRACE_PROMISE, 0);
    made_word(made, PROF_EVENT_LOST, 17);
    made_word(made, PROF_EVENT_RESOLVE_WIDE, 1);
    read_all();
    assert_string_equal(stretches(1), "");
    assert_int_equal(object(1)->clocks[TASKS_PENDING], 2 * STEP);
}

/* The recorder gives LOST, and the switch after it, the time of the last event
 * that was not overwritten. */
TEST(a_marked_loss_lasts_until_the_next_event)
{
    made_create(made, 1, PROF_TRACE_TASK, 0);
    made_create(made, 2, PROF_TRACE_TASK, 0);
    made_word(made, PROF_EVENT_SWITCH_WIDE, 1);
    made->step = 0;
    made_word(made, PROF_EVENT_LOST, 17);
    made_word(made, PROF_EVENT_SWITCH_WIDE, 2);
    made->step = 50 * STEP;
    made_create(made, 3, PROF_TRACE_PROMISE, 0);
    made->step = STEP;
    made_word(made, PROF_EVENT_RESOLVE_WIDE, 3);
    read_all();
    assert_int_equal(all_problems(), 0);
    assert_int_equal(tasks.losses[0].from, 3 * STEP);
    assert_int_equal(tasks.losses[0].to, 53 * STEP);
    assert_string_equal(stretches(1), "");
    assert_string_equal(stretches(2), "Ru");
    assert_int_equal(object(2)->clocks[TASKS_RUNNING], STEP);
    assert_int_equal(object(2)->clocks[TASKS_PENDING], STEP);
}

/* Whether they ended in the loss is not known. */
TEST(what_no_event_mentions_after_a_loss_is_not_open)
{
    made_create(made, 1, PROF_TRACE_PROMISE, 0);
    made_create(made, 2, PROF_TRACE_PROMISE, 0);
    made_create(made, 3, PROF_TRACE_PROMISE, 0);
    made_create(made, 4, PROF_TRACE_PROMISE, 0);
    made_word(made, PROF_EVENT_LOST, 17);
    made_word(made, PROF_EVENT_TRY_READ_WIDE, 2);
    made_word(made, PROF_EVENT_READ_WIDE, 3);
    made_word(made, PROF_EVENT_GONE_WIDE, 4);
    made_word(made, PROF_EVENT_READ_WIDE, 9); /* created in the loss */
    made_word(made, PROF_EVENT_RESOLVE_WIDE, 7);
    read_all();
    assert_int_equal(all_problems(), 0);
    assert_int_equal(object(1)->ending, TASKS_UNSEEN);
    assert_int_equal(object(1)->end, 4 * STEP);
    assert_int_equal(object(1)->clocks[TASKS_PENDING], 3 * STEP);
    assert_int_equal(object(2)->ending, TASKS_OPEN);
    assert_int_equal(object(3)->ending, TASKS_LOST);
    assert_int_equal(object(3)->clocks[TASKS_PENDING], STEP);
    assert_int_equal(object(4)->ending, TASKS_LOST);
    assert_int_equal(object(9)->ending, TASKS_UNSEEN);
    assert_int_equal(object(9)->end, object(9)->begin);
    assert_false(tasks_is_open(&tasks, tasks_object(&tasks, 1)));
}

TEST(it_is_said_since_when_an_open_object_stands)
{
    make_wait();
    made_create(made, 3, PROF_TRACE_TASK, 0);
    made_create(made, 4, PROF_TRACE_PROMISE, 0);
    made_word(made, PROF_EVENT_SWITCH_WIDE, 3);
    made_word(made, PROF_EVENT_TRY_READ_WIDE, 4);
    made_suspend(made, 0);
    made_word(made, PROF_EVENT_SWITCH_WIDE, 0);
    made_create(made, 5, PROF_TRACE_MUTEX, 0);
    read_all();
    assert_int_equal(tasks_standing_since(&tasks, tasks_object(&tasks, 3)) -
                         object(3)->begin,
                     4 * STEP);
    assert_int_equal(tasks_standing_since(&tasks, tasks_object(&tasks, 4)),
                     object(4)->begin);
}

/* A damaged packet, whose events are later than its end. */
TEST(nobody_stands_since_after_the_end)
{
    made_create(made, 1, PROF_TRACE_PROMISE, 0);
    made_create(made, 2, PROF_TRACE_PROMISE, 0);
    made->last = made->begin;
    read_all();
    assert_int_equal(tasks.end, STEP);
    assert_int_equal(tasks_standing_since(&tasks, tasks_object(&tasks, 2)),
                     STEP);
}

TEST(what_nothing_waits_for_rests)
{
    uint32_t count;
    struct tasks_wait *waits;
    bool *waited_for;

    made_create(made, 1, PROF_TRACE_TASK, 0);
    made_create(made, 2, PROF_TRACE_MUTEX, 0);
    made_create(made, 3, PROF_TRACE_MUTEX, 0);
    made_create(made, 4, PROF_TRACE_PROMISE, 0);
    made_two(made, PROF_EVENT_AWAIT_WIDE, 1, 3);
    made_word(made, PROF_EVENT_SWITCH_WIDE, 0);
    read_all();
    waits = tasks_waits(&tasks, &count);
    waited_for = tasks_waited_for(&tasks, waits, count);
    for (uint32_t id = 1; id <= 4; ++id)
        assert_int_equal(
            tasks_rests(&tasks, tasks_object(&tasks, id), waited_for), id == 2);
    free(waits);
    free(waited_for);
}

/* Each packet begins with a switch to what is current. */
TEST(what_runs_is_repeated)
{
    made_word(made, PROF_EVENT_SWITCH_WIDE, 0);
    made_create(made, 1, PROF_TRACE_TASK, 0);
    made_word(made, PROF_EVENT_SWITCH_WIDE, 1);
    made_word(made, PROF_EVENT_RESOLVE_WIDE, 1);
    made_flush(made);
    made_word(made, PROF_EVENT_SWITCH_WIDE, 1);
    made_word(made, PROF_EVENT_SWITCH_WIDE, 0);
    made_suspend(made, 0);
    made_flush(made);
    made_word(made, PROF_EVENT_SWITCH_WIDE, 0);
    made_irq(made, PROF_EVENT_IRQ_ENTER, 32);
    made_irq(made, PROF_EVENT_IRQ_EXIT, 32);
    read_all();
    assert_int_equal(all_problems(), 0);
    assert_int_equal(object(1)->runs, 1);
    assert_string_equal(stretches(0), "WRR");
}
