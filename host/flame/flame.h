/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FLAME_FLAME_H
#define FLAME_FLAME_H

/*
 * One or two traces as what a flame graph is drawn of.
 *
 *   functions  by name, so that two images can be compared
 *   nodes      a function at one position in the tree of all stacks; after
 *              flame_finish() in the order in which they are drawn: a node,
 *              then all that it called, the heaviest first
 *   stacks     (node, in the hypervisor or not), with their weights
 *   samples    one by one, each a stack at a time; of FLAME_NEW only
 *   losses     where something is missing, and how much
 */

#include "image/exits.h"
#include "image/source.h"
#include "page/columns.h"
#include "profile/interval.h"
#include "profile/ticks.h"
#include "profile/view.h"

#include <stdio.h>

#define FLAME_NONE UINT32_MAX
#define FLAME_NODES_MAX (1u << 22)

enum flame_side {
    FLAME_NEW,  /* what is looked at */
    FLAME_BASE, /* what it is compared with */
    FLAME_SIDES
};

/* Whose code a function is. */
enum flame_part {
    FLAME_PART_UNKNOWN,
    FLAME_PART_KERNEL,
    FLAME_PART_SERVICE,
    FLAME_PART_LIBRARY, /* from elsewhere, linked into one of the others */
    FLAME_PART_PROFILER,
    FLAME_PART_USER,  /* user mode */
    FLAME_PART_OTHER, /* in a folder that says nothing */
    FLAME_PARTS
};

struct flame_function {
    uint32_t name;   /* of flame.strings */
    uint32_t folder; /* also; 0 = unknown */
    enum source_language language;
    enum flame_part part;
};

struct flame_node {
    uint32_t parent;   /* FLAME_NONE = outermost */
    uint32_t function; /* FLAME_NONE = all, the root */
    uint32_t line;     /* of flame.strings, the heaviest; 0 = unknown */
    uint32_t depth;    /* of the root 0 */
    struct model_count total[FLAME_SIDES];
};

struct flame_stack {
    uint32_t node;
    bool exits; /* in the hypervisor */
    struct model_count self[FLAME_SIDES];
};

struct flame_sample {
    uint64_t time; /* clocks since flame.begin */
    uint64_t clocks;
    uint32_t stack;
    uint32_t samples;
    uint16_t cpu;
    bool irqs_off;
    uint32_t tick; /* of flame.ticks, from 1 on; 0 = in none */
};

enum flame_loss_kind {
    FLAME_MISSED,    /* ticks that were never delivered */
    FLAME_DROPPED,   /* samples without a stack */
    FLAME_PACKETS,   /* missing packets */
    FLAME_DISCARDED, /* samples, as reported by the guest */
    FLAME_STOLEN,    /* clocks in which the guest did not run */
    FLAME_OWN,       /* samples of the profiler's own: no loss, in no share */
    FLAME_LOSS_KINDS
};

struct flame_loss {
    enum flame_loss_kind kind;
    uint64_t from; /* clocks since flame.begin */
    uint64_t to;
    uint64_t count;
    uint32_t cpu;
};

/* All of one trace, whatever is selected of it. */
struct flame_whole {
    uint64_t samples;
    uint64_t clocks;
    uint64_t losses[FLAME_LOSS_KINDS];
    size_t cpus;    /* that were sampled */
    bool is_steady; /* the sampling period did not vary */
};

struct sides;

struct flame {
    uint32_t title; /* of flame.strings */
    bool is_served; /* by `parasite open`, beside its other pages */
    bool is_diff;
    bool is_waits;  /* stretches in which tasks waited, instead of samples */
    bool is_joined; /* samples of one tick share its time: --latency, --blame */
    struct sides *sides; /* or NULL: a guest from both sides (sides.h) */
    bool by_time;        /* the initial weight */
    uint64_t begin;      /* of FLAME_NEW, clocks */
    uint64_t end;
    uint64_t lead; /* clocks before (begin) that the page begins at */
    double hz;
    const char *arch;

    struct strings strings;
    struct index function_names;
    struct flame_function *functions;
    struct index node_keys; /* (parent, function) */
    struct flame_node *nodes;
    struct index stack_keys; /* (node, exits) */
    struct flame_stack *stacks;
    struct index line_keys; /* (node, line) */
    uint64_t *lines;        /* their clocks */
    struct flame_sample *samples;
    size_t sample_count;
    uint32_t *cpus; /* that were sampled, by either side of a guest, in order;
                       not of FLAME_BASE */
    size_t cpu_count;
    struct ticks ticks; /* all zeros if nobody can ask for them */
    double clock_error; /* of the CPUs, with (ticks): weigh_clock_error() */
    bool has_irqs_off;  /* some samples were taken with interrupts off */
    struct flame_loss *losses;
    size_t loss_count;
    struct flame_whole wholes[FLAME_SIDES];
};

