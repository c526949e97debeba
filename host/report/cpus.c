/* SPDX-License-Identifier: Apache-2.0 */
/* What each CPU of a trace of several has done and lost, and the stretches with
 * interrupts off. */

#include "report/report.h"

#include "base/checked.h"
#include "base/json.h"
#include "base/log.h"
#include "base/text.h"

#include <math.h>
#include <prof/format.h>

static uint64_t samples_of(const struct model_cpu *cpu)
{
    return checked_add(cpu->busy.samples, cpu->idle.samples);
}

static bool is_sampled(const struct model_cpu *cpu)
{
    return samples_of(cpu) > 0;
}

static double percent(uint64_t part, const struct model_cpu *cpu)
{
    uint64_t whole = checked_add(cpu->busy.clocks, cpu->idle.clocks);

    return whole > 0 ? 100.0 * (double)part / (double)whole : 0;
}

static void print_cpu(const struct model *model, const struct model_cpu *cpu,
                      const char *prefix)
{
    char samples[NUMBER_TEXT_MAX], lost[NUMBER_TEXT_MAX],
        missed[NUMBER_TEXT_MAX], merged[NUMBER_TEXT_MAX],
        duplicates[NUMBER_TEXT_MAX];

    printf("%s%3u %11s %7.2f %% %7.2f %% %7s %9s %9s %11s", prefix,
           (unsigned)cpu->cpu, number_count(samples_of(cpu), samples),
           percent(cpu->busy.clocks, cpu), percent(cpu->off.clocks, cpu),
           number_count(checked_add(cpu->dropped, cpu->discarded), lost),
           number_count(cpu->missed, missed),
           number_count(cpu->nmi.merged, merged),
           number_count(cpu->nmi.duplicates, duplicates));
    if (!isnan(model_clock_error(model, cpu)))
        printf("  +-%.2f us", model_clock_error(model, cpu));
    else if (cpu->has_clock)
        fputs("  unknown", stdout);
    putchar('\n');
}

void report_print_cpus(const struct model *model, const char *prefix)
{
    if (model_sampled_cpus(model) < 2)
        return;
    printf("%sCPU     samples      busy  irqs off    lost    missed    merged  "
           "duplicates  clock\n",
           prefix);
    for (size_t i = 0; i < model->cpu_count; ++i)
        if (is_sampled(&model->cpus[i]))
            print_cpu(model, &model->cpus[i], prefix);
}

static json_t *ns_json(uint64_t clocks)
{
    return json_count(checked_mul(clocks, MODEL_NS_PER_CLOCK));
}

static json_t *cpu_json(const struct model *model, const struct model_cpu *cpu)
{
    double error = model_clock_error(model, cpu);
    json_t *one = json_object();

    json_set(one, "cpu", json_count(cpu->cpu));
    json_set(one, "samples", json_count(samples_of(cpu)));
    json_set(one, "busy_ns", ns_json(cpu->busy.clocks));
    json_set(one, "idle_ns", ns_json(cpu->idle.clocks));
    json_set(one, "irqs_off", json_count(cpu->off.samples));
    json_set(one, "irqs_off_ns", ns_json(cpu->off.clocks));
    json_set(one, "dropped", json_count(cpu->dropped));
    json_set(one, "discarded", json_count(cpu->discarded));
    json_set(one, "missed_ticks", json_count(cpu->missed));
    json_set(one, "merged", json_count(cpu->nmi.merged));
    json_set(one, "duplicates", json_count(cpu->nmi.duplicates));
    if (cpu->has_clock) {
        json_set(one, "tsc_offset", json_integer(cpu->clock.offset));
        if (cpu->clock.error != UINT32_MAX)
            json_set(one, "tsc_error", json_count(cpu->clock.error));
        if (!isnan(error))
            json_set(one, "clock_error_ns", json_real(error * 1e3));
    }
    return one;
}

json_t *report_cpus_json(const struct model *model)
{
    json_t *list = json_array();

    for (size_t i = 0; i < model->cpu_count; ++i)
        if (is_sampled(&model->cpus[i]))
            json_array_append_new(list, cpu_json(model, &model->cpus[i]));
    return list;
}

