/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The table of a causal profile: for each target and each point of progress,
 * what it would gain at each speed-up, and what the figures rest on.
 */

#include "causal/causal.h"

#include "base/cpu.h"

#include <prof/error.h>
#include <prof/port.h>
#include <prof/text.h>

#define MS_PER_S 1000u
#define PPM_PER_HUNDREDTH 100u /* of a per cent */
#define NAME_COLUMNS 28u
#define COLUMNS 18u

/* Without the first, which is none. */
static uint32_t speedups(void)
{
    return prof_causal.experiments.settings.speedups - 1;
}

static void hundredths(struct prof_text *out, uint32_t ppm, unsigned width)
{
    prof_text_fixed(out, (ppm + PPM_PER_HUNDREDTH / 2) / PPM_PER_HUNDREDTH,
                    width, 100);
}

static void write_gain(struct prof_text *out, const struct prof_gain *gain)
{
    uint32_t size = (uint32_t)(gain->ppm < 0 ? -gain->ppm : gain->ppm);

    prof_text_char(out, gain->ppm < 0 ? '-' : ' ');
    hundredths(out, size, 0);
    prof_text_string(out, " +- ");
    hundredths(out, gain->interval_ppm, 0);
}

static void write_row(struct prof_text *out, const struct prof_target *target,
                      const struct prof_progress *point)
{
    prof_text_string(out, "  ");
    prof_text_string(out, target->name);
    for (uint32_t i = 0; i < speedups(); i++) {
        struct prof_gain gain;
        int error = prof_causal_gain(target, i, point, &gain);

        prof_text_string(out, " ");
        prof_text_column(out, NAME_COLUMNS + i * COLUMNS);
        if (error == 0)
            write_gain(out, &gain);
        else if (target->visits == 0)
            prof_text_string(out, " never called");
        else
            prof_text_string(out, " too few visits");
    }
    prof_text_char(out, '\n');
}

static void write_head(struct prof_text *out)
{
    const struct prof_experiments *all = &prof_causal.experiments;

    prof_text_string(out, "--- causal profile: ");
    prof_text_decimal(out, all->done, 0);
    prof_text_string(out, " experiments\n  % of the time for a unit of work "
                          "saved if the target were faster by\n  target");
    for (uint32_t i = 0; i < speedups(); i++) {
        uint32_t share = all->settings.speedup[i + 1];

        prof_text_column(out, NAME_COLUMNS + i * COLUMNS + 1);
        prof_text_decimal(out, (share * 100 + PROF_ONE / 2) / PROF_ONE, 0);
        prof_text_string(out, " %");
    }
    prof_text_char(out, '\n');
}

static void write_basis(struct prof_text *out)
{
    const struct prof_experiments *all = &prof_causal.experiments;
    uint64_t ms =
        prof_divide(prof_causal.clock.delay,
                    (uint32_t)prof_divide(prof_causal.tsc_hz, MS_PER_S));

    prof_text_decimal(out, prof_causal.held.held, 0);
    prof_text_string(out, " events held, ");
    prof_text_decimal(out, prof_causal.held.most, 0);
    prof_text_string(out, " at a time; virtual time lags by ");
    prof_text_decimal(out, ms, 0);
    prof_text_string(out, " ms\n");
    if (all->abandoned != 0) {
        prof_text_decimal(out, all->abandoned, 0);
        prof_text_string(out, " experiments abandoned: too few visits of ");
        prof_text_string(out, prof_causal_points()->name);
        prof_text_string(out, ", or no room for held events\n");
    }
    if (prof_causal.contradictions != 0) {
        prof_text_decimal(out, prof_causal.contradictions, 0);
        prof_text_string(out, " of ");
        prof_text_decimal(out, prof_causal.answers, 0);
        prof_text_string(out, " answers came before an agent of their kind "
                              "can have sent them\n");
    }
}

void prof_causal_report(void)
{
    struct prof_text out;

    if (prof_causal.memory == NULL)
        return;
    prof_text_open(&out, prof_port_write);
    write_head(&out);
    for (const struct prof_progress *point = prof_causal_points();
         point != NULL; point = point->next) {
        prof_text_string(&out, point->name);
        prof_text_string(&out, ":\n");
        for (const struct prof_target *target = prof_causal_targets();
             target != NULL; target = target->next)
            write_row(&out, target, point);
    }
    write_basis(&out);
    prof_text_string(&out, "---\n");
    prof_text_flush(&out);
}
