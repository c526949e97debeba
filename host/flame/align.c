/* SPDX-License-Identifier: Apache-2.0 */
/* One clock for both sides: limits that are made as narrow as they can be. */

#include "flame/align.h"

#include "base/memory.h"

#include <math.h>
#include <stdlib.h>

#define MARKS_LEAST 3u
#define REFUSED_SHARE 0.02 /* with more of the marks they are of two runs */
#define JUMPS_SHARE 0.02   /* with more of the marks the slack is too small */

static const double slacks[] = {0.0005, 0.001, 0.002, 0.005, 0.01,
                                0.02,   0.05,  0.1,   0.2,   0.4};
#define SLACKS (sizeof slacks / sizeof slacks[0])

/* How far the clock inside may get in (span) outside. */
static double least_step(const struct align *align, double span)
{
    return align->slack < 1 ? align->rate * (1 - align->slack) * span : 0;
}

static double most_step(const struct align *align, double span)
{
    return align->slack < 1 ? align->rate * (1 + align->slack) * span
                            : ALIGN_UNLIMITED;
}

/* Neither clock ever runs back. */
static void copy_marks(struct align *align, const struct align_mark *marks,
                       size_t count)
{
    double last = -INFINITY;

    align->marks = xreallocarray(NULL, count + 1, sizeof *marks);
    align->jumps = xreallocarray(NULL, count + 1, sizeof *align->jumps);
    for (size_t i = 0; i < count; ++i) {
        if (marks[i].least < last || marks[i].most < marks[i].least) {
            ++align->refused;
            continue;
        }
        last = marks[i].least;
        align->marks[align->count++] = marks[i];
    }
}

/* From the first sample inside to the last one that was seen to be new. */
static bool find_rate(struct align *align)
{
    const struct align_mark *first = &align->marks[0], *last = first;

    for (size_t i = 1; i < align->count; ++i)
        if (align->marks[i].least > align->marks[i - 1].least)
            last = &align->marks[i];
    if (last->outside <= first->outside || last->least <= first->least)
        return false;
    align->rate =
        (last->least - first->least) / (last->outside - first->outside);
    return true;
}

/* Narrows (mark), which comes (span) after (before); false if nothing is left
 * between its limits. */
static bool narrow(const struct align *align, struct align_mark *mark,
                   const struct align_mark *before)
{
    double span = mark->outside - before->outside;
    double least = fmax(mark->least, before->least + least_step(align, span));
    double most = fmin(mark->most, before->most + most_step(align, span));

    if (least > most)
        return false;
    mark->least = least;
    mark->most = most;
    return true;
}

/* Narrows from the first mark on; where the slack does not suffice, the clock
 * jumps. */
static void forth(struct align *align)
{
    align->jumped = 0;
    for (size_t i = 1; i < align->count; ++i) {
        struct align_mark *mark = &align->marks[i];

        align->jumps[i] = !narrow(align, mark, mark - 1);
        align->jumped += align->jumps[i];
        if (align->jumps[i]) /* but not back in time */
            mark->least = fmax(mark->least, mark[-1].least);
    }
}

/* Narrows from the last mark back. */
static void back(struct align *align)
{
    for (size_t i = align->count; i-- > 1;) {
        const struct align_mark *after = &align->marks[i];
        struct align_mark *mark = &align->marks[i - 1];
        double span = after->outside - mark->outside;

        mark->most =
            fmin(mark->most, align->jumps[i]
                                 ? after->most
                                 : after->most - least_step(align, span));
        if (!align->jumps[i])
            mark->least =
                fmax(mark->least, after->least - most_step(align, span));
    }
}

/* How many jumps there are with (slack). */
static size_t count_jumps(const struct align *align, double slack)
{
    struct align trial = *align;
    size_t jumps = 0;

    trial.slack = slack;
    trial.marks = xreallocarray(NULL, align->count, sizeof *trial.marks);
    for (size_t i = 0; i < align->count; ++i) {
        trial.marks[i] = align->marks[i];
        jumps += i > 0 && !narrow(&trial, &trial.marks[i], &trial.marks[i - 1]);
    }
    free(trial.marks);
    return jumps;
}

static double find_slack(const struct align *align)
{
    for (size_t i = 0; i < SLACKS; ++i)
        if ((double)count_jumps(align, slacks[i]) <=
            JUMPS_SHARE * (double)align->count)
            return 2 * slacks[i];
    return ALIGN_UNLIMITED;
}

bool align_fit(struct align *align, const struct align_mark *marks,
               size_t count)
{
    *align = (struct align){0};
    copy_marks(align, marks, count);
    if (align->count < MARKS_LEAST ||
        (double)align->refused > REFUSED_SHARE * (double)count ||
        !find_rate(align))
        return false;
    align->slack = find_slack(align);
    forth(align);
    back(align);
    return true;
}

/* The limits at (outside), (span) from (mark), which is the nearest one. */
static double beyond(const struct align *align, const struct align_mark *mark,
                     double span, double *error)
{
    double slack = align->slack < 1 ? align->slack : 1;
    double most = isinf(mark->most) ? mark->least : mark->most;

    *error = (most - mark->least) / 2 + slack * align->rate * fabs(span);
    return (mark->least + most) / 2 + align->rate * span;
}

/* Between two readings of which nothing limits the rate. */
static double anywhere(const struct align_mark *left,
                       const struct align_mark *right, double *error)
{
    double most = isinf(right->most) ? right->least : right->most;

    *error = (most - left->least) / 2;
    return (left->least + most) / 2;
}

double align_at(const struct align *align, double outside, double *error)
{
    const struct align_mark *marks = align->marks, *left, *right;
    size_t low = 0, high = align->count;
    double part, errors[2], at[2];

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (marks[middle].outside <= outside)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0)
        return beyond(align, marks, outside - marks[0].outside, error);
    left = &marks[low - 1];
    if (low == align->count || isinf(marks[low].most))
        return beyond(align, left, outside - left->outside, error);
    right = &marks[low];
    if (outside > left->outside && (align->jumps[low] || align->slack >= 1))
        return anywhere(left, right, error);
    part = (outside - left->outside) / (right->outside - left->outside);
    at[0] = beyond(align, left, 0, &errors[0]);
    at[1] = beyond(align, right, 0, &errors[1]);
    *error = errors[0] + part * (errors[1] - errors[0]);
    return at[0] + part * (at[1] - at[0]);
}

void align_free(struct align *align)
{
    free(align->marks);
    free(align->jumps);
    *align = (struct align){0};
}
