/* SPDX-License-Identifier: Apache-2.0 */
/* What the row of a curve says, in a sentence that the row does not contradict.
 * It is derived from the figures as they are printed, with their intervals. A
 * gain is known if its interval is all on one side of nothing. */

#include "causal/causal.h"

#include <math.h>
#include <string.h>

#define PER_CENT 100.0
#define NEARLY 0.9   /* of what was saved: as good as all of it */
#define BENT 0.5     /* of the slope before */
#define FLAT 0.1     /* of what the slope before would add: nothing more */
#define PRINTED 1e-4 /* the unit of printed figures */
#define ROUNDS_UP 1e-6
#define SURELY (PRINTED / 2) /* more, as far as is printed */

double causal_printed(double part)
{
    double size = floor(fabs(part) / PRINTED + 0.5 + ROUNDS_UP) * PRINTED;

    return part < 0 ? -size : size;
}

/* The known values of a row as they are printed, the least speed-up first. */
struct row {
    double share; /* negative: unknown */
    uint32_t count;
    struct causal_value values[CAUSAL_SPEEDUPS_MAX];
};

static struct row row_of(const struct causal_curve *curve)
{
    struct row row = {.share = curve->share};

    if (row.share > 0)
        row.share = causal_printed(row.share);
    for (uint32_t i = 0; i < curve->count; ++i) {
        struct causal_value *value = &row.values[row.count];

        if (!curve->values[i].known || curve->values[i].speedup <= 0)
            continue;
        *value = curve->values[i];
        value->gain = causal_printed(value->gain);
        value->interval = causal_printed(value->interval);
        ++row.count;
    }
    return row;
}

static bool gains(const struct causal_value *value)
{
    return value->gain - value->interval > SURELY;
}

static bool loses(const struct causal_value *value)
{
    return -value->gain - value->interval > SURELY;
}

/* What the target would save by itself. */
static double saved(const struct row *row, const struct causal_value *value)
{
    return row->share * value->speedup;
}

static double first_slope(const struct row *row)
{
    return row->values[0].gain / row->values[0].speedup;
}

/* Whether all that follows (bend) is less than the first slope would make it,
 * and the mean one until there. */
static bool stays_below(const struct row *row, const struct causal_value *bend)
{
    double slope = fmin(first_slope(row), bend->gain / bend->speedup);

    for (const struct causal_value *value = bend + 1;
         value < row->values + row->count; ++value)
        if (value->gain - bend->gain >=
            slope * (value->speedup - bend->speedup))
            return false;
    return true;
}

/* The value after which the slope is less than half of the first, or NULL. */
static const struct causal_value *bend_of(const struct row *row)
{
    for (uint32_t i = 1; i < row->count; ++i) {
        const struct causal_value *before = &row->values[i - 1],
                                  *value = &row->values[i];
        double more = value->gain - before->gain,
               wanted = first_slope(row) * (value->speedup - before->speedup);

        if (gains(before) && more < BENT * wanted &&
            wanted - more > value->interval + before->interval)
            return stays_below(row, before) ? before : NULL;
    }
    return NULL;
}

static enum causal_shape after_bend(const struct row *row,
                                    const struct causal_value *bend)
{
    const struct causal_value *last = &row->values[row->count - 1];
    enum causal_shape shape = CAUSAL_BENDS;

    if (bend->gain - last->gain > bend->interval + last->interval)
        return CAUSAL_FALLS;
    for (const struct causal_value *value = bend + 1; value <= last; ++value)
        if (value->gain - bend->gain >
            FLAT * first_slope(row) * (value->speedup - bend->speedup))
            shape = CAUSAL_LESSENS;
    return shape;
}

static const struct causal_value *last_gain(const struct row *row)
{
    const struct causal_value *last = NULL;

    for (uint32_t i = 0; i < row->count; ++i)
        if (gains(&row->values[i]))
            last = &row->values[i];
    return last;
}

/* The value at which a part of what is saved counts that differs most from that
 * at (last); NULL: it is the same part everywhere. */
static const struct causal_value *uneven(const struct row *row,
                                         const struct causal_value *last)
{
    const struct causal_value *found = NULL;
    double most = 0;

    for (const struct causal_value *value = row->values; value < last;
         ++value) {
        double part = value->speedup / last->speedup;
        double far = fabs(value->gain - last->gain * part) - value->interval -
                     last->interval * part;

        if (far <= most)
            continue;
        most = far;
        found = value;
    }
    return found;
}

