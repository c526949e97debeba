/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Reading. What is summed over the tree is summed anew for each reader: nodes
 * come after their parents, so one pass from the last to the first is enough.
 */

#include "loop/read.h"

#include "loop/long_runs.h"
#include "loop/loop.h"
#include "loop/utilisation.h"

#include "base/cpu.h"

#define PERMILLE 1000u

static struct prof_loop_state *const state = &prof_loop_state;
static struct prof_loop_sites *const all = &prof_loop_sites;

static bool holds_still;
static struct prof_loop_now still;

void prof_loop_hold_still(bool hold)
{
    if (hold)
        prof_loop_rebase(&still);
    holds_still = hold;
}

static void read_now(struct prof_loop_now *now)
{
    if (holds_still)
        *now = still;
    else
        prof_loop_rebase(now);
}

/* Own times of all nodes and sites up to (now), and their totals. */
static void sum_up(uint64_t now)
{
    uint32_t depth = 0;

    for (uint32_t i = 0; i < all->site_count; i++)
        all->sites[i].own_sum = all->sites[i].total_sum =
            all->sites[i].paused_sum = 0;
    for (uint32_t i = 0; i < all->node_count; i++)
        all->nodes[i].own_sum = all->nodes[i].own_cycles;
    for (const struct prof_loop_frame *at = state->top;
         at != NULL && depth < PROF_LOOP_DEPTH_MAX; at = at->outer, depth++)
        at->node->own_sum += prof_loop_so_far(at, now);
    for (uint32_t i = 0; i < all->node_count; i++) {
        all->nodes[i].total_sum = all->nodes[i].own_sum;
        all->nodes[i].site->own_sum += all->nodes[i].own_sum;
        all->nodes[i].site->paused_sum += all->nodes[i].own_cycles;
    }
    for (uint32_t i = all->node_count; i-- > 0;) {
        struct prof_loop_node *node = &all->nodes[i];

        if (!prof_loop_is_recursive(node))
            node->site->total_sum += node->total_sum;
        if (node->parent != NULL)
            node->parent->total_sum += node->total_sum;
    }
}

static uint64_t runs_of(const struct prof_loop_site *site)
{
    return prof_histograms_count(&site->histograms, PROF_LOOP_RUN) +
           site->histograms.unbinned[PROF_LOOP_RUN];
}

/* Own times by kind; and what all that was counted has cost. */
static void add_sites(struct prof_loop_account *account)
{
    uint64_t *const kinds[] = {
        [PROF_LOOP_TASKS] = &account->tasks_cycles,
        [PROF_LOOP_CALLBACKS] = &account->callbacks_cycles,
        [PROF_LOOP_OTHERS] = &account->others_cycles,
        [PROF_LOOP_LOOP] = &account->loop_cycles,
        [PROF_LOOP_PROFILER] = &account->profiler_cycles,
        [PROF_LOOP_IDLE] = &account->idle_cycles,
    };

    for (uint32_t i = 0; i < all->site_count; i++) {
        const struct prof_loop_site *site = &all->sites[i];

        *kinds[site->kind] += site->own_sum;
        account->own_cycles += runs_of(site) * state->pair_cycles;
        for (uint32_t m = 0; m < PROF_LOOP_MEASURES; m++)
            account->unbinned += site->histograms.unbinned[m];
    }
}

static void add_busy(struct prof_loop_account *account, uint64_t tsc)
{
    static const uint32_t seconds[3] = {1, 10, 60};

    for (uint32_t i = 0; i < 3; i++) {
        account->busy_seconds[i] = seconds[i];
        account->busy_permille[i] =
            prof_utilisation(tsc, &account->busy_seconds[i]);
    }
}

/* The drain may have found more since it last said how much there is. */
static void add_stolen(struct prof_loop_account *account)
{
    uint64_t known = state->stolen_cycles - state->stolen_cycles_reset;

    account->stolen_cycles = state->taken_out_cycles;
    if (known > account->stolen_cycles)
        account->stolen_inside_cycles = known - account->stolen_cycles;
}

void prof_loop_account(struct prof_loop_account *account)
{
    struct prof_loop_now now;

    *account = (struct prof_loop_account){0};
    if (prof_loop_on == 0)
        return;
    read_now(&now);
    sum_up(now.tsc);
    account->wall_cycles = now.tsc - state->opened_tsc;
    account->interrupts_cycles = now.irq_cycles - state->irq_cycles_reset;
    account->interrupts = now.irqs - state->irqs_reset;
    account->sampler_cycles =
        now.away - state->opened_away - account->interrupts_cycles;
    account->interrupts_cycles -= state->taken_out_irq_cycles;
    add_sites(account);
    add_busy(account, now.tsc);
    account->longest_idle_cycles =
        prof_held_longest_of(&all->sites[PROF_SITE_IDLE]).cycles;
    add_stolen(account);
    account->sites = all->site_count - PROF_SITES_FIXED;
    account->sites_max = all->site_max - PROF_SITES_FIXED;
    account->sites_refused = all->refused;
    account->contexts = all->node_count;
    account->contexts_max = all->node_max;
    account->contexts_refused = all->refused_contexts;
    account->freezes = state->freezes - state->freezes_reset;
}

