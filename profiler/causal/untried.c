/* SPDX-License-Identifier: Apache-2.0 */
#include "causal/untried.h"

#include "base/alloc.h"
#include "causal/causal.h"

#define PPM_PER_HUNDREDTH 100u /* of a per cent */

static const char *const reasons[] = {
    [PROF_UNTRIED_MOST] = "it has nearly all of the time",
    [PROF_UNTRIED_WAITS] = "it waits for work",
    [PROF_UNTRIED_LOOP] = "it runs the event loop",
    [PROF_UNTRIED_REFUSED] = "it cannot be patched",
    [PROF_UNTRIED_ROOM] = "there is no room",
    [PROF_UNTRIED_COLD] = "less than 0.5 % each",
    [PROF_UNTRIED_APART] = "it is no part of the program",
};

/* The rows after those that have names are sums, by reason. */
static struct {
    struct prof_untried *rows;
    uint32_t count;
} all;

#define ROWS (PROF_UNTRIED_KEPT + PROF_UNTRIED_NOT)

void prof_untried_clear(void)
{
    all.count = 0;
}

static bool is_sum(const struct prof_untried *untried)
{
    return untried->name[0] == '\0';
}

void prof_untried_add(const struct prof_untried *untried)
{
    uint32_t at = 0;

    if (all.rows == NULL)
        all.rows = prof_alloc(ROWS * sizeof *all.rows);
    if (all.rows == NULL)
        return;
    if (all.count < PROF_UNTRIED_KEPT) {
        all.rows[all.count++] = *untried;
        return;
    }
    while (at < all.count &&
           (!is_sum(&all.rows[at]) || all.rows[at].why != untried->why))
        at++;
    if (at == all.count)
        all.rows[all.count++] = (struct prof_untried){.why = untried->why};
    all.rows[at].functions += untried->functions;
    if (untried->ppm > all.rows[at].ppm)
        all.rows[at].ppm = untried->ppm;
}

const struct prof_untried *prof_untried_at(uint32_t number)
{
    return number < all.count ? &all.rows[number] : NULL;
}

void prof_untried_give_up(void)
{
    struct prof_untried untried = {.why = PROF_UNTRIED_ROOM, .functions = 1};
    struct prof_target *last = prof_causal.targets;

    for (uint32_t i = 0; i + 1 < sizeof untried.name && last->name[i] != '\0';
         i++)
        untried.name[i] = last->name[i];
    prof_causal.targets = last->next;
    last->number = 0;
    prof_patch_no_target(last);
    prof_untried_add(&untried);
}

static void write_share(struct prof_text *out, const char *before, uint32_t ppm,
                        const char *after)
{
    if (ppm != 0)
        prof_text_format(out, "%s%.2u %% of the time%s", before,
                         ppm / PPM_PER_HUNDREDTH, after);
}

void prof_untried_write(struct prof_text *out)
{
    for (uint32_t i = 0; i < all.count; i++) {
        const struct prof_untried *each = &all.rows[i];
        const bool cold = each->why == PROF_UNTRIED_COLD;

        prof_text_string(out, "not tried: ");
        if (is_sum(each))
            prof_text_format(out, "%u more %s: ", each->functions,
                             each->functions == 1 ? "function" : "functions");
        else
            prof_text_format(out, "%s: ", each->name);
        write_share(out, is_sum(each) && !cold ? "at most " : "", each->ppm,
                    cold ? " in all, " : ", ");
        prof_text_format(out, "%s\n", reasons[each->why]);
    }
}
