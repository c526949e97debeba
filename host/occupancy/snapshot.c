/* SPDX-License-Identifier: Apache-2.0 */
/* Copies, differences and orders of snapshots, and their histograms: 32 buckets
 * for each octave, as the guest has them, so a value is known to within 1/32,
 * and the middle of its bucket to within 1/64. */

#include "base/checked.h"
#include "base/memory.h"
#include "occupancy/occupancy.h"

#include <prof/format.h>
#include <stdlib.h>
#include <string.h>

#define BUCKETS_BYTES (OCCUPANCY_BUCKETS * sizeof(uint32_t))

enum occupancy_part occupancy_kind(const struct occupancy_snapshot *snapshot,
                                   uint32_t site)
{
    return site < snapshot->site_count ? snapshot->sites[site].kind
                                       : OCCUPANCY_OTHERS;
}

void occupancy_forget(struct occupancy_snapshot *snapshot)
{
    for (uint32_t i = 0; i < snapshot->site_count; ++i) {
        for (unsigned j = 0; j < OCCUPANCY_HISTOGRAMS; ++j)
            free(snapshot->sites[i].buckets[j]);
    }
    free(snapshot->sites);
    free(snapshot->nodes);
    *snapshot = (struct occupancy_snapshot){0};
}

void occupancy_copy(struct occupancy_snapshot *to,
                    const struct occupancy_snapshot *from)
{
    occupancy_forget(to);
    *to = *from;
    to->sites = to->site_count == 0
                    ? NULL
                    : xreallocarray(NULL, to->site_count, sizeof *to->sites);
    to->nodes = to->node_count == 0
                    ? NULL
                    : xreallocarray(NULL, to->node_count, sizeof *to->nodes);
    if (to->nodes != NULL)
        memcpy(to->nodes, from->nodes, to->node_count * sizeof *to->nodes);
    for (uint32_t i = 0; i < to->site_count; ++i) {
        struct occupancy_site *site = &to->sites[i];

        *site = from->sites[i];
        for (unsigned j = 0; j < OCCUPANCY_HISTOGRAMS; ++j) {
            const uint32_t *buckets = site->buckets[j];

            if (buckets == NULL)
                continue;
            site->buckets[j] = xreallocarray(NULL, 1, BUCKETS_BYTES);
            memcpy(site->buckets[j], buckets, BUCKETS_BYTES);
        }
    }
}

/* ---- histograms */

#define LINEAR 32u /* buckets of one octave, and values with their own bucket */

uint32_t occupancy_bucket(uint64_t value)
{
    unsigned octave = 0;

    while (value >> octave >= 2 * LINEAR)
        ++octave;
    return octave * LINEAR + (uint32_t)(value >> octave);
}

uint64_t occupancy_bucket_begin(uint32_t number)
{
    unsigned octave = number / LINEAR;

    if (octave == 0)
        return number;
    if (number >= OCCUPANCY_BUCKETS)
        return UINT64_MAX;
    return (uint64_t)(LINEAR + number % LINEAR) << (octave - 1);
}

uint64_t occupancy_values(const uint32_t *buckets)
{
    uint64_t sum = 0;

    for (uint32_t i = 0; buckets != NULL && i < OCCUPANCY_BUCKETS; ++i)
        sum += buckets[i];
    return sum;
}

uint64_t occupancy_quantile(const uint32_t *buckets, double share)
{
    uint64_t all = occupancy_values(buckets), sum = 0, wanted;

    if (all == 0)
        return 0;
    wanted = checked_u64(share * (double)all);
    if (wanted >= all)
        wanted = all - 1;
    for (uint32_t i = 0; i < OCCUPANCY_BUCKETS; ++i) {
        uint64_t begin = occupancy_bucket_begin(i);

        sum += buckets[i];
        if (sum > wanted)
            return begin + (occupancy_bucket_begin(i + 1) - begin) / 2;
    }
    return 0;
}

/* ---- differences */

/* Subtracts (less) from *(from); false if that is not possible. */
static bool take_away(uint64_t *from, uint64_t less)
{
    bool enough = *from >= less;

    *from = enough ? *from - less : 0;
    return enough;
}

static bool take_away_32(uint32_t *from, uint32_t less)
{
    uint64_t wide = *from;
    bool enough = take_away(&wide, less);

    *from = (uint32_t)wide;
    return enough;
}

