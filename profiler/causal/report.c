/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The table of a causal profile: for each target and each point of progress,
 * what it would gain at each speed-up; latencies; and what all figures rest on.
 */

#include "causal/causal.h"
#include "causal/pace.h"
#include "causal/shares.h"
#include "causal/untried.h"

#include <prof/port.h>
#include <prof/text.h>

#define PPM_PER_HUNDREDTH 100u /* of a per cent */
#define PPM_PER_CENT 10000u
#define SHARE_COLUMN 28u
#define NAME_COLUMNS 36u
#define COLUMNS 21u      /* -1234.56 +- 1234.56, on a busy host */
#define LIMIT_COLUMN 37u /* and one for each speed-up before it */
#define PARTS_SHOWN 3u
#define PART_LEAST_PPM 50000u /* but for the greatest */

#define US_PER_S 1000000u
#define MS_PER_S 1000u
#define LATENCY_NAME_COLUMNS 28u
#define LATENCY_COLUMNS 20u

/* Without the first, which is none. */
static uint32_t speedups(void)
{
    return prof_causal.experiments.settings.speedups - 1;
}

static uint32_t percent_of_speedup(uint32_t number)
{
    const uint32_t share = prof_causal.experiments.settings.speedup[number];

    return (share * 100 + PROF_ONE / 2) / PROF_ONE;
}

static uint32_t hundredths(uint32_t ppm)
{
    return (ppm + PPM_PER_HUNDREDTH / 2) / PPM_PER_HUNDREDTH;
}

/* ---- gains */

