/* SPDX-License-Identifier: Apache-2.0 */
/* A trace, its names and the selection. Samples without a stack appear as
 * functions in brackets, so that everything adds up to 100 %. */

#include "profile/view.h"

#include "base/log.h"
#include "base/memory.h"
#include "profile/weigh.h"
#include "trace/metadata.h"

#include <prof/format.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void set_regex(regex_t *regex, const char *text)
{
    char problem[128];
    int code = regcomp(regex, text, REG_EXTENDED | REG_NOSUB);

    if (code == 0)
        return;
    regerror(code, regex, problem, sizeof problem);
    die_usage("'%s' is not a regular expression: %s", text, problem);
}

const struct view_weight view_weights[MODEL_WEIGHTS] = {
    [MODEL_SAMPLES] = {"samples", "count", 1},
    [MODEL_CLOCKS] = {"time", "nanoseconds", MODEL_NS_PER_CLOCK},
};

enum model_weight view_weight_of(const char *word)
{
    for (unsigned i = 0; i < MODEL_WEIGHTS; ++i) {
        if (strcmp(view_weights[i].name, word) == 0)
            return (enum model_weight)i;
    }
    die_usage("--weight is samples or time, not '%s'", word);
}

/* ---- the options */

static void set_input(void *owner, char *word)
{
    struct view *view = owner;

    trace_choose(&view->input, &view->has_input, word);
}

static void add_image(void *owner, char *word)
{
    struct view *view = owner;

    view->image_path = image_paths_add(view->image_path, word);
}

static void set_include(void *owner, char *word)
{
    struct view *view = owner;

    set_regex(&view->include, word);
    view->has_include = true;
}

static void set_exclude(void *owner, char *word)
{
    struct view *view = owner;

    set_regex(&view->exclude, word);
    view->has_exclude = true;
}

static void set_cpu(void *owner, char *word)
{
    struct view *view = owner;
    char *end;

    view->cpu = (uint32_t)strtoul(word, &end, 10);
    view->has_cpu = true;
    if (end == word || *end != '\0')
        die_usage("-C takes a CPU number, not '%s'", word);
}

static void set_weight(void *owner, char *word)
{
    ((struct view *)owner)->weight = view_weight_of(word);
}

static void set_default_weight(void *owner)
{
    ((struct view *)owner)->weight = MODEL_CLOCKS;
}

#define AT(field) offsetof(struct view, field)

static const struct argument trace_options[] = {
    {"input", 'i', "TRACE", "the trace to read (default: x.trace)",
     .take_for = set_input, .group = 1},
    {"kernel", 'k', "IMAGE",
     "the guest's ELF image, for symbols and source lines",
     .take_for = add_image, .group = 1},
    {"force", 0, NULL, "use IMAGE even if its build-id differs",
     .flag_at = AT(force), .group = 1},
    {"time", 0, "A,B", "only from second A to second B",
     .text_at = AT(time_text), .group = 2},
    {"quiet", 'q', NULL, "no messages except errors, and no headers",
     .flag = &log_quiet, .group = 4},
    {"verbose", 'v', NULL, "also say what is read", .flag = &log_is_verbose,
     .group = 4},
    {0},
};

static const struct argument options[] = {
    {"include", 'I', "REGEX", "only stacks with a function that matches REGEX",
     .take_for = set_include, .group = 2},
    {"exclude", 'X', "REGEX", "no stacks with a function that matches REGEX",
     .take_for = set_exclude, .group = 2},
    {"cpu", 'C', "CPU", "only this CPU", .take_for = set_cpu, .group = 2},
    {"task", 't', "FUNCTION", "only tasks whose entry is FUNCTION",
     .text_at = AT(task), .group = 2},
    {"weight", 0, "WHAT", "count time (default) or samples",
     .take_for = set_weight, .group = 3},
    {"inline", 0, NULL, "show inlined functions separately",
     .flag_at = AT(inlined), .group = 3},
    {"profiler", 0, NULL,
     "count the profiler's own time as any other, where it is apart",
     .flag_at = AT(with_own), .group = 3},
    {"return-types", 0, NULL, "show what C++ template functions return",
     .flag = &names_with_returns, .group = 3},
    {0},
};

