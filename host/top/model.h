/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TOP_MODEL_H
#define TOP_MODEL_H

/*
 * What a live guest is doing at present, as shares. Each cell of the guest's
 * model has two weights: all since the reset, and what is recent, which loses
 * half of its weight every TOP_HALF_SECONDS of the guest's clock. Report adds
 * up a copy of the cells with one of them.
 */

#include "input/live.h"
#include "report/report.h"
#include "top/keys.h"

#define TOP_HALF_SECONDS 3.0
#define TOP_BUSY 900u /* bytes of a line that says how busy all CPUs are */

/* Why there is no list, in a boot that began before we came. */
#define TOP_WARMS_UP "most stacks are not known yet"

struct top_cell {
    struct model_count base; /* at the reset */
    struct model_count last; /* at the last update */
    double samples;          /* recent */
    double clocks;
};

struct top_model {
    struct live *live;
    struct report report; /* of the weights; borrows view.model */
    unsigned boots;       /* number of the boot */
    bool checked;         /* compared with the image */
    bool warms_up;        /* most stacks of this boot are not known yet */

    struct top_cell *cells;
    struct model_cell *shown; /* with one of the weights */
    uint32_t cell_count;
    uint64_t clock; /* the guest's, at the last update */
    uint64_t base_clock;
    uint64_t base_lost;
    uint64_t base_missed;
    uint64_t base_stolen;  /* clocks */
    double lately_samples; /* of all cells */
    double lately_seconds;

    struct top_row *rows; /* the list */
    size_t count;
    double idle;           /* percent */
    char busy[TOP_BUSY];   /* each CPU, "CPU 0 45 %, CPU 1 93 %"; "": one CPU */
    struct top_row zoomed; /* the function zoomed into */
};

/* Starts with what (live) receives; (request) names the image. */
void top_model_open(struct top_model *top, struct live *live,
                    const struct request *request, struct image *image,
                    enum model_weight weight);

/* Processes what came since the last update. */
void top_model_update(struct top_model *top, struct top_ui *ui);

/* Rebuilds the list, by what the user has chosen, and passes it to (ui). */
void top_model_list(struct top_model *top, struct top_ui *ui);

/* Forgets everything so far. */
void top_model_reset(struct top_model *top);

/* Recent samples a second; seconds, losses, missed ticks and per cent of the
 * time that was stolen since the reset. */
double top_model_rate(const struct top_model *top);
double top_model_seconds(const struct top_model *top);
uint64_t top_model_lost(const struct top_model *top);
uint64_t top_model_missed(const struct top_model *top);
double top_model_stolen(const struct top_model *top);

void top_model_close(struct top_model *top);

#endif
