/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The end of a causal profile: latencies, and what all figures rest on.
 */

#include "causal/report.h"

#include "base/cpu.h"
#include "causal/shares.h"

#include <prof/error.h>

#define US_PER_S 1000000u
#define MS_PER_S 1000u
#define NAME_COLUMNS 28u
#define COLUMNS 20u

/* ---- latencies */

static void write_us(struct prof_text *out, uint64_t cycles, unsigned width)
{
    uint32_t per_us = (uint32_t)prof_divide(prof_causal.tsc_hz, US_PER_S);

    prof_text_fixed(out, prof_divide(cycles * 10, per_us == 0 ? 1 : per_us),
                    width, 10);
}

static void write_latency_row(struct prof_text *out,
                              const struct prof_latency *latency,
                              const struct prof_target *target)
{
    prof_text_string(out, "  ");
    prof_text_string(out, target->name);
    for (uint32_t i = 0; i < prof_causal.experiments.settings.speedups; i++) {
        struct prof_quantiles found;

        if (prof_causal_quantiles(target, i == 0 ? PROF_NORMAL_SPEED : i - 1,
                                  latency, &found) != 0)
            continue;
        prof_text_column(out, NAME_COLUMNS + i * COLUMNS);
        write_us(out, found.p50, 8);
        prof_text_string(out, " ");
        write_us(out, found.p99, 8);
    }
    prof_text_char(out, '\n');
}

static void write_latency(struct prof_text *out,
                          const struct prof_latency *latency)
{
    const struct prof_experiments *all = &prof_causal.experiments;

    prof_text_string(out, "latency of ");
    prof_text_string(out, latency->name);
    prof_text_string(out, ", us: half are below, 99 % are below\n  target");
    for (uint32_t i = 0; i < all->settings.speedups; i++) {
        uint32_t share = all->settings.speedup[i];

        prof_text_column(out, NAME_COLUMNS + i * COLUMNS);
        prof_text_decimal(out, (share * 100 + PROF_ONE / 2) / PROF_ONE, 8);
        prof_text_string(out, " %");
    }
    prof_text_char(out, '\n');
    for (const struct prof_target *target = prof_causal_targets();
         target != NULL; target = target->next)
        write_latency_row(out, latency, target);
}

void prof_causal_write_latencies(struct prof_text *out)
{
    for (const struct prof_latency *each = prof_causal_latencies();
         each != NULL && each->number <= prof_causal.kinds; each = each->next)
        write_latency(out, each);
}

/* ---- what they rest on */

static void write_ms(struct prof_text *out, uint64_t cycles)
{
    uint32_t per_ms = (uint32_t)prof_divide(prof_causal.tsc_hz, MS_PER_S);

    prof_text_decimal(out, prof_divide(cycles, per_ms == 0 ? 1 : per_ms), 0);
    prof_text_string(out, " ms");
}

static void write_held(struct prof_text *out)
{
    prof_text_decimal(out, prof_causal.held.held, 0);
    prof_text_string(out, " events held, ");
    prof_text_decimal(out, prof_causal.held.used, 0);
    prof_text_string(out, " at a time; virtual time lags by ");
    write_ms(out, prof_causal.clock.delay - prof_causal.own);
    prof_text_string(out, "; ");
    write_ms(out, prof_causal.stolen);
    prof_text_string(out, " stolen at least\n");
    if (prof_causal.drained != 0) {
        prof_text_decimal(out, prof_causal.drained, 0);
        prof_text_string(out, " times all traffic of open loops was let "
                              "through\n");
    }
}

static void write_abandoned(struct prof_text *out)
{
    const struct prof_experiments *all = &prof_causal.experiments;

    if (all->abandoned == 0)
        return;
    prof_text_decimal(out, all->abandoned, 0);
    prof_text_string(out, " experiments abandoned: ");
    prof_text_decimal(out, prof_causal.refused, 0);
    prof_text_string(out, " for want of room for held events, others for too "
                          "few visits of ");
    prof_text_string(out, prof_causal_points()->name);
    prof_text_char(out, '\n');
}

