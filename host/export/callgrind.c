/* SPDX-License-Identifier: Apache-2.0 */
/*
 * callgrind.out, as kcachegrind and callgrind_annotate read it: the cost of
 * each line of a function by itself, and of its calls.
 *
 * Readers compute a function's total from the calls that lead to it, or from
 * its own cost and its calls. To make both match our report, each function of a
 * stack is used once, at its innermost position, and what is then adjacent
 * counts as a call; "[all]" calls functions without a caller. The number of
 * calls is unknown: it is replaced by the number of samples of the call.
 */

#include "export/export.h"

#include "base/memory.h"
#include "base/text.h"
#include "image/names.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define NO_CALLEE UINT32_MAX

/* Cost at a line, by itself or in a function that it calls. */
struct cost {
    uint32_t owner;  /* number of its function, in the order of their coming */
    uint32_t number; /* its own */
    struct frame frame;
    uint32_t callee; /* a name, NO_CALLEE = by itself */
    struct model_count count;
};

struct callgrind {
    struct view *view;
    FILE *out;
    uint32_t all; /* the name of the caller of the outermost functions */
    struct cost *costs;
    struct index line_keys; /* (function, line) */
    struct index cost_keys; /* (line, callee) */
    struct index functions;
    struct index seen; /* functions, and the last cell that had each */
    uint32_t *stamps;
    char **files;                 /* by number in functions; "" = unknown */
    struct strings written_files; /* written, by number */
    struct strings written_functions;
    struct model_count sum;
};

/* A function's number; it belongs to the first file that it is seen in. */
static uint32_t note_file(struct callgrind *callgrind,
                          const struct frame *frame)
{
    bool is_new;
    uint32_t number =
        index_add(&callgrind->functions, frame->function, &is_new);

    if (!is_new)
        return number;
    vector_reserve_one(&callgrind->files, number, sizeof *callgrind->files);
    callgrind->files[number] =
        frame_source(&callgrind->view->names, frame).file;
    return number;
}

static const char *file_of(const struct callgrind *callgrind, uint32_t function)
{
    return callgrind->files[index_find(&callgrind->functions, function)];
}

static void add_cost(struct callgrind *callgrind, struct frame frame,
                     uint32_t callee, const struct model_count *count)
{
    uint32_t where = index_add(&callgrind->line_keys,
                               index_pair(frame.function, frame.line), NULL);
    bool is_new;
    uint32_t number =
        index_add(&callgrind->cost_keys, index_pair(where, callee), &is_new);

    if (is_new) {
        vector_reserve_one(&callgrind->costs, number, sizeof *callgrind->costs);
        callgrind->costs[number] = (struct cost){
            .owner = note_file(callgrind, &frame),
            .number = number,
            .frame = frame,
            .callee = callee,
        };
    }
    model_count_add(&callgrind->costs[number].count, count);
}

/* Whether (function) was seen further in in this cell; notes it. */
static bool is_repeated(struct callgrind *callgrind, uint32_t function,
                        uint32_t cell)
{
    static const uint32_t never = UINT32_MAX;
    uint32_t number = index_add_row(&callgrind->seen, function,
                                    &callgrind->stamps, &never, sizeof never);
    bool repeated = callgrind->stamps[number] == cell;

    callgrind->stamps[number] = cell;
    return repeated;
}

static void add_costs(struct callgrind *callgrind,
                      const struct view_stack *stack)
{
    const struct model_count *count = &stack->cell->count;
    uint32_t callee = stack->frames[0].function;

    model_count_add(&callgrind->sum, count);
    add_cost(callgrind, stack->frames[0], NO_CALLEE, count);
    is_repeated(callgrind, callee, stack->number);
    for (size_t i = 1; i < stack->depth; ++i) {
        const struct frame *frame = &stack->frames[i];

        if (is_repeated(callgrind, frame->function, stack->number))
            continue;
        add_cost(callgrind, *frame, callee, count);
        callee = frame->function;
    }
    add_cost(callgrind, (struct frame){.function = callgrind->all}, callee,
             count);
}

/* Line breaks become spaces. */
static void put_text(FILE *out, const char *text)
{
    char *copy = xstrdup(text);

    for (char *at = copy; (at = strpbrk(at, "\r\n")) != NULL;)
        *at = ' ';
    printable_put(out, copy);
    free(copy);
}

