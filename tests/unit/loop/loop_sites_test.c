/* SPDX-License-Identifier: Apache-2.0 */
/* More sites and contexts than there is room for: they are counted, and the
 * account is whole. */

#include "../unit.h"

#include "loop_world.h"

#include <prof/error.h>
#include <prof/port.h>

#define NAMES 200u
#define SITES 16u /* four of which are always there */
#define MEMORY ((SITES + 1) * PROF_LOOP_SITE_BYTES) /* and long runs */

static struct prof_trace_name names[NAMES];
static struct prof_loop_task tasks[NAMES];

static void begin(void)
{
    loop_begin(1000, MEMORY);
    memset(tasks, 0, sizeof tasks);
    for (unsigned i = 0; i < NAMES; i++)
        names[i] = (struct prof_trace_name){.text = "site"};
}

FIXTURE(begin, loop_end);

TEST(sites_beyond_the_last_are_one)
{
    struct prof_loop_account found;

    for (unsigned i = 0; i < NAMES; i++) {
        prof_loop_create(&tasks[i], &names[i], 0);
        prof_loop_run(&tasks[i]);
        pass(10);
        prof_loop_pause(&tasks[i]);
    }
    found = account_now();
    assert_int_equal(found.sites, SITES - 4);
    assert_int_equal(found.sites, found.sites_max);
    assert_int_equal(found.sites_refused, NAMES - found.sites);
    assert_int_equal(found.tasks_cycles, 10 * found.sites);
    assert_int_equal(found.others_cycles, 10 * (NAMES - found.sites));
    for (unsigned i = 0; i < NAMES; i++)
        prof_loop_end(&tasks[i], PROF_LOOP_RESOLVED);
}

/* Who creates whom, in every order of the sites: more than fit. */
TEST(contexts_beyond_the_last_belong_to_their_site)
{
    struct prof_loop_account found;
    unsigned runs = 0;

    for (unsigned i = 0; i < 12; i++)
        for (unsigned j = 0; j < 12; j++) {
            struct prof_loop_task outer = {0}, inner = {0};

            prof_loop_create(&outer, &names[i], 0);
            prof_loop_run(&outer);
            prof_loop_create(&inner, &names[j], 0);
            prof_loop_run(&inner);
            pass(10);
            runs++;
            prof_loop_end(&inner, PROF_LOOP_RESOLVED);
            prof_loop_pause(&inner);
            prof_loop_end(&outer, PROF_LOOP_RESOLVED);
            prof_loop_pause(&outer);
        }
    found = account_now();
    assert_int_equal(found.contexts, found.contexts_max);
    assert_true(found.contexts_refused > 0);
    assert_int_equal(found.tasks_cycles, 10 * runs);
}

/* ---- the table */

static char printed[1 << 20];
static size_t printed_bytes;

void prof_port_write(const char *text, size_t bytes)
{
    assert_true(printed_bytes + bytes < sizeof printed);
    memcpy(printed + printed_bytes, text, bytes);
    printed_bytes += bytes;
    printed[printed_bytes] = '\0';
}

#define MANY 5000u

/* The busiest first, whatever their number; those alike in their order. */
TEST(a_table_of_many_sites_is_sorted)
{
    static struct prof_trace_name many[MANY];
    static char texts[MANY][8];
    const char *at = printed;

    loop_end();
    loop_begin(1000, (MANY + 5) * PROF_LOOP_SITE_BYTES);
    for (unsigned i = 0; i < MANY; i++) {
        struct prof_loop_frame frame;

        snprintf(texts[i], sizeof texts[i], "n%u", i);
        many[i] = (struct prof_trace_name){.text = texts[i]};
        prof_loop_begin(&frame, &many[i]);
        pass(1 + i * 7 % MANY / 2);
        prof_loop_leave(&frame);
    }
    printed_bytes = 0;
    prof_loop_write_table(MANY, PROF_LOOP_BY_SELF, 0);
    for (unsigned own = MANY / 2; own >= 1; own--)
        for (unsigned i = 0; i < MANY; i++) {
            char line[16];

            if (1 + i * 7 % MANY / 2 != own)
                continue;
            snprintf(line, sizeof line, " %s\n", texts[i]);
            at = strstr(at, line);
            assert_non_null(at);
        }
}

TEST(wrong_memory_is_refused)
{
    char few[64];

    assert_int_equal(prof_loop_open(memory, PROF_LOOP_MEMORY_MIN, 1000),
                     PROF_ESTATE);
    prof_loop_forget();
    assert_int_equal(prof_loop_open(NULL, PROF_LOOP_MEMORY_MIN, 1000),
                     PROF_EMEMORY);
    assert_int_equal(prof_loop_open(few, sizeof few, 1000), PROF_EMEMORY);
    assert_int_equal(
        prof_loop_open((char *)memory + 4, PROF_LOOP_MEMORY_MIN, 1000),
        PROF_EMEMORY);
}
