/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The arithmetic of the event loop's statistics, in programs whose numbers are
 * known, and each against a second implementation after each step; then random
 * programs against that one: 150,000 at each width, and not the same; with
 * FULL=1 half a million. LOOP_PROGRAMS=N takes N, LOOP_SEED=S others.
 */

#include "../unit.h"

#include "loop_model.h"

static void begin(void)
{
    counts_calls = false;
    model_open(64 * PROF_LOOP_SITE_BYTES);
}

static char said[512];

/* "A 13/20 runs 2 longest 10": self and total cycles, and what is not 0. */
static void say(const struct prof_loop_row *row, void *text)
{
    const struct {
        const char *word;
        uint64_t number;
    } more[] = {
        {"runs", row->sums[PROF_LOOP_RUN].count},
        {"longest", row->longest_cycles},
        {"delays", row->sums[PROF_LOOP_DELAY].count},
        {"of", row->sums[PROF_LOOP_DELAY].cycles},
        {"wall", row->sums[PROF_LOOP_WALL].cycles},
        {"resolved", row->resolved},
        {"failed", row->failed},
        {"cancelled", row->cancelled},
        {"pending", row->pending},
        {"oldest", row->oldest_cycles},
    };
    char *to = text;

    if (row->kind != PROF_LOOP_TASKS && row->kind != PROF_LOOP_CALLBACKS)
        return;
    to += strlen(to);
    to += sprintf(to, "%s %llu/%llu", row->site->text,
                  (unsigned long long)row->self_cycles,
                  (unsigned long long)row->total_cycles);
    for (size_t i = 0; i < COUNT(more); i++)
        if (more[i].number != 0)
            to += sprintf(to, " %s %llu", more[i].word,
                          (unsigned long long)more[i].number);
    strcpy(to, "\n");
}

static const char *rows(void)
{
    said[0] = '\0';
    prof_loop_visit(say, said);
    return said;
}

FIXTURE(begin, model_close);

