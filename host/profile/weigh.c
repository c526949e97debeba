/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The packets are read twice more: to see which samples belong together, and to
 * fill the cells anew. Each time a CPU's samples have the same numbers.
 */

#include "profile/weigh.h"

#include "base/checked.h"
#include "base/log.h"
#include "base/memory.h"
#include "profile/stretches.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* ---- the options */

static void set_skew(void *owner, char *word)
{
    struct view *view = owner;
    char *end;

    view->skew = strtod(word, &end);
    if (end == word || *end != '\0' || !(view->skew > 0 && view->skew <= 1e4))
        die_usage("--skew takes microseconds, above 0 and at most 10000, not "
                  "'%s'",
                  word);
}

static void set_input(void *owner, char *word)
{
    view_options.take(owner, word);
}

static void begin_weights(void *owner)
{
    view_options.begin(owner);
}

#define AT(field) offsetof(struct view, field)

static const struct argument options[] = {
    {"irqs-off", 0, NULL, "only samples that were taken with interrupts off",
     .flag_at = AT(irqs_off), .group = 3},
    {"latency", 0, NULL,
     "share the time that went by: of several CPUs that were busy at once, "
     "each counts for a part",
     .flag_at = AT(latency), .group = 3},
    {"blame", 0, "FUNCTION",
     "what the other CPUs did while some were in FUNCTION",
     .text_at = AT(blame), .group = 3},
    {"skew", 0, "US",
     "for --latency and --blame: samples of several CPUs are of one moment if "
     "they are at most US microseconds apart (50)",
     .take_for = set_skew, .group = 3},
    {0},
};

const struct argument_set weigh_options = {options, &view_options, set_input,
                                           begin_weights};

static void check_options(const struct view *view)
{
    unsigned given =
        (unsigned)view->irqs_off + view->latency + (view->blame != NULL);

    if (given > 1)
        die_usage("--irqs-off, --latency and --blame exclude each other");
    if (view->skew > 0 && !view->latency && view->blame == NULL)
        die_usage("--skew is for --latency and --blame");
    if (given > 0 && view->waits)
        die_usage("--irqs-off, --latency and --blame are of samples, not of "
                  "waits");
    if ((view->latency || view->blame != NULL) && view->weight == MODEL_SAMPLES)
        die_usage("--latency and --blame share time, not samples");
}

/* ---- the function that is asked about */

/* Whether (name) is (function), with or without its parameters. */
static bool is_called(const char *name, const char *function)
{
    size_t length = strlen(function);

    return strncmp(name, function, length) == 0 &&
           (name[length] == '\0' || name[length] == '(');
}

/* By the model's node: whether the function is in its stack. */
static bool *nodes_in(struct view *view)
{
    static struct frame frames[VIEW_FRAMES_MAX];
    uint32_t count = model_nodes(&view->model);
    bool *nodes = xreallocarray(NULL, count, sizeof *nodes);

    for (uint32_t node = 0; node < count; ++node) {
        size_t depth = view_frames(view, node, frames);

        nodes[node] = false;
        for (size_t i = 0; i < depth && !nodes[node]; ++i)
            nodes[node] = is_called(
                names_text(&view->names, frames[i].function), view->blame);
    }
    return nodes;
}

/* ---- which samples belong together */

struct collecting {
    struct ticks *ticks;
    const bool *in; /* by node; NULL: no function is asked about */
    uint64_t found; /* samples in it */
};

static bool collect(void *owner, const struct event *event, uint32_t node,
                    const struct model_cpu *cpu, struct model_count *count)
{
    struct collecting *collecting = owner;
    struct ticks_sample sample = {
        .time = event->time, .clocks = count->clocks, .kind = TICKS_BUSY};

    if (event->kind == PROF_EVENT_OVERFLOW || event->kind == PROF_EVENT_DROP)
        sample.kind = TICKS_SUM;
    else if (event->kind == PROF_EVENT_IDLE)
        sample.kind = TICKS_IDLE;
    else if (collecting->in != NULL && collecting->in[node])
        sample.kind = TICKS_IN;
    collecting->found += sample.kind == TICKS_IN;
    ticks_add(collecting->ticks, cpu->cpu, &sample);
    return true;
}

