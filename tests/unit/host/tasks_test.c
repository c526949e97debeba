/* SPDX-License-Identifier: Apache-2.0 */
/* What the model of tasks makes of events, also where some are missing. */

#include "../unit.h"

#include "tasks/sites.h"
#include "tasks_maker.h"

/* What the model says, as text; times are in steps. */
static char text[4096];

__attribute__((format(printf, 1, 2))) static void say(const char *format, ...)
{
    size_t used = strlen(text);
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text + used, sizeof text - used, format, arguments);
    va_end(arguments);
    assert_true(strlen(text) < sizeof text - 1);
}

static unsigned steps(uint64_t clocks)
{
    assert_int_equal(clocks % STEP, 0);
    return (unsigned)(clocks / STEP);
}

/* The guest's number of an object, "?", another CPU's loop, or an interrupt. */
static const char *whom(uint32_t number)
{
    static char names[4][20];
    static unsigned next;
    char *name = names[next++ % 4];

    if (number == TASKS_NOBODY)
        return "?";
    if (number != TASKS_NONE && (number & TASKS_INTERRUPT) != 0)
        snprintf(name, sizeof *names, "irq %u", number ^ TASKS_INTERRUPT);
    else if (tasks.objects[number].id > TASKS_LOOPS)
        snprintf(name, sizeof *names, "loop %u",
                 tasks.objects[number].id - TASKS_LOOPS);
    else
        snprintf(name, sizeof *names, "%u", tasks.objects[number].id);
    return name;
}

/* What an object did, the first first, whose sums are its clocks. */
static void say_stretches(const struct tasks_object *object)
{
    static const char letters[] = "pRPWrEu";
    const struct tasks_stretch *all[32];
    uint64_t clocks[TASKS_STATES] = {0};
    size_t count = 0;

    for (uint32_t i = object->stretches; i != TASKS_NONE;
         i = tasks.stretches[i].before) {
        assert_true(count < COUNT(all));
        all[count++] = &tasks.stretches[i];
    }
    while (count-- > 0) {
        const struct tasks_stretch *at = all[count];

        say(" %c%u-%u", letters[at->state], steps(at->from), steps(at->to));
        clocks[at->state] += at->to - at->from;
        if (at->state == TASKS_WAITING && at->why != 0)
            say(" (%s %s)", guest_names_text(&tasks.names, at->why),
                whom(at->other));
    }
    for (int i = TASKS_RUNNING; i < TASKS_STATES; ++i)
        if (i != TASKS_ENDED)
            assert_int_equal(object->clocks[i], clocks[i]);
}

static void say_object(const struct tasks_object *object)
{
    say("%s %s %s %u by %s", whom((uint32_t)(object - tasks.objects)),
        tasks_kind_word(object->kind), object->created ? "created" : "known",
        steps(object->begin), whom(object->creator));
    if (object->ending != TASKS_OPEN)
        say(", %s %u", tasks_end_word(object->ending), steps(object->end));
    else
        assert_true(object->end == TASKS_NEVER);
    if (object->clocks[TASKS_PENDING] > 0)
        say(", pending %u", steps(object->clocks[TASKS_PENDING]));
    if (object->runs > 0)
        say(", runs %u", object->runs);
    if (object->label > 0)
        say(", label %u", object->label);
    say(":");
    say_stretches(object);
    say("\n");
}

static void say_rest(void)
{
    for (uint32_t i = 0; i < tasks.irq_count; ++i)
        say("irq %u depth %u: %u-%u in %s\n", tasks.irqs[i].vector,
            tasks.irqs[i].depth, steps(tasks.irqs[i].from),
            steps(tasks.irqs[i].to), whom(tasks.irqs[i].object));
    for (uint32_t i = 0; i < tasks.counter_count; ++i)
        say("counter %u = %lld\n", tasks.counters[i].name,
            (long long)tasks.counters[i].value);
    for (uint32_t i = 0; i < tasks.pause_count; ++i)
        say("pause %u-%u\n", steps(tasks.pauses[i].from),
            steps(tasks.pauses[i].to));
    for (uint32_t i = 0; i < tasks.loss_count; ++i)
        say("lost %u-%u: packets %u events %u\n", steps(tasks.losses[i].from),
            steps(tasks.losses[i].to), tasks.losses[i].packets,
            tasks.losses[i].events);
    assert_int_equal(tasks.problem_count, 0);
}

