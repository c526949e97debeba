/* SPDX-License-Identifier: Apache-2.0 */
/* What results mean, in sentences. */

#include "causal/causal.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#define PER_CENT 100.0

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
                 "; what remains is %.0f %% %s%s", floor(PER_CENT * part),
                 strcmp(word, "CPU") == 0 ? "" : "waiting for ", word);
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
