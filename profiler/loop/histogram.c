/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Pages are given out on demand, for most sites are busy in a few octaves only.
 * Rows of `low` and `high` count in pages' order: values below 32, below 64,
 * and then the octaves from 1 on.
 */

#include "loop/histogram.h"

#define RANGES PROF_HISTOGRAM_RANGES
#define ROWS (PROF_HISTOGRAM_OCTAVES + 2)
#define SMALL 2u /* rows of values below 64 */
#define HIGH_SHIFT 16

/* A counter's place, from the begin of the struct on. */
#define PLACE(member)                                                          \
    ((uint32_t)(offsetof(struct prof_histograms, member) / sizeof(uint16_t)))

void prof_histograms_clear(struct prof_histograms *histograms)
{
    *histograms = (struct prof_histograms){0};
    for (uint32_t i = 0; i < PROF_LOOP_MEASURES; i++)
        for (uint32_t n = 0; n <= PROF_HISTOGRAM_OCTAVES_32; n++)
            histograms->at[i][n] = PLACE(none);
    for (uint32_t i = 0; i < 2 * RANGES; i++)
        histograms->none[i] = PROF_HISTOGRAM_FULL;
}

/* A page, 0: there is none left. */
static uint8_t take(struct prof_histograms *histograms)
{
    if (histograms->pages == PROF_HISTOGRAM_PAGES)
        return 0;
    return ++histograms->pages;
}

/* The row and the range of (value). False: it is too large. */
static bool place(uint64_t value, uint32_t *row, uint32_t *range)
{
    uint32_t octave = 58 - (uint32_t)__builtin_clzll(value | RANGES);

    *range = (uint32_t)(value >> octave) % RANGES;
    *row = value < RANGES ? 0 : octave + 1;
    return octave <= PROF_HISTOGRAM_OCTAVES;
}

/* The counter at (range) of (row), NULL: there is no page for it. */
static uint16_t *cell_of(struct prof_histograms *histograms,
                         enum prof_loop_measure measure, uint32_t row,
                         uint32_t range)
{
    uint8_t *number = &histograms->low[measure][row];

    if (*number == 0) {
        *number = take(histograms);
        if (*number == 0)
            return NULL;
        if (row >= SMALL && row - 1 <= PROF_HISTOGRAM_OCTAVES_32)
            histograms->at[measure][row - 1] =
                (uint16_t)(PLACE(page) + (*number - 2u) * RANGES);
    }
    return &histograms->page[*number - 1][range];
}

/* A counter has gone from 65535 to 0. */
static void carry(struct prof_histograms *histograms,
                  enum prof_loop_measure measure, uint32_t row, uint32_t range)
{
    uint8_t *number = &histograms->high[measure][row];

    if (*number == 0)
        *number = take(histograms);
    if (*number == 0 ||
        histograms->page[*number - 1][range] == PROF_HISTOGRAM_FULL)
        histograms->unbinned[measure] += (uint64_t)1 << HIGH_SHIFT;
    else
        histograms->page[*number - 1][range]++;
}

static void add_at(struct prof_histograms *histograms,
                   enum prof_loop_measure measure, uint32_t row, uint32_t range)
{
    uint16_t *cell = cell_of(histograms, measure, row, range);

    if (cell == NULL)
        histograms->unbinned[measure]++;
    else if (++*cell == 0)
        carry(histograms, measure, row, range);
}

void prof_histograms_add(struct prof_histograms *histograms,
                         enum prof_loop_measure measure, uint64_t value)
{
    uint32_t row, range;

    if (place(value, &row, &range))
        add_at(histograms, measure, row, range);
    else
        histograms->unbinned[measure]++;
}

/* What carry() has done is undone where it was. */
static void borrow(struct prof_histograms *histograms,
                   enum prof_loop_measure measure, uint32_t row, uint32_t range)
{
    uint8_t number = histograms->high[measure][row];

    if (number == 0 || histograms->page[number - 1][range] == 0)
        histograms->unbinned[measure] -= (uint64_t)1 << HIGH_SHIFT;
    else
        histograms->page[number - 1][range]--;
}

/* Where there is no page now there was none before: none is ever given back. */
static void remove(struct prof_histograms *histograms,
                   enum prof_loop_measure measure, uint64_t value)
{
    uint32_t row, range;
    uint16_t *cell;

    if (!place(value, &row, &range) || histograms->low[measure][row] == 0) {
        histograms->unbinned[measure]--;
        return;
    }
    cell = &histograms->page[histograms->low[measure][row] - 1][range];
    if ((*cell)-- == 0)
        borrow(histograms, measure, row, range);
}

void prof_histograms_move(struct prof_histograms *histograms,
                          enum prof_loop_measure measure, uint64_t from,
                          uint64_t to)
{
    remove(histograms, measure, from);
    prof_histograms_add(histograms, measure, to);
}

void prof_histograms_carry(struct prof_histograms *histograms,
                           enum prof_loop_measure measure, uint32_t cell,
                           uint32_t octave)
{
    uint32_t shifted = cell - histograms->at[measure][octave];
    uint32_t row = shifted < RANGES ? 0 : octave + 1;

    if (row >= SMALL && histograms->low[measure][row] != 0) {
        carry(histograms, measure, row, shifted % RANGES);
        return;
    }
    histograms->none[shifted] = PROF_HISTOGRAM_FULL; /* it was there */
    add_at(histograms, measure, row, shifted % RANGES);
}

/* What is counted at (range) of (row). */
static uint64_t count_at(const struct prof_histograms *histograms,
                         enum prof_loop_measure measure, uint32_t row,
                         uint32_t range)
{
    uint8_t low = histograms->low[measure][row];
    uint8_t high = histograms->high[measure][row];
    uint64_t count = 0;

    if (low != 0)
        count = histograms->page[low - 1][range];
    if (high != 0)
        count += (uint64_t)histograms->page[high - 1][range] << HIGH_SHIFT;
    return count;
}

/* Most rows have no page. */
static bool is_empty(const struct prof_histograms *histograms,
                     enum prof_loop_measure measure, uint32_t row)
{
    return histograms->low[measure][row] == 0 &&
           histograms->high[measure][row] == 0;
}

uint64_t prof_histograms_count(const struct prof_histograms *histograms,
                               enum prof_loop_measure measure)
{
    uint64_t count = 0;

    for (uint32_t row = 0; row < ROWS; row++) {
        if (is_empty(histograms, measure, row))
            continue;
        for (uint32_t range = 0; range < RANGES; range++)
            count += count_at(histograms, measure, row, range);
    }
    return count;
}

void prof_histograms_visit(const struct prof_histograms *histograms,
                           enum prof_loop_measure measure,
                           void (*visit)(uint64_t low, uint64_t high,
                                         uint64_t count, void *context),
                           void *context)
{
    for (uint32_t row = 0; row < ROWS; row++) {
        uint32_t octave = row < SMALL ? 0 : row - 1;

        if (is_empty(histograms, measure, row))
            continue;
        for (uint32_t range = 0; range < RANGES; range++) {
            uint64_t count = count_at(histograms, measure, row, range);
            uint64_t low = row == 0 ? range : RANGES + range;

            if (count != 0)
                visit(low << octave, (low + 1) << octave, count, context);
        }
    }
}
