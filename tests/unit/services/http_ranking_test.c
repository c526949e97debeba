/* SPDX-License-Identifier: Apache-2.0 */
/* The rows with the most cycles. */

#include "../unit.h"

#include "../../../services/http/ranking.h"

struct row {
    uint64_t cycles;
    unsigned number;
};

TEST(the_most_remain_in_order)
{
    struct row rows[RANKING_ROWS + 1]; /* the last is not to be touched */
    struct ranking ranking = {.count = 0};

    rows[RANKING_ROWS].number = 4711;
    for (unsigned i = 0; i < 1000; ++i) {
        struct row row = {i * 377 % 1000, i}; /* all below 1000, once */

        ranking_take(&ranking, row.cycles, rows, &row, sizeof row);
        assert_int_equal(ranking.count,
                         i + 1 < RANKING_ROWS ? i + 1 : RANKING_ROWS);
    }
    for (unsigned i = 0; i < RANKING_ROWS; ++i) {
        assert_int_equal(rows[i].cycles, 999 - i);
        assert_int_equal(ranking.cycles[i], 999 - i);
        assert_int_equal(rows[i].number * 377 % 1000, 999 - i);
    }
    assert_int_equal(rows[RANKING_ROWS].number, 4711);
}

TEST(of_equal_rows_the_first_remain)
{
    struct row rows[RANKING_ROWS];
    struct ranking ranking = {.count = 0};

    for (unsigned i = 0; i < 2 * RANKING_ROWS; ++i) {
        struct row row = {5, i};

        ranking_take(&ranking, row.cycles, rows, &row, sizeof row);
    }
    for (unsigned i = 0; i < RANKING_ROWS; ++i)
        assert_int_equal(rows[i].number, i);
}
