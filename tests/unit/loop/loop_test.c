/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The arithmetic of the event loop's statistics, in programs whose numbers are
 * known, and each against a second implementation after each step.
 */

#include "../unit.h"

#include "loop_compare.h"

static void begin(void)
{
    model_open(64 * PROF_LOOP_SITE_BYTES);
}

static struct prof_loop_row found;

static void find(const struct prof_loop_row *row, void *text)
{
    if (strcmp(row->site->text, text) == 0)
        found = *row;
}

static struct prof_loop_row *row_of(const char *name)
{
    found = (struct prof_loop_row){0};
    prof_loop_visit(find, (void *)name);
    return &found;
}

static void has(const char *name, uint64_t own, uint64_t total)
{
    struct prof_loop_row *row = row_of(name);

    assert_int_equal(row->own_cycles, own);
    assert_int_equal(row->total_cycles, total);
}

FIXTURE(begin, model_close);

/* ---- one task, and its end */

TEST(a_task_that_never_waits)
{
    model_program("c0A r0 +=10 e0 p +=5");
    has("A", 10, 10);
    assert_int_equal(row_of("A")->resolved, 1);
    assert_int_equal(row_of("A")->sums[PROF_LOOP_WALL].cycles, 10);
}

TEST(a_task_that_waits_twice)
{
    model_program("c0A r0 +=10 p +=50 w0 +=3 r0 +=20 p +=50 w0 r0 +=5 e0 p");
    has("A", 35, 35);
    assert_int_equal(row_of("A")->longest_cycles, 20);
    assert_int_equal(row_of("A")->sums[PROF_LOOP_DELAY].cycles, 3);
    assert_int_equal(row_of("A")->sums[PROF_LOOP_DELAY].count, 2);
    assert_int_equal(row_of("A")->sums[PROF_LOOP_WALL].cycles, 138);
}

TEST(a_task_that_fails)
{
    model_program("c0A r0 +=10 p w0 r0 +=1 f0 p");
    assert_int_equal(row_of("A")->failed, 1);
    has("A", 11, 11);
}

/* It goes on after it was cancelled, to release what it has. */
TEST(a_task_that_is_cancelled)
{
    model_program("c0A r0 +=10 p +=7 w0 r0 +=4 x0 +=2 p");
    assert_int_equal(row_of("A")->cancelled, 1);
    assert_int_equal(row_of("A")->sums[PROF_LOOP_WALL].cycles, 21);
    has("A", 16, 16);
}

/* `finally`, which awaits something after the failure. */
TEST(a_failing_task_that_waits_once_more)
{
    model_program("c0A r0 +=10 p +=5 w0 r0 +=1 p +=9 w0 r0 +=2 f0 p");
    has("A", 13, 13);
}

TEST(a_task_that_never_ends_is_counted)
{
    model_program("c0A r0 +=10 p +=90 w0 r0 +=30");
    has("A", 40, 40);
    assert_int_equal(row_of("A")->pending, 1);
    assert_int_equal(row_of("A")->oldest_cycles, 130);
}

TEST(a_run_of_no_time)
{
    model_program("c0A r0 p w0 r0 p w0 r0 e0 p");
    assert_int_equal(row_of("A")->sums[PROF_LOOP_RUN].count, 3);
    has("A", 0, 0);
}

/* ---- children */

TEST(a_child_that_never_waits)
{
    model_program("c0A r0 +=10 c1B r1 +=7 e1 p +=3 e0 p");
    has("A", 13, 20);
    has("B", 7, 7);
}

TEST(a_child_that_waits)
{
    model_program("c0A r0 +=10 c1B r1 +=7 p +=3 p +=90 w1 r1 +=5 e1 p w0 r0 "
                  "+=1 e0 p");
    has("A", 14, 26);
    has("B", 12, 12);
}

TEST(children_at_the_same_time)
{
    model_program("c0A r0 +=1 c1B r1 +=2 p c2B r2 +=3 p c3C r3 +=4 p p w3 r3 "
                  "+=5 e3 p w1 r1 +=6 e1 p w2 r2 +=7 e2 p w0 r0 +=8 e0 p");
    has("A", 9, 36);
    has("B", 18, 18);
    has("C", 9, 9);
    assert_int_equal(row_of("B")->calls, 2);
}

