/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Memory, the begin of counting, reset, and reading. What is summed over the
 * tree is summed anew for each reader: nodes come after their parents, so one
 * pass from the last to the first is enough.
 */

#include "loop/calls.h"
#include "loop/loop.h"

#include <prof/error.h>

#define PAIRS 16u /* that are timed together, */
#define ROUNDS 8u /* so many times */

static inline struct prof_loop_sites *all(void)
{
    return prof_loop_sites_read();
}

/* Of each CPU. */
static bool holds_still[PROF_LOOP_STATES];
static struct prof_loop_now still[PROF_LOOP_STATES];

/* ---- begin and reset */

/* Counts from now on. */
static void begin_counting(struct prof_loop_cpu *cpu)
{
    struct prof_loop_now now;

    prof_loop_rebase(&now);
    cpu->opened_tsc = now.tsc;
    cpu->opened_away = now.away;
    cpu->irq_cycles_reset = now.irq_cycles;
    cpu->irqs_reset = now.irqs;
    cpu->freezes_reset = cpu->freezes;
    cpu->stolen_cycles_reset = cpu->stolen_cycles;
    cpu->taken_out_cycles = cpu->taken_out_irq_cycles = 0;
}

/* What a wake, a run and a pause cost, in the fastest of some rounds. */
void prof_loop_time_pairs(void)
{
    struct prof_loop_site *site =
        &prof_loop_sites_here()->sites[PROF_SITE_PROFILER];
    struct prof_loop_task task = {0};
    uint64_t cycles = UINT64_MAX;

    if (prof_loop_calls_on != 0)
        site->histograms.notable = 0; /* as those of tasks are */
    task.frame.site = site;
    task.frame.node = site->top;
    task.frame.object = UINT32_MAX;
    prof_loop_set_not_ready(&task);
    for (uint32_t i = 0; i < ROUNDS; i++) {
        uint64_t before = prof_loop_tsc();

        for (uint32_t n = 0; n < PAIRS; n++) {
            prof_loop_wake(&task);
            prof_loop_run(&task);
            prof_loop_pause(&task);
        }
        before = prof_loop_tsc() - before;
        if (before < cycles)
            cycles = before;
    }
    prof_loop_cpu_here()->pair_cycles = cycles / PAIRS;
}

static inline void open_here(void *memory, size_t bytes, uint64_t tsc_hz)
{
    struct prof_loop_cpu *cpu = prof_loop_cpu_here();

    *cpu = (struct prof_loop_cpu){.tsc_hz = tsc_hz};
#if PROF_CPUS_MAX > 1
    cpu->sampled = &prof_cpus[prof_loop_slot() - 1];
    cpu->away_seen = cpu->sampled->interrupt_cycles;
#endif
    prof_loop_sites_open(memory, bytes);
    cpu->bottom.site = &prof_loop_sites_here()->sites[PROF_SITE_LOOP];
    cpu->bottom.node = cpu->bottom.site->top;
    cpu->top = &cpu->bottom;
    cpu->high = prof_loop_read().high;
    prof_loop_time_pairs();
}

static __attribute__((noinline)) void reset_here(void)
{
    struct prof_loop_cpu *cpu = prof_loop_cpu_here();
    uint32_t depth = 0;

    prof_utilisation_reset(prof_loop_put_rebase());
    prof_loop_sites_reset();
    prof_long_runs_reset();
    prof_calls_reset();
    begin_counting(cpu);
    for (struct prof_loop_frame *at = cpu->top;
         at != NULL && depth < PROF_LOOP_DEPTH_MAX; at = at->outer, depth++) {
        at->start = at == cpu->top ? (uint32_t)cpu->opened_tsc : 0;
        at->before = 0;
    }
}

#if PROF_CPUS_MAX > 1

void prof_loop_open_here(void *memory, size_t bytes, uint64_t tsc_hz)
{
    open_here(memory, bytes, tsc_hz);
    prof_utilisation_open(prof_loop_tsc(), tsc_hz);
    reset_here();
}

