/* SPDX-License-Identifier: Apache-2.0 */
/* What results mean, assume and rest on, in sentences. */

#include "causal/causal.h"

#include <inttypes.h>
#include <math.h>
#include <prof/format.h>
#include <string.h>

#define MS_PER_S 1000.0
#define TENTHS 10
#define PPM_PER_HUNDREDTH 100u
#define PER_CENT 100.0
#define PARTS_SHOWN 3u
#define PART_LEAST 0.05 /* but for the greatest */
#define ROUNDS_UP 1e-9
#define NAMES_ROOM 300u /* of a sentence that lists names */

struct notes {
    const struct causal *causal;
    char (*texts)[CAUSAL_TEXT_MAX];
    uint32_t count;
};

#define NOTE(notes, ...)                                                       \
    snprintf((notes)->texts[(notes)->count++], CAUSAL_TEXT_MAX, __VA_ARGS__)

/* None if that is unknown: what was said of some was of another time. */
struct causal_checked causal_checked_others(const struct causal *causal)
{
    struct causal_checked others = {causal->is.checked,
                                    causal->is.contradictions};

    for (uint32_t i = 0; i < CAUSAL_ASSUMED_MAX; ++i) {
        const struct causal_checked *each = &causal->checked[i];

        if (each->checked > others.checked ||
            each->contradictions > others.contradictions)
            return (struct causal_checked){0};
        others.checked -= each->checked;
        others.contradictions -= each->contradictions;
    }
    return others;
}

uint64_t causal_experiments(const struct causal *causal)
{
    uint64_t said = causal->is_other ? 0 : causal->is.experiments;

    return said > causal->counted ? said : causal->counted;
}

static double cycles_ms(const struct causal *causal, uint64_t cycles)
{
    return causal->tsc_hz == 0
               ? 0
               : (double)cycles * MS_PER_S / (double)causal->tsc_hz;
}

static void note_accrual(struct notes *notes)
{
    const struct causal *causal = notes->causal;
    uint32_t entered = 0, learnt = 0;

    for (uint32_t i = 0; i < causal->target_numbers.count; ++i)
        if (causal->targets[i].accrual == 0)
            ++entered;
        else
            ++learnt;
    if (entered != 0)
        NOTE(notes, "targets are measured from enter to leave%s",
             learnt != 0 ? ", unless it says otherwise" : "");
}

/* Of which kind agents are; older traces do not say it. */
static void note_assumed(struct notes *notes)
{
    const struct causal *causal = notes->causal;
    uint32_t before = notes->count;

    if (causal->is.answers == 0 && !causal->is_other) {
        NOTE(notes, "assumed: nothing from outside matters; no agent answered");
        return;
    }
    for (uint32_t i = 0; i < CAUSAL_ASSUMED_MAX; ++i)
        if (causal->assumed[i] != 0)
            NOTE(notes, "assumed: %s",
                 strings_text(&causal->strings, causal->assumed[i]));
    if (notes->count == before)
        NOTE(notes, "assumed: devices and peers are of the kinds that their "
                    "agents have");
    NOTE(notes, "assumed: what answers does so also with more to do; caches "
                "work as they do now");
}

static void note_held(struct notes *notes)
{
    const struct event_causal *is = &notes->causal->is;

    NOTE(notes,
         "%" PRIu64 " events held, %" PRIu32
         " at a time; experiments slowed the guest's clock by %.0f ms in all; "
         "at least %.0f ms stolen",
         is->held, is->held_most, floor(cycles_ms(notes->causal, is->delay)),
         floor(cycles_ms(notes->causal, is->stolen)));
    if (is->drained != 0)
        NOTE(notes,
             "%" PRIu64 " times all traffic of open loops was let through",
             is->drained);
    if (is->abandoned != 0)
        NOTE(notes,
             "%" PRIu64 " experiments abandoned: too few visits, or no room "
             "for held events (%" PRIu64 " of these)",
             is->abandoned, is->refused);
}

