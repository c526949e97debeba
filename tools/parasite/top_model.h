/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TOP_MODEL_H
#define TOP_MODEL_H

/*
 * What a live guest does at the moment, as shares.
 *
 * Each cell of the guest's model (a stack, a task, a CPU) has two weights here:
 * what came since the reset, and what came lately, of which half is forgotten
 * every TOP_HALF_SECONDS of the guest's clock. A copy of the cells with one of
 * the two is added up as a trace's cells are by report, so that top counts as
 * report does.
 */

#include "live.h"
#include "report.h"
#include "top_keys.h"

#define TOP_HALF_SECONDS 3.0

struct top_cell {
    struct model_count base; /* at the reset */
    struct model_count last; /* when it was last looked at */
    double samples;          /* lately */
    double clocks;
};

struct top_model {
    struct live *live;
    struct report report; /* of the weights; view.model is not its own */
    unsigned boots;       /* of which boot this is */
    bool checked;         /* whether it is the image's */

    struct top_cell *cells;
    struct model_cell *shown; /* with one of the weights */
    uint32_t cell_count;
    uint64_t clock; /* the guest's, when it was last looked at */
    uint64_t base_clock;
    uint64_t base_lost;
    uint64_t base_missed;
    double lately_samples; /* all of them */
    double lately_seconds;

    struct top_row *rows; /* the list */
    size_t count;
    double idle;           /* percent */
    struct top_row zoomed; /* the function that is looked at */
};

/* Begins with what (live) sends; (request) tells of the image. */
void top_model_open(struct top_model *top, struct live *live,
                    const struct request *request, struct image *image,
                    bool by_time);

/* Looks at what has come since the last time. */
void top_model_update(struct top_model *top, struct top_ui *ui);

/* Makes the list anew, by what the user has chosen, and gives it to (ui). */
void top_model_list(struct top_model *top, struct top_ui *ui);

/* Forgets what came so far. */
void top_model_reset(struct top_model *top);

/* Samples a second lately; seconds, losses and ticks missed since the reset. */
double top_model_rate(const struct top_model *top);
double top_model_seconds(const struct top_model *top);
uint64_t top_model_lost(const struct top_model *top);
uint64_t top_model_missed(const struct top_model *top);

void top_model_close(struct top_model *top);

#endif