static bool weigh(void *owner, const struct event *event, uint32_t node,
                  const struct model_cpu *cpu, struct model_count *count)
{
    struct weighed *weighed = owner;
    const struct ticks_sample *sample =
        ticks_at(&weighed->ticks, cpu->cpu, cpu->weighed);

    (void)event;
    (void)node;
    if (sample == NULL || sample->clocks == 0)
        return false; /* or the file changed since the first reading */
    count->clocks = sample->clocks;
    return true;
}

/* Where a CPU's is not known, nor is the most. */
double weigh_clock_error(const struct model *model)
{
    double most = 0;

    for (size_t i = 0; i < model->cpu_count; ++i) {
        const struct model_cpu *cpu = &model->cpus[i];
        double error = model_clock_error(model, cpu);

        if (cpu->has_clock && (isnan(error) || error > most))
            most = error;
    }
    return most;
}

static void read_with(struct view *view, struct model_weigher weigher,
                      bool keep)
{
    struct model again = {
        .from = view->model.from, .to = view->model.to, .weigher = weigher};

    trace_feed(&view->trace, &again);
    if (keep)
        model_swap_cells(&view->model, &again);
    model_free(&again);
}

static double skew_of(const struct view *view)
{
    return view->skew > 0 ? view->skew : WEIGH_SKEW_US;
}

static void set_bounds(struct ticks *ticks, const struct view *view)
{
    ticks->bound = (uint64_t)(skew_of(view) * (PROF_CLOCK_HZ / 1e6));
    if (view->model.rate_mhz > 0) /* the period varies by a half */
        ticks->grace = 2 * PROF_CLOCK_HZ * 1000ull / view->model.rate_mhz;
}

void weigh_list(struct view *view, struct ticks *ticks)
{
    struct collecting collecting = {ticks, NULL, 0};

    if (model_sampled_cpus(&view->model) < 2 || view->has_cpu ||
        view->has_include || view->has_exclude || view->task != NULL)
        return;
    set_bounds(ticks, view);
    read_with(view, (struct model_weigher){collect, &collecting}, false);
    ticks_join(ticks, NULL);
}

static void weigh_ticks(struct view *view)
{
    struct weighed *weighed = view->weighed;
    bool *in = view->blame != NULL ? nodes_in(view) : NULL;
    struct collecting collecting = {&weighed->ticks, in, 0};

    if (model_sampled_cpus(&view->model) < 2)
        die("%s: one CPU was sampled: --latency and --blame compare several",
            view->input);
    set_bounds(&weighed->ticks, view);
    weighed->clock_error = weigh_clock_error(&view->model);
    read_with(view, (struct model_weigher){collect, &collecting}, false);
    free(in);
    if (view->blame != NULL && collecting.found == 0)
        die("%s: no sample is in %s", view->input, view->blame);
    ticks_join(&weighed->ticks,
               view->blame != NULL ? ticks_by_blame : ticks_by_latency);
    if (weighed->ticks.ticks == 0)
        die("%s: no samples of all CPUs are within %g us; --skew allows more",
            view->input, skew_of(view));
}

/* ---- with interrupts off */

static bool is_off(void *owner, const struct event *event, uint32_t node,
                   const struct model_cpu *cpu, struct model_count *count)
{
    (void)owner;
    (void)event;
    (void)node;
    (void)count;
    return cpu->irqs_off;
}

static bool has_nmis(const struct model *model)
{
    for (size_t i = 0; i < model->cpu_count; ++i)
        if (model->cpus[i].has_nmis)
            return true;
    return false;
}

void weigh_list_off(struct view *view, struct weighed *weighed)
{
    struct stretches stretches = {.view = view, .weighed = weighed};

    for (size_t i = 0; i < view->model.cpu_count; ++i)
        model_count_add(&weighed->off, &view->model.cpus[i].off);
    if (weighed->off.samples == 0)
        return;
    read_with(view, (struct model_weigher){stretches_take, &stretches}, false);
    stretches_end(&stretches);
}

static void weigh_off(struct view *view)
{
    weigh_list_off(view, view->weighed);
    if (view->weighed->off.samples == 0)
        die("%s: no sample was taken with interrupts off%s", view->input,
            has_nmis(&view->model)
                ? ""
                : ": in the guest only prof.tick=nmi sees them, from outside "
                  "'parasite attach'");
}