static bool subtract_account(struct event_loop *from,
                             const struct event_loop *less)
{
    bool enough = take_away(&from->wall, less->wall);

    enough &= take_away(&from->tasks, less->tasks);
    enough &= take_away(&from->callbacks, less->callbacks);
    enough &= take_away(&from->others, less->others);
    enough &= take_away(&from->itself, less->itself);
    enough &= take_away(&from->profiler, less->profiler);
    enough &= take_away(&from->idle, less->idle);
    enough &= take_away(&from->interrupts, less->interrupts);
    enough &= take_away(&from->sampler, less->sampler);
    enough &= take_away(&from->stolen, less->stolen);
    (void)take_away(&from->stolen_inside, less->stolen_inside);
    enough &= take_away(&from->own, less->own);
    enough &= take_away_32(&from->freezes, less->freezes);
    return enough;
}

static bool subtract_buckets(struct occupancy_site *from,
                             const struct occupancy_site *less)
{
    bool enough = true;

    for (unsigned i = 0; i < OCCUPANCY_HISTOGRAMS; ++i) {
        if (less->buckets[i] == NULL)
            continue;
        if (from->buckets[i] == NULL)
            return false;
        for (uint32_t j = 0; j < OCCUPANCY_BUCKETS; ++j)
            enough &= take_away_32(&from->buckets[i][j], less->buckets[i][j]);
    }
    return enough;
}

enum occupancy_histogram occupancy_call_of(const struct occupancy_site *site)
{
    return site->future ? OCCUPANCY_LIFE : OCCUPANCY_CALL;
}

/* The most that a value in (buckets) can be, 0 if there is none. */
static uint64_t most_in(const uint32_t *buckets)
{
    uint32_t last = OCCUPANCY_BUCKETS;

    while (buckets != NULL && last > 0 && buckets[last - 1] == 0)
        --last;
    return buckets == NULL || last == 0 ? 0 : occupancy_bucket_begin(last) - 1;
}

/* What the longest run was is known only if there was none as long before. */
static void set_longest(struct occupancy_site *from,
                        const struct occupancy_site *less)
{
    if (from->row.longest > less->row.longest)
        return;
    from->row.longest = most_in(from->buckets[OCCUPANCY_RUN]);
    from->row.longest_task = 0;
    from->row.longest_begin = 0;
}

static void set_call_quantiles(struct occupancy_site *site)
{
    const uint32_t *buckets = site->buckets[occupancy_call_of(site)];
    struct event_loop_call *call = &site->call;

    call->p50 = occupancy_quantile(buckets, 0.5);
    call->p90 = occupancy_quantile(buckets, 0.9);
    call->p99 = occupancy_quantile(buckets, 0.99);
}

/* The same of calls, which together are no shorter. */
static bool subtract_call(struct occupancy_site *from,
                          const struct occupancy_site *less)
{
    const uint32_t *buckets = from->buckets[occupancy_call_of(from)];
    struct event_loop_call *call = &from->call;
    bool enough = take_away(&call->calls, less->call.calls);

    enough &= take_away(&call->time, less->call.time);
    set_call_quantiles(from);
    if (call->longest > less->call.longest)
        return enough;
    call->longest = most_in(buckets);
    if (call->longest > call->time)
        call->longest = call->time;
    call->longest_task = 0;
    call->longest_end = 0;
    return enough;
}

static void set_quantiles(struct occupancy_site *site)
{
    struct event_loop_row *row = &site->row;
    uint64_t *const all[][3] = {
        {&row->run_p50, &row->run_p90, &row->run_p99},
        {&row->delay_p50, &row->delay_p90, &row->delay_p99},
        {&row->wall_p50, &row->wall_p90, &row->wall_p99},
    };

    for (unsigned i = 0; i < sizeof all / sizeof *all; ++i) {
        *all[i][0] = occupancy_quantile(site->buckets[i], 0.5);
        *all[i][1] = occupancy_quantile(site->buckets[i], 0.9);
        *all[i][2] = occupancy_quantile(site->buckets[i], 0.99);
    }
}