static bool exceeds_share(const struct row *row)
{
    for (uint32_t i = 0; i < row->count && row->share >= 0; ++i)
        if (row->values[i].gain - row->values[i].interval - row->share > SURELY)
            return true;
    return false;
}

static enum causal_shape straight(const struct row *row,
                                  const struct causal_value *last)
{
    double whole = saved(row, last);

    if (uneven(row, last) != NULL)
        return CAUSAL_UNEVEN;
    if (row->share < 0)
        return CAUSAL_PART;
    if (exceeds_share(row) || last->gain - last->interval > whole / NEARLY)
        return CAUSAL_MORE;
    return last->gain + last->interval >= NEARLY * whole ? CAUSAL_WHOLE
                                                         : CAUSAL_PART;
}

static enum causal_shape without_gain(const struct row *row)
{
    const struct causal_value *last = &row->values[row->count - 1];

    return row->share >= 0 &&
                   last->gain + last->interval >= NEARLY * saved(row, last)
               ? CAUSAL_UNSURE
               : CAUSAL_NOTHING;
}

void causal_judge(struct causal_curve *curve)
{
    const struct row row = row_of(curve);
    const struct causal_value *bend;
    bool any_loss = false;

    curve->bend = 0;
    if (row.count == 0)
        return;
    for (uint32_t i = 0; i < row.count; ++i)
        any_loss = any_loss || loses(&row.values[i]);
    if (last_gain(&row) == NULL) {
        curve->shape = any_loss ? CAUSAL_HARMS : without_gain(&row);
        return;
    }
    if (any_loss) {
        curve->shape = CAUSAL_MIXED;
        return;
    }
    bend = bend_of(&row);
    curve->shape =
        bend == NULL ? straight(&row, last_gain(&row)) : after_bend(&row, bend);
    if (bend != NULL)
        curve->bend = bend->speedup;
}

/* ---- in words */

static const struct causal_value *value_at(const struct row *row,
                                           double speedup)
{
    const struct causal_value *value = row->values;

    while (value->speedup < speedup && value < row->values + row->count - 1)
        ++value;
    return value;
}

/* The value that gains, or (sign) -1 loses, most for its interval. */
static const struct causal_value *surest(const struct row *row, double sign)
{
    const struct causal_value *found = &row->values[0];

    for (uint32_t i = 1; i < row->count; ++i)
        if (sign * row->values[i].gain - row->values[i].interval >
            sign * found->gain - found->interval)
            found = &row->values[i];
    return found;
}

static void put_bend(const struct row *row, double speedup, const char *what,
                     char *text)
{
    const struct causal_value *bend = value_at(row, speedup),
                              *last = &row->values[row->count - 1];

    snprintf(text, CAUSAL_TEXT_MAX,
             "beyond %.0f %% faster %s: %.1f %% there, %.1f %% at %.0f %%",
             PER_CENT * bend->speedup, what, PER_CENT * bend->gain,
             PER_CENT * last->gain, PER_CENT * last->speedup);
}

/* The part that counts of what is saved. */
static double counts(const struct row *row, const struct causal_value *value)
{
    return PER_CENT * value->gain / saved(row, value);
}

static void put_uneven(const struct row *row, char *text)
{
    const struct causal_value *last = last_gain(row),
                              *other = uneven(row, last);

    if (row->share > 0)
        snprintf(text, CAUSAL_TEXT_MAX,
                 "of what it saves %.0f %% counts at %.0f %% faster, %.0f %% "
                 "at %.0f %%",
                 counts(row, other), PER_CENT * other->speedup,
                 counts(row, last), PER_CENT * last->speedup);
    else
        snprintf(text, CAUSAL_TEXT_MAX,
                 "it gains %.1f %% at %.0f %% faster, %.1f %% at %.0f %%",
                 PER_CENT * other->gain, PER_CENT * other->speedup,
                 PER_CENT * last->gain, PER_CENT * last->speedup);
}

static void put_mixed(const struct row *row, char *text)
{
    const struct causal_value *gain = surest(row, 1), *loss = surest(row, -1);

    snprintf(text, CAUSAL_TEXT_MAX,
             "%.1f %% are gained at %.0f %% faster, and %.1f %% lost at %.0f "
             "%%: work is done in other batches, or more often",
             PER_CENT * gain->gain, PER_CENT * gain->speedup,
             -PER_CENT * loss->gain, PER_CENT * loss->speedup);
}

static void put_harm(const struct row *row, char *text)
{
    const struct causal_value *loss = surest(row, -1);

    snprintf(text, CAUSAL_TEXT_MAX,
             "it makes this longer, by %.1f %% at %.0f %% faster: work is "
             "done in other batches, or more often",
             -PER_CENT * loss->gain, PER_CENT * loss->speedup);
}