static void note_checked(struct notes *notes,
                         const struct causal_checked *checked, const char *of)
{
    if (checked->checked != 0)
        NOTE(notes, "%" PRIu64 " of %" PRIu64 ": %s", checked->contradictions,
             checked->checked, of);
}

static void note_checked_each(struct notes *notes)
{
    const struct causal *causal = notes->causal;
    const struct causal_checked others = causal_checked_others(causal);
    uint32_t before = notes->count;

    for (uint32_t i = 0; i < CAUSAL_ASSUMED_MAX; ++i)
        if (causal->assumed[i] != 0)
            note_checked(notes, &causal->checked[i],
                         strings_text(&causal->strings, causal->assumed[i]));
    if (notes->count != before)
        note_checked(notes, &others, "other agents");
}

static void note_contradictions(struct notes *notes)
{
    const struct event_causal *is = &notes->causal->is;

    if (is->checked != 0 && is->contradictions == 0)
        NOTE(notes,
             "model check: none of %" PRIu64
             " answers came earlier than assumed possible",
             is->checked);
    else if (is->checked != 0)
        NOTE(notes,
             "model check: %" PRIu64 " of %" PRIu64
             " answers came earlier than assumed possible: its kind is wrong",
             is->contradictions, is->checked);
    note_checked_each(notes);
}

/* Why there is none. */
static void note_none(struct notes *notes)
{
    const struct causal *causal = notes->causal;

    if (causal->is.running == 0)
        NOTE(notes, "experiments were stopped before the first had ended");
    else
        NOTE(notes,
             "too short: no experiment has ended in the %.0f ms of them that "
             "the trace has",
             (double)(causal->ends - causal->began) * MS_PER_S /
                 (double)PROF_CLOCK_HZ);
}

static void note_end(struct notes *notes)
{
    const struct causal *causal = notes->causal;
    uint64_t experiments = causal_experiments(causal);

    if (causal_missing(causal) != 0)
        NOTE(notes,
             "%" PRIu64 " experiments are known by their sums only: the "
             "recording began later, or packets are missing",
             causal_missing(causal));
    if (causal->is_other)
        NOTE(notes, "the account of these experiments is missing");
    else if (experiments + causal->is.abandoned + causal->record_count == 0)
        note_none(notes);
    else if (causal->is.running != 0)
        NOTE(notes, "experiments go on");
}

static void note_shown(struct notes *notes)
{
    const struct causal *causal = notes->causal;
    uint32_t points = causal->point_numbers.count - causal_points_shown(causal),
             kinds = causal->kind_numbers.count - causal_kinds_shown(causal);

    if (points + kinds != 0)
        NOTE(notes,
             "not shown: %" PRIu32 " points of progress and %" PRIu32
             " kinds of requests, which with %" PRIu32
             " targets would have more than %u rows",
             points, kinds, causal->target_numbers.count, CAUSAL_ROWS_MAX);
}

const char *const causal_untried_reasons[CAUSAL_UNTRIED_REASONS] = {
    "nearly all of the time", "waits for work", "runs the event loop",
    "cannot be patched",      "no room",        "less than 0.5 % each",
    "no part of the program",
};

/* Those of (why): "a 1.20 %, b 0.80 %, 3 more, at most 0.60 %". */
static void append_untried(const struct causal *causal, uint8_t why, char *text,
                           size_t room)
{
    size_t used = 0;
    uint32_t cut = 0;

    for (uint32_t i = 0; i < causal->untried_count; ++i) {
        const struct causal_untried *each = &causal->untried[i];
        const char *name = strings_text(&causal->strings, each->name);
        char one[160], share[40] = "";

        if (each->why != why || each->functions == 0)
            continue;
        if (each->share > 0)
            snprintf(share, sizeof share, "%s %.2f %%",
                     *name != '\0'                ? ""
                     : why == CAUSAL_UNTRIED_COLD ? ", in all"
                                                  : ", at most",
                     causal_printed(each->share) * PER_CENT);
        if (*name != '\0')
            snprintf(one, sizeof one, "%s%s", name, share);
        else
            snprintf(one, sizeof one, "%" PRIu32 " more%s", each->functions,
                     share);
        if (cut > 0 || used + strlen(one) + 2 >= room)
            ++cut;
        else
            used += (size_t)snprintf(text + used, room - used, "%s%s",
                                     used > 0 ? ", " : "", one);
    }
    if (cut > 0)
        snprintf(text + used, CAUSAL_TEXT_MAX - room, ", and %" PRIu32 " more",
                 cut);
}