json_t *report_weights_json(const struct view *view)
{
    const struct ticks *ticks = &view->weighed->ticks;
    json_t *all = json_object(), *busy = json_array();
    char title[REPORT_NAME_MAX];

    weigh_title(view, title, sizeof title);
    json_set(all, "by", json_text(title));
    if (view->irqs_off)
        return json_decref(busy), all;
    json_set(all, "ticks", json_count(ticks->ticks));
    json_set(all, "samples", json_count(ticks->samples));
    json_set(all, "joined", json_count(ticks->joined));
    json_set(all, "ns", ns_json(ticks->clocks));
    json_set(all, "joined_ns", ns_json(ticks->joined_clocks));
    json_set(all, "skew_ns", ns_json(ticks->bound));
    json_set(all, "skew_median_ns", ns_json(ticks_skew(ticks, 0.5)));
    for (size_t i = 0; i <= ticks->cpu_count; ++i)
        json_array_append_new(busy, ns_json(ticks->busy[i]));
    json_set(all, "busy_ns", busy);
    return all;
}

/* ---- stretches with interrupts off */

static double milliseconds(uint64_t clocks)
{
    return 1e3 * (double)clocks / PROF_CLOCK_HZ;
}

/* Times of a damaged trace may go back. */
static uint64_t least_of(const struct weigh_stretch *stretch)
{
    return checked_sub(stretch->last, stretch->first);
}

/* The most that it may have lasted: 0 = unknown. */
static uint64_t most_of(const struct weigh_stretch *stretch)
{
    return stretch->before > 0 && stretch->after > 0
               ? checked_sub(stretch->after, stretch->before)
               : 0;
}

static void print_stretch(const struct report *report,
                          const struct weigh_stretch *stretch)
{
    const struct names *names = &report->view.names;
    char samples[NUMBER_TEXT_MAX], most[32] = "unknown", name[REPORT_NAME_MAX];

    if (most_of(stretch) > 0)
        snprintf(most, sizeof most, "%.3f", milliseconds(most_of(stretch)));
    printf("%10.3f %10s %9s %4u %11.6f  ", milliseconds(least_of(stretch)),
           most, number_count(stretch->samples, samples),
           (unsigned)stretch->cpu,
           (double)checked_sub(stretch->first, report->view.model.begin) /
               PROF_CLOCK_HZ);
    printable(stretch->function != 0 ? names_text(names, stretch->function)
                                     : "[several functions]",
              name, sizeof name);
    fputs(name, stdout);
    if (stretch->caller != 0) {
        printable(names_text(names, stretch->caller), name, sizeof name);
        printf(" <- %s", name);
    }
    putchar('\n');
}

void report_print_stretches(const struct report *report)
{
    const struct weighed *weighed = report->view.weighed;

    if (!report->view.irqs_off || weighed->stretch_count == 0)
        return;
    puts("#\n# the longest stretches, from the first sample to the last, and "
         "at most; the function that lasted\n"
         "# least, ms   most, ms   samples  CPU   begins, s  function <- "
         "caller");
    for (size_t i = 0; i < weighed->stretch_count; ++i)
        print_stretch(report, &weighed->stretches[i]);
}

json_t *report_stretches_json(const struct view *view,
                              const struct weighed *weighed)
{
    const struct names *names = &view->names;
    json_t *list = json_array();

    for (size_t i = 0; i < weighed->stretch_count; ++i) {
        const struct weigh_stretch *stretch = &weighed->stretches[i];
        json_t *one = json_object();

        json_set(one, "cpu", json_count(stretch->cpu));
        json_set(one, "samples", json_count(stretch->samples));
        json_set(one, "begin_ns",
                 ns_json(checked_sub(stretch->first, view->model.begin)));
        json_set(one, "least_ns", ns_json(least_of(stretch)));
        if (most_of(stretch) > 0)
            json_set(one, "most_ns", ns_json(most_of(stretch)));
        json_set(one, "symbol",
                 json_text(names_text(names, stretch->function)));
        json_set(one, "caller", json_text(names_text(names, stretch->caller)));
        json_array_append_new(list, one);
    }
    return list;
}
