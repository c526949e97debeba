/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROFILE_VIEW_H
#define PROFILE_VIEW_H

/*
 * What report, script and export have in common: a trace, the names in it, and
 * which samples are selected.
 */

#include "image/find.h"
#include "image/names.h"
#include "trace/model.h"
#include "trace/trace.h"

#include <argp.h>
#include <regex.h>

#define VIEW_FRAMES_MAX 2048 /* of one stack; the rest is dropped */

struct view {
    /* the options */
    const char *input;
    const char *image_path; /* or several (image/image.h) */
    const char *time_text;
    bool has_input;  /* (input) was given, and is not the default */
    regex_t include; /* a function of the stack matches */
    regex_t exclude; /* none matches */
    bool has_include;
    bool has_exclude;
    bool has_cpu;
    bool force;
    bool by_time; /* the weight is time (default), not samples */
    bool lines;   /* look up source lines */
    bool inlined;
    uint32_t cpu;
    const char *task; /* its entry function, or the name of its site */
    bool by_task;     /* stacks go on with the sites that created the task */
    bool waits;       /* of stacks, those of suspends alone are looked at */
    bool own_apart;   /* the profiler's own samples are selected only if */
    bool with_own;    /* this option asks for them */

    /* the data */
    struct trace trace;
    struct model model;
    struct image image;
    enum image_from image_from;
    struct names names;
    uint32_t pseudo_names[MODEL_PSEUDOS];
};

/* The common options, for a command's argp children; and those of them that
 * also suit a command that shows no samples. Input: the view. */
extern const struct argp view_argp;
extern const struct argp view_trace_argp;

/* Opens what the options name; ends the process on failure. */
void view_open(struct view *view);

/* Ends the process unless functions of the two can be matched: both have
 * symbols, or both have none and are of one image. Otherwise an address would
 * be compared with a name, or with what is there in another image.
 * (base_option) is how to give the image of (base), NULL = there is no way;
 * -k is that of (now). */
void view_must_match(const struct view *base, const struct view *now,
                     const char *base_option);

/* The stack of (node), the innermost function first; at most VIEW_FRAMES_MAX
 * frames. */
size_t view_frames(struct view *view, uint32_t node, struct frame *frames);

/* The same of a suspend, which has only return addresses; (node) is the
 * guest's. At most (room) frames. */
size_t view_suspend_frames(struct view *view, uint32_t node,
                           struct frame *frames, size_t room);

/* With view->by_task: where (task) was created, where its creator was, and so
 * on, as frames with names in brackets; at most (room). Without: none. */
size_t view_task_frames(struct view *view, uint32_t task, struct frame *frames,
                        size_t room);

/* The frames of (node), followed by those of (task). */
size_t view_sample_frames(struct view *view, uint32_t node, uint32_t task,
                          struct frame *frames);

/* Whether samples of this task, CPU and stack are selected. */
bool view_wants(struct view *view, uint32_t task, uint32_t cpu,
                const struct frame *frames, size_t count);

/* Whether a stack is the profiler's own: a function of its interface, whose
 * names begin with prof_, is in it. */
bool view_is_own(const struct view *view, const struct frame *frames,
                 size_t count);

/* Of what else is selected: the profiler's own samples. */
struct model_count view_own(struct view *view);

/* Why nothing is selected: the options, or because the trace is empty. */
const char *view_why_empty(const struct view *view);

/* The weight: samples or clocks. */
uint64_t view_weight(const struct view *view, const struct model_count *count);
const char *view_weight_name(const struct view *view);

/* The name of a task, as a number of names.strings. */
uint32_t view_task(struct view *view, uint32_t task);

void view_close(struct view *view);

#endif