static const char *said(void)
{
    text[0] = '\0';
    for (uint32_t i = 0; i < tasks_objects(&tasks); ++i)
        if (i >= TASKS_SPECIAL || tasks.objects[i].stretches != TASKS_NONE)
            say_object(&tasks.objects[i]);
    say_rest();
    return text;
}

/* Edges of (kind): "who>whom by what". */
static const char *edges(enum tasks_edge_kind kind)
{
    text[0] = '\0';
    for (uint32_t i = 0; i < tasks.edge_count; ++i) {
        const struct tasks_edge *edge = &tasks.edges[i];

        if (edge->kind != kind)
            continue;
        say("%s>%s", whom(edge->from), whom(edge->to));
        if (kind == TASKS_WAKE)
            say(" by %s", whom(edge->by));
        say(";");
    }
    return text;
}

static const struct tasks_object *object(uint32_t id)
{
    uint32_t number = tasks_object(&tasks, id);

    assert_int_not_equal(number, TASKS_NONE);
    return &tasks.objects[number];
}

#define NAMES                                                                  \
    "site 1 12 client@services/a.c; site 2 30 answer@services/b.c;"            \
    "name 3 waits for an answer;"

/* A task, object 1, that waits for a promise, object 2, which the loop resolves
 * and which wakes it. */
#define WAIT                                                                   \
    "switch 0; create 1 task 1; switch 1; create 2 promise 2; try_read 2;"     \
    "suspend 3; switch 0; resolve 2; wake 1 2; switch 1; read 2; resolve 1;"   \
    "switch 0;"

#define ALL UINT32_MAX