void occupancy_set_quantiles(struct occupancy_snapshot *snapshot)
{
    for (uint32_t i = 0; i < snapshot->site_count; ++i) {
        set_quantiles(&snapshot->sites[i]);
        set_call_quantiles(&snapshot->sites[i]);
    }
}

static bool subtract_site(struct occupancy_site *from,
                          const struct occupancy_site *less)
{
    struct event_loop_row *row = &from->row;
    bool enough = take_away(&row->calls, less->row.calls);

    enough &= take_away(&row->resolved, less->row.resolved);
    enough &= take_away(&row->failed, less->row.failed);
    enough &= take_away(&row->cancelled, less->row.cancelled);
    enough &= take_away(&row->own, less->row.own);
    enough &= take_away(&row->total, less->row.total);
    enough &= take_away(&row->runs, less->row.runs);
    enough &= take_away(&row->delays, less->row.delays);
    enough &= take_away(&row->delay, less->row.delay);
    enough &= take_away(&row->walls, less->row.walls);
    enough &= take_away(&row->wall, less->row.wall);
    enough &= take_away(&row->held, less->row.held);
    enough &= take_away(&row->held_time, less->row.held_time);
    enough &= subtract_buckets(from, less);
    enough &= subtract_call(from, less);
    set_longest(from, less);
    set_quantiles(from);
    return enough;
}

/* Nodes have the same indices in both. */
static bool subtract_nodes(struct occupancy_snapshot *from,
                           const struct occupancy_snapshot *less)
{
    bool enough = less->node_count <= from->node_count;

    for (uint32_t i = 0; i < less->node_count && enough; ++i) {
        struct event_loop_context *counts = &from->nodes[i].counts;

        enough = take_away(&counts->calls, less->nodes[i].counts.calls) &&
                 take_away(&counts->own, less->nodes[i].counts.own) &&
                 take_away(&counts->total, less->nodes[i].counts.total);
    }
    return enough;
}

bool occupancy_subtract(struct occupancy_snapshot *snapshot,
                        const struct occupancy_snapshot *before)
{
    bool enough = subtract_account(&snapshot->account, &before->account);

    enough &= take_away(&snapshot->calls_refused, before->calls_refused);

    for (uint32_t i = 0; i < before->site_count; ++i) {
        if (!before->sites[i].present)
            continue;
        if (i < snapshot->site_count && snapshot->sites[i].present)
            enough &= subtract_site(&snapshot->sites[i], &before->sites[i]);
        else
            enough = false;
    }
    return subtract_nodes(snapshot, before) && enough;
}

/* ---- how busy the loop was */

void occupancy_account(const struct occupancy_snapshot *snapshot,
                       uint64_t parts[OCCUPANCY_PARTS])
{
    const struct event_loop *account = &snapshot->account;

    parts[OCCUPANCY_TASKS] = account->tasks;
    parts[OCCUPANCY_CALLBACKS] = account->callbacks;
    parts[OCCUPANCY_OTHERS] = account->others;
    parts[OCCUPANCY_LOOP] = account->itself;
    parts[OCCUPANCY_PROFILER] = account->profiler;
    parts[OCCUPANCY_IDLE] = account->idle;
    parts[OCCUPANCY_INTERRUPTS] = account->interrupts;
    parts[OCCUPANCY_SAMPLER] = account->sampler;
    parts[OCCUPANCY_STOLEN] = account->stolen;
    parts[OCCUPANCY_WALL] = account->wall;
}

double occupancy_busy(uint64_t wall, uint64_t idle)
{
    return wall == 0 || idle >= wall ? 0 : (double)(wall - idle) / (double)wall;
}

/* Rounds are late now and then: nine tenths of the time will do. */
double occupancy_lately(const struct occupancy *occupancy, double seconds)
{
    const struct occupancy_turn *turns = occupancy->turns, *last;
    uint64_t clocks = (uint64_t)(seconds * PROF_CLOCK_HZ), passed = 0;
    uint32_t at = occupancy->turn_count;

    if (at == 0)
        return -1;
    last = &turns[--at];
    while (at > 0 && passed < clocks)
        passed = last->time - turns[--at].time;
    if (passed < clocks - clocks / 10)
        return -1;
    return occupancy_busy(last->wall - turns[at].wall,
                          last->idle - turns[at].idle);
}

/* ---- names and order */

