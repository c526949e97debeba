/* SPDX-License-Identifier: Apache-2.0 */

/* Pages are given out on demand, for most sites are busy in a few octaves. */

#include "loop/histogram.h"

#define ROW PROF_LOG_LINEAR_ROW
#define BUCKETS (PROF_HISTOGRAM_ROWS * ROW)
#define HIGH_SHIFT 16

/* A counter's place, from the begin of the struct on. */
#define PLACE(member)                                                          \
    ((uint32_t)(offsetof(struct prof_histograms, member) / sizeof(uint16_t)))

void prof_histograms_clear(struct prof_histograms *histograms)
{
    *histograms = (struct prof_histograms){0};
    for (uint32_t i = 0; i < PROF_HISTOGRAM_FAST; i++)
        for (uint32_t n = 0; n <= PROF_HISTOGRAM_OCTAVES_32; n++)
            histograms->at[i][n] = PLACE(none);
    for (uint32_t i = 0; i < 2 * ROW; i++)
        histograms->none[i] = PROF_HISTOGRAM_FULL;
}

/* The counter of (bucket) in the page (*number), NULL: it has no page. */
static uint16_t *counter_in(const struct prof_histograms *histograms,
                            uint8_t number, uint32_t bucket)
{
    if (number == 0)
        return NULL;
    return (uint16_t *)&histograms->page[number - 1][bucket % ROW];
}

/* Sets (*number) to that of a page if it is 0 and there is one left. */
static bool give_page(struct prof_histograms *histograms, uint8_t *number)
{
    if (*number != 0 || histograms->pages == PROF_HISTOGRAM_PAGES)
        return false;
    *number = ++histograms->pages;
    return true;
}

/* The lower half of a counter has gone from 65535 to 0. */
static void carry_at(struct prof_histograms *histograms,
                     enum prof_loop_measure measure, uint32_t bucket)
{
    uint8_t *number = &histograms->high[measure][bucket / ROW];
    uint16_t *counter;

    (void)give_page(histograms, number);
    counter = counter_in(histograms, *number, bucket);
    if (counter == NULL || *counter == PROF_HISTOGRAM_FULL)
        histograms->unbinned[measure] += (uint64_t)1 << HIGH_SHIFT;
    else
        ++*counter;
}

static void add_at(struct prof_histograms *histograms,
                   enum prof_loop_measure measure, uint32_t bucket)
{
    uint32_t row = bucket / ROW, octave = row - 1; /* from row 1 on */
    uint16_t *counter = NULL;
    uint8_t *number;

    if (bucket < BUCKETS) {
        number = &histograms->low[measure][row];
        if (give_page(histograms, number) && measure < PROF_HISTOGRAM_FAST &&
            row >= 2 && octave <= PROF_HISTOGRAM_OCTAVES_32)
            histograms->at[measure][octave] =
                (uint16_t)(PLACE(page) + (*number - 2u) * ROW);
        counter = counter_in(histograms, *number, bucket);
    }
    if (counter == NULL)
        histograms->unbinned[measure]++;
    else if (++*counter == 0)
        carry_at(histograms, measure, bucket);
}

void prof_histograms_add(struct prof_histograms *histograms,
                         enum prof_loop_measure measure, uint64_t value)
{
    add_at(histograms, measure, prof_log_linear_bucket(value));
}

/* Where there is no page now there was none before: none is ever given back. */
static void remove_value(struct prof_histograms *histograms,
                         enum prof_loop_measure measure, uint64_t value)
{
    uint32_t bucket = prof_log_linear_bucket(value);
    uint16_t *low = NULL, *high;

    if (bucket < BUCKETS)
        low = counter_in(histograms, histograms->low[measure][bucket / ROW],
                         bucket);
    if (low == NULL) {
        histograms->unbinned[measure]--;
        return;
    }
    if ((*low)-- != 0)
        return;
    high =
        counter_in(histograms, histograms->high[measure][bucket / ROW], bucket);
    if (high == NULL || *high == 0)
        histograms->unbinned[measure] -= (uint64_t)1 << HIGH_SHIFT;
    else
        --*high;
}

void prof_histograms_move(struct prof_histograms *histograms,
                          enum prof_loop_measure measure, uint64_t from,
                          uint64_t to)
{
    remove_value(histograms, measure, from);
    prof_histograms_add(histograms, measure, to);
}

void prof_histograms_carry(struct prof_histograms *histograms,
                           enum prof_loop_measure measure, uint32_t cell,
                           uint32_t octave)
{
    uint32_t shifted = cell - histograms->at[measure][octave];
    uint32_t bucket = octave * ROW + shifted;

    if (octave != 0 && histograms->low[measure][bucket / ROW] != 0) {
        carry_at(histograms, measure, bucket);
        return;
    }
    histograms->none[shifted] = PROF_HISTOGRAM_FULL; /* it was there */
    add_at(histograms, measure, bucket);
}

/* What is counted in (bucket). */
static uint64_t count_at(const struct prof_histograms *histograms,
                         enum prof_loop_measure measure, uint32_t bucket)
{
    const uint16_t *low =
        counter_in(histograms, histograms->low[measure][bucket / ROW], bucket);
    const uint16_t *high =
        counter_in(histograms, histograms->high[measure][bucket / ROW], bucket);

    return (low != NULL ? *low : 0u) +
           (high != NULL ? (uint64_t)*high << HIGH_SHIFT : 0u);
}

static void add_count(uint64_t low, uint64_t high, uint64_t count,
                      void *context)
{
    (void)low;
    (void)high;
    *(uint64_t *)context += count;
}

uint64_t prof_histograms_count(const struct prof_histograms *histograms,
                               enum prof_loop_measure measure)
{
    uint64_t count = 0;

    prof_histograms_visit(histograms, measure, add_count, &count);
    return count;
}

void prof_histograms_visit(const struct prof_histograms *histograms,
                           enum prof_loop_measure measure,
                           void (*visit)(uint64_t low, uint64_t high,
                                         uint64_t count, void *context),
                           void *context)
{
    for (uint32_t bucket = 0; bucket < BUCKETS; bucket++) {
        uint64_t low = prof_log_linear_low(bucket), count;

        /* most rows have no page; one with an upper page has a lower one */
        if (histograms->low[measure][bucket / ROW] == 0) {
            bucket += ROW - 1;
            continue;
        }
        count = count_at(histograms, measure, bucket);
        if (count != 0)
            visit(low, low + ((uint64_t)1 << prof_log_linear_octave(bucket)),
                  count, context);
    }
}
