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