const char *occupancy_name(const struct occupancy *occupancy, uint32_t site)
{
    return strings_text(&occupancy->strings, occupancy->places[site].text);
}

const char *occupancy_file(const struct occupancy *occupancy, uint32_t site)
{
    return strings_text(&occupancy->strings, occupancy->places[site].file);
}

uint32_t occupancy_line(const struct occupancy *occupancy, uint32_t site)
{
    return occupancy->places[site].line;
}

static const char *const order_words[OCCUPANCY_ORDERS] = {
    [OCCUPANCY_BY_SELF] = "self",       [OCCUPANCY_BY_TOTAL] = "total",
    [OCCUPANCY_BY_LONGEST] = "longest", [OCCUPANCY_BY_DELAY] = "delay",
    [OCCUPANCY_BY_LIFE] = "wall",       [OCCUPANCY_BY_CALLS] = "calls",
    [OCCUPANCY_BY_PENDING] = "pending", [OCCUPANCY_BY_NAME] = "name",
};

enum occupancy_order occupancy_order_of(const char *word)
{
    unsigned order = 0;

    while (order < OCCUPANCY_ORDERS && strcmp(order_words[order], word) != 0)
        ++order;
    return (enum occupancy_order)order;
}

const char *occupancy_order_word(enum occupancy_order order)
{
    return order_words[order];
}

/* A site with what it is sorted by. */
struct ranked {
    uint64_t weight;
    uint64_t own;
    const char *name; /* NULL: not sorted by it, or it has none */
    uint32_t site;
};

static uint64_t weight_of(const struct occupancy_site *site,
                          enum occupancy_order order)
{
    switch (order) {
    case OCCUPANCY_BY_TOTAL:
        return site->row.total;
    case OCCUPANCY_BY_LONGEST:
        return site->row.longest;
    case OCCUPANCY_BY_DELAY:
        return site->row.delay;
    case OCCUPANCY_BY_LIFE:
        return site->row.wall;
    case OCCUPANCY_BY_CALLS:
        return site->row.calls;
    case OCCUPANCY_BY_PENDING:
        return site->row.pending;
    default:
        return site->row.own;
    }
}

static int compare_ranked(const void *left, const void *right)
{
    const struct ranked *a = left, *b = right;
    int order = (a->name == NULL) - (b->name == NULL);

    if (a->name != NULL && b->name != NULL)
        order = strcmp(a->name, b->name);
    if (order == 0)
        order = (a->weight < b->weight) - (a->weight > b->weight);
    if (order == 0)
        order = (a->own < b->own) - (a->own > b->own);
    return order != 0 ? order : (a->site > b->site) - (a->site < b->site);
}

uint32_t *occupancy_sorted(const struct occupancy *occupancy,
                           const struct occupancy_snapshot *snapshot,
                           enum occupancy_order order, uint32_t *count)
{
    uint32_t all = snapshot->site_count, *sorted;
    struct ranked *ranked = xreallocarray(NULL, all + 1u, sizeof *ranked);

    *count = 0;
    for (uint32_t i = 0; i < all; ++i) {
        const struct occupancy_site *site = &snapshot->sites[i];
        bool by_name =
            order == OCCUPANCY_BY_NAME && occupancy->places[i].defined;

        if (site->present)
            ranked[(*count)++] = (struct ranked){
                .weight = weight_of(site, order),
                .own = site->row.own,
                .name = by_name ? occupancy_name(occupancy, i) : NULL,
                .site = i,
            };
    }
    if (*count > 0)
        qsort(ranked, *count, sizeof *ranked, compare_ranked);
    sorted = xreallocarray(NULL, all + 1u, sizeof *sorted);
    for (uint32_t i = 0; i < *count; ++i)
        sorted[i] = ranked[i].site;
    free(ranked);
    return sorted;
}

/* ---- all */

void occupancy_free(struct occupancy *occupancy)
{
    strings_free(&occupancy->strings);
    index_free(&occupancy->site_numbers);
    index_free(&occupancy->node_numbers);
    occupancy_forget(&occupancy->now);
    occupancy_forget(&occupancy->before);
    occupancy_forget(&occupancy->made);
    free(occupancy->places);
    free(occupancy->turns);
    free(occupancy->runs);
    free(occupancy->freezes);
    *occupancy = (struct occupancy){0};
}
