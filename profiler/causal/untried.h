/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_UNTRIED_H
#define PROF_UNTRIED_H

/* Hot functions that were not chosen as targets, and the reasons, for the table
 * and the stream. Contexts: thread. */

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
    uint32_t functions; /* 1, except for PROF_UNTRIED_COLD */
    uint32_t ppm;       /* share of the time, with callees; or of all these */
    char name[PROF_PATCH_NAME]; /* "" for PROF_UNTRIED_COLD */
};

/* Functions stored by name; of further ones only the number for each reason. */
#define PROF_UNTRIED_KEPT 32u

void prof_untried_clear(void);
void prof_untried_add(const struct prof_untried *untried);

/* Records that the target added last was given up. */
void prof_untried_give_up(void);

/* Returns entry (number), from 0 on; NULL: there are fewer. */
const struct prof_untried *prof_untried_at(uint32_t number);

/* Writes "not tried: ..." for each. */
void prof_untried_write(struct prof_text *out);

#endif
