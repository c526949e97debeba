/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TIMELINE_CLOCKS_H
#define TIMELINE_CLOCKS_H

/* One clock for all traces of a timeline. */

#include "timeline/timeline.h"

#include <prof/format.h>

/* Sets the shift of each trace, the least of which is 0: by packets, directly
 * or by way of another trace; else by UTC; else as the clocks are. What the
 * user says is added. Times of a clock that runs at another rate are changed.
 */
void clocks_align(struct timeline *timeline);

/* "-1.9657501 s, to 0.3 ms, by 168 packets": writes to (text), which has room
 * for CLOCKS_TEXT_MAX, how (trace) was aligned, and returns it. */
#define CLOCKS_TEXT_MAX 160u
const char *clocks_text(const struct timeline_trace *trace, char *text);

/*
 * Two machines' clocks, from the messages that they exchange. Each one from A
 * to B says that B's clock is behind A's by so much at least, each one from B
 * to A that it is by so much at most. All straight lines between are possible;
 * the result is their middle, and its error half of what lies between.
 */

/* Two records that are of the same message: numbers in tasks->messages. */
struct match_pair {
    uint32_t sent;
    uint32_t received;
};

/* Finds what (from) sent and (to) received. A message that either has more than
 * once is left out. Returns the pairs, in order of sending, to be freed. */
struct match_pair *match_messages(const struct tasks *from,
                                  const struct tasks *to, size_t *count);

/* At clock x of B, A's clock is at least, or at most, so many more. */
struct match_bound {
    double x;
    double more;
};

/* A's clock is (more) + (rate) * (x - begin) more than B's, where B's is x. */
struct match_clock {
    double begin; /* the first x of a bound, and the last */
    double end;
    double more;
    double rate;
    double error; /* at most, between begin and end, each way */
};

/* The rate is this at most, either way, unless the bounds show that it is more;
 * then ten times as much, and so on up to the last. */
#define MATCH_RATE 1e-3
#define MATCH_RATE_MAX 1e-1

/* Where bounds contradict each other, those so far from their median are of two
 * messages that happen to be called the same. */
#define MATCH_STRANGE PROF_CLOCK_HZ

/* Finds the clock from the bounds, which it changes. False: one side has none,
 * or they contradict each other. */
bool match_clocks(struct match_bound *least, size_t least_count,
                  struct match_bound *most, size_t most_count,
                  struct match_clock *clock);

#endif