static const struct {
    const char *name;
    const char *script;
    uint32_t without; /* the packet with that number, or ALL */
    const char *says;
} rows[] = {
    {"a wait is running, waiting, ready, running", NAMES WAIT, ALL,
     "0 other known 1 by ?, pending 10, runs 3: R4-6 R10-13\n"
     "1 task created 5 by 0, resolved 15, pending 1, runs 2: R6-9 "
     "W9-12 (waits for an answer 2) r12-13 R13-16\n"
     "2 promise created 7 by 1, resolved 11, pending 4:\n"},
    {"who starts another task is paused meanwhile",
     "create 1 task; switch 1; create 2 task; switch 2; suspend; switch 1;"
     "resolve 1; switch 0",
     ALL,
     "1 task created 1 by ?, resolved 7, pending 1, runs 2: R2-4 P4-6 R6-8\n"
     "2 task created 3 by 1, pending 1, runs 1: R4-5 W5-8\n"},
    {"interrupts nest and act; at first the loop is idle",
     "create 1 callback; switch 0; suspend; irq_enter 33; irq_enter 34;"
     "irq_exit 34; defer 1 33; irq_exit 33; switch 1; switch 0",
     ALL,
     "0 other known 1 by ?, pending 2, runs 2: R2-3 W3-9\n"
     "1 callback created 1 by ?, pending 6, runs 1: r7-9 R9-10\n"
     "irq 33 depth 0: 4-8 in 0\n"
     "irq 34 depth 1: 5-6 in 0\n"},
    {"counters and pauses are kept",
     "name 1 bytes; counter 1 -5; counter 1 1099511627776; pause 1 100", ALL,
     "counter 1 = -5\n"
     "counter 1 = 1099511627776\n"
     "pause 3-4\n"},
    {"a late reader does not invent", WAIT "flush; switch 1; read 2; resolve 4",
     0,
     "1 other known 14 by ?, runs 1: R14-16\n"
     "2 other known 15 by ?, unknown 15:\n"
     "4 other known 16 by ?, resolved 16:\n"},
    {"a late reader learns who is alive",
     NAMES "alive 7 3 sleep 0 1 3; alive 8 7 task 1 1 0; switch 7", ALL,
     "7 sleep known 4 by 3, runs 1, label 3: u4-6\n"
     "3 other known 4 by ?, unknown 4:\n"
     "8 task known 5 by 7, ended 5:\n"},
    /* the wait, whose resolution and wake are in the packet that is lost */
    {"nothing is known across a lost packet",
     "create 1 task; switch 1; create 2 promise; suspend; switch 0; flush;"
     "resolve 2; create 3 promise; wake 1 2; flush;"
     "switch 1; read 2; read 3",
     1,
     "0 other known 1 by ?, pending 4, runs 1: u5-11\n"
     "1 task created 1 by ?, pending 1, runs 2: R2-4 W4-5 u5-9 R9-11\n"
     "2 promise created 3 by 1, ended 10, pending 2: u5-10\n"
     "3 other known 11 by ?, unknown 11:\n"
     "lost 5-9: packets 1 events 0\n"},
    {"a marked loss is one",
     "create 1 task; switch 1; irq_enter 32; lost 17; irq_exit 40; resolve 5",
     ALL,
     "1 task created 1 by ?, unknown 4, pending 1, runs 1: R2-3 u3-4\n"
     "5 other known 6 by ?, resolved 6:\n"
     "irq 32 depth 0: 3-3 in 1\n"
     "lost 3-5: packets 0 events 17\n"},
    {"pending promises survive a loss", "create 1 promise; lost 17; resolve 1",
     ALL,
     "1 promise created 1 by ?, resolved 3, pending 2:\n"
     "lost 1-3: packets 0 events 17\n"},
    /* The recorder gives LOST, and the switch after it, the time of the last
       event that was not overwritten. */
    {"a marked loss lasts until the next event",
     "create 1 task; create 2 task; switch 1; step 0; lost 17; switch 2;"
     "step 5000; create 3 promise; step 100; resolve 3",
     ALL,
     "1 task created 1 by ?, unknown 3, pending 2, runs 1:\n"
     "2 task created 2 by ?, pending 1, runs 1: u3-53 R53-54\n"
     "3 promise created 53 by 2, resolved 54, pending 1:\n"
     "lost 3-53: packets 0 events 17\n"},
    /* Whether they ended in the loss is not known; 9 was created in it. */
    {"what no event mentions after a loss is not open",
     "create 1 promise; create 2 promise; create 3 promise; create 4 promise;"
     "lost 17; try_read 2; read 3; gone 4; read 9; resolve 7",
     ALL,
     "1 promise created 1 by ?, unknown 4, pending 3:\n"
     "2 promise created 2 by ?, pending 8:\n"
     "3 promise created 3 by ?, ended 7, pending 1: u4-7\n"
     "4 promise created 4 by ?, ended 8: u4-8\n"
     "9 other known 9 by ?, unknown 9:\n"
     "7 other known 10 by ?, resolved 10:\n"
     "lost 4-6: packets 0 events 17\n"},
    /* Each packet begins with a switch to what is current. */
    {"what runs is repeated",
     "switch 0; create 1 task; switch 1; resolve 1; flush;"
     "switch 1; switch 0; suspend; flush;"
     "switch 0; irq_enter 32; irq_exit 32",
     ALL,
     "0 other known 1 by ?, pending 3, runs 2: R1-3 R6-7 W7-10\n"
     "1 task created 2 by 0, resolved 4, pending 1, runs 1: R3-6\n"
     "irq 32 depth 0: 9-10 in 0\n"},
    /* CPU 1 has lost packet 2. Task 1, which runs on CPU 0 meanwhile, and that
       CPU's loop are not touched by it; task 2 may have been woken in it. */
    {"what one CPU loses leaves known who runs on others",
     "switch 0; create 2 task; switch 2; suspend; create 1 task; switch 1;"
     "on 1; switch 0; suspend; flush; wake 2; flush; irq_enter 32;"
     "irq_exit 32; switch 0; on 0; wake 2; suspend; switch 0",
     2,
     "0 other known 1 by ?, pending 12, runs 2: R1-3\n"
     "2 task created 2 by 0, pending 1, runs 1: R3-4 W4-8 u8-13 r13-15\n"
     "1 task created 5 by 2, pending 1, runs 1: R6-14 W14-15\n"
     "loop 1 other known 7 by ?, runs 2: R7-8 u8-12 R12-15\n"
     "irq 32 depth 0: 10-11 in ?\n"
     "lost 8-10: packets 1 events 0\n"},
    {"who starts another task is paused, whatever other CPUs lose",
     "on 1; switch 0; flush; resolve 9; on 0; create 1 task; switch 1;"
     "create 2 task; switch 2; on 1; switch 0; on 0; switch 1;"
     "resolve 1",
     1,
     "loop 1 other known 1 by ?, runs 2: u1-7 R7-9\n"
     "1 task created 3 by ?, resolved 9, pending 1, runs 2: R4-6 P6-8 R8-9\n"
     "2 task created 5 by 1, pending 2, runs 1: R6-8\n"
     "lost 1-7: packets 1 events 0\n"},
    {"who went on elsewhere does not run where that is lost",
     "switch 0; create 1 task; switch 1; irq_enter 32; irq_exit 32; flush;"
     "suspend; on 1; switch 1; on 0; switch 0; on 1; switch 0",
     1,
     "0 other known 1 by ?, pending 2, runs 2: R1-3 u5-8 R8-9\n"
     "1 task created 2 by 0, pending 1, runs 2: R3-5 u5-7 R7-9\n"
     "loop 1 other known 9 by ?, runs 1:\n"
     "irq 32 depth 0: 4-5 in 1\n"
     "lost 5-8: packets 1 events 0\n"},
};