const struct argument_set view_trace_options = {trace_options, NULL, set_input,
                                                NULL};
const struct argument_set view_options = {options, &view_trace_options,
                                          set_input, set_default_weight};

static uint64_t clocks_of(const char *text, char **end)
{
    double seconds = strtod(text, end);

    return seconds > 0 && seconds < 1e9 ? (uint64_t)(seconds * PROF_CLOCK_HZ)
                                        : 0;
}

/* "A,B", either of which may be missing; relative to the first packet. */
static void set_time(struct view *view, uint64_t begin)
{
    const char *text = view->time_text;
    char *end;
    uint64_t to;

    if (text == NULL)
        return;
    view->model.from = begin + clocks_of(text, &end);
    if (*end != ',' && *end != '\0')
        die_usage("--time takes A,B in seconds, not '%s'", text);
    to = *end == ',' ? clocks_of(end + 1, &end) : 0;
    if (*end != '\0')
        die_usage("--time takes A,B in seconds, not '%s'", text);
    view->model.to = to > 0 ? begin + to : 0;
    if (to > 0 && view->model.to <= view->model.from)
        die_usage("--time %s: the end is not after the beginning", text);
}

static uint64_t first_clock(const struct trace *trace)
{
    const struct packet_entry *first = &trace->index.packets[0];
    struct packet packet = {0};

    packet_check(trace->bytes + first->offset, first->bytes, &packet);
    return packet.begin;
}

void view_set_image(struct view *view, struct image *image)
{
    static const char *const pseudo[MODEL_PSEUDOS] = {
        "[empty stack]", "[idle]", "[dropped]", "[callers unknown]",
        "[stack unknown]"};

    names_open(&view->names, image, view->lines, view->inlined);
    view->names.guest = &view->model.names;
    for (size_t i = 0; i < MODEL_PSEUDOS; ++i)
        view->pseudo_names[i] = names_put(&view->names, pseudo[i]);
}

void view_open_names(struct view *view)
{
    bool has_image;

    metadata_check_version(&view->model.hello);
    view->image_from =
        image_find(&view->image, &view->trace, &view->model.hello,
                   view->image_path, view->force);
    has_image = view->image_from != IMAGE_FROM_NOWHERE;
    if (has_image)
        log_verbose("symbols are from %s%s",
                    view->image_from == IMAGE_FROM_TRACE ? "the trace; image: "
                                                         : "",
                    view->image.path);
    else if (!view->trace.imported &&
             (!view->waits || view->model.suspend_stacks > 0))
        log_info("no symbols: the image is not known; give it with -k");
    view_set_image(view, has_image ? &view->image : NULL);
}

static void read_tasks(struct view *view, struct model *model)
{
    view->tasks = xreallocarray(NULL, 1, sizeof *view->tasks);
    *view->tasks = (struct tasks){0};
    tasks_read_with(view->tasks, model, &view->trace);
}

void view_read(struct view *view, bool tasks)
{
    trace_open(&view->trace, view->input);
    set_time(view, first_clock(&view->trace));
    if (tasks)
        read_tasks(view, &view->model);
    else
        trace_feed(&view->trace, &view->model);
    log_verbose("%s: %zu packets, %u stacks", view->input,
                view->trace.index.count,
                (unsigned)model_nodes(&view->model) - MODEL_PSEUDOS);
}

const struct tasks *view_tasks(struct view *view)
{
    if (view->tasks == NULL)
        read_tasks(view, NULL);
    return view->tasks;
}

void view_open(struct view *view)
{
    view_read(view, false);
    view_open_names(view);
    weigh_open(view);
}

void view_again(struct view *view, struct model_watch watch)
{
    struct model again = {.from = view->model.from,
                          .to = view->model.to,
                          .watch = watch,
                          .weigher = weigh_weigher(view)};

    trace_feed(&view->trace, &again);
    model_free(&again);
}

