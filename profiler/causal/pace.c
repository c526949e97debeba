/* SPDX-License-Identifier: Apache-2.0 */
#include "causal/pace.h"

#include "causal/causal.h"
#include "causal/patch.h"
#include "causal/regimes.h"
#include "causal/send.h"

#include "base/alloc.h"

#include <prof/text.h>

#define VISITS 512u
#define SLICE 8u /* visits that are one summand */
#define LONGEST_PART 1u
#define SHORTEST_PART 50u /* of a second */
#define PPM_PER_HUNDREDTH 100u

struct prof_pace {
    struct prof_progress_sum sums[PROF_RATE_DURING][PROF_GAIN_GROUPS];
    enum prof_rate_when when;
    uint64_t tsc_hz, began;
    uint64_t since; /* the slice; 0: no visit yet */
    uint64_t left_out;
    uint32_t visits; /* in the slice */
    uint32_t all;
};

static struct prof_pace *pace; /* NULL until the first time */

bool prof_pace_watch(enum prof_rate_when when, uint64_t tsc_hz)
{
    if (prof_causal_state != PROF_CAUSAL_NOTHING || prof_causal.points == NULL)
        return false;
    if (pace == NULL && (pace = prof_alloc(sizeof *pace)) == NULL)
        return false;
    if (when == PROF_RATE_BEFORE)
        *pace = (struct prof_pace){0};
    pace->when = when;
    pace->tsc_hz = tsc_hz;
    pace->began = prof_tsc();
    pace->since = pace->left_out = 0;
    pace->visits = pace->all = 0;
    prof_patch_points_on();
    prof_causal_state = PROF_CAUSAL_VISITS;
    return true;
}

bool prof_pace_watches(void)
{
    return prof_causal_state == PROF_CAUSAL_VISITS;
}

bool prof_pace_has_lasted(void)
{
    uint64_t cycles = prof_tsc() - pace->began;

    return cycles >= prof_divide(pace->tsc_hz, LONGEST_PART) ||
           (pace->all >= VISITS &&
            cycles >= prof_divide(pace->tsc_hz, SHORTEST_PART));
}

void prof_pace_end(void)
{
    if (!prof_pace_watches())
        return;
    prof_causal_state = PROF_CAUSAL_NOTHING;
    prof_causal.strange += prof_patch_off();
    if (pace->when == PROF_RATE_AFTER)
        prof_causal_send_again();
}

/* The time before the first visit is of a request that began before. */
void prof_pace_visit(const struct prof_progress *point)
{
    uint64_t now = prof_tsc() - pace->left_out;

    if (point->number != 1)
        return;
    if (pace->since == 0) {
        pace->since = now;
        return;
    }
    pace->all++;
    if (++pace->visits < SLICE)
        return;
    prof_gain_add(pace->sums[pace->when], now - pace->since, pace->visits);
    pace->since = now;
    pace->visits = 0;
}

void prof_pace_leave_out(uint64_t cycles)
{
    if (prof_pace_watches())
        pace->left_out += cycles;
}

const struct prof_progress_sum *prof_pace_sums(enum prof_rate_when when)
{
    return pace == NULL ? NULL : pace->sums[when];
}

/* ---- what was found */

static uint64_t visits_of(const struct prof_progress_sum *sums)
{
    uint64_t visits = 0;

    for (uint32_t i = 0; i < PROF_GAIN_GROUPS; i++)
        visits += sums[i].visits;
    return visits;
}

/* In experiments at normal speed, all targets together, or as many of them as
 * sums have room for. */
static void sum_during(struct prof_progress_sum sums[PROF_GAIN_GROUPS])
{
    const struct prof_experiments *all = &prof_causal.experiments;

    for (uint32_t i = 0; i < all->settings.targets; i++) {
        const struct prof_progress_sum *more =
            prof_experiments_sums(all, i, 0, 0);

        if (visits_of(sums) + visits_of(more) > UINT32_MAX)
            break;
        for (uint32_t j = 0; j < PROF_GAIN_GROUPS; j++)
            prof_gain_sum(&sums[j], &more[j]);
    }
}

static void write_change(struct prof_text *out, const struct prof_gain *gain,
                         const char *when)
{
    uint32_t size = (uint32_t)(gain->ppm < 0 ? -gain->ppm : gain->ppm);

    prof_text_format(out, "%.2u +- %.2u %% %s than %s",
                     size / PPM_PER_HUNDREDTH,
                     gain->interval_ppm / PPM_PER_HUNDREDTH,
                     gain->ppm < 0 ? "slower" : "faster", when);
}

static void write_warning(struct prof_text *out, const struct prof_rates *rates)
{
    if (rates->changed == 0)
        return;
    prof_text_string(out, "warning: experiments change the program: at normal "
                          "speed it is ");
    write_change(out, &rates->gain[PROF_RATE_BEFORE], "before");
    if (rates->us10[PROF_RATE_AFTER] != 0) {
        prof_text_string(out, ", and ");
        write_change(out, &rates->gain[PROF_RATE_AFTER], "after");
    }
    prof_text_string(out, "; gains are those of such a program\n");
}

static void write_rates(struct prof_text *out)
{
    struct prof_progress_sum sums[PROF_RATES][PROF_GAIN_GROUPS] = {{{0}}};
    struct prof_rates rates;

    __builtin_memcpy(sums, pace->sums, sizeof pace->sums);
    sum_during(sums[PROF_RATE_DURING]);
    if (prof_rates_of(sums, pace->tsc_hz, &rates) != 0)
        return;
    prof_text_format(
        out,
        "one %s takes %.1ju us before experiments, %.1ju at normal speed "
        "in them",
        prof_causal_first_point()->name, rates.us10[PROF_RATE_BEFORE],
        rates.us10[PROF_RATE_DURING]);
    if (rates.us10[PROF_RATE_AFTER] != 0)
        prof_text_format(out, ", %.1ju after them",
                         rates.us10[PROF_RATE_AFTER]);
    prof_text_char(out, '\n');
    write_warning(out, &rates);
}

static void write_regimes(struct prof_text *out)
{
    struct prof_regimes found;

    if (!prof_causal_regimes(&found))
        return;
    prof_text_format(
        out,
        "progress jumps between two rates: at normal speed one %s takes %.1ju "
        "us in %u %% of the experiments, and %.1ju in the others; gains are "
        "between those of the two\n",
        prof_causal_first_point()->name,
        prof_rate_us10(found.cycles[0], prof_causal.tsc_hz), found.percent,
        prof_rate_us10(found.cycles[1], prof_causal.tsc_hz));
}

void prof_pace_write(struct prof_text *out)
{
    if (prof_causal.memory == NULL)
        return;
    if (pace != NULL)
        write_rates(out);
    write_regimes(out);
}