TEST(programs_whose_numbers_are_known)
{
    static const struct {
        const char *name, *program, *rows;
    } programs[] = {
        {"a task that never waits", "c0A r0 +=10 e0 p +=5",
         "A 10/10 runs 1 longest 10 wall 10 resolved 1\n"},
        {"a task that waits twice",
         "c0A r0 +=10 p +=50 w0 +=3 r0 +=20 p +=50 w0 r0 +=5 e0 p",
         "A 35/35 runs 3 longest 20 delays 2 of 3 wall 138 resolved 1\n"},
        {"a task that fails", "c0A r0 +=10 p w0 r0 +=1 f0 p",
         "A 11/11 runs 2 longest 10 delays 1 wall 11 failed 1\n"},
        /* It goes on after it was cancelled, to release what it has. */
        {"a task that is cancelled", "c0A r0 +=10 p +=7 w0 r0 +=4 x0 +=2 p",
         "A 16/16 runs 2 longest 10 delays 1 wall 21 cancelled 1\n"},
        /* `finally`, which awaits something after the failure. */
        {"a failing task that waits once more",
         "c0A r0 +=10 p +=5 w0 r0 +=1 p +=9 w0 r0 +=2 f0 p",
         "A 13/13 runs 3 longest 10 delays 2 wall 27 failed 1\n"},
        {"a task that never ends is counted", "c0A r0 +=10 p +=90 w0 r0 +=30",
         "A 40/40 runs 1 longest 10 delays 1 pending 1 oldest 130\n"},
        {"a run of no time", "c0A r0 p w0 r0 p w0 r0 e0 p",
         "A 0/0 runs 3 delays 2 resolved 1\n"},
        {"a child that never waits", "c0A r0 +=10 c1B r1 +=7 e1 p +=3 e0 p",
         "A 13/20 runs 1 longest 13 wall 20 resolved 1\n"
         "B 7/7 runs 1 longest 7 wall 7 resolved 1\n"},
        {"a child that waits",
         "c0A r0 +=10 c1B r1 +=7 p +=3 p +=90 w1 r1 +=5 e1 p w0 r0 +=1 e0 p",
         "A 14/26 runs 2 longest 13 delays 1 wall 116 resolved 1\n"
         "B 12/12 runs 2 longest 7 delays 1 wall 105 resolved 1\n"},
        {"children at the same time",
         "c0A r0 +=1 c1B r1 +=2 p c2B r2 +=3 p c3C r3 +=4 p p w3 r3 +=5 e3 p "
         "w1 r1 +=6 e1 p w2 r2 +=7 e2 p w0 r0 +=8 e0 p",
         "A 9/36 runs 2 longest 8 delays 1 wall 36 resolved 1\n"
         "B 18/18 runs 4 longest 7 delays 2 wall 45 resolved 2\n"
         "C 9/9 runs 2 longest 5 delays 1 wall 9 resolved 1\n"},
        {"a child that outlives its parent",
         "c0A r0 +=1 c1B r1 +=2 p e0 p +=50 w1 r1 +=100 e1 p",
         "A 1/103 runs 1 longest 1 wall 3 resolved 1\n"
         "B 102/102 runs 2 longest 100 delays 1 wall 152 resolved 1\n"},
        {"a child that fails fails its parent",
         "c0A r0 +=1 c1B r1 +=2 f1 p +=3 f0 p",
         "A 4/6 runs 1 longest 4 wall 6 failed 1\n"
         "B 2/2 runs 1 longest 2 wall 2 failed 1\n"},
        {"a child that is cancelled",
         "c0A r0 +=1 c1B r1 +=2 p +=3 e0 p w1 r1 +=4 x1 p",
         "A 4/10 runs 1 longest 4 wall 6 resolved 1\n"
         "B 6/6 runs 2 longest 4 delays 1 wall 9 cancelled 1\n"},
        /* Each run of a grandchild counts for both above, after they have
           paused, too. */
        {"grandchildren that run after a wait",
         "c0A r0 c1B r1 c2C r2 +=10 p p p w2 +=5 r2 +=10 e2 p w1 r1 e1 p w0 r0 "
         "e0 p",
         "A 0/20 runs 2 delays 1 wall 25 resolved 1\n"
         "B 0/20 runs 2 delays 1 wall 25 resolved 1\n"
         "C 20/20 runs 2 longest 10 delays 1 of 5 wall 25 resolved 1\n"},
        {"a deep family after all others have ended",
         "c0A r0 c1B r1 c2C r2 c3D r3 c4E r4 +=1 p e3 p e2 p e1 p e0 p w4 r4 "
         "+=1000 p",
         "A 0/1001 runs 1 wall 1 resolved 1\n"
         "B 0/1001 runs 1 wall 1 resolved 1\n"
         "C 0/1001 runs 1 wall 1 resolved 1\n"
         "D 0/1001 runs 1 wall 1 resolved 1\n"
         "E 1001/1001 runs 2 longest 1000 delays 1 pending 1 oldest 1001\n"},
        {"direct recursion counts once",
         "c0A r0 +=1 c1A r1 +=2 c2A r2 +=4 e2 p e1 p e0 p",
         "A 7/7 runs 3 longest 4 wall 17 resolved 3\n"},
        {"indirect recursion counts once",
         "c0A r0 +=1 c1B r1 +=2 c2A r2 +=4 c3B r3 +=8 c4C r4 +=16 p p p p p w3 "
         "r3 +=32 p",
         "A 5/63 runs 2 longest 4 pending 2 oldest 63\n"
         "B 42/62 runs 3 longest 32 delays 1 pending 2 oldest 62\n"
         "C 16/16 runs 1 longest 16 pending 1 oldest 48\n"},
        {"callbacks have descendants",
         "bA +=5 c0B r0 +=6 p +=7 l +=1 w0 r0 +=8 e0 p",
         "A 12/26 runs 1 longest 12\n"
         "B 14/14 runs 2 longest 8 delays 1 wall 22 resolved 1\n"},
        {"a task that runs the loop",
         "c0A r0 +=10 n +=1 i +=100 l c1B r1 +=20 p bC +=3 l i +=50 l w1 r1 "
         "+=5 e1 p l +=2 e0 p",
         "A 12/12 runs 1 longest 12 wall 191 resolved 1\n"
         "B 25/25 runs 2 longest 20 delays 1 wall 78 resolved 1\n"
         "C 3/3 runs 1 longest 3\n"},
        {"loops in loops",
         "c0A r0 +=1 n c1B r1 +=2 n c2A r2 +=4 n i +=8 q=3 l l +=16 p l +=32 p "
         "l +=64 p",
         "A 85/85 runs 2 longest 65 pending 2 oldest 130\n"
         "B 34/34 runs 1 longest 34 pending 1 oldest 129\n"},
        {"interrupts belong to nobody else",
         "c0A r0 +=1 q=100 +=2 c1B q=50 r1 +=3 s0=7 s1=9 +=4 p p",
         "A 3/10 runs 1 longest 3 pending 1 oldest 176\n"
         "B 7/7 runs 1 longest 7 pending 1 oldest 73\n"},
        {"a reset forgets what was",
         "c0A r0 +=10 c1B r1 +=20 z +=3 p +=4 p z bC +=1 l",
         "A 0/0 pending 1 oldest 38\n"
         "B 0/0 pending 1 oldest 28\n"
         "C 1/1 runs 1 longest 1\n"},
    };

    for (size_t i = 0; i < COUNT(programs); i++) {
        model_open(64 * PROF_LOOP_SITE_BYTES);
        model_program(programs[i].program);
        if (strcmp(rows(), programs[i].rows) != 0)
            fail_msg("%s:\n%s", programs[i].name, said);
    }
}