void prof_loop_reset_here(void)
{
    reset_here();
}

#endif

int prof_loop_open(void *memory, size_t bytes, uint64_t tsc_hz)
{
    if (memory == NULL || (uintptr_t)memory % 8 != 0 ||
        bytes < PROF_LOOP_MEMORY_MIN)
        return PROF_EMEMORY;
    if (prof_loop_on != 0)
        return PROF_ESTATE;
#if PROF_CPUS_MAX > 1
    prof_loop_first(bytes, tsc_hz);
#endif
    open_here(memory, bytes, tsc_hz);
    prof_loop_on = 1;
    prof_utilisation_open(prof_loop_tsc(), tsc_hz);
    prof_loop_reset();
    return PROF_OK;
}

void prof_loop_reset(void)
{
    if (prof_loop_on == 0 || !prof_loop_is_first())
        return;
#if PROF_CPUS_MAX > 1
    prof_loop_reset_others();
#endif
    reset_here();
    prof_loop_send_again();
}

void prof_loop_limit(uint64_t held_cycles, uint64_t freeze_cycles,
                     void (*trigger)(void))
{
    if (!prof_loop_is_first())
        return;
    prof_long_runs_set_limits(held_cycles != 0 ? held_cycles : UINT64_MAX,
                              prof_loop_cpu_here()->long_runs.noted_least);
    prof_guard_set(freeze_cycles, trigger);
#if PROF_CPUS_MAX > 1
    prof_loop_limit_others(held_cycles != 0 ? held_cycles : UINT64_MAX,
                           freeze_cycles);
#endif
}

/* ---- reading */

void prof_loop_hold_still(bool hold)
{
    if (hold)
        prof_loop_rebase(&still[prof_loop_slot()]);
    holds_still[prof_loop_slot()] = hold;
}

/* Whether what is read is complete. */
static inline bool is_copy(void)
{
#if PROF_CPUS_MAX > 1
    return prof_loop_cpu_here()->viewed != NULL;
#else
    return false;
#endif
}

/* Self times of all nodes and sites up to (now), and their totals. */
static void sum_up(uint64_t now)
{
    const struct prof_loop_frame *at = prof_loop_cpu_here()->top;

    for (uint32_t i = 0; i < all()->site_count; i++) {
        struct prof_loop_row *row = &all()->sites[i].row;

        row->self_cycles = row->total_cycles = row->sums[PROF_LOOP_RUN].cycles =
            0;
    }
    for (uint32_t i = 0; i < all()->node_count; i++)
        all()->nodes[i].own_sum = all()->nodes[i].self_cycles;
    for (uint32_t depth = 0; at != NULL && depth < PROF_LOOP_DEPTH_MAX;
         at = at->outer, depth++)
        at->node->own_sum += prof_loop_so_far(at, now);
    for (uint32_t i = 0; i < all()->node_count; i++) {
        struct prof_loop_node *node = &all()->nodes[i];

        node->total_sum = node->own_sum;
        node->site->row.self_cycles += node->own_sum;
        node->site->row.sums[PROF_LOOP_RUN].cycles += node->self_cycles;
    }
    for (uint32_t i = all()->node_count; i-- > 0;) {
        struct prof_loop_node *node = &all()->nodes[i];

        if (!prof_loop_is_recursive(node))
            node->site->row.total_cycles += node->total_sum;
        if (node->parent != NULL)
            node->parent->total_sum += node->total_sum;
    }
}

/* Reads the clock, unless it is held still, and sums up. False: nothing is
 * counted. */
static bool read_all(struct prof_loop_now *now)
{
    if (prof_loop_on == 0)
        return false;
#if PROF_CPUS_MAX > 1
    if (prof_loop_cpu_here()->viewed != NULL) {
        now->tsc = prof_loop_cpu_here()->viewed->tsc;
        return true;
    }
#endif
    if (holds_still[prof_loop_slot()])
        *now = still[prof_loop_slot()];
    else
        prof_loop_rebase(now);
    sum_up(now->tsc);
    prof_calls_find_oldest();
    return true;
}