void view_set_snapshot(struct view *view, const struct model *model,
                       struct model_cell *cells, uint32_t count)
{
    view->model = *model;
    view->model.cells = cells;
    view->model.cell_keys.count = count;
}

void view_drop_snapshot(struct view *view)
{
    view->model = (struct model){0};
}

static bool has_names(const struct view *view)
{
    return view->image_from != IMAGE_FROM_NOWHERE || view->trace.imported;
}

/* Whether both are known to be, or may be, of one image. */
static bool same_image(const struct event_hello *one,
                       const struct event_hello *other)
{
    return one->build_id_bytes == other->build_id_bytes &&
           memcmp(one->build_id, other->build_id, one->build_id_bytes) == 0;
}

void view_must_match(const struct view *base, const struct view *now,
                     const char *base_option)
{
    bool base_has = has_names(base), now_has = has_names(now);
    const char *without = base_has ? now->input : base->input;
    const char *option = base_has ? "-k" : base_option;

    if (base_has == now_has &&
        (base_has || same_image(&base->model.hello, &now->model.hello)))
        return;
    if (!base_has && !now_has)
        die("%s and %s are of different images, and neither has symbols: their "
            "addresses cannot be compared; give both images, with %s%s-k",
            base->input, now->input, base_option != NULL ? base_option : "",
            base_option != NULL ? " and " : "");
    if (option == NULL)
        die("%s has no symbols: its addresses cannot be compared with the "
            "names of %s; record it with its image, by -k",
            without, now->input);
    die("%s has no symbols: its addresses cannot be compared with the names of "
        "%s; give its image with %s",
        without, base_has ? base->input : now->input, option);
}

/* The innermost function is returned to as well where (returned). */
static size_t frames_at(struct view *view, uint32_t node, bool returned,
                        struct frame *frames, size_t room)
{
    static uint32_t stack[VIEW_FRAMES_MAX];
    size_t nodes = model_stack(&view->model, node, stack, VIEW_FRAMES_MAX);
    size_t count = 0;

    for (size_t i = 0; i < nodes; ++i) {
        struct frame pseudo = {0};
        const struct frame *found = &pseudo;
        size_t here = 1;

        if (stack[i] < MODEL_PSEUDOS)
            pseudo.function = view->pseudo_names[stack[i]];
        else
            found = names_at(&view->names, view->model.nodes[stack[i]].address,
                             returned || i > 0, &here);
        for (size_t j = 0; j < here && count < room; ++j)
            frames[count++] = found[j];
    }
    return count;
}

size_t view_frames(struct view *view, uint32_t node, struct frame *frames)
{
    return frames_at(view, node, false, frames, VIEW_FRAMES_MAX);
}

size_t view_suspend_frames(struct view *view, uint32_t node,
                           struct frame *frames, size_t room)
{
    return frames_at(view, model_node(&view->model, node), true, frames, room);
}

/* ---- tasks of samples */

uint32_t view_task(struct view *view, uint32_t task)
{
    const struct model_task *known;
    const char *site;
    char text[32];
    size_t count;

    if (task == 0)
        return names_put(&view->names, "[no task]");
    known = &view->model.tasks[task];
    if (known->function != 0)
        return names_at(&view->names, known->function, false, &count)->function;
    site = guest_names_text(&view->model.names, known->site);
    if (*site != '\0')
        return names_put(&view->names, site);
    snprintf(text, sizeof text, "[task %u]", (unsigned)known->object);
    return names_put(&view->names, text);
}

/* Where (task) is created, as the frame that its first function returns to. */
static struct frame site_frame(struct view *view, uint32_t task)
{
    const struct guest_names *names = &view->model.names;
    uint32_t site = task != 0 ? view->model.tasks[task].site : 0;
    const char *file = guest_names_file(names, site);
    char text[600];
    struct frame frame = {0};

