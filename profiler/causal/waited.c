/* SPDX-License-Identifier: Apache-2.0 */
#include "causal/waited.h"

#include "causal/causal.h"
#include "causal/own.h"

#include "base/alloc.h"
#include "base/equal.h"

#include <prof/error.h>

bool prof_waited_begin(void)
{
    if (prof_causal.names == NULL) {
        prof_causal.names = prof_alloc(sizeof *prof_causal.names);
        if (prof_causal.names == NULL)
            return false;
        prof_causal.names->count = 0;
    }
    return true;
}

uint32_t prof_waited_source(enum prof_limit kind, const char *name)
{
    struct prof_waited_names *names = prof_causal.names;
    uint32_t at = 0;

    while (at < names->count && (names->of[at].kind != kind ||
                                 (names->of[at].name != name &&
                                  !prof_equal(names->of[at].name, name))))
        at++;
    if (at == PROF_WAITED_MAX)
        return kind;
    if (at == names->count) {
        names->of[at].name = name;
        names->of[at].kind = kind;
        names->count++;
    }
    return kind | (at + 1) << PROF_WAITED_KIND_BITS;
}

/* ---- what was waited for last */

/* Adds (cycles), which may be less than 0, to what (source) has. */
static void add_wait(uint32_t source, uint64_t cycles)
{
    struct prof_limit_sum *sum = prof_causal.limit;

    sum->cycles[prof_waited_kind(source)] += cycles;
    if (prof_waited_number(source) != 0)
        sum->named[prof_waited_number(source) - 1] += cycles;
}

void prof_causal_account_wait(struct prof_work *work, uint64_t now)
{
    work->waited = 0;
    if (prof_causal.experiments.counts && now > work->ended)
        work->waited = now - work->ended;
    work->ended = now;
    work->source = prof_causal.taken;
    add_wait(work->source, work->waited);
}

void prof_causal_waited(enum prof_limit kind, const char *name)
{
    struct prof_work *work = prof_causal.work;
    struct prof_own_guard guard = prof_own_open();
    uint32_t source;

    /* an experiment that has begun meanwhile has not waited */
    if (work->waited != 0 &&
        (kind == PROF_LIMIT_LOCK || prof_waited_kind(work->source) == kind)) {
        source = prof_waited_source(kind, name);
        /* a name without a number is in the sum of its kind */
        if (prof_waited_number(source) != 0 ||
            kind != prof_waited_kind(work->source)) {
            add_wait(work->source, -work->waited);
            add_wait(source, work->waited);
            work->source = source;
        }
    }
    prof_own_close(&guard);
}

void prof_causal_wait_known(void)
{
    prof_causal.work->waited = 0;
}

/* ---- what remains */

/* Adds a part, if it is one, in its place: the greatest first. */
static void put_part(struct prof_part parts[PROF_PARTS_MAX], uint32_t *count,
                     struct prof_part part)
{
    uint32_t at = *count;

    if (part.ppm == 0)
        return;
    for (; at != 0 && parts[at - 1].ppm < part.ppm; at--)
        parts[at] = parts[at - 1];
    parts[at] = part;
    ++*count;
}

int prof_causal_parts(const struct prof_target *target, uint32_t speedup,
                      struct prof_part parts[PROF_PARTS_MAX], uint32_t *count)
{
    const struct prof_waited_names *names = prof_causal.names;
    const struct prof_limit_sum *sum;
    struct prof_shares shares;
    uint64_t rest[PROF_LIMITS], all = 0;
    int error = prof_causal_shares(target, speedup, &shares);

    *count = 0;
    if (error != 0)
        return error;
    sum = prof_causal_limit_sum(target->number - 1, speedup + 1);
    for (unsigned i = 0; i < PROF_LIMITS; i++)
        all += rest[i] = sum->cycles[i];
    for (uint32_t i = 0; i < names->count; i++) {
        rest[names->of[i].kind] -= sum->named[i];
        put_part(parts, count,
                 (struct prof_part){names->of[i].kind, names->of[i].name,
                                    prof_causal_ppm(sum->named[i], all)});
    }
    for (unsigned i = 0; i < PROF_LIMITS; i++)
        put_part(parts, count,
                 (struct prof_part){(enum prof_limit)i, NULL,
                                    prof_causal_ppm(rest[i], all)});
    return 0;
}
