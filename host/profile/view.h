/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROFILE_VIEW_H
#define PROFILE_VIEW_H

/* What report, script and export have in common: a trace, the names in it, and
 * which samples are selected. */

#include "base/options.h"
#include "image/find.h"
#include "image/names.h"
#include "tasks/tasks.h"
#include "trace/model.h"
#include "trace/trace.h"

#include <regex.h>

#define VIEW_FRAMES_MAX 2048 /* of one stack; the rest is dropped */

struct weighed;

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
    enum model_weight weight; /* that counts: MODEL_CLOCKS is the default */
    bool lines;               /* look up source lines */
    bool inlined;
    uint32_t cpu;
    const char *task; /* its entry function, or the name of its site */
    bool by_task;     /* stacks go on with the sites that created the task */
    bool waits;       /* of stacks, those of suspends alone are looked at */
    bool own_apart;   /* the profiler's own samples are selected only if */
    bool with_own;    /* this option asks for them */

    /* the options of weigh.h, of which at most one is given, and (skew) */
    bool irqs_off;
    bool latency;
    const char *blame; /* a function */
    double skew;       /* microseconds, 0 = the default */

    /* the data */
    struct trace trace;
    struct model model;
    struct image image;
    enum image_from image_from;
    struct names names;
    uint32_t pseudo_names[MODEL_PSEUDOS];
    struct tasks *tasks;     /* NULL = not read */
    struct weighed *weighed; /* NULL = samples have their own weights */
};

/* The kinds of weights (enum model_weight), and their units in the formats of
 * other tools: (scale) of these are one of ours. */
struct view_weight {
    const char *name;
    const char *unit;
    uint64_t scale;
};
extern const struct view_weight view_weights[MODEL_WEIGHTS];

/* The weight called (word), of the option --weight. */
enum model_weight view_weight_of(const char *word);

/* A stack that is selected, with its weights. Starts as zeros. */
struct view_stack {
    uint32_t next; /* cell */
    uint32_t number;
    const struct model_cell *cell;
    const struct frame *frames; /* innermost first */
    size_t depth;
};

/* The next selected stack; false: none. Frames live until the next call. */
bool view_next(struct view *view, struct view_stack *stack);

/* The common options, of a view; and those of them that also suit a command
 * that shows no samples. */
extern const struct argument_set view_options;
extern const struct argument_set view_trace_options;

/* Opens what the options name; ends the process on failure. Names take time,
 * and may be opened apart. (tasks) are read as well, in the same pass. */
void view_open(struct view *view);
void view_read(struct view *view, bool tasks);
void view_open_names(struct view *view);

/* Reads the packets once more, for (watch), with the same weights. */
void view_again(struct view *view, struct model_watch watch);

/* The tasks of the trace, which are read now if they were not. */
const struct tasks *view_tasks(struct view *view);

/* Names for (image), NULL = none, and for stacks without an address. */
void view_set_image(struct view *view, struct image *image);

/* A snapshot of a model that grows: (view) has (model), whose owner goes on to
 * fill it, with (count) cells, whose weights may be others, until
 * view_drop_snapshot(). That is before the owner takes more. */
void view_set_snapshot(struct view *view, const struct model *model,
                       struct model_cell *cells, uint32_t count);
void view_drop_snapshot(struct view *view);

/* Ends the process unless functions of the two can be matched: both have
 * symbols, or both have none and are of one image. Otherwise an address would
 * be compared with a name, or with what is there in another image.
 * (base_option) is how to give the image of (base), NULL = there is no way;
 * -k is that of (now). */
void view_must_match(const struct view *base, const struct view *now,
                     const char *base_option);

/* The stack of (node), innermost first; at most VIEW_FRAMES_MAX frames. */
size_t view_frames(struct view *view, uint32_t node, struct frame *frames);

/* The same of a suspend, by the guest's (node); at most (room) frames. */
size_t view_suspend_frames(struct view *view, uint32_t node,
                           struct frame *frames, size_t room);

/* With view->by_task: where (task) was created, where its creator was, and so
 * on, as frames with names in brackets; at most (room). Without: none. */
size_t view_task_frames(struct view *view, uint32_t task, struct frame *frames,
                        size_t room);

/* The frames of (node), then those of (task); at most VIEW_FRAMES_MAX. */
size_t view_sample_frames(struct view *view, uint32_t node, uint32_t task,
                          struct frame *frames);

/* Whether samples of this task, CPU and stack are selected. */
bool view_wants(struct view *view, uint32_t task, uint32_t cpu,
                const struct frame *frames, size_t count);

/* Of what else is selected: the profiler's own samples. */
struct model_count view_own(struct view *view);

/* Why nothing is selected: the options, or because the trace is empty. */
const char *view_why_empty(const struct view *view);

/* The weight that counts; the same in its unit; and its name. */
uint64_t view_weight(const struct view *view, const struct model_count *count);
uint64_t view_amount(const struct view *view, const struct model_count *count);
const char *view_weight_name(const struct view *view);

/* The name of a task, as a number of names.strings. */
uint32_t view_task(struct view *view, uint32_t task);

void view_close(struct view *view);

#endif
