/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_LOOP_PRINT_H
#define CLI_LOOP_PRINT_H

#include "occupancy/occupancy.h"
#include "profile/view.h"

/* What is printed. */
struct loop_print {
    struct occupancy occupancy; /* finished, with a snapshot */
    struct view view;           /* the same trace, for stacks and symbols */
    enum occupancy_order order;
    unsigned long rows; /* of each table, 0 = all */
    bool tree;
    bool percentiles;
    bool has_histogram;
    enum occupancy_histogram histogram; /* one for each row */
};

/* Prints everything as text, or as one JSON object. */
void loop_print(struct loop_print *print);
void loop_print_json(struct loop_print *print);

/* The same for long runs and freezes alone. */
void loop_print_runs(struct loop_print *print);

/* Cycles in ms. */
static inline double loop_ms(const struct loop_print *print, uint64_t cycles)
{
    return (double)cycles * 1000.0 / (double)print->occupancy.tsc_hz;
}

/* The share of (cycles) in the time of the last snapshot, per cent. */
static inline double loop_percent(const struct loop_print *print,
                                  uint64_t cycles)
{
    uint64_t wall = print->occupancy.now.account.wall;

    return wall > 0 ? 100.0 * (double)cycles / (double)wall : 0;
}

/* Writes "name (file:12)". */
void loop_print_site(const struct loop_print *print, uint32_t site);

/* Words of histograms: "run", "delay", "wall". */
extern const char *const loop_histograms[OCCUPANCY_HISTOGRAMS];

/* The indices of the long runs, longest first; to be freed. */
uint32_t *loop_longest_runs(const struct loop_print *print);

/* The function at (address). */
const char *loop_function(struct loop_print *print, uint64_t address);

/* The (functions) of a freeze's stack, innermost first, with room for
 * OCCUPANCY_STACK; returns how many. */
size_t loop_stack(struct loop_print *print,
                  const struct occupancy_freeze *freeze,
                  const char **functions);

/* The parts of the account: for people, and for programs. */
extern const char *const loop_parts[OCCUPANCY_PARTS];
extern const char *const loop_part_keys[OCCUPANCY_PARTS];

#endif