/* A line like "fn=(12) main", with the name only if its number is new. */
static void put_name(FILE *out, const char *key, struct strings *written,
                     const char *name)
{
    uint32_t before = strings_count(written);
    uint32_t number = strings_put(written, name);

    fprintf(out, "%s=(%u)", key, (unsigned)number);
    if (number >= before) {
        putc(' ', out);
        put_text(out, name);
    }
    putc('\n', out);
}

static void put_function(struct callgrind *callgrind, const char *file_key,
                         const char *function_key, uint32_t function)
{
    const char *file = file_of(callgrind, function);

    put_name(callgrind->out, file_key, &callgrind->written_files,
             *file != '\0' ? file : "???");
    put_name(callgrind->out, function_key, &callgrind->written_functions,
             names_text(&callgrind->view->names, function));
}

/* 0 for a line of another file: it would be taken for one of this file. */
static uint32_t line_of(const struct callgrind *callgrind,
                        const struct frame *frame)
{
    struct source_line source = frame_source(&callgrind->view->names, frame);
    uint32_t line =
        strcmp(source.file, file_of(callgrind, frame->function)) == 0
            ? source.line
            : 0;

    free(source.file);
    return line;
}

static void put_cost(struct callgrind *callgrind, const struct cost *cost)
{
    if (cost->callee != NO_CALLEE) {
        put_function(callgrind, "cfi", "cfn", cost->callee);
        fprintf(callgrind->out, "calls=%" PRIu64 " 0\n",
                cost->count.samples > 0 ? cost->count.samples : 1);
    }
    fprintf(callgrind->out, "%u %" PRIu64 " %" PRIu64 "\n",
            (unsigned)line_of(callgrind, &cost->frame), cost->count.samples,
            cost->count.clocks * MODEL_NS_PER_CLOCK);
}

/* By function, own costs before calls. */
static int in_order(const void *left, const void *right)
{
    const struct cost *a = left, *b = right;

    if (a->owner != b->owner)
        return a->owner < b->owner ? -1 : 1;
    if ((a->callee == NO_CALLEE) != (b->callee == NO_CALLEE))
        return a->callee == NO_CALLEE ? -1 : 1;
    return a->number < b->number ? -1 : 1;
}

static void put_costs(struct callgrind *callgrind)
{
    uint32_t function = NO_CALLEE, count = callgrind->cost_keys.count;
    FILE *out = callgrind->out;

    fputs("# callgrind format\nversion: 1\ncreator: parasite\n"
          "positions: line\nevent: ns : nanoseconds\nevents: samples ns\n",
          out);
    fprintf(out, "summary: %" PRIu64 " %" PRIu64 "\n", callgrind->sum.samples,
            callgrind->sum.clocks * MODEL_NS_PER_CLOCK);
    if (count > 0)
        qsort(callgrind->costs, count, sizeof *callgrind->costs, in_order);
    for (uint32_t i = 0; i < count; ++i) {
        const struct cost *cost = &callgrind->costs[i];

        if (cost->frame.function != function) {
            function = cost->frame.function;
            putc('\n', out);
            put_function(callgrind, "fl", "fn", function);
        }
        put_cost(callgrind, cost);
    }
}

static void close_all(struct callgrind *callgrind)
{
    for (uint32_t i = 0; i < callgrind->functions.count; ++i)
        free(callgrind->files[i]);
    free(callgrind->files);
    free(callgrind->costs);
    free(callgrind->stamps);
    index_free(&callgrind->seen);
    index_free(&callgrind->functions);
    index_free(&callgrind->line_keys);
    index_free(&callgrind->cost_keys);
    strings_free(&callgrind->written_files);
    strings_free(&callgrind->written_functions);
}

bool export_callgrind(struct view *view, FILE *out)
{
    struct callgrind callgrind = {.view = view, .out = out};
    struct view_stack stack = {0};

    callgrind.all = names_put(&view->names, "[all]");
    while (view_next(view, &stack)) {
        if (stack.depth > 0)
            add_costs(&callgrind, &stack);
    }
    put_costs(&callgrind);
    close_all(&callgrind);
    return ferror(out) == 0;
}