static uint64_t count_of(const struct prof_loop_site *site,
                         enum prof_loop_measure measure)
{
    return prof_histograms_count(&site->histograms, measure) +
           site->histograms.unbinned[measure];
}

/* Self times by kind; and what all that was counted has cost. */
static void add_sites(struct prof_loop_account *account)
{
    uint64_t *const kinds = &account->tasks_cycles; /* the enum's order */

    for (uint32_t i = 0; i < all()->site_count; i++) {
        const struct prof_loop_site *site = &all()->sites[i];
        enum prof_loop_kind kind = site->row.kind;

        /* a name of futures may be that of tasks as well */
        kinds[kind == PROF_LOOP_FUTURES ? PROF_LOOP_TASKS : kind] +=
            site->row.self_cycles;
        account->own_cycles +=
            count_of(site, PROF_LOOP_RUN) * prof_loop_cpu_here()->pair_cycles;
        for (uint32_t m = 0; m < PROF_LOOP_MEASURES; m++)
            account->unbinned += site->histograms.unbinned[m];
    }
}
_Static_assert(offsetof(struct prof_loop_account, idle_cycles) ==
                   offsetof(struct prof_loop_account, tasks_cycles) +
                       PROF_LOOP_IDLE * sizeof(uint64_t),
               "self times are in the order of enum prof_loop_kind");

/* The longest value of (measure), UINT64_MAX if that is not known. */
static uint64_t longest_of(const struct prof_loop_site *site,
                           enum prof_loop_measure measure)
{
    struct prof_loop_row row = site->row;

    if (!is_copy())
        prof_long_runs_include(&row);
    if (measure == PROF_LOOP_RUN)
        return row.longest_cycles;
    return measure == prof_loop_call_measure(&row) ? row.call_longest_cycles
                                                   : UINT64_MAX;
}

uint64_t prof_loop_longest(const struct prof_loop_site *site)
{
    return longest_of(site, PROF_LOOP_RUN);
}

void prof_loop_account(struct prof_loop_account *account)
{
    static const uint32_t seconds[3] = {1, 10, 60};
    const struct prof_loop_cpu *cpu = prof_loop_cpu_here();
    uint64_t known = cpu->stolen_cycles - cpu->stolen_cycles_reset;
    struct prof_loop_now now;

#if PROF_CPUS_MAX > 1
    if (cpu->viewed != NULL) {
        *account = cpu->viewed->account;
        return;
    }
#endif
    *account = (struct prof_loop_account){0};
    if (!read_all(&now))
        return;
    account->wall_cycles = now.tsc - cpu->opened_tsc;
    account->interrupts_cycles = now.irq_cycles - cpu->irq_cycles_reset;
    account->interrupts = now.irqs - cpu->irqs_reset;
    account->sampler_cycles =
        now.away - cpu->opened_away - account->interrupts_cycles;
    account->interrupts_cycles -= cpu->taken_out_irq_cycles;
    add_sites(account);
    for (uint32_t i = 0; i < 3; i++) {
        account->busy_seconds[i] = seconds[i];
        account->busy_permille[i] =
            prof_utilisation(now.tsc, &account->busy_seconds[i]);
    }
    account->longest_idle_cycles =
        prof_loop_longest(&all()->sites[PROF_SITE_IDLE]);
    /* the drain may have found more since it last said how much there is */
    account->stolen_cycles = cpu->taken_out_cycles;
    if (known > account->stolen_cycles)
        account->stolen_inside_cycles = known - account->stolen_cycles;
    account->sites = prof_loop_sites_begun(all()) - PROF_SITES_FIXED;
    account->sites_max = all()->site_max - PROF_SITES_FIXED;
    account->sites_refused = all()->refused;
    account->contexts = all()->node_count;
    account->contexts_max = all()->node_max;
    account->contexts_refused = all()->refused_contexts;
    account->calls_refused = prof_calls_refused();
    account->freezes = cpu->freezes - cpu->freezes_reset;
}