    if (*file != '\0' && view->lines) {
        snprintf(text, sizeof text, "%s:%u", file,
                 (unsigned)guest_names_line(names, site));
        frame.line = names_put(&view->names, text);
    }
    snprintf(text, sizeof text, task != 0 ? "[task %s]" : "%s",
             names_text(&view->names, view_task(view, task)));
    frame.function = names_put(&view->names, text);
    return frame;
}

size_t view_task_frames(struct view *view, uint32_t task, struct frame *frames,
                        size_t room)
{
    size_t count = 0;

    if (!view->by_task || room == 0)
        return 0;
    do {
        frames[count++] = site_frame(view, task);
        task = task != 0 ? view->model.tasks[task].creator : 0;
    } while (task != 0 && count < room);
    return count;
}

size_t view_sample_frames(struct view *view, uint32_t node, uint32_t task,
                          struct frame *frames)
{
    size_t count = view_frames(view, node, frames);

    return count + view_task_frames(view, task, frames + count,
                                    VIEW_FRAMES_MAX - count);
}

/* ---- the selection */

static bool is_matched(struct view *view, const regex_t *regex,
                       const struct frame *frames, size_t count)
{
    for (size_t i = 0; i < count; ++i) {
        const char *name = names_text(&view->names, frames[i].function);

        if (regexec(regex, name, 0, NULL, 0) == 0)
            return true;
    }
    return false;
}

/* Whether a stack is the profiler's: a function of it is there. */
static bool is_own(const struct frame *frames, size_t count)
{
    while (count > 0 && !frames[count - 1].own)
        --count;
    return count > 0;
}

struct model_count view_own(struct view *view)
{
    bool apart = view->own_apart;
    struct model_count own = {0};
    struct view_stack stack = {0};

    view->own_apart = false;
    while (view_next(view, &stack)) {
        if (is_own(stack.frames, stack.depth))
            model_count_add(&own, &stack.cell->count);
    }
    view->own_apart = apart;
    return own;
}

bool view_wants(struct view *view, uint32_t task, uint32_t cpu,
                const struct frame *frames, size_t count)
{
    if (view->has_cpu && view->cpu != cpu)
        return false;
    if (view->own_apart && !view->with_own && is_own(frames, count))
        return false;
    if (view->task != NULL &&
        strcmp(names_text(&view->names, view_task(view, task)), view->task) !=
            0)
        return false;
    return (!view->has_include ||
            is_matched(view, &view->include, frames, count)) &&
           (!view->has_exclude ||
            !is_matched(view, &view->exclude, frames, count));
}

bool view_next(struct view *view, struct view_stack *stack)
{
    static struct frame frames[VIEW_FRAMES_MAX];

    while (stack->next < model_cells(&view->model)) {
        stack->number = stack->next++;
        stack->cell = &view->model.cells[stack->number];
        stack->frames = frames;
        stack->depth = view_sample_frames(view, stack->cell->node,
                                          stack->cell->task, frames);
        if (view_wants(view, stack->cell->task, stack->cell->cpu, frames,
                       stack->depth))
            return true;
    }
    return false;
}

static bool is_selective(const struct view *view)
{
    return view->has_include || view->has_exclude || view->has_cpu ||
           view->task != NULL || view->time_text != NULL ||
           view->weighed != NULL;
}

const char *view_why_empty(const struct view *view)
{
    return is_selective(view) ? "no samples match" : "there are no samples";
}

uint64_t view_weight(const struct view *view, const struct model_count *count)
{
    return count->weights[view->weight];
}

uint64_t view_amount(const struct view *view, const struct model_count *count)
{
    return view_weight(view, count) * view_weights[view->weight].scale;
}

const char *view_weight_name(const struct view *view)
{
    return view_weights[view->weight].name;
}

void view_close(struct view *view)
{
    weigh_close(view);
    names_close(&view->names);
    image_close(&view->image);
    model_free(&view->model);
    trace_close(&view->trace);
    if (view->tasks != NULL)
        tasks_free(view->tasks);
    free(view->tasks);
    view->tasks = NULL;
}
