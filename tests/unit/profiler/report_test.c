/* SPDX-License-Identifier: Apache-2.0 */

/* The table's figures agree with each other. */

#include "../unit.h"

#include "profiler_world.h"
#include "report/share.h"

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
    struct shares rows[ROWS_MAX];
    unsigned sum = 0;

    world_new(PROF_MEMORY_DEFAULT);
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
    world_end();
}

FIXTURE(NULL, world_end);

TEST(self_never_exceeds_total)
{
    assert_int_equal(prof_option("prof.top=1000"), 0);
    for (unsigned functions = 1; functions <= ROWS_MAX; functions++)
        assert_self_within_total(functions);
}

/* A share of few samples has its interval: Wilson's, at 95 %. */
TEST(few_samples_have_an_interval)
{
    static const struct {
        uint32_t hits, samples, low, high;
    } known[] = {{1, 100, 18, 545},
                 {10, 100, 552, 1744},
                 {5, 10, 2366, 7634},
                 {10, 10, 7225, 10000},
                 {15, 100000, 1, 2}};
    const char *row;

    world_new(PROF_MEMORY_DEFAULT);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        struct prof_share_interval ends =
            prof_share_interval(known[i].hits * 10000 / known[i].samples,
                                known[i].hits, known[i].samples);

        assert_in_range(ends.low + 1, known[i].low * 199 / 200,
                        known[i].low + known[i].low / 200 + 3);
        assert_in_range(ends.high + 1, known[i].high * 199 / 200,
                        known[i].high + known[i].high / 200 + 3);
    }
    for (uintptr_t i = 1; i <= 100; i++)
        world_tick(i <= 10 ? 0x20000 : 0x10000, i * WORLD_PERIOD);
    prof_report();
    row = strstr(world_output, "0x00020000");
    assert_non_null(row);
    assert_non_null(strstr(row, "0x00020000  (5.5"));
    assert_null(strstr(world_output, "0x00010000  ("));
    assert_non_null(strstr(world_output, "? fewer than 16 samples; in"));
}

/* Three ticks, as the interrupt counts them, and (samples) samples. */
static void assert_report_says(unsigned samples, const char *line)
{
    world_new(PROF_MEMORY_DEFAULT);
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
    world_end();
}

TEST(ticks_without_a_sample_are_reported)
{
    assert_report_says(3, NULL);
    assert_report_says(1, "\n2 ticks missing from these rows: the profiler "
                          "lost their samples\n");
    assert_report_says(4, "\n1 more samples than ticks: the profiler counted "
                          "them twice\n");
}
