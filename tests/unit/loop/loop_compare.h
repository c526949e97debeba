/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LOOP_COMPARE_H
#define LOOP_COMPARE_H

/*
 * Whether the statistics of the event loop are what the model of them says,
 * after each step of a program. Included by the one .c file of each test
 * program.
 */

#include "loop_model.h"

/* ---- both are compared */

static unsigned rows_seen;

static void compare_row(const struct prof_loop_row *row, void *totals_hold)
{
    const struct model_site *site;
    uint64_t oldest = 0;
    unsigned number;

    if (row->kind != PROF_LOOP_TASKS && row->kind != PROF_LOOP_CALLBACKS)
        return;
    rows_seen++;
    number = (unsigned)(row->site - names);
    site = &sites[number];
    for (unsigned i = 0; i < MODEL_TASKS; i++)
        if (tasks[i].exists && !tasks[i].ended && tasks[i].site == number &&
            prof_loop_hosted_tsc - tasks[i].created > oldest)
            oldest = prof_loop_hosted_tsc - tasks[i].created;
    assert_int_equal(row->own_cycles, site->own);
    if (*(const bool *)totals_hold)
        assert_int_equal(row->total_cycles, site->total);
    assert_int_equal(row->calls, site->calls);
    assert_int_equal(row->resolved, site->ends[PROF_LOOP_RESOLVED]);
    assert_int_equal(row->failed, site->ends[PROF_LOOP_FAILED]);
    assert_int_equal(row->cancelled, site->ends[PROF_LOOP_CANCELLED]);
    assert_int_equal(row->pending, site->pending);
    assert_int_equal(row->oldest_cycles, oldest);
    assert_int_equal(row->sums[PROF_LOOP_RUN].count, site->runs);
    assert_int_equal(row->sums[PROF_LOOP_DELAY].count, site->delays);
    assert_int_equal(row->sums[PROF_LOOP_DELAY].cycles, site->delay);
    assert_int_equal(row->sums[PROF_LOOP_WALL].count, site->walls);
    assert_int_equal(row->sums[PROF_LOOP_WALL].cycles, site->wall);
    assert_int_equal(row->longest_cycles, site->longest);
}

static void compare_account(const struct prof_loop_account *account)
{
    assert_int_equal(account->wall_cycles, model_wall);
    assert_int_equal(account->idle_cycles, model_idle);
    assert_int_equal(account->loop_cycles, model_loop);
    assert_int_equal(account->interrupts_cycles, model_irq);
    assert_int_equal(account->sampler_cycles, model_sampler);
    assert_int_equal(account->wall_cycles,
                     account->tasks_cycles + account->callbacks_cycles +
                         account->others_cycles + account->loop_cycles +
                         account->profiler_cycles + account->idle_cycles +
                         account->interrupts_cycles + account->sampler_cycles);
}

/* What runs is credited for the comparison, and taken back. */
static void model_compare(void)
{
    struct model_site sites_before[MODEL_SITES];
    uint64_t idle = model_idle, loop = model_loop;
    struct prof_loop_account account;
    bool totals_hold;

    memcpy(sites_before, sites, sizeof sites);
    for (unsigned i = 0; i < depth; i++) {
        struct model_frame now = frames[i];

        if (now.kind == 't')
            now.mask = now.task->mask;
        credit(&now, now.own);
    }
    prof_loop_account(&account);
    compare_account(&account);
    totals_hold = account.contexts_refused == 0;
    rows_seen = 0;
    prof_loop_visit(compare_row, &totals_hold);
    memcpy(sites, sites_before, sizeof sites);
    model_idle = idle;
    model_loop = loop;
}

/*
 * A program as text, in which each word is a step: a letter, then a digit for a
 * task or a capital letter for a site, and cycles after an equals sign.
 *
 *     c0A create   r0 run   p pause   w0 wake   e0 f0 x0 end   bA callback
 *     k0 callback of a task   n loop   i idle   l leave   a01 adopt
 *     q=5 interrupt   v0=5 interrupt with a wake
 *     s0=5 s1=5 sampler, nested or not   +=5 time   z reset
 */
static unsigned model_parse(const char **text, struct step *step)
{
    const char *at = *text;
    unsigned *arguments[] = {&step->a, &step->b};
    unsigned count = 0;

    while (*at == ' ')
        at++;
    if (*at == '\0')
        return 0;
    *step = (struct step){.what = *at++};
    for (; *at != ' ' && *at != '=' && *at != '\0' && count < 2; at++)
        *arguments[count++] = (unsigned)(*at >= 'A' ? *at - 'A' : *at - '0');
    if (*at == '=')
        step->n = strtoull(at + 1, (char **)&at, 10);
    *text = at;
    return 1;
}

static inline void model_program(const char *text)
{
    struct step step;

    while (model_parse(&text, &step) != 0) {
        do_step(&step);
        model_compare();
    }
}

#endif