static void note_untried(struct notes *notes)
{
    char text[CAUSAL_TEXT_MAX];

    for (uint8_t why = 0; why < CAUSAL_UNTRIED_REASONS; ++why) {
        text[0] = '\0';
        append_untried(notes->causal, why, text, sizeof text - 100);
        if (text[0] != '\0')
            NOTE(notes, "not tried (%s): %.340s", causal_untried_reasons[why],
                 text);
    }
}

/* Those that no experiment was with, while there were with others. */
static void note_to_come(struct notes *notes)
{
    const struct causal *causal = notes->causal;
    char text[CAUSAL_TEXT_MAX] = "";
    size_t used = 0;
    uint32_t cut = 0;

    for (uint32_t i = 0;
         i < causal->target_numbers.count && causal->point_numbers.count != 0;
         ++i) {
        const char *name = causal_target_name(causal, i);
        struct causal_curve curve;

        causal_curve(causal, i, 0, &curve);
        if (curve.shape != CAUSAL_TO_COME)
            continue;
        if (cut > 0 || used + strlen(name) + 2 >= NAMES_ROOM)
            ++cut;
        else
            used += (size_t)snprintf(text + used, sizeof text - used, "%s%s",
                                     used > 0 ? ", " : "", name);
    }
    if (cut > 0)
        snprintf(text + used, sizeof text - used, ", and %" PRIu32 " more",
                 cut);
    if (used > 0)
        NOTE(notes, "not tried yet (others come first): %.340s", text);
}

/* ---- rates of the point that paces experiments, in the guest's words */

#define NAME "%.80s"
#define US10(us10) (us10) / TENTHS, (us10) % TENTHS

static void append_change(char *text, const struct prof_gain *gain,
                          const char *when)
{
    const uint32_t size = (uint32_t)(gain->ppm < 0 ? -gain->ppm : gain->ppm);
    const size_t used = strlen(text);

    snprintf(text + used, CAUSAL_TEXT_MAX - used, "%.2f +- %.2f %% %s than %s",
             size / PPM_PER_HUNDREDTH / 100.0,
             gain->interval_ppm / PPM_PER_HUNDREDTH / 100.0,
             gain->ppm < 0 ? "slower" : "faster", when);
}

static void note_change(struct notes *notes, const struct prof_rates *rates)
{
    char text[CAUSAL_TEXT_MAX] = "";

    append_change(text, &rates->gain[PROF_RATE_BEFORE], "before");
    if (rates->us10[PROF_RATE_AFTER] != 0) {
        strcat(text, ", and ");
        append_change(text, &rates->gain[PROF_RATE_AFTER], "after");
    }
    NOTE(notes,
         "warning: experiments change the program: at normal speed it is "
         "%.200s; gains are those of such a program",
         text);
}

static void note_rates(struct notes *notes)
{
    const struct causal *causal = notes->causal;
    struct prof_rates rates;
    char after[64] = "";

    if (!causal_rates(causal, &rates))
        return;
    if (rates.us10[PROF_RATE_AFTER] != 0)
        snprintf(after, sizeof after, ", %" PRIu64 ".%" PRIu64 " after them",
                 US10(rates.us10[PROF_RATE_AFTER]));
    NOTE(notes,
         "one " NAME " takes %" PRIu64 ".%" PRIu64
         " us before experiments, %" PRIu64 ".%" PRIu64
         " at normal speed in them%s",
         causal_point_name(causal, index_find(&causal->point_numbers, 0)),
         US10(rates.us10[PROF_RATE_BEFORE]), US10(rates.us10[PROF_RATE_DURING]),
         after);
    if (rates.changed != 0)
        note_change(notes, &rates);
}

