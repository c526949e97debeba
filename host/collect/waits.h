/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COLLECT_WAITS_H
#define COLLECT_WAITS_H

/*
 * What objects of a guest have waited for: from SUSPEND to the WAKE of the same
 * object, or to when it runs again, by the place that created it and the reason
 * of its suspend. A wait is counted where it ends; one during which events were
 * lost is not, for nobody knows when it ended.
 */

#include "base/index.h"
#include "trace/event.h"

#define WAITS_OBJECTS 4096u   /* that are known at a time, by low bits */
#define WAITS_SUMS_MAX 4096u  /* places and reasons, since the last bucket */
#define WAITS_NAMES_MAX 4096u /* of a guest */

struct wait_object {
    uint32_t number; /* 0 = none */
    uint16_t site, why;
    uint64_t since; /* clock, 0 = it does not wait */
};

struct wait_sum {
    uint16_t site, why; /* the guest's numbers of names */
    uint64_t count, clocks;
};

struct wait_name {
    uint32_t text; /* of strings */
    uint32_t line; /* 0 = no place */
};

/* Starts as zeros. */
struct waits {
    struct wait_object *objects; /* NULL = no event came */
    struct index keys;
    struct wait_sum *sums; /* by number in keys, of the next closed bucket */
    struct index later_keys;
    struct wait_sum *later_sums; /* of the one after it */
    bool is_later;               /* which of them a wait that ends now is of */
    struct index name_numbers;
    struct wait_name *names;
    struct strings strings;
    uint64_t refused; /* waits and names beyond a limit */
};

/* Takes an event of objects, of a CPU whose current object is (*current), 0 =
 * none. */
void rollup_waits_take(struct waits *waits, uint32_t *current,
                       const struct event *event);

/* Events are missing: what waits now waits since an unknown time. */
void rollup_waits_lose(struct waits *waits);

/* The name with the guest's (number), NULL = it did not come. */
const struct wait_name *rollup_waits_name(const struct waits *waits,
                                          uint16_t number);

/* Forgets the sums, which are in a closed bucket; the later ones are next. */
void rollup_waits_clear(struct waits *waits);

size_t rollup_waits_bytes(const struct waits *waits);
void rollup_waits_free(struct waits *waits);

#endif