static struct prof_loop_sum sum_of(const struct prof_loop_site *site,
                                   enum prof_loop_measure measure,
                                   uint64_t cycles)
{
    uint64_t unbinned = site->histograms.unbinned[measure];

    return (struct prof_loop_sum){
        .count = prof_histograms_count(&site->histograms, measure) + unbinned,
        .cycles = cycles,
        .unbinned = unbinned};
}

static void fill_row(struct prof_loop_row *row, uint32_t number, uint64_t tsc)
{
    const struct prof_loop_site *site = &all->sites[number];
    const struct prof_longest_run longest = prof_held_longest_of(site);

    *row = (struct prof_loop_row){
        .number = number,
        .kind = site->kind,
        .site = site->name,
        .calls = site->calls,
        .resolved = site->ends[PROF_LOOP_RESOLVED],
        .failed = site->ends[PROF_LOOP_FAILED],
        .cancelled = site->ends[PROF_LOOP_CANCELLED],
        .own_cycles = site->own_sum,
        .total_cycles = site->total_sum,
        .longest_cycles = longest.cycles,
        .longest_tsc = longest.begin_tsc,
        .longest_object = longest.object,
        .pending = site->pending,
        .held = site->held,
        .held_cycles = site->held_cycles,
        .held_samples = site->held_samples,
    };
    if (site->oldest != NULL)
        row->oldest_cycles = tsc - site->oldest->created;
    row->sums[PROF_LOOP_RUN] = sum_of(site, PROF_LOOP_RUN, site->paused_sum);
    row->sums[PROF_LOOP_DELAY] =
        sum_of(site, PROF_LOOP_DELAY, site->delay_cycles);
    row->sums[PROF_LOOP_WALL] = sum_of(site, PROF_LOOP_WALL, site->wall_cycles);
}

void prof_loop_visit(void (*visit)(const struct prof_loop_row *row,
                                   void *context),
                     void *context)
{
    struct prof_loop_row row;
    struct prof_loop_now now;

    if (prof_loop_on == 0)
        return;
    read_now(&now);
    sum_up(now.tsc);
    for (uint32_t i = 0; i < all->site_count; i++) {
        fill_row(&row, i, now.tsc);
        visit(&row, context);
    }
}

void prof_loop_row(uint32_t number, struct prof_loop_row *row)
{
    fill_row(row, number, prof_loop_tsc());
}

void prof_loop_contexts(void (*visit)(const struct prof_loop_context *node,
                                      void *context),
                        void *context)
{
    struct prof_loop_now now;

    if (prof_loop_on == 0)
        return;
    read_now(&now);
    sum_up(now.tsc);
    for (uint32_t i = 0; i < all->node_count; i++) {
        const struct prof_loop_node *node = &all->nodes[i];
        const struct prof_loop_context found = {
            .number = i,
            .parent =
                node->parent != NULL ? prof_loop_node_number(node->parent) : i,
            .site = prof_loop_site_number(node->site),
            .recursive = prof_loop_is_recursive(node),
            .calls = node->calls,
            .own_cycles = node->own_sum,
            .total_cycles = node->total_sum,
        };

        visit(&found, context);
    }
}

/* ---- histograms */

struct quantile {
    uint64_t left; /* values that are not larger */
    uint64_t value;
};

static void find_value(uint64_t low, uint64_t high, uint64_t count,
                       void *context)
{
    struct quantile *quantile = context;

    if (quantile->left == 0)
        return;
    quantile->value = low + (high - low) / 2;
    quantile->left -= count < quantile->left ? count : quantile->left;
}

uint64_t prof_loop_quantile(uint32_t number, enum prof_loop_measure measure,
                            uint32_t permille)
{
    const struct prof_histograms *histograms;
    struct quantile quantile = {0};
    uint64_t longest;

    if (prof_loop_on == 0 || number >= all->site_count)
        return 0;
    histograms = &all->sites[number].histograms;
    quantile.left = prof_divide(
        prof_histograms_count(histograms, measure) * permille + PERMILLE - 1,
        PERMILLE);
    prof_histograms_visit(histograms, measure, find_value, &quantile);
    longest = prof_held_longest_of(&all->sites[number]).cycles;
    if (measure == PROF_LOOP_RUN && quantile.value > longest)
        return longest;
    return quantile.value;
}

void prof_loop_buckets(uint32_t number, enum prof_loop_measure measure,
                       void (*visit)(uint64_t low, uint64_t high,
                                     uint64_t count, void *context),
                       void *context)
{
    if (prof_loop_on != 0 && number < all->site_count)
        prof_histograms_visit(&all->sites[number].histograms, measure, visit,
                              context);
}
