/* SPDX-License-Identifier: Apache-2.0 */

/* The table's figures agree with each other. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "profiler_world.h"

#define ROWS_MAX 100u

/* A row of the table, shares in 1/100 %. */
struct shares {
    unsigned self, total;
};

/* The rows with an address among the lines of the report. */
static unsigned read_rows(struct shares *rows)
{
    unsigned count = 0;

    for (const char *line = world_output; line != NULL && *line != '\0';
         line = strchr(line, '\n')) {
        unsigned self, self_part, total, total_part, samples, at;

        line += *line == '\n';
        if (sscanf(line, "%u.%u %% %u.%u %% %u ? 0x%x", &self, &self_part,
                   &total, &total_part, &samples, &at) != 6 &&
            sscanf(line, "%u.%u %% %u.%u %% %u 0x%x", &self, &self_part, &total,
                   &total_part, &samples, &at) != 6)
            continue;
        assert_true(count < ROWS_MAX);
        rows[count++] =
            (struct shares){self * 100 + self_part, total * 100 + total_part};
    }
    return count;
}

/* (functions) functions that call nobody and take the same time each: all that
 * is rounded is rounded differently from row to row. */
static void assert_self_within_total(unsigned functions)
{
    void *memory = world_new(PROF_MEMORY_DEFAULT);
    struct shares rows[ROWS_MAX];
    unsigned sum = 0;

    for (uintptr_t i = 0; i < functions; i++)
        world_tick(0x10000 + i * 16, (i + 1) * WORLD_PERIOD);
    prof_report();
    assert_int_equal(read_rows(rows), functions);
    for (unsigned i = 0; i < functions; i++) {
        assert_true(rows[i].self <= rows[i].total);
        assert_true(rows[i].total - rows[i].self <= 1);
        sum += rows[i].self;
    }
    assert_int_equal(sum, 10000);
    world_end(memory);
}

static void self_never_exceeds_total(void **unused)
{
    (void)unused;
    assert_int_equal(prof_option("prof.top=1000"), 0);
    for (unsigned functions = 1; functions <= ROWS_MAX; functions++)
        assert_self_within_total(functions);
}

/* Three ticks, as the interrupt counts them, and (samples) samples. */
static void assert_report_says(unsigned samples, const char *line)
{
    void *memory = world_new(PROF_MEMORY_DEFAULT);

    for (uintptr_t i = 0; i < samples; i++)
        world_tick(0x10000, (i + 1) * WORLD_PERIOD);
    prof_cpus[0].ticks = 3;
    prof_report();
    assert_non_null(strstr(world_output, "    all ticks since the start\n"));
    if (line != NULL)
        assert_non_null(strstr(world_output, line));
    else
        assert_null(strstr(world_output, "the profiler lost"));
    assert_int_equal(strstr(world_output, "counted them twice") != NULL,
                     samples > 3);
    world_end(memory);
}

static void ticks_without_a_sample_are_reported(void **unused)
{
    (void)unused;
    assert_report_says(3, NULL);
    assert_report_says(1, "\n2 ticks are in none of these rows: the profiler "
                          "lost their samples\n");
    assert_report_says(4, "\n1 samples more than there were ticks: the "
                          "profiler counted them twice\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(self_never_exceeds_total),
        cmocka_unit_test(ticks_without_a_sample_are_reported),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