static inline uint32_t flame_functions(const struct flame *flame)
{
    return flame->function_names.count;
}

static inline uint32_t flame_nodes(const struct flame *flame)
{
    return flame->node_keys.count;
}

static inline uint32_t flame_stacks(const struct flame *flame)
{
    return flame->stack_keys.count;
}

/* Starts as zeros. Adds the selected samples of (view), which is open and has
 * lines; (exits) may be NULL. Samples and losses are those of FLAME_NEW. */
void flame_add(struct flame *flame, struct view *view, enum flame_side side,
               struct exits *exits);

/* Instead: adds what the tasks of (view) did while they did not run, each
 * stretch as a sample at its end (wait.c). (view) is open and has lines,
 * by_task and waits. */
void flame_add_waits(struct flame *flame, struct view *view);

/* Computes totals, lines and the order of nodes; after the last flame_add(),
 * and only if there is a node. */
void flame_finish(struct flame *flame);

void flame_free(struct flame *flame);

/* "kernel" and so on; "" for FLAME_PART_UNKNOWN. */
const char *flame_part_name(enum flame_part part);

/* The part of the code at (address), which is called (name), as far as that
 * says it: where an image is in the upper half of all addresses, the lower one
 * is user mode. And by (folder) of the source, of which the first folder that
 * is known decides. */
enum flame_part flame_part_at(const struct names *names, const char *name,
                              uint64_t address);
enum flame_part flame_part_of_folder(const char *folder);

/* Parts of flame_add(): the number of a function that is no code; of the node
 * of (function) below (parent), which for the root are FLAME_NONE both; of the
 * stack that ends at (node). */
uint32_t flame_pseudo(struct flame *flame, const char *name,
                      const char *folder);
uint32_t flame_child(struct flame *flame, uint32_t parent, uint32_t function);
uint32_t flame_stack_at(struct flame *flame, uint32_t node, bool exits);

/* A frame and its address. */
struct flame_frame {
    struct frame frame;
    uint64_t address; /* 0 = no code */
    size_t inlined;   /* its number among those at the address */
};

/* The functions at the model's node (number), which was (returned) to, at least
 * one and at most (room); the number of the function of one of them. */
size_t flame_frames_at(struct view *view, uint32_t number, bool returned,
                       struct flame_frame *frames, size_t room);
uint32_t flame_function(struct flame *flame, struct view *view,
                        const struct flame_frame *frame);

/* The sites that created (task), if the view wants them; at most (room). */
size_t flame_sites(struct view *view, uint32_t task, struct flame_frame *frames,
                   size_t room);

/* (clocks) of (node) are at the line (text) of flame.strings; 0 = unknown. */
void flame_add_line(struct flame *flame, uint32_t node, uint32_t text,
                    uint64_t clocks);

/* flame.begin and flame.end: what of the trace was asked for. */
void flame_set_span(struct flame *flame, const struct model *model);

/* Adds the CPUs that were sampled to flame.cpus. */
void flame_add_cpus(struct flame *flame, const struct model *model);

struct flame_whole flame_whole_of(const struct model *model);

/* Adds a sample, or a loss, whose times are those of the trace. */
void flame_put_sample(struct flame *flame, const struct flame_sample *sample);
void flame_put_loss(struct flame *flame, const struct flame_loss *loss);

/* Puts samples and losses in the order of time. */
void flame_sort(struct flame *flame);

/* Adds the samples and losses of (view). (stacks) has the stack of each cell of
 * the view's model, FLAME_NONE if it is not selected. */
void flame_add_samples(struct flame *flame, struct view *view,
                       const uint32_t *stacks);

/* A node's share of the whole. */
double flame_share(const struct flame *flame, uint32_t node,
                   enum flame_side side);

/* How many standard deviations from 0 a change must be, so that of all nodes
 * together none is reported by chance. */
double flame_z(const struct flame *flame);

/* How much a node's share grew, -1 to 1; 0 if it may be chance. */
double flame_change(const struct flame *flame, uint32_t node, double z);

/* The columns of functions, tree and samples, for other pages (docs/views.md).
 */
void flame_put_columns(const struct flame *flame, struct columns *columns);

/* Write the page or the picture. Return whether all of it was written. */
bool flame_write_page(const struct flame *flame, FILE *out);
bool flame_write_svg(const struct flame *flame, FILE *out);

/* For page_picture_draw(), of a struct flame: without tooltips, and the higher
 * (step) is, the fewer narrow boxes are in it. There is none from both sides.
 */
bool flame_draw_less(void *owner, unsigned step, FILE *out, char *about,
                     size_t room);

/* Writes the page of (view), which is open and has lines; returns false also if
 * nothing is selected. */
bool flame_write_view(struct view *view, FILE *out);

#endif
