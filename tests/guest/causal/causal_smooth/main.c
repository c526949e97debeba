/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Targets that are not entered and left but learnt from samples: predictions by
 * their shares of handlers, beside the truth, as causal_truth has them by
 * entry. QEMU counts instructions, so all figures repeat.
 */

#include "guest/tap.h"

#include "causal/truth.h"

#include <prof/prof.h>

#define ERROR_MAX 200 /* of the gain: 1/100 percentage points */

static bool computes(unsigned work)
{
    return works[work].what == PART_F || works[work].what == PART_G;
}

/* Of fewer requests there are fewer samples. */
static int bound(void)
{
    return visits >= VISITS_ENOUGH ? ERROR_MAX : 2 * ERROR_MAX;
}

/* While samples are taken. */
static double period(unsigned work, uint32_t speedup)
{
    double found;

    prof_start();
    found = run(work, SMOOTHLY, speedup).period;
    prof_stop();
    return found;
}

static void compare(unsigned work, uint32_t percent, double normal,
                    double sampled)
{
    uint32_t speedup = PROF_ONE / 100 * percent;
    int truth = gain(normal, run(work, REALLY, speedup).period);
    int smooth = gain(sampled, period(work, speedup));
    char texts[3][16], what[80];

    tap_note("%-19s %-8s %3u %8s %8s %7s", works[work].program->name,
             faster[works[work].what], (unsigned)percent, text(truth, texts[0]),
             text(smooth, texts[1]), text(smooth - truth, texts[2]));
    tap_ok(abs(smooth - truth) <= bound(),
           check_name(work, percent, "by samples", what));
}

bool service_option(const char *key, const char *value)
{
    return truth_option(key, value);
}

static unsigned checks(void)
{
    unsigned count = 1;

    for (unsigned i = first; i < last; i++)
        count += computes(i) ? speedups : 0;
    return count;
}

int service_main(void)
{
    prof_causal_add_progress(&visit);
    prof_causal_add_target(&part_f);
    tap_plan(checks());
    tap_is_equal(
        prof_causal_add_function(SMOOTH_PART, PROF_CAUSAL_TARGET_SAMPLES), 0,
        "a function is learnt from samples");
    tap_note("%-19s %-8s %3s %8s %8s %7s", "program", "faster", "%", "truth",
             "smooth", "error");
    for (unsigned i = first; i < last; i++) {
        double normal, sampled;

        if (!computes(i))
            continue;
        normal = run(i, REALLY, 0).period;
        sampled = period(i, 0);
        for (unsigned j = 0; j < speedups; j++)
            compare(i, truth_percent[j], normal, sampled);
    }
    return tap_end();
}
