/* SPDX-License-Identifier: Apache-2.0 */
/* The guest's table: a row of each target, for each point of progress. */

#include "base/log.h"
#include "base/text.h"
#include "causal/causal.h"

#include <inttypes.h>
#include <prof/format.h>
#include <stdlib.h>

#define PER_CENT 100.0
#define VALUE_COLUMNS 16

static void print_value(const struct causal_value *value, FILE *out)
{
    char text[64];

    if (value->known)
        snprintf(text, sizeof text, "%6.2f +- %.2f",
                 PER_CENT * causal_printed(value->gain),
                 PER_CENT * causal_printed(value->interval));
    else
        snprintf(text, sizeof text, "%6s", "-");
    fprintf(out, "  %-*s", VALUE_COLUMNS, text);
}

static void print_row(const struct causal *causal,
                      const struct causal_curve *curve, FILE *out)
{
    double share = curve->share;
    char text[CAUSAL_TEXT_MAX];

    if (share < 0)
        fprintf(out, "%8s", "-");
    else
        fprintf(out, "%8.2f", PER_CENT * share);
    for (uint32_t i = 0; i < curve->count; ++i)
        print_value(&curve->values[i], out);
    fputs("  ", out);
    printable_put(out, causal_target_name(causal, curve->target));
    fprintf(out, "\n%8s  ", "");
    printable_put(out, causal_explain(causal, curve, text)); /* it has names */
    putc('\n', out);
}

/* In the first of (columns). */
static void print_none(const struct causal *causal, uint32_t point,
                       uint32_t columns, FILE *out)
{
    struct causal_value none;

    causal_none(causal, point, &none);
    if (!none.known || columns == 0)
        return;
    fprintf(out, "%8s", "");
    print_value(&none, out);
    fprintf(out, "%*s  (A/A: nothing is faster)\n",
            (int)(columns - 1) * (VALUE_COLUMNS + 2), "");
}

static void print_head(const struct causal *causal, FILE *out)
{
    struct causal_curve first = {0};
    char text[32];

    if (log_quiet)
        return;
    if (causal->target_numbers.count != 0 && causal->point_numbers.count != 0)
        causal_curve(causal, 0, 0, &first);
    fprintf(out,
            "# %" PRIu64 " experiments\n"
            "# %% by which each request gets shorter if the target takes this "
            "much less time\n#  share",
            causal_experiments(causal));
    for (uint32_t i = 0; i < first.count; ++i) {
        snprintf(text, sizeof text, "%4.0f %%",
                 PER_CENT * first.values[i].speedup);
        fprintf(out, "  %-*s", VALUE_COLUMNS, text);
    }
    fputs("  target\n", out);
}

static void print_latency_row(const struct causal *causal, uint32_t kind,
                              uint32_t target, FILE *out)
{
    uint32_t numbers[CAUSAL_SPEEDUPS_MAX];
    uint32_t count = causal_speedups(causal, numbers);

    for (uint32_t i = 0; i < count; ++i) {
        const struct causal_latency *found =
            causal_latency(causal, target, numbers[i], kind);

        if (found == NULL)
            fprintf(out, "  %8s %8s", "-", "-");
        else
            fprintf(out, "  %8.1f %8.1f",
                    (double)causal_us10(causal, found->event.p50) / 10,
                    (double)causal_us10(causal, found->event.p99) / 10);
    }
    fputs("  ", out);
    printable_put(out, causal_target_name(causal, target));
    fputc('\n', out);
}

static void print_latencies(const struct causal *causal, uint32_t kind,
                            FILE *out)
{
    uint32_t numbers[CAUSAL_SPEEDUPS_MAX];
    uint32_t count = causal_speedups(causal, numbers);

    fputs("latency of ", out);
    printable_put(out, causal_kind_name(causal, kind));
    fputs(", us: half are below, 99 % are below\n", out);
    if (!log_quiet)
        fputc('#', out);
    for (uint32_t i = 0; i < count && !log_quiet; ++i)
        fprintf(out, "%*.0f %%%*s", i == 0 ? 7 : 8,
                PER_CENT * causal->speedups[numbers[i]] / PROF_ONE, 9, "");
    if (!log_quiet)
        fputs("  target\n", out);
    for (uint32_t i = 0; i < causal->target_numbers.count; ++i)
        print_latency_row(causal, kind, i, out);
}

/* Texts are the guest's. */
static void print_note(const char *note, FILE *out)
{
    fputs("# ", out);
    printable_put(out, note);
    fputc('\n', out);
}

static void print_notes(const struct causal *causal, FILE *out)
{
    char notes[CAUSAL_NOTES_MAX][CAUSAL_TEXT_MAX];
    uint32_t count = causal_notes(causal, notes);

    for (uint32_t i = 0; i < count && !log_quiet; ++i)
        print_note(notes[i], out);
}

void causal_print(const struct causal *causal, FILE *out)
{
    print_head(causal, out);
    for (uint32_t point = 0; point < causal_points_shown(causal); ++point) {
        struct causal_curve *curves = causal_curves(causal, point);

        printable_put(out, causal_point_name(causal, point));
        fputs(":\n", out);
        for (uint32_t i = 0; i < causal->target_numbers.count; ++i)
            if (curves[i].shape != CAUSAL_TO_COME)
                print_row(causal, &curves[i], out);
        if (causal->target_numbers.count != 0)
            print_none(causal, point, curves[0].count, out);
        free(curves);
    }
    for (uint32_t kind = 0; kind < causal_kinds_shown(causal); ++kind)
        print_latencies(causal, kind, out);
    print_notes(causal, out);
}
