/* SPDX-License-Identifier: Apache-2.0 */
/* What results mean, in sentences. */

#include "causal/causal.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#define PER_CENT 100.0

/* The last value that is known; the shape says that there is one. */
static const struct causal_value *last_of(const struct causal_curve *curve)
{
    uint32_t i = curve->count;

    while (i > 1 && !curve->values[i - 1].known)
        --i;
    return &curve->values[i - 1];
}

static double gain_at(const struct causal_curve *curve, double speedup)
{
    for (uint32_t i = 0; i < curve->count; ++i)
        if (curve->values[i].known && curve->values[i].speedup == speedup)
            return curve->values[i].gain;
    return 0;
}

/* What most of the time goes to at the greatest speed-up. */
static void append_limit(const struct causal *causal,
                         const struct causal_curve *curve, char *text)
{
    uint32_t numbers[CAUSAL_SPEEDUPS_MAX];
    uint32_t count = causal_speedups(causal, numbers);
    size_t used = strlen(text);
    const char *word;
    double part;

    if (count == 0 || curve->shape == CAUSAL_NOT_CALLED)
        return;
    word = causal_limited_by(causal, curve->target, numbers[count - 1], &part);
    if (word != NULL)
        snprintf(text + used, CAUSAL_TEXT_MAX - used,
                 "; then %.0f %% of the time is %s", floor(PER_CENT * part),
                 word);
}

/* How its time is known, if not from enter to leave. */
static void append_accrual(const struct causal *causal,
                           const struct causal_curve *curve, char *text)
{
    const struct causal_target *target = &causal->targets[curve->target];
    size_t used = strlen(text);

    if (target->accrual != 0)
        snprintf(text + used, CAUSAL_TEXT_MAX - used,
                 "; measured by its share of handlers: %" PRIu64
                 " samples in it",
                 target->visits);
}

const char *causal_explain(const struct causal *causal,
                           const struct causal_curve *curve, char *text)
{
    static const char *const plain[CAUSAL_SHAPES] = {
        [CAUSAL_NOT_CALLED] = "it was never called",
        [CAUSAL_TOO_FEW] = "too few visits to say anything",
        [CAUSAL_NOT_REACHED] = "the point was never reached",
        [CAUSAL_TOO_MUCH] = "too much traffic was held, which ended "
                            "experiments",
        [CAUSAL_UNSURE] = "the interval is too wide to say: more experiments "
                          "are needed",
        [CAUSAL_NOTHING] = "limited by something else: a device, a peer, a "
                           "timer, or when work arrives",
        [CAUSAL_WHOLE] = "limited by the CPU: all of its time counts",
        [CAUSAL_MORE] = "more than its own time: what it delays gets shorter "
                        "too",
        [CAUSAL_HARMS] = "it makes this longer: work is done in other "
                         "batches, or more often",
    };
    double share = causal_share(causal, curve->target);

    if (curve->shape == CAUSAL_BENDS)
        snprintf(text, CAUSAL_TEXT_MAX,
                 "beyond %.0f %% faster something else is the limit: it gains "
                 "%.1f %% there",
                 PER_CENT * curve->bend,
                 PER_CENT * gain_at(curve, curve->bend));
    else if (curve->shape == CAUSAL_PART && share > 0)
        snprintf(text, CAUSAL_TEXT_MAX,
                 "limited by the CPU in part: %.0f %% of its time counts, the "
                 "rest passes while something else is waited for",
                 PER_CENT * last_of(curve)->gain /
                     (share * last_of(curve)->speedup));
    else
        snprintf(text, CAUSAL_TEXT_MAX, "%s",
                 curve->shape == CAUSAL_PART ? "some of its time counts"
                                             : plain[curve->shape]);
    append_limit(causal, curve, text);
    append_accrual(causal, curve, text);
    return text;
}

static double ms(const struct causal *causal, uint64_t cycles)
{
    return causal->tsc_hz == 0 ? 0
                               : (double)cycles * 1e3 / (double)causal->tsc_hz;
}

#define NOTE(...) snprintf(notes[count++], CAUSAL_TEXT_MAX, __VA_ARGS__)

uint32_t causal_notes(const struct causal *causal,
                      char notes[CAUSAL_NOTES_MAX][CAUSAL_TEXT_MAX])
{
    const struct event_causal *is = &causal->is;
    uint32_t count = 0;

    NOTE(is->answers == 0
             ? "assumed: nothing from outside matters; no agent answered"
             : "assumed: devices and peers are of the kind that their agents "
               "say, "
               "also with more to do; caches work as they do now");
    NOTE("%" PRIu64 " events held, %" PRIu32
         " at a time; virtual time lags by %.0f ms; %.0f ms stolen at least",
         is->held, is->held_most, floor(ms(causal, is->delay)),
         floor(ms(causal, is->stolen)));
    if (is->drained != 0)
        NOTE("%" PRIu64 " times all traffic of open loops was let through",
             is->drained);
    if (is->abandoned != 0)
        NOTE("%" PRIu64 " experiments abandoned: too few visits, or no room "
             "for held events (%" PRIu64 " of these)",
             is->abandoned, is->refused);
    if (is->checked != 0)
        NOTE("%" PRIu64 " of %" PRIu64 " answers at normal speed came before "
             "an agent of their kind can have sent them%s",
             is->contradictions, is->checked,
             is->contradictions != 0 ? ": its kind is wrong" : "");
    if (causal->kind_count != 0)
        NOTE("intervals of latencies are those of requests that know nothing "
             "of each other");
    if (causal->stolen != 0)
        NOTE("the host took %.1f ms from the guest meanwhile",
             ms(causal, causal->stolen));
    if (causal_missing(causal) != 0)
        NOTE("%" PRIu64 " experiments are known by their sums only: the "
             "recording began later, or packets are missing",
             causal_missing(causal));
    if (is->running != 0)
        NOTE("experiments go on");
    if (causal->unkept != 0)
        NOTE("%" PRIu64 " events of the stream make no sense or are beyond a "
             "limit",
             causal->unkept);
    return count;
}