static void write_gain(struct prof_text *out, const struct prof_gain *gain)
{
    uint32_t size = (uint32_t)(gain->ppm < 0 ? -gain->ppm : gain->ppm);

    prof_text_format(out, "%s%.2u +- %.2u", gain->ppm < 0 ? "-" : " ",
                     hundredths(size), hundredths(gain->interval_ppm));
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

/* Whether it takes no part yet: others come first, and are not narrow. */
static bool is_to_come(const struct prof_target *target)
{
    const struct prof_experiments *all = &prof_causal.experiments;

    return target->number > all->taking_part;
}

/* Why nothing can be said. */
static const char *reason(const struct prof_target *target,
                          const struct prof_progress *point)
{
    if (target->by_samples && prof_shares_samples() < PROF_SHARES_SAMPLES_MIN)
        return "too few samples";
    if (target->by_samples && target->visits == 0)
        return "in no sample";
    if (target->visits == 0)
        return "never called";
    if (prof_causal.experiments.done != 0 && !reached(point))
        return "point never reached";
    if (prof_causal.sums.held_refused > prof_causal.experiments.done)
        return "too much traffic held";
    return "too few visits";
}

static void write_part(struct prof_text *out, const struct prof_part *part)
{
    static const char *const kinds[PROF_LIMITS] = {"waiting for timers",
                                                   "waiting for devices",
                                                   "waiting for peers",
                                                   "waiting for arrivals",
                                                   "CPU",
                                                   "waiting for locks"};

    if (part->name == NULL)
        prof_text_string(out, kinds[part->kind]);
    else
        prof_text_format(out, "waiting for %s%s",
                         part->kind == PROF_LIMIT_TIME   ? "timer "
                         : part->kind == PROF_LIMIT_LOCK ? "lock "
                                                         : "",
                         part->name);
}

/* What most of the time goes to at the greatest speed-up, and what else much
 * does. */
static void write_limit(struct prof_text *out, const struct prof_target *target)
{
    struct prof_part parts[PROF_PARTS_MAX];
    uint32_t count;

    if (prof_causal_parts(target, speedups() - 1, parts, &count) != 0)
        return;
    prof_text_column(out, LIMIT_COLUMN + speedups() * COLUMNS);
    for (uint32_t i = 0; i < count && i < PARTS_SHOWN; i++) {
        if (i != 0 && parts[i].ppm < PART_LEAST_PPM)
            break;
        prof_text_format(out, i == 0 ? "%3u %% " : ", %u %% ",
                         parts[i].ppm / PPM_PER_CENT);
        write_part(out, &parts[i]);
    }
}

__attribute__((noinline)) static void
write_row(struct prof_text *out, const struct prof_target *target,
          const struct prof_progress *point)
{
    struct prof_shares shares;
    struct prof_gain gain;

    prof_text_format(out, "  %s", target->name);
    if (prof_causal_shares(target, PROF_NORMAL_SPEED, &shares) == 0) {
        prof_text_column(out, SHARE_COLUMN);
        prof_text_format(out, "%6.2u", hundredths(shares.target_ppm));
    }
    for (uint32_t i = 0; i < speedups(); i++) {
        prof_text_char(out, ' ');
        prof_text_column(out, NAME_COLUMNS + i * COLUMNS);
        if (prof_causal_gain(target, i, point, &gain) != 0) {
            prof_text_format(out, " %s\n", reason(target, point));
            return;
        }
        write_gain(out, &gain);
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
    prof_text_format(out,
                     "--- causal profile: %ju experiments\n  each request gets "
                     "this much shorter, in %%, if the target takes less by\n"
                     "  target",
                     prof_causal.experiments.done);
    for (uint32_t i = 0; i < speedups(); i++) {
        prof_text_column(out, NAME_COLUMNS + i * COLUMNS + 1);
        prof_text_format(out, "%u %%", percent_of_speedup(i + 1));
    }
    prof_text_column(out, LIMIT_COLUMN + speedups() * COLUMNS);
    prof_text_string(out, "  what remains is\n");
}

/* ---- latencies */

static uint64_t per(uint32_t parts_of_second)
{
    uint64_t cycles = prof_divide(prof_causal.tsc_hz, parts_of_second);

    return cycles != 0 ? cycles : 1;
}

static uint64_t tenths_of_us(uint64_t cycles)
{
    return prof_divide(cycles * 10 * (US_PER_S / MS_PER_S),
                       (uint32_t)per(MS_PER_S)); /* not cut to whole MHz */
}

static uint64_t ms_of(uint64_t cycles)
{
    return prof_divide(cycles, (uint32_t)per(MS_PER_S));
}

__attribute__((noinline)) static void
write_latency_row(struct prof_text *out, const struct prof_latency *latency,
                  const struct prof_target *target)
{
    prof_text_format(out, "  %s", target->name);
    for (uint32_t i = 0; i <= speedups(); i++) {
        struct prof_quantiles found;

        if (prof_causal_quantiles(target, i - 1, latency, &found) != 0)
            continue;
        prof_text_column(out, LATENCY_NAME_COLUMNS + i * LATENCY_COLUMNS);
        prof_text_format(out, "%8.1ju %8.1ju", tenths_of_us(found.p50),
                         tenths_of_us(found.p99));
    }
    prof_text_char(out, '\n');
}

static void write_latency(struct prof_text *out,
                          const struct prof_latency *latency)
{
    prof_text_format(
        out, "latency of %s, us: half are below, 99 %% are below\n  target",
        latency->name);
    for (uint32_t i = 0; i <= speedups(); i++) {
        prof_text_column(out, LATENCY_NAME_COLUMNS + i * LATENCY_COLUMNS);
        prof_text_format(out, "%8u %%", percent_of_speedup(i));
    }
    prof_text_char(out, '\n');
    for (const struct prof_target *target = prof_causal.targets; target != NULL;
         target = target->next)
        write_latency_row(out, latency, target);
}

/* ---- what they rest on */

static void write_to_come(struct prof_text *out)
{
    const char *between = "not tried yet: ";

    for (const struct prof_target *each = prof_causal.targets;
         each != NULL && is_to_come(each); each = each->next) {
        prof_text_format(out, "%s%s", between, each->name);
        between = ", ";
    }
    if (is_to_come(prof_causal.targets))
        prof_text_format(out,
                         "; others come first, until no interval of theirs "
                         "is wider than %u %%\n",
                         prof_causal.experiments.settings.narrow);
}

/* How time in targets is known. */
static void write_accrual(struct prof_text *out)
{
    bool entered = false;

    for (const struct prof_target *each = prof_causal.targets; each != NULL;
         each = each->next) {
        entered = entered || !each->by_samples;
        if (each->by_samples && !is_to_come(each))
            prof_text_format(out,
                             "%s is measured by its share of handlers: %ju of "
                             "%u samples were in it\n",
                             each->name, each->visits, prof_shares_samples());
    }
    if (entered)
        prof_text_string(out, "targets are measured from enter to leave\n");
}

static void write_held(struct prof_text *out)
{
    prof_text_format(
        out,
        "%u events held, %u at a time; experiments slowed the guest's clock by "
        "%ju ms in all; at least %ju ms stolen\n",
        prof_causal.held.held, prof_causal.held.used,
        ms_of(prof_causal_saved()), ms_of(prof_causal.sums.stolen_cycles));
    if (prof_causal.sums.drained != 0)
        prof_text_format(out,
                         "%ju times all traffic of open loops was let "
                         "through\n",
                         prof_causal.sums.drained);
    if (prof_causal.experiments.abandoned != 0)
        prof_text_format(out,
                         "%ju experiments abandoned: %ju for want of room for "
                         "held events, others for too few visits of %s\n",
                         prof_causal.experiments.abandoned,
                         prof_causal.sums.held_refused,
                         prof_causal.points->name);
}

/* The output may be by an agent that checks what it assumes, too: it must not
 * count while this is written, or parts would have more than the sum. */
static void write_checked(struct prof_text *out)
{
    uint64_t normal = prof_causal.normal;
    uint64_t checked = prof_causal.sums.checked;
    uint64_t contradictions = prof_causal.sums.contradictions;

    prof_causal.normal = UINT64_MAX;
    if (contradictions == 0)
        prof_text_format(out,
                         "model check: none of %ju answers came earlier than "
                         "assumed possible\n",
                         checked);
    else
        prof_text_format(out,
                         "model check: %ju of %ju answers came earlier than "
                         "assumed possible: an agent's kind is wrong\n",
                         contradictions, checked);
    for (const struct prof_assumption *each = prof_causal.assumptions;
         each != NULL; each = each->next) {
        if (each->checked == 0)
            continue;
        prof_text_format(out, "%ju of %ju: %s\n", each->contradictions,
                         each->checked, each->text);
        checked -= each->checked;
        contradictions -= each->contradictions;
    }
    if (checked != 0 && checked != prof_causal.sums.checked)
        prof_text_format(out, "%ju of %ju: other agents\n", contradictions,
                         checked);
    if (prof_causal.normal == UINT64_MAX) /* no other experiment has begun */
        prof_causal.normal = normal;
}

static void write_models(struct prof_text *out)
{
    const struct prof_assumption *each = prof_causal.assumptions;

    if (prof_causal.sums.answers == 0) {
        prof_text_string(out, "assumed: nothing from outside matters; no "
                              "agent answered\n");
        return;
    }
    if (each == NULL)
        prof_text_string(out, "assumed: devices and peers are of the kinds "
                              "that their agents have\n");
    for (; each != NULL; each = each->next)
        prof_text_format(out, "assumed: %s\n", each->text);
    write_checked(out);
}

void prof_causal_report(void)
{
    struct prof_text out;

    if (prof_causal.memory == NULL)
        return;
    prof_text_open(&out, prof_port_write);
    write_head(&out);
    for (const struct prof_progress *point = prof_causal.points; point != NULL;
         point = point->next) {
        prof_text_format(&out, "%s:\n", point->name);
        for (const struct prof_target *target = prof_causal.targets;
             target != NULL; target = target->next)
            if (!is_to_come(target))
                write_row(&out, target, point);
        write_none(&out, point);
    }
    for (const struct prof_latency *each = prof_causal.latency_kinds;
         each != NULL && each->number <= prof_causal.kinds; each = each->next)
        write_latency(&out, each);
    write_to_come(&out);
    prof_untried_write(&out);
    write_accrual(&out);
    prof_pace_write(&out);
    write_held(&out);
    write_models(&out);
    prof_text_string(&out, "---\n");
    prof_text_flush(&out);
}
