/* SPDX-License-Identifier: Apache-2.0 */
#ifndef VIEW_H
#define VIEW_H

/*
 * What report, script and export have in common: a trace, the names in it, and
 * the choice of what is looked at.
 */

#include "model.h"
#include "names.h"
#include "trace.h"

#include <argp.h>
#include <regex.h>

#define VIEW_FRAMES_MAX 2048 /* of one stack; the rest is left out */

struct view {
    /* what was asked for */
    const char *input;
    const char *image_path;
    const char *time_text;
    regex_t include; /* some function of the stack is such */
    regex_t exclude; /* none is */
    bool has_include;
    bool has_exclude;
    bool has_cpu;
    bool force;
    bool by_time; /* the weight is time, not samples */
    bool lines;   /* wanted */
    bool inlined;
    uint32_t cpu;
    const char *task; /* the function that it runs */

    /* what there is */
    struct trace trace;
    struct model model;
    struct image image;
    struct names names;
    uint32_t pseudo_names[MODEL_PSEUDOS];
};

/* The common options, to be a child of the command's own. Its input is the
 * view. */
extern const struct argp view_argp;

/* Opens what the options say; ends the process where it cannot. */
void view_open(struct view *view);

/* The stack of (node), the innermost function first; at most VIEW_FRAMES_MAX
 * of them. */
size_t view_frames(struct view *view, uint32_t node, struct place *frames);

/* Whether (cell), whose stack is (frames), was chosen. */
bool view_wants(struct view *view, uint32_t task, uint32_t cpu,
                const struct place *frames, size_t count);

/* What is counted: samples or clocks. */
uint64_t view_weight(const struct view *view, const struct model_count *count);

/* The name of a task, a number of names.strings. */
uint32_t view_task(struct view *view, uint32_t task);

void view_close(struct view *view);

#endif
