/* SPDX-License-Identifier: Apache-2.0 */
/* What interrupts led to: when the work was begun that they left, and whose
 * idleness they ended. */

#include "../unit.h"

#include "tasks/interrupts.h"

#include "tasks_maker.h"

static struct tasks_served *served;
static struct tasks_vectors vectors;

static void begin(void)
{
    begin_tasks();
}

static void end(void)
{
    free(served);
    served = NULL;
    end_tasks();
}

static void read_script(const char *script)
{
    made_script(made, "%s", script);
    read_all();
    served = tasks_served(&tasks);
    tasks_find_vectors(&vectors, &tasks, TASKS_ANY_CPU);
}

/* Steps from the beginning of interrupt (irq) until its work ran, or 0. */
static unsigned ran(uint32_t irq)
{
    assert_true(irq < tasks.irq_count);
    return served[irq].ran == TASKS_NEVER
               ? 0
               : (unsigned)((served[irq].ran - tasks.irqs[irq].from) / STEP);
}

/* The same until the loop went on whose idleness it ended. */
static unsigned woke(uint32_t irq)
{
    assert_true(irq < tasks.irq_count);
    return tasks.irqs[irq].woke == 0
               ? 0
               : (unsigned)((tasks.irqs[irq].woke - tasks.irqs[irq].from) /
                            STEP);
}

FIXTURE(begin, end);

TEST(work_that_is_left_runs_later)
{
    read_script("create 1 callback; irq_enter 43; defer 1 43; irq_exit 43;"
                "switch 0; switch 1; switch 0");
    assert_int_equal(served[0].object, tasks_object(&tasks, 1));
    assert_int_equal((served[0].left - tasks.irqs[0].from) / STEP, 1);
    assert_int_equal(ran(0), 4);
}

TEST(one_run_serves_all_that_came_before_it)
{
    read_script("create 1 callback;"
                "irq_enter 43; defer 1 43; irq_exit 43;"
                "irq_enter 43; defer 1 43; irq_exit 43;"
                "switch 1; switch 0;"
                "irq_enter 43; defer 1 43; irq_exit 43;"
                "switch 1; switch 0");
    assert_int_equal(ran(0), 6);
    assert_int_equal(ran(1), 3);
    assert_int_equal(ran(2), 3);
}

/* What runs when the interrupt comes may have looked already: only the next
 * run is sure to serve it. */
TEST(the_run_that_is_interrupted_does_not_count)
{
    read_script("create 1 callback; switch 1; irq_enter 43; defer 1 43;"
                "irq_exit 43; switch 0; switch 1; switch 0");
    assert_int_equal(ran(0), 4);
}

TEST(work_may_never_run)
{
    read_script("create 1 callback; create 2 task; irq_enter 43; defer 1 43;"
                "irq_exit 43; switch 2; switch 0");
    assert_int_equal(served[0].object, tasks_object(&tasks, 1));
    assert_true(served[0].ran == TASKS_NEVER);
}

TEST(the_last_of_several_counts)
{
    read_script("create 1 callback; create 2 callback;"
                "irq_enter 43; defer 1 43; defer 2 43; irq_exit 43;"
                "switch 1; switch 0; switch 2; switch 0");
    assert_int_equal(served[0].object, tasks_object(&tasks, 2));
    assert_int_equal(ran(0), 6);
}

TEST(an_interrupt_may_leave_nothing)
{
    read_script("switch 0; irq_enter 32; irq_exit 32; switch 0");
    assert_true(served[0].object == TASKS_NONE);
    assert_true(served[0].ran == TASKS_NEVER);
    assert_int_equal(woke(0), 0);
}

TEST(the_first_interrupt_ends_idleness)
{
    read_script("create 1 task; switch 1; switch 0; suspend;"
                "irq_enter 32; irq_exit 32; irq_enter 43; irq_exit 43;"
                "switch 0; irq_enter 32; irq_exit 32; switch 1; switch 0;"
                "suspend; irq_enter 43; irq_exit 43; switch 0");
    assert_int_equal(tasks.irq_count, 4);
    assert_int_equal(woke(0), 4);
    assert_int_equal(woke(1), 0);
    assert_int_equal(woke(2), 0);
    assert_int_equal(woke(3), 2);
}

TEST(what_a_loss_hides_is_not_known)
{
    read_script("create 1 task; switch 1; switch 0; suspend;"
                "irq_enter 32; irq_exit 32; lost 5; switch 0; switch 1;"
                "switch 0; suspend; switch 0");
    assert_int_equal(tasks.irq_count, 1);
    assert_int_equal(woke(0), 0);
}

TEST(vectors_are_in_order)
{
    read_script("irq_enter 255; irq_exit 255; irq_enter 32; irq_enter 43;"
                "irq_exit 43; irq_exit 32; irq_enter 32; irq_exit 32");
    assert_int_equal(vectors.count, 3);
    assert_int_equal(vectors.all[0], 32);
    assert_int_equal(vectors.all[1], 43);
    assert_int_equal(vectors.all[2], 255);
    assert_int_equal(vectors.place[255], 2);
}

TEST(sums_of_a_vector)
{
    struct tasks_vector_sum *sums;

    read_script("create 1 callback; switch 0; suspend;"
                "irq_enter 43; defer 1 43; irq_exit 43; switch 0; switch 1;"
                "switch 0; irq_enter 43; irq_exit 43; irq_enter 32");
    sums = tasks_sum_vectors(&tasks, &vectors);
    assert_int_equal(sums[0].irqs, 1);
    assert_int_equal(sums[0].handled.count, 0); /* no end was seen */
    assert_int_equal(sums[1].irqs, 2);
    assert_int_equal(sums[1].left, 1);
    assert_int_equal(sums[1].woke, 1);
    assert_int_equal(sums[1].handled.count, 2);
    assert_int_equal(tasks_delay_at(&sums[1].handled, 500), STEP);
    assert_int_equal(tasks_delay_at(&sums[1].handled, 1000), 2 * STEP);
    assert_int_equal(sums[1].ran.count, 1);
    assert_int_equal(tasks_delay_at(&sums[1].ran, 0), 4 * STEP);
    tasks_free_vector_sums(sums, &vectors);
}

/* Whatever the order of events: each answer is of the trace. */
TEST(anything_can_be_read)
{
    for (unsigned round = 0; round < 200; ++round) {
        made_script(made, "create 1 callback; create 2 task");
        for (unsigned i = 0; i < 60; ++i) {
            static const char *const events[] = {
                "irq_enter", "irq_exit", "defer", "switch", "lost", "resolve",
            };
            unsigned event = unit_below(COUNT(events));
            unsigned number = event < 2 ? 32 + unit_below(3) : unit_below(5);

            if (unit_below(9) == 0)
                made_script(made, "switch 0; suspend");
            made_script(made, "%s %u", events[event], number);
        }
        read_all();
        served = tasks_served(&tasks);
        tasks_find_vectors(&vectors, &tasks, TASKS_ANY_CPU);
        for (uint32_t i = 0; i < tasks.irq_count; ++i) {
            const struct tasks_served *one = &served[i];

            assert_true(tasks.irqs[i].woke == 0 ||
                        tasks.irqs[i].woke >= tasks.irqs[i].from);
            if (one->object == TASKS_NONE)
                continue;
            assert_in_range(one->object, TASKS_SPECIAL,
                            tasks_objects(&tasks) - 1);
            assert_true(one->ran == TASKS_NEVER || one->ran >= one->left);
        }
        end();
        begin();
    }
}