/* ---- all */

struct model_weigher weigh_weigher(struct view *view)
{
    struct model_weigher weigher = {NULL, view->weighed};

    if (view->weighed != NULL)
        weigher.weigh = view->irqs_off ? is_off : weigh;
    return weigher;
}

void weigh_open(struct view *view)
{
    check_options(view);
    if (!view->irqs_off && !view->latency && view->blame == NULL)
        return;
    view->weighed = xreallocarray(NULL, 1, sizeof *view->weighed);
    *view->weighed = (struct weighed){0};
    if (view->irqs_off)
        weigh_off(view);
    else
        weigh_ticks(view);
    read_with(view, weigh_weigher(view), true);
}

void weigh_close(struct view *view)
{
    if (view->weighed == NULL)
        return;
    ticks_free(&view->weighed->ticks);
    free(view->weighed);
    view->weighed = NULL;
}

/* ---- in words */

void weigh_title(const struct view *view, char *text, size_t room)
{
    if (view->blame != NULL)
        snprintf(text, room, "while in %s", view->blame);
    else
        snprintf(text, room, "%s",
                 view->latency    ? "latency"
                 : view->irqs_off ? "interrupts off"
                                  : "");
}

static double microseconds(uint64_t clocks)
{
    return (double)clocks * 1e6 / PROF_CLOCK_HZ;
}

static double percent(uint64_t part, uint64_t whole)
{
    return whole > 0 ? 100.0 * (double)part / (double)whole : 0;
}

static void print_busy(const struct ticks *ticks, FILE *out)
{
    const char *separator = "";
    uint64_t all = 0;

    for (size_t i = 0; i <= ticks->cpu_count; ++i)
        all = checked_add(all, ticks->busy[i]);
    fputs("CPUs that were busy at once, by the time: ", out);
    for (size_t i = 0; i <= ticks->cpu_count; ++i) {
        if (ticks->busy[i] == 0)
            continue;
        fprintf(out, "%s%zu: %.2f %%", separator, i,
                percent(ticks->busy[i], all));
        separator = ", ";
    }
    fputc('\n', out);
}

static void print_ticks(const struct view *view, const char *prefix, FILE *out)
{
    const struct weighed *weighed = view->weighed;
    const struct ticks *ticks = &weighed->ticks;

    if (view->blame != NULL)
        fprintf(out,
                "%swhat other CPUs did while some were in %s: 100 %% are the "
                "time in it\n",
                prefix, view->blame);
    else
        fprintf(out,
                "%slatency: of CPUs that were busy at once each counts for a "
                "part, 100 %% are the time that went by\n",
                prefix);
    fprintf(out,
            "%sjoined: %.2f %% of the samples, %.2f %% of their time, in %llu "
            "ticks of %zu CPUs; the rest is in no share\n",
            prefix, percent(ticks->joined, ticks->samples),
            percent(ticks->joined_clocks, ticks->clocks),
            (unsigned long long)ticks->ticks, ticks->cpu_count);
    fprintf(out,
            "%sskew within a tick: %.1f us (median), %.1f us (99 %%); at most "
            "%g us by --skew",
            prefix, microseconds(ticks_skew(ticks, 0.5)),
            microseconds(ticks_skew(ticks, 0.99)), microseconds(ticks->bound));
    if (isnan(weighed->clock_error))
        fputs("; how far the CPUs' clocks differ is not known", out);
    else if (weighed->clock_error > 0)
        fprintf(out, "; the CPUs' clocks differ by at most %.1f us",
                weighed->clock_error);
    fputc('\n', out);
    fputs(prefix, out);
    print_busy(ticks, out);
}

void weigh_print(const struct view *view, const char *prefix, FILE *out)
{
    uint64_t all = model_clocks(&view->model);

    if (view->weighed == NULL)
        return;
    if (view->irqs_off)
        fprintf(out, "%sinterrupts off: %llu samples, %.2f %% of all time\n",
                prefix, (unsigned long long)view->weighed->off.samples,
                percent(view->weighed->off.clocks, all));
    else
        print_ticks(view, prefix, out);
}