TEST(a_child_that_outlives_its_parent)
{
    model_program("c0A r0 +=1 c1B r1 +=2 p e0 p +=50 w1 r1 +=100 e1 p");
    has("A", 1, 103);
    has("B", 102, 102);
}

TEST(a_child_that_fails_fails_its_parent)
{
    model_program("c0A r0 +=1 c1B r1 +=2 f1 p +=3 f0 p");
    has("A", 4, 6);
    assert_int_equal(row_of("A")->failed, 1);
    assert_int_equal(row_of("B")->failed, 1);
}

TEST(a_child_that_is_cancelled)
{
    model_program("c0A r0 +=1 c1B r1 +=2 p +=3 e0 p w1 r1 +=4 x1 p");
    has("A", 4, 10);
}

/* Each run of a grandchild counts for both above, after they have paused, too:
 * the predecessor's statistics lose the 10 after the wait for A. */
TEST(grandchildren_that_run_after_a_wait)
{
    model_program("c0A r0 c1B r1 c2C r2 +=10 p p p w2 +=5 r2 +=10 e2 p w1 r1 "
                  "e1 p w0 r0 e0 p");
    has("C", 20, 20);
    has("B", 0, 20);
    has("A", 0, 20);
}

TEST(a_deep_family_after_all_others_have_ended)
{
    model_program("c0A r0 c1B r1 c2C r2 c3D r3 c4E r4 +=1 p e3 p e2 p e1 p e0 "
                  "p w4 r4 +=1000 p");
    has("A", 0, 1001);
    has("D", 0, 1001);
    has("E", 1001, 1001);
}

/* ---- recursion */

TEST(direct_recursion_counts_once)
{
    model_program("c0A r0 +=1 c1A r1 +=2 c2A r2 +=4 e2 p e1 p e0 p");
    has("A", 7, 7);
}

TEST(indirect_recursion_counts_once)
{
    model_program("c0A r0 +=1 c1B r1 +=2 c2A r2 +=4 c3B r3 +=8 c4C r4 +=16 p p "
                  "p p p w3 r3 +=32 p");
    has("A", 5, 63);
    has("B", 42, 62);
    has("C", 16, 16);
}

static void count_contexts(const struct prof_loop_context *node, void *count)
{
    (void)node;
    ++*(unsigned *)count;
}

/* Two sites that create each other for ever need no more contexts. */
TEST(a_chain_without_end_needs_no_memory)
{
    unsigned before = 0, after = 0;
    char text[32];

    model_program("c0A r0 +=1 c1B r1 e0 +=1 ");
    for (int i = 0; i < 200; i++) {
        snprintf(text, sizeof text, "c%d%c r%d +=1", i % 2 + 2, 'A' + i % 2,
                 i % 2 + 2);
        model_program(text);
        snprintf(text, sizeof text, "e%d p", i % 2 + 2);
        model_program(text);
        if (i == 8)
            prof_loop_contexts(count_contexts, &before);
    }
    prof_loop_contexts(count_contexts, &after);
    assert_int_equal(before, after);
}

/* ---- callbacks, loops, interrupts */

TEST(callbacks_have_descendants)
{
    model_program("bA +=5 c0B r0 +=6 p +=7 l +=1 w0 r0 +=8 e0 p");
    has("A", 12, 26);
    has("B", 14, 14);
}

/* A task runs the loop, which runs others and waits: the seed's open end. */
TEST(a_task_that_runs_the_loop)
{
    model_program("c0A r0 +=10 n +=1 i +=100 l c1B r1 +=20 p bC +=3 l i +=50 l "
                  "w1 r1 +=5 e1 p l +=2 e0 p");
    has("A", 12, 12);
    has("B", 25, 25);
    has("C", 3, 3);
}

TEST(loops_in_loops)
{
    model_program("c0A r0 +=1 n c1B r1 +=2 n c2A r2 +=4 n i +=8 q=3 l l +=16 p "
                  "l +=32 p l +=64 p");
    has("A", 85, 85);
    has("B", 34, 34);
}