static void put_more(const struct row *row, char *text)
{
    const struct causal_value *last = last_gain(row);

    snprintf(text, CAUSAL_TEXT_MAX,
             "%.0f %% faster it saves %.1f %% of the time and gains %.1f %%",
             PER_CENT * last->speedup, PER_CENT * saved(row, last),
             PER_CENT * last->gain);
}

#define UNTIL_LEAST 1.0 /* per cent: what prof.causal_until= takes */
#define UNTIL_MOST 19.0

/* So many at least, in two digits. */
static double two_digits(double count)
{
    double unit = 1;

    while (count / unit > 100)
        unit *= 10;
    return ceil(count / unit) * unit;
}

/* The interval is to be so narrow that either nothing or all of what is saved
 * is out of it. It is as wide as one over the root of the experiments.
 * prof.causal_until= is about the first point, and never below UNTIL_LEAST. */
static void put_unsure(const struct row *row, const struct causal_curve *curve,
                       char *text)
{
    const struct causal_value *last = &row->values[row->count - 1];
    double wanted = NEARLY * saved(row, last) / 2;
    double ratio = last->interval / wanted;
    double until = floor(PER_CENT * wanted);
    size_t used;

    snprintf(text, CAUSAL_TEXT_MAX,
             "the interval is too wide to say: more experiments are needed");
    if (curve->experiments == 0 || wanted < PRINTED || ratio <= 1)
        return;
    used = strlen(text);
    snprintf(text + used, CAUSAL_TEXT_MAX - used,
             ", some %.0f of this target: ",
             two_digits((double)curve->experiments * (ratio * ratio - 1)));
    used = strlen(text);
    if (curve->point == 0 && until >= UNTIL_LEAST)
        snprintf(text + used, CAUSAL_TEXT_MAX - used,
                 "prof.causal_until=%.0f%% goes on until then",
                 fmin(until, UNTIL_MOST));
    else
        snprintf(text + used, CAUSAL_TEXT_MAX - used,
                 "give prof.causal_for= a longer time");
}

void causal_verdict(const struct causal_curve *curve, char *text)
{
    static const char *const plain[CAUSAL_SHAPES] = {
        [CAUSAL_NOT_CALLED] = "it was never called",
        [CAUSAL_TOO_FEW] = "too few visits to say anything",
        [CAUSAL_TO_COME] = "not tried yet",
        [CAUSAL_NOT_REACHED] = "the point was never reached",
        [CAUSAL_TOO_MUCH] = "too much traffic was held, which ended "
                            "experiments",
        [CAUSAL_NOTHING] = "nothing is gained: what is counted waits for "
                           "something else",
        [CAUSAL_WHOLE] = "all of its time counts",
        [CAUSAL_PART] = "some of its time counts",
    };
    const struct row row = row_of(curve);
    size_t used;

    if (plain[curve->shape] != NULL)
        snprintf(text, CAUSAL_TEXT_MAX, "%s", plain[curve->shape]);
    if (curve->shape == CAUSAL_UNSURE)
        put_unsure(&row, curve, text);
    else if (curve->shape == CAUSAL_BENDS)
        put_bend(&row, curve->bend, "something else is the limit", text);
    else if (curve->shape == CAUSAL_LESSENS)
        put_bend(&row, curve->bend, "each further per cent gains less", text);
    else if (curve->shape == CAUSAL_FALLS)
        put_bend(&row, curve->bend, "it gains less again", text);
    else if (curve->shape == CAUSAL_UNEVEN)
        put_uneven(&row, text);
    else if (curve->shape == CAUSAL_MIXED)
        put_mixed(&row, text);
    else if (curve->shape == CAUSAL_HARMS)
        put_harm(&row, text);
    else if (curve->shape == CAUSAL_MORE)
        put_more(&row, text);
    else if (curve->shape == CAUSAL_PART && row.share > 0)
        snprintf(text, CAUSAL_TEXT_MAX,
                 "%.0f %% of its time counts, the rest delays nothing that is "
                 "counted",
                 counts(&row, last_gain(&row)));
    used = strlen(text);
    if (curve->shape == CAUSAL_MORE || (curve->bend > 0 && exceeds_share(&row)))
        snprintf(text + used, CAUSAL_TEXT_MAX - used,
                 "%s: what it delays gets "
                 "shorter too",
                 exceeds_share(&row) ? ", which is more than its own time"
                                     : "");
}
