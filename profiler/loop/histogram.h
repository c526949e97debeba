/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_LOOP_HISTOGRAM_H
#define PROF_LOOP_HISTOGRAM_H

/*
 * The log-linear histograms of a site (base/log_linear.h), four in one memory.
 * A row of buckets gets a page of 32 counters of 16 bits when it is first met,
 * and one for their upper halves when the first is full. What finds no page is
 * counted. Octaves without a page share one, `none`, whose counters are full:
 * so adding a value is one instruction, and a jump if the counter is 0 now.
 */

#include "base/log_linear.h"

#include <prof/loop_stats.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PROF_HISTOGRAM_ROWS 42u       /* values below 2^46 cycles */
#define PROF_HISTOGRAM_OCTAVES_32 26u /* below 2^32 */
#define PROF_HISTOGRAM_PAGES 26u      /* for all four */
#define PROF_HISTOGRAM_FAST 2u        /* the first ones, in switch.c */
#define PROF_HISTOGRAM_FULL UINT16_MAX

/* Pages are numbered from 1 on, 0 = none. */
struct prof_histograms {
    uint32_t notable; /* a run as long or longer is looked at; first here, since
                         rebase.c has one without the rest */
    /* in which of the counters from the begin of this struct on that of octave
     * n and `value >> n` = 0 would be; of octave 0, always `none` */
    uint16_t at[PROF_HISTOGRAM_FAST][PROF_HISTOGRAM_OCTAVES_32 + 1];
    uint8_t low[PROF_LOOP_MEASURES][PROF_HISTOGRAM_ROWS];
    uint8_t high[PROF_LOOP_MEASURES][PROF_HISTOGRAM_ROWS];
    uint8_t pages; /* in use */
    uint64_t unbinned[PROF_LOOP_MEASURES];
    uint16_t none[2 * PROF_LOG_LINEAR_ROW];
    uint16_t page[PROF_HISTOGRAM_PAGES][PROF_LOG_LINEAR_ROW];
};

_Static_assert(sizeof(struct prof_histograms) <= 2352, "the budget of a site");

void prof_histograms_clear(struct prof_histograms *histograms);

/* Adds (value), wherever it belongs. */
void prof_histograms_add(struct prof_histograms *histograms,
                         enum prof_loop_measure measure, uint64_t value);

/* One value that was added, (from), becomes (to). */
void prof_histograms_move(struct prof_histograms *histograms,
                          enum prof_loop_measure measure, uint64_t from,
                          uint64_t to);

/*
 * As prof_histograms_add(), for less than 2^32, on the hot path. False: the
 * counter (*cell) of octave (*octave) was 65535 and is 0 now, and
 * prof_histograms_carry() does the rest. They are where switch.c passes them
 * on, so that nothing is copied.
 */
#ifdef __i386__
#define PROF_HISTOGRAMS_REGISTER "d"
#else
#define PROF_HISTOGRAMS_REGISTER "S"
#endif
#define PROF_HISTOGRAMS_PUT(name, measure)                                     \
    static inline bool name(struct prof_histograms *histograms,                \
                            uint32_t value, uintptr_t *cell,                   \
                            uintptr_t *octave)                                 \
    {                                                                          \
        bool full;                                                             \
                                                                               \
        *cell = value;                                                         \
        __asm__ volatile(                                                      \
            "movl %k0, %k1; orl $32, %k1; bsrl %k1, %k1; subl $5, %k1\n\t"     \
            "shrl %%cl, %k0; addw %c4(%3, %1, 2), %w0; incw (%3, %0, 2)"       \
            : "+a"(*cell), "=&c"(*octave), "=@ccz"(full)                       \
            : PROF_HISTOGRAMS_REGISTER(histograms),                            \
              "i"(offsetof(struct prof_histograms, at) +                       \
                  (measure) * sizeof histograms->at[0])                        \
            : "memory");                                                       \
        return __builtin_expect(!full, 1);                                     \
    }
PROF_HISTOGRAMS_PUT(prof_histograms_put_run, PROF_LOOP_RUN)
PROF_HISTOGRAMS_PUT(prof_histograms_put_delay, PROF_LOOP_DELAY)

void prof_histograms_carry(struct prof_histograms *histograms,
                           enum prof_loop_measure measure, uint32_t cell,
                           uint32_t octave);

/* How many values there are in the buckets; and (visit) for each bucket with
 * some, by rising values. */
uint64_t prof_histograms_count(const struct prof_histograms *histograms,
                               enum prof_loop_measure measure);
void prof_histograms_visit(const struct prof_histograms *histograms,
                           enum prof_loop_measure measure,
                           void (*visit)(uint64_t low, uint64_t high,
                                         uint64_t count, void *context),
                           void *context);

#endif