TEST(objects_are_what_their_events_say)
{
    for (size_t i = 0; i < COUNT(rows); ++i) {
        begin_tasks();
        made_script(made, "%s", rows[i].script);
        read_without(rows[i].without);
        if (strcmp(said(), rows[i].says) != 0)
            fail_msg("%s:\n%s", rows[i].name, text);
        end_tasks();
    }
}

FIXTURE(begin_tasks, end_tasks);

TEST(edges_say_who_did_what_to_whom)
{
    made_script(made, WAIT "create 3 callback; irq_enter 33; defer 3 33");
    read_all();
    assert_string_equal(edges(TASKS_CREATE), "0>1;1>2;0>3;");
    assert_string_equal(edges(TASKS_WAKE), "0>1 by 2;");
    assert_string_equal(edges(TASKS_READ), "1>2;");
    assert_string_equal(edges(TASKS_DEFER), "irq 0>3;");
}

TEST(names_and_sites_are_known)
{
    char title[TASKS_TEXT_MAX];

    made_script(made, WAIT NAMES /* used before they are defined */
                "name 9 now called so; label 1 9");
    read_all();
    assert_string_equal(guest_names_text(&tasks.names, 1), "client");
    assert_string_equal(guest_names_file(&tasks.names, 1), "services/a.c");
    assert_int_equal(guest_names_line(&tasks.names, 1), 12);
    assert_string_equal(guest_names_file(&tasks.names, 3), "");
    assert_string_equal(tasks_title(&tasks, tasks_object(&tasks, 2), title),
                        "answer 2");
    assert_string_equal(tasks_title(&tasks, tasks_object(&tasks, 1), title),
                        "now called so 1");
    assert_int_equal(tasks.label_count, 1);
    assert_int_equal(tasks.problem_count, 0);
}

TEST(what_an_object_becomes_is_followed)
{
    made_script(made, "create 1 promise; create 2 promise; create 3 promise;"
                      "become 1 2; become 2 3; resolve 3; read 1");
    read_all();
    assert_int_equal(tasks_became(&tasks, tasks_object(&tasks, 1)),
                     tasks_object(&tasks, 3));
    assert_int_equal(object(1)->ending, TASKS_BECAME);
    assert_int_equal(tasks.problem_count, 0);
}

TEST(what_ended_unseen_is_not_open)
{
    made_script(made, "create 1 promise; create 2 promise; lost 17; read 2");
    read_all();
    assert_false(tasks_is_open(&tasks, tasks_object(&tasks, 1)));
}

TEST(it_is_said_since_when_an_open_object_stands)
{
    made_script(made, WAIT "create 3 task; create 4 promise; switch 3;"
                           "try_read 4; suspend; switch 0; create 5 mutex");
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
    made_script(made, "create 1 promise; create 2 promise");
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

    made_script(made, "create 1 task; create 2 mutex; create 3 mutex;"
                      "create 4 promise; await 1 3; switch 0");
    read_all();
    waits = tasks_waits(&tasks, &count);
    waited_for = tasks_waited_for(&tasks, waits, count);
    for (uint32_t id = 1; id <= 4; ++id)
        assert_int_equal(
            tasks_rests(&tasks, tasks_object(&tasks, id), waited_for), id == 2);
    free(waits);
    free(waited_for);
}
