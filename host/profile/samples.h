/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROFILE_SAMPLES_H
#define PROFILE_SAMPLES_H

/*
 * The samples of a view one by one, in stream order, for formats with time
 * stamps. They are not stored: each walk reads the packets again, so a format
 * that wants them in several columns walks several times.
 *
 * A track is a (task, cpu) with at least one sample. Its samples do not
 * overlap, except lumps: samples that the guest only counted while its vector
 * was full, reported together without their times.
 */

#include "profile/view.h"

struct track {
    uint32_t task; /* 0 = none */
    uint32_t cpu;
    char *name; /* "main [cpu 0]", after the task's function */
    uint64_t samples;
};

struct sample {
    uint64_t time;  /* end of the time it accounts for, clocks */
    uint32_t node;  /* number in the view's model */
    uint32_t track; /* number in samples->tracks */
    bool is_lump;
    struct model_count count;
};

struct samples {
    struct view *view;
    struct track *tracks;
    uint32_t track_count;

    uint32_t *track_numbers; /* by number in model.cell_tasks */
    uint32_t *cell_tracks;   /* by cell, SAMPLES_NONE = not selected */
    void (*take)(void *owner, const struct sample *sample);
    void *owner;
};

#define SAMPLES_NONE UINT32_MAX
#define SAMPLES_TRACKS_MAX 256u /* the last one takes the rest */

void samples_open(struct samples *samples, struct view *view);

/* Passes each selected sample to (take). */
void samples_each(struct samples *samples,
                  void (*take)(void *owner, const struct sample *sample),
                  void *owner);

/* The track of a cell, or SAMPLES_NONE if it is not selected. */
static inline uint32_t samples_cell_track(const struct samples *samples,
                                          uint32_t cell)
{
    return samples->cell_tracks[cell];
}

void samples_close(struct samples *samples);

#endif
