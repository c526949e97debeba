/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_LOOP_HISTOGRAM_H
#define PROF_LOOP_HISTOGRAM_H

/*
 * Log-linear histograms: 32 ranges of the same width in each octave, so that a
 * range is 1/32 as wide as its lowest value, and its middle is off by 1/64 or
 * 1.6 % at most.
 *
 *     value < 32        range `value` of page 0
 *     value < 64        range `value - 32` of page 1
 *     otherwise         octave n, from 1 on: value >> n is from 32 to 63
 *
 * Three of them share the memory of a site. An octave gets a page of 32
 * counters of 16 bits when it is first met, and a second page for their upper
 * halves when the first of them is full. What finds no page is counted.
 *
 * An octave without a page has one in common with all others, `none`, whose
 * counters are full. So adding a value is one instruction on a counter, and one
 * jump if that has become 0: no page, or a counter that is full.
 */

#include <prof/loop_stats.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PROF_HISTOGRAM_RANGES 32u
#define PROF_HISTOGRAM_OCTAVES 40u /* values below 2^46 cycles */
#define PROF_HISTOGRAM_PAGES 21u   /* for all three */
#define PROF_HISTOGRAM_FULL UINT16_MAX

/* Pages are numbered from 1 on, 0 = none. */
struct prof_histograms {
    /* where in this struct the counter of octave n and `value >> n` = 0 would
     * be; of octave 0, always `none` */
    int16_t at[PROF_LOOP_MEASURES][PROF_HISTOGRAM_OCTAVES + 1];
    uint8_t low[PROF_LOOP_MEASURES][PROF_HISTOGRAM_OCTAVES + 2];
    uint8_t high[PROF_LOOP_MEASURES][PROF_HISTOGRAM_OCTAVES + 2];
    uint8_t pages; /* in use */
    uint64_t unbinned[PROF_LOOP_MEASURES];
    uint16_t none[2 * PROF_HISTOGRAM_RANGES];
    uint16_t page[PROF_HISTOGRAM_PAGES][PROF_HISTOGRAM_RANGES];
};

_Static_assert(sizeof(struct prof_histograms) <= 2048, "the budget of a site");

void prof_histograms_clear(struct prof_histograms *histograms);

/* Adds (value), wherever it belongs. */
void prof_histograms_add(struct prof_histograms *histograms,
                         enum prof_loop_measure measure, uint64_t value);

/* The rest of prof_histograms_put(), where that returned false. */
void prof_histograms_carry(struct prof_histograms *histograms,
                           enum prof_loop_measure measure, uint32_t value);

/* The same as prof_histograms_add() for less than 2^32, on the hot path. False:
 * a counter was 65535, and is 0 now. */
static inline bool prof_histograms_put(struct prof_histograms *histograms,
                                       enum prof_loop_measure measure,
                                       uint32_t value)
{
    uint32_t octave;
    uint16_t *cell;
    bool wrapped;

    __asm__("bsrl %1, %0" : "=r"(octave) : "r"(value | 32) : "cc");
    octave -= 5;
    cell = (void *)((char *)histograms + histograms->at[measure][octave]);
    cell += value >> octave;
    __asm__ volatile("incw %0" : "+m"(*cell), "=@ccz"(wrapped));
    return __builtin_expect(!wrapped, 1);
}

/* How many values there are in the ranges; and (visit) for each range with
 * some. */
uint64_t prof_histograms_count(const struct prof_histograms *histograms,
                               enum prof_loop_measure measure);
void prof_histograms_visit(const struct prof_histograms *histograms,
                           enum prof_loop_measure measure,
                           void (*visit)(uint64_t low, uint64_t high,
                                         uint64_t count, void *context),
                           void *context);

#endif