static struct prof_assumption *assumptions;

const struct prof_assumption *prof_causal_assumptions(void)
{
    return assumptions;
}

void prof_causal_assume(struct prof_assumption *assumption)
{
    struct prof_assumption **end = &assumptions;

    if (assumption->added)
        return;
    assumption->added = true;
    assumption->next = NULL;
    while (*end != NULL)
        end = &(*end)->next;
    *end = assumption;
}

void prof_causal_assumptions_begin(void)
{
    for (struct prof_assumption *each = assumptions; each != NULL;
         each = each->next)
        each->checked = each->contradictions = 0;
}

static void write_checked(struct prof_text *out, uint64_t contradictions,
                          uint64_t checked, const char *of)
{
    prof_text_decimal(out, contradictions, 0);
    prof_text_string(out, " of ");
    prof_text_decimal(out, checked, 0);
    prof_text_string(out, of);
}

/* Of each kind of agents, and of those that have not said what they assume. */
static void write_checked_each(struct prof_text *out)
{
    uint64_t checked = prof_causal.checked;
    uint64_t contradictions = prof_causal.contradictions;

    for (const struct prof_assumption *each = assumptions; each != NULL;
         each = each->next) {
        if (each->checked == 0)
            continue;
        write_checked(out, each->contradictions, each->checked, ": ");
        prof_text_string(out, each->text);
        prof_text_char(out, '\n');
        checked -= each->checked;
        contradictions -= each->contradictions;
    }
    if (checked != 0 && checked != prof_causal.checked)
        write_checked(out, contradictions, checked, ": other agents\n");
}

/* The output may be by an agent that checks what it assumes, too: it must not
 * count while this is written, or parts would have more than the sum. */
static void write_all_checked(struct prof_text *out)
{
    uint64_t normal = prof_causal.normal;

    prof_causal.normal = UINT64_MAX;
    write_checked(out, prof_causal.contradictions, prof_causal.checked,
                  " answers at normal speed came before an agent of their "
                  "kind can have sent them");
    prof_text_string(
        out, prof_causal.contradictions != 0 ? ": its kind is wrong\n" : "\n");
    write_checked_each(out);
    if (prof_causal.normal == UINT64_MAX) /* no other experiment has begun */
        prof_causal.normal = normal;
}

static void write_models(struct prof_text *out)
{
    if (prof_causal.answers == 0) {
        prof_text_string(out, "assumed: nothing from outside matters; no "
                              "agent answered\n");
        return;
    }
    if (assumptions == NULL)
        prof_text_string(out, "assumed: devices and peers are of the kinds "
                              "that their agents have\n");
    for (const struct prof_assumption *each = assumptions; each != NULL;
         each = each->next) {
        prof_text_string(out, "assumed: ");
        prof_text_string(out, each->text);
        prof_text_char(out, '\n');
    }
    write_all_checked(out);
}

/* How time in targets is known. */
static void write_accrual(struct prof_text *out)
{
    bool entered = false;

    for (const struct prof_target *each = prof_causal_targets(); each != NULL;
         each = each->next) {
        entered = entered || each->end == 0;
        if (each->end == 0)
            continue;
        prof_text_string(out, each->name);
        prof_text_string(out, " is measured by its share of handlers: ");
        prof_text_decimal(out, each->visits, 0);
        prof_text_string(out, " of ");
        prof_text_decimal(out, prof_shares_samples(), 0);
        prof_text_string(out, " samples were in it\n");
    }
    if (entered)
        prof_text_string(out, "targets are measured from enter to leave\n");
}

void prof_causal_write_basis(struct prof_text *out)
{
    write_accrual(out);
    write_held(out);
    write_abandoned(out);
    write_models(out);
}
