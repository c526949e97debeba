/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_UNTRIED_H
#define PROF_UNTRIED_H

/* What was not chosen as a target though it is hot, and why: the table and the
 * stream say so. Contexts: thread. */

#include "causal/patch.h"

#include <prof/text.h>
#include <stdint.h>

/* In the order of the stream's (why). */
enum prof_untried_why {
    PROF_UNTRIED_MOST,    /* it has nearly all of the time */
    PROF_UNTRIED_WAITS,   /* it waits for work */
    PROF_UNTRIED_LOOP,    /* it runs the event loop */
    PROF_UNTRIED_REFUSED, /* it cannot be a target */
    PROF_UNTRIED_ROOM,    /* there are enough, or there is no memory for more */
    PROF_UNTRIED_COLD,    /* several functions, too cold */
    PROF_UNTRIED_APART,   /* it is no part of the program */
    PROF_UNTRIED_NOT,     /* it was chosen */
};

struct prof_untried {
    enum prof_untried_why why;
    uint32_t functions; /* 1, but for PROF_UNTRIED_COLD */
    uint32_t ppm;       /* of the time, with what it calls; or of all these */
    char name[PROF_PATCH_NAME]; /* "" for PROF_UNTRIED_COLD */
};

/* Kept with a name; of those of a kind that have no room as their number. */
#define PROF_UNTRIED_KEPT 32u

void prof_untried_clear(void);
void prof_untried_add(const struct prof_untried *untried);

/* The target that was added last is none any more. */
void prof_untried_give_up(void);

/* The one (number), from 0 on; NULL: there are fewer. */
const struct prof_untried *prof_untried_at(uint32_t number);

/* "not tried: ..." for each. */
void prof_untried_write(struct prof_text *out);

#endif