TEST(interrupts_belong_to_nobody_else)
{
    model_program("c0A r0 +=1 q=100 +=2 c1B q=50 r1 +=3 s0=7 s1=9 +=4 p p");
    has("A", 3, 10);
    has("B", 7, 7);
}

TEST(a_task_may_have_other_parents)
{
    model_program("c0A r0 c1B r1 +=1 p p c2C r2 +=2 a12 p w1 r1 +=4 p");
    has("A", 0, 1);
    has("B", 5, 5);
    has("C", 2, 6);
    model_program("a11 w1 r1 +=8 p");
    has("B", 13, 13);
    has("C", 2, 6);
}

/* A callback of a task that ends in it, and is gone before it returns. */
TEST(a_task_that_ends_in_its_callback)
{
    model_program("c0A r0 c1B p w1 +=3 k1 +=5 e1");
    memset(&tasks[1].real, 0xee, sizeof tasks[1].real);
    model_program("+=6 l");
    has("B", 11, 11);
    has("A", 0, 11);
    assert_int_equal(row_of("B")->sums[PROF_LOOP_DELAY].cycles, 3);
}

/* An exception has left the inner ones without a pause. */
TEST(a_pause_ends_what_runs_within)
{
    struct prof_loop_account account;

    model_program("c0A r0 +=1 c1B r1 +=2 bC +=4");
    prof_loop_pause(&tasks[0].real);
    prof_loop_hosted_tsc += 8;
    prof_loop_account(&account);
    has("A", 1, 3);
    has("B", 2, 2);
    has("C", 4, 4);
    assert_int_equal(account.loop_cycles, 8);
    prof_loop_pause(&tasks[1].real); /* which does not run any longer */
    has("B", 2, 2);
}

TEST(a_reset_forgets_what_was)
{
    model_program("c0A r0 +=10 c1B r1 +=20 z +=3 p +=4 p z bC +=1 l");
    has("A", 0, 0);
    has("C", 1, 1);
    assert_int_equal(row_of("A")->pending, 1);
}

/* What is not counted yet costs nothing and is not counted later. */
TEST(tasks_from_before_are_ignored)
{
    static struct prof_loop_task before;
    struct prof_loop_account account;

    prof_loop_forget();
    prof_loop_create(&before, &names[0], 1);
    model_open(PROF_LOOP_MEMORY_MIN);
    prof_loop_run(&before);
    prof_loop_hosted_tsc += 5;
    prof_loop_pause(&before);
    prof_loop_wake(&before);
    prof_loop_end(&before, PROF_LOOP_FAILED);
    prof_loop_account(&account);
    assert_int_equal(account.loop_cycles, 5);
    assert_int_equal(account.sites, 0);
}

/* The callback of a device: an interrupt asks for it, some time before it runs;
 * or nobody does. */
TEST(what_an_interrupt_asks_for_has_a_delay)
{
    struct prof_loop_frame frame;
    uint64_t asked;

    prof_loop_hosted_tsc += 100;
    asked = prof_loop_hosted_tsc;
    prof_loop_hosted_tsc += 7;
    prof_loop_begin_asked(&frame, &names[0], asked);
    prof_loop_hosted_tsc += 3;
    prof_loop_leave(&frame);
    prof_loop_begin_asked(&frame, &names[0], 0);
    prof_loop_leave(&frame);
    has(names[0].text, 3, 3);
    assert_int_equal(row_of(names[0].text)->sums[PROF_LOOP_DELAY].count, 1);
    assert_int_equal(row_of(names[0].text)->sums[PROF_LOOP_DELAY].cycles, 7);
    /* what was asked for before a reset is not counted after it */
    asked = prof_loop_hosted_tsc;
    prof_loop_hosted_tsc += 50;
    prof_loop_reset();
    prof_loop_begin_asked(&frame, &names[0], asked);
    prof_loop_leave(&frame);
    assert_int_equal(row_of(names[0].text)->sums[PROF_LOOP_DELAY].count, 0);
}