static void note_regimes(struct notes *notes)
{
    const struct causal *causal = notes->causal;
    const struct event_causal_regimes *found = &causal->regimes;
    const uint32_t point = index_find(&causal->point_numbers, 0);
    const uint64_t shorter = prof_rate_us10(found->shorter, causal->tsc_hz),
                   longer = prof_rate_us10(found->longer, causal->tsc_hz);

    if (found->percent == 0 || point == INDEX_NONE)
        return;
    NOTE(notes,
         "progress jumps between two rates: at normal speed one " NAME
         " takes %" PRIu64 ".%" PRIu64 " us in %u %% of the experiments, and "
         "%" PRIu64 ".%" PRIu64 " in the others; gains are between those of "
         "the two",
         causal_point_name(causal, point), US10(shorter), found->percent,
         US10(longer));
}

uint32_t causal_notes(const struct causal *causal,
                      char texts[CAUSAL_NOTES_MAX][CAUSAL_TEXT_MAX])
{
    struct notes notes = {causal, texts, 0};

    note_rates(&notes);
    note_regimes(&notes);
    note_to_come(&notes);
    note_untried(&notes);
    note_accrual(&notes);
    note_assumed(&notes);
    if (!causal->is_other) {
        note_held(&notes);
        note_contradictions(&notes);
    }
    if (causal->kind_numbers.count != 0)
        NOTE(&notes, "intervals of latencies are those of requests that know "
                     "nothing of each other");
    if (causal->stolen != 0)
        NOTE(&notes, "the host took %.1f ms from the guest meanwhile",
             cycles_ms(causal, causal->stolen));
    note_end(&notes);
    note_shown(&notes);
    if (causal->unkept != 0)
        NOTE(&notes,
             "%" PRIu64 " events of the stream make no sense or are beyond a "
             "limit",
             causal->unkept);
    return notes.count;
}

/* ---- what results mean */

/* What most of the time goes to at the greatest speed-up, and what else much
 * does, as the guest's table has it. */
static void append_limit(const struct causal *causal,
                         const struct causal_curve *curve, char *text)
{
    uint32_t numbers[CAUSAL_SPEEDUPS_MAX];
    uint32_t count = causal_speedups(causal, numbers);
    struct causal_part parts[CAUSAL_PARTS_MAX];

    if (count == 0 || curve->shape == CAUSAL_NOT_CALLED)
        return;
    count = causal_parts(causal, curve->target, numbers[count - 1], parts);
    for (uint32_t i = 0; i < count && i < PARTS_SHOWN; ++i) {
        char name[CAUSAL_TEXT_MAX];
        size_t used = strlen(text);

        if (i != 0 && parts[i].part < PART_LEAST)
            break;
        snprintf(text + used, CAUSAL_TEXT_MAX - used, "%s%.0f %% %s%s",
                 i == 0 ? "; what remains is " : ", ",
                 floor(PER_CENT * parts[i].part + ROUNDS_UP),
                 parts[i].kind == CAUSAL_CPU ? "" : "waiting for ",
                 causal_part_name(&parts[i], name));
    }
}

/* How its time is known, if not from enter to leave. */
static void append_accrual(const struct causal *causal,
                           const struct causal_curve *curve, char *text)
{
    const struct causal_target *target = &causal->targets[curve->target];
    size_t used = strlen(text);

    char all[32] = "";

    if (target->accrual == 0)
        return;
    if (causal->learnt != 0)
        snprintf(all, sizeof all, " of %" PRIu64, causal->learnt);
    snprintf(text + used, CAUSAL_TEXT_MAX - used,
             "; measured by its share of handlers: %" PRIu64
             "%s samples were in it",
             target->visits, all);
}

const char *causal_explain(const struct causal *causal,
                           const struct causal_curve *curve, char *text)
{
    causal_verdict(curve, text);
    append_limit(causal, curve, text);
    append_accrual(causal, curve, text);
    return text;
}
