/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TOP_SITES_H
#define TOP_SITES_H

/*
 * Who holds the event loop of a live guest at present (top --loop). The guest
 * sends what it counted since its reset now and then; a site has the sum of
 * what two such rounds differ by, losing half of its weight every
 * TOP_HALF_SECONDS of the guest's clock.
 */

#include "input/live.h"
#include "occupancy/occupancy.h"
#include "top/keys.h"

/* Sums of cycles and counts, weighted. */
struct top_weights {
    double own;
    double total;
    double calls;
    double delays;
    double delay;
};

struct top_sites {
    struct live *live;
    unsigned boots; /* number of the boot */
    struct occupancy occupancy;
    uint64_t rounds; /* of it that are added up */

    struct occupancy_snapshot base; /* at the reset by the user, if any */
    struct occupancy_snapshot last; /* the one added up last */
    struct top_weights *lately;     /* by site */
    uint32_t lately_count;
    double lately_parts[OCCUPANCY_PARTS];

    /* what is shown */
    double parts[OCCUPANCY_PARTS];
    struct top_row *rows;
    size_t count;
};

/* Starts with what (live) receives. */
void top_sites_open(struct top_sites *top, struct live *live);

/* Adds up what came since the last update. */
void top_sites_update(struct top_sites *top, struct top_ui *ui);

/* Rebuilds the list, by what the user has chosen, and passes it to (ui). */
void top_sites_list(struct top_sites *top, struct top_ui *ui);

/* Forgets everything so far. */
void top_sites_reset(struct top_sites *top);

void top_sites_close(struct top_sites *top);

/* Per cent of the time that is shown: that (part) is, and that the loop
 * was busy. */
double top_sites_part(const struct top_sites *top, enum occupancy_part part);
double top_sites_busy(const struct top_sites *top);

/* Whether there is no list yet, and why. */
bool top_sites_warm_up(const struct top_sites *top);
const char *top_sites_silence(const struct top_sites *top);

/* Who has frozen the loop last; "" if nobody has. (text) has room for
 * (bytes). */
const char *top_sites_remark(const struct top_sites *top, char *text,
                             size_t bytes);

#endif
