/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The table of a causal profile: for each target and each point of progress,
 * what it would gain at each speed-up, and what the figures rest on.
 */

#include "causal/report.h"

#include "base/cpu.h"
#include "causal/shares.h"

#include <prof/error.h>
#include <prof/port.h>

#define PPM_PER_HUNDREDTH 100u /* of a per cent */
#define PPM_PER_CENT 10000u
#define SHARE_COLUMN 28u
#define NAME_COLUMNS 36u
#define COLUMNS 21u      /* -1234.56 +- 1234.56, on a busy host */
#define LIMIT_COLUMN 37u /* and one for each speed-up before it */

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

static bool reached(const struct prof_progress *point)
{
    const struct prof_experiments *all = &prof_causal.experiments;

    for (uint32_t i = 0; i < all->settings.targets; i++)
        for (uint32_t j = 0; j < all->settings.speedups; j++)
            if (prof_experiments_sums(all, i, j, point->number - 1)->visits)
                return true;
    return false;
}

/* Why nothing can be said. */
static const char *reason(const struct prof_target *target,
                          const struct prof_progress *point)
{
    if (target->end != 0 && prof_shares_samples() < PROF_SHARES_SAMPLES_MIN)
        return "too few samples";
    if (target->end != 0 && target->visits == 0)
        return "in no sample";
    if (target->visits == 0)
        return "never called";
    if (prof_causal.experiments.done != 0 && !reached(point))
        return "point never reached";
    if (prof_causal.refused > prof_causal.experiments.done)
        return "too much traffic held";
    return "too few visits";
}

/* What most of the time goes to at the greatest speed-up. */
static void write_limit(struct prof_text *out, const struct prof_target *target)
{
    static const char *const names[PROF_LIMITS] = {"timers", "devices", "peers",
                                                   "arrivals", "CPU"};
    struct prof_shares shares;
    unsigned most = 0;

    if (prof_causal_shares(target, speedups() - 1, &shares) != 0)
        return;
    for (unsigned i = 1; i < PROF_LIMITS; i++)
        if (shares.limit_ppm[i] > shares.limit_ppm[most])
            most = i;
    prof_text_column(out, LIMIT_COLUMN + speedups() * COLUMNS);
    prof_text_decimal(out, shares.limit_ppm[most] / PPM_PER_CENT, 3);
    prof_text_string(out, " % ");
    prof_text_string(out, names[most]);
}

static void write_share(struct prof_text *out, const struct prof_target *target)
{
    struct prof_shares shares;

    if (prof_causal_shares(target, PROF_NORMAL_SPEED, &shares) != 0)
        return;
    prof_text_column(out, SHARE_COLUMN);
    hundredths(out, shares.target_ppm, 6);
}

static void write_row(struct prof_text *out, const struct prof_target *target,
                      const struct prof_progress *point)
{
    prof_text_string(out, "  ");
    prof_text_string(out, target->name);
    write_share(out, target);
    for (uint32_t i = 0; i < speedups(); i++) {
        struct prof_gain gain;

        prof_text_string(out, " ");
        prof_text_column(out, NAME_COLUMNS + i * COLUMNS);
        if (prof_causal_gain(target, i, point, &gain) == 0) {
            write_gain(out, &gain);
            continue;
        }
        prof_text_char(out, ' ');
        prof_text_string(out, reason(target, point));
        prof_text_char(out, '\n');
        return;
    }
    write_limit(out, target);
    prof_text_char(out, '\n');
}

static void write_none(struct prof_text *out, const struct prof_progress *point)
{
    struct prof_gain gain;

    if (prof_causal_none(point, &gain) != 0)
        return;
    prof_text_string(out, "  (A/A: nothing is faster)");
    prof_text_column(out, NAME_COLUMNS);
    write_gain(out, &gain);
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
    prof_text_column(out, LIMIT_COLUMN + speedups() * COLUMNS);
    prof_text_string(out, "  then most time is");
    prof_text_char(out, '\n');
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
        write_none(&out, point);
    }
    prof_causal_write_latencies(&out);
    prof_causal_write_basis(&out);
    prof_text_string(&out, "---\n");
    prof_text_flush(&out);
}