static char said_calls[256];

/* "A 2 in 13 longest 8": of calls that have ended. */
static void say_calls(const struct prof_loop_row *row, void *text)
{
    const struct prof_loop_sum *sum = &row->sums[PROF_LOOP_SELF];
    char *to = text;

    to += strlen(to);
    if (sum->count != 0)
        sprintf(to, "%s %llu in %llu longest %llu of %u\n", row->site->text,
                (unsigned long long)sum->count, (unsigned long long)sum->cycles,
                (unsigned long long)row->call_longest_cycles,
                (unsigned)row->call_longest_object);
}

/* Own time of a task in all its runs, also after its end. */
TEST(own_times_of_calls_are_known)
{
    static const struct {
        const char *name, *program, *calls;
    } programs[] = {
        {"in one run", "c0A r0 +=10 e0 +=2 p", "A 1 in 12 longest 12 of 1\n"},
        {"in several runs", "c0A r0 +=10 p +=50 w0 r0 +=20 p w0 r0 +=5 e0 p",
         "A 1 in 35 longest 35 of 1\n"},
        {"the longest has no long run",
         "c0A c1A r0 +=9 e0 p r1 +=5 p r1 +=5 p r1 +=5 e1 p",
         "A 2 in 24 longest 15 of 2\n"},
        {"a child's is not its parent's",
         "c0A r0 +=10 c1B r1 +=7 e1 p +=3 e0 p",
         "A 1 in 13 longest 13 of 1\nB 1 in 7 longest 7 of 2\n"},
        {"what does not end is none", "c0A r0 +=10 p c1A r1 +=1 e1 p",
         "A 1 in 1 longest 1 of 2\n"},
        {"one that never ran", "c0A +=5 x0", "A 1 in 0 longest 0 of 0\n"},
        {"it ends in a callback", "c0A r0 +=4 p k0 +=5 e0 +=6 l",
         "A 1 in 15 longest 15 of 1\n"},
        {"after an interrupt", "c0A r0 +=4 q=100 +=1 s0=7 e0 p",
         "A 1 in 5 longest 5 of 1\n"},
        {"a run of more than 32 bits", "c0A r0 +=1 p r0 +=10000000000 e0 p",
         "A 1 in 10000000001 longest 10000000001 of 1\n"},
        {"a reset keeps what a task has had", "c0A r0 +=4 p z r0 +=5 e0 p",
         "A 1 in 9 longest 9 of 1\n"},
    };

    counts_calls = true;
    for (size_t i = 0; i < COUNT(programs); i++) {
        model_open(64 * PROF_LOOP_SITE_BYTES);
        model_program(programs[i].program);
        said_calls[0] = '\0';
        prof_loop_visit(say_calls, said_calls);
        if (strcmp(said_calls, programs[i].calls) != 0)
            fail_msg("%s:\n%s", programs[i].name, said_calls);
    }
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

TEST(a_task_may_have_other_parents)
{
    model_program("c0A r0 c1B r1 +=1 p p c2C r2 +=2 a12 p w1 r1 +=4 p");
    assert_string_equal(rows(),
                        "A 0/1 runs 1 pending 1 oldest 7\n"
                        "B 5/5 runs 2 longest 4 delays 1 pending 1 oldest 7\n"
                        "C 2/6 runs 1 longest 2 pending 1 oldest 6\n");
    model_program("a11 w1 r1 +=8 p");
    assert_string_equal(
        rows(), "A 0/1 runs 1 pending 1 oldest 15\n"
                "B 13/13 runs 3 longest 8 delays 2 pending 1 oldest 15\n"
                "C 2/6 runs 1 longest 2 pending 1 oldest 14\n");
}

/* A callback of a task that ends in it, and is gone before it returns. */
TEST(a_task_that_ends_in_its_callback)
{
    model_program("c0A r0 c1B p w1 +=3 k1 +=5 e1");
    memset(&tasks[1].real, 0xee, sizeof tasks[1].real);
    model_program("+=6 l");
    assert_string_equal(
        rows(), "A 0/11 runs 1 pending 1 oldest 14\n"
                "B 11/11 runs 1 longest 11 delays 1 of 3 wall 8 resolved 1\n");
}

/* An exception has left the inner ones without a pause. */
TEST(a_pause_ends_what_runs_within)
{
    struct prof_loop_account account;

    model_program("c0A r0 +=1 c1B r1 +=2 bC +=4");
    prof_loop_pause(&tasks[0].real);
    prof_loop_hosted_tsc += 8;
    prof_loop_account(&account);
    assert_string_equal(rows(), "A 1/3 runs 1 longest 1 pending 1 oldest 15\n"
                                "B 2/2 runs 1 longest 2 pending 1 oldest 14\n"
                                "C 4/4 runs 1 longest 4\n");
    assert_int_equal(account.loop_cycles, 8);
    prof_loop_pause(&tasks[1].real); /* which does not run any longer */
    assert_string_equal(rows(), "A 1/3 runs 1 longest 1 pending 1 oldest 15\n"
                                "B 2/2 runs 1 longest 2 pending 1 oldest 14\n"
                                "C 4/4 runs 1 longest 4\n");
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
    assert_string_equal(rows(), "A 3/3 runs 2 longest 3 delays 1 of 7\n");
    /* what was asked for before a reset is not counted after it */
    asked = prof_loop_hosted_tsc;
    prof_loop_hosted_tsc += 50;
    prof_loop_reset();
    prof_loop_begin_asked(&frame, &names[0], asked);
    prof_loop_leave(&frame);
    assert_string_equal(rows(), "A 0/0 runs 1\n");
}

/* ---- random programs */

#define PROGRAMS (unit_is_full() ? 500000u : 150000u)
#define STEPS_MAX 60u

/* Times of all sizes, and none; and until 32 bits of the clock are about to
 * start again. */
static uint64_t time_of_any_size(void)
{
    if (unit_below(8) == 0)
        return (uint32_t)-prof_loop_hosted_tsc +
               unit_below(4) * (1 + unit_below(9));
    return unit_below(4) == 0 ? 0 : unit_random() >> (24 + unit_below(40));
}

static struct step any_step(unsigned tasks_used, unsigned sites_used)
{
    static const char steps[] = "cccrrrrpppwwwefxbllnikaqv++++++++s";
    unsigned rare = unit_below(400);
    struct step step = {.what = steps[unit_below(sizeof steps - 1)],
                        .a = unit_below(tasks_used),
                        .b = unit_below(tasks_used),
                        .n = time_of_any_size()};

    if (step.what == 'c')
        step.b = unit_below(sites_used);
    if (step.what == 'b' || step.what == 'n')
        step.a = unit_below(sites_used);
    if (rare == 0)
        step.what = 'z';
    return step;
}

static void one_program(void)
{
    unsigned tasks_used = 1 + unit_below(MODEL_TASKS - 1);
    unsigned sites_used = 1 + unit_below(8), steps = 1 + unit_below(STEPS_MAX);

    counts_calls = unit_below(2) == 0;
    model_open(64 * PROF_LOOP_SITE_BYTES);
    for (unsigned i = 0; i < steps; i++) {
        struct step step = any_step(tasks_used, sites_used);

        do_step(&step);
        if (unit_below(16) == 0)
            model_compare();
    }
    model_compare();
}

static unsigned setting(const char *name, unsigned otherwise)
{
    const char *text = getenv(name);

    return text != NULL ? (unsigned)strtoul(text, NULL, 10) : otherwise;
}

FIXTURE(NULL, model_close);

TEST(random_programs)
{
    unsigned programs = setting("LOOP_PROGRAMS", PROGRAMS);

    unit_seed = setting("LOOP_SEED", sizeof(void *));
    for (unsigned i = 0; i < programs; i++)
        one_program();
}
