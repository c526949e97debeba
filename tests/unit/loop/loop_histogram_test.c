/* SPDX-License-Identifier: Apache-2.0 */
/* Histograms against a list of all values. */

#include "../unit.h"

#include "loop/histogram.h"

static struct prof_histograms histograms;

static void begin(void)
{
    prof_histograms_clear(&histograms);
}

static void put(enum prof_loop_measure measure, uint64_t value)
{
    uintptr_t cell = 0, octave = 0;
    bool done = false;

    if (value > UINT32_MAX || measure >= PROF_LOOP_WALL) {
        prof_histograms_add(&histograms, measure, value);
        return;
    }
    if (measure == PROF_LOOP_RUN)
        done = prof_histograms_put_run(&histograms, (uint32_t)value, &cell,
                                       &octave);
    if (measure == PROF_LOOP_DELAY)
        done = prof_histograms_put_delay(&histograms, (uint32_t)value, &cell,
                                         &octave);
    if (!done)
        prof_histograms_carry(&histograms, measure, (uint32_t)cell,
                              (uint32_t)octave);
}

/* The one range with values. */
struct range {
    uint64_t low, high, count;
    unsigned ranges;
};

static void look(uint64_t low, uint64_t high, uint64_t count, void *context)
{
    struct range *range = context;

    *range = (struct range){low, high, range->count + count, range->ranges + 1};
}

static struct range ranges_of(enum prof_loop_measure measure)
{
    struct range range = {0};

    prof_histograms_visit(&histograms, measure, look, &range);
    return range;
}

FIXTURE(begin, NULL);

TEST(each_value_is_in_a_narrow_range_with_it)
{
    for (unsigned bits = 0; bits < 46; bits++)
        for (unsigned i = 0; i < 200; i++) {
            uint64_t value = ((uint64_t)1 << bits) +
                             (uint64_t)random() % ((uint64_t)1 << bits);
            struct range range;

            prof_histograms_clear(&histograms);
            put(PROF_LOOP_DELAY, value);
            range = ranges_of(PROF_LOOP_DELAY);
            assert_int_equal(range.ranges, 1);
            assert_int_equal(range.count, 1);
            assert_true(range.low <= value && value < range.high);
            assert_true((range.high - range.low - 1) * 32 <= range.low);
            assert_int_equal(ranges_of(PROF_LOOP_RUN).ranges, 0);
        }
}

TEST(zero_is_a_value)
{
    put(PROF_LOOP_RUN, 0);
    put(PROF_LOOP_RUN, 0);
    assert_int_equal(ranges_of(PROF_LOOP_RUN).high, 1);
    assert_int_equal(ranges_of(PROF_LOOP_RUN).count, 2);
}

TEST(counters_go_on_beyond_16_bits)
{
    for (unsigned i = 0; i < 200000; i++) {
        put(PROF_LOOP_RUN, 5000);
        put(PROF_LOOP_WALL, 7);
    }
    assert_int_equal(ranges_of(PROF_LOOP_RUN).count, 200000);
    assert_int_equal(ranges_of(PROF_LOOP_WALL).count, 200000);
    assert_int_equal(histograms.unbinned[PROF_LOOP_RUN], 0);
}

TEST(what_has_no_page_is_counted)
{
    uint64_t counted = 0, all = 0;

    for (unsigned m = 0; m < PROF_LOOP_MEASURES; m++)
        for (unsigned bits = 0; bits < 40; bits++, all++)
            put((enum prof_loop_measure)m, (uint64_t)1 << bits);
    for (unsigned m = 0; m < PROF_LOOP_MEASURES; m++) {
        counted += prof_histograms_count(&histograms, m);
        counted += histograms.unbinned[m];
    }
    assert_true(histograms.unbinned[PROF_LOOP_WALL] > 0);
    assert_int_equal(counted, all);
}

TEST(what_is_too_large_is_counted)
{
    put(PROF_LOOP_WALL, UINT64_MAX);
    put(PROF_LOOP_WALL, (uint64_t)1 << 46);
    put(PROF_LOOP_WALL, ((uint64_t)1 << 46) - 1);
    assert_int_equal(histograms.unbinned[PROF_LOOP_WALL], 2);
    assert_int_equal(ranges_of(PROF_LOOP_WALL).high, (uint64_t)1 << 46);
}