void prof_loop_read_row(const struct prof_loop_site *site, uint64_t tsc,
                        struct prof_loop_row *row)
{
    *row = site->row;
    if (is_copy())
        return;
    prof_long_runs_include(row);
    if (site->oldest != NULL)
        row->oldest_cycles = tsc - site->oldest->created;
    else if (site->oldest_future != 0)
        row->oldest_cycles = tsc - site->oldest_future;
    for (uint32_t m = 0; m < PROF_LOOP_MEASURES; m++) {
        row->sums[m].count = count_of(site, (enum prof_loop_measure)m);
        row->sums[m].unbinned = site->histograms.unbinned[m];
    }
}

void prof_loop_visit(void (*visit)(const struct prof_loop_row *row,
                                   void *context),
                     void *context)
{
    struct prof_loop_row row;
    struct prof_loop_now now;

    if (!read_all(&now))
        return;
    for (uint32_t i = 0; i < all()->site_count; i++) {
        if (!prof_loop_site_begun(&all()->sites[i]))
            continue;
        prof_loop_read_row(&all()->sites[i], now.tsc, &row);
        visit(&row, context);
    }
}

#if PROF_CPUS_MAX > 1
static void visit_copied(const struct prof_loop_snapshot *copy,
                         void (*visit)(const struct prof_loop_context *node,
                                       void *context),
                         void *context)
{
    for (uint32_t i = 0; i < copy->context_count; i++)
        visit(&copy->contexts[i], context);
}
#endif

void prof_loop_contexts(void (*visit)(const struct prof_loop_context *node,
                                      void *context),
                        void *context)
{
    struct prof_loop_now now;

    if (!read_all(&now))
        return;
#if PROF_CPUS_MAX > 1
    if (is_copy()) {
        visit_copied(prof_loop_cpu_here()->viewed, visit, context);
        return;
    }
#endif
    for (uint32_t i = 0; i < all()->node_count; i++) {
        const struct prof_loop_node *node = &all()->nodes[i];
        const struct prof_loop_context found = {
            .number = i,
            .parent =
                node->parent != NULL ? prof_loop_node_number(node->parent) : i,
            .site = prof_loop_site_number(node->site),
            .recursive = prof_loop_is_recursive(node),
            .calls = node->calls,
            .self_cycles = node->own_sum,
            .total_cycles = node->total_sum,
        };

        visit(&found, context);
    }
}

/* ---- histograms */

struct quantile {
    struct prof_log_linear_quantile of;
    uint64_t value; /* the middle of its bucket */
    bool found;
};

static void find_value(uint64_t low, uint64_t high, uint64_t count,
                       void *context)
{
    struct quantile *quantile = context;

    if (!quantile->found && prof_log_linear_find(&quantile->of, count)) {
        quantile->value = low + (high - low) / 2;
        quantile->found = true;
    }
}

uint64_t prof_loop_quantile(uint32_t number, enum prof_loop_measure measure,
                            uint32_t permille)
{
    const struct prof_histograms *histograms;
    struct quantile quantile = {0};
    uint64_t longest;

    if (prof_loop_on == 0 || number >= all()->site_count)
        return 0;
    histograms = &all()->sites[number].histograms;
    quantile.of.wanted = prof_histograms_count(histograms, measure) * permille;
    prof_histograms_visit(histograms, measure, find_value, &quantile);
    longest = longest_of(&all()->sites[number], measure);
    return quantile.value < longest ? quantile.value : longest;
}

void prof_loop_buckets(uint32_t number, enum prof_loop_measure measure,
                       void (*visit)(uint64_t low, uint64_t high,
                                     uint64_t count, void *context),
                       void *context)
{
    if (prof_loop_on != 0 && number < all()->site_count)
        prof_histograms_visit(&all()->sites[number].histograms, measure, visit,
                              context);
}

#ifdef PROF_HOSTED
void prof_loop_forget(void)
{
    prof_loop_on = prof_loop_calls_on = 0;
#if PROF_CPUS_MAX > 1
    prof_loop_forget_others();
#endif
}
#endif
