/* SPDX-License-Identifier: Apache-2.0 */
/* What in a stream cannot be true. */

#include "base/log.h"
#include "occupancy/occupancy.h"

#include <inttypes.h>
#include <prof/format.h>
#include <stdio.h>
#include <stdlib.h>

void occupancy_problem(struct occupancy *occupancy,
                       enum occupancy_problem_kind kind, uint64_t number)
{
    struct occupancy_problem *problem = &occupancy->problems[kind];

    if (problem->count++ == 0) {
        problem->time = occupancy->time;
        problem->number = number;
    }
}

static uint64_t difference_of(uint64_t one, uint64_t other)
{
    return one > other ? one - other : other - one;
}

/* What runs while a round is made is the profiler: that part has grown between
 * the account and the rows. */
static bool is_still(unsigned kind)
{
    return kind != OCCUPANCY_PROFILER;
}

static void check_calls(struct occupancy *occupancy)
{
    const struct occupancy_snapshot *now = &occupancy->now;

    for (uint32_t i = 0; i < now->site_count; ++i) {
        const struct event_loop_call *call = &now->sites[i].call;

        if (call->longest > call->time)
            occupancy_problem(occupancy, OCCUPANCY_NOT_CALLS,
                              occupancy->places[i].number);
    }
}

static void check_account(struct occupancy *occupancy)
{
    const struct occupancy_snapshot *now = &occupancy->now;
    uint64_t parts[OCCUPANCY_PARTS], kinds[OCCUPANCY_IDLE + 1] = {0}, sum = 0;

    occupancy_account(now, parts);
    for (unsigned i = 0; i < OCCUPANCY_WALL; ++i)
        sum += parts[i];
    if (sum != parts[OCCUPANCY_WALL])
        occupancy_problem(occupancy, OCCUPANCY_NOT_WALL,
                          difference_of(sum, parts[OCCUPANCY_WALL]));
    for (uint32_t i = 0; i < now->site_count; ++i)
        kinds[now->sites[i].kind] += now->sites[i].row.own;
    for (unsigned i = 0; i <= OCCUPANCY_IDLE; ++i) {
        if (is_still(i) && kinds[i] != parts[i])
            occupancy_problem(occupancy, OCCUPANCY_NOT_SITES,
                              difference_of(kinds[i], parts[i]));
    }
}

/* Whether an ancestor of (node) has its site. */
static bool is_recursive(const struct occupancy_snapshot *now,
                         const struct occupancy_node *node)
{
    uint32_t above = node->parent;

    while (above != OCCUPANCY_NONE && now->nodes[above].site != node->site)
        above = now->nodes[above].parent;
    return above != OCCUPANCY_NONE;
}

/* The totals of all sites, anew from the own times of the tree. */
static void check_totals(struct occupancy *occupancy)
{
    const struct occupancy_snapshot *now = &occupancy->now;
    uint64_t *nodes = calloc(now->node_count + 1u, sizeof *nodes);
    uint64_t *sites = calloc(now->site_count + 1u, sizeof *sites);

    if (nodes == NULL || sites == NULL)
        die("out of memory");
    for (uint32_t i = now->node_count; i-- > 0;) {
        const struct occupancy_node *node = &now->nodes[i];

        nodes[i] += node->counts.own;
        if (node->parent != OCCUPANCY_NONE)
            nodes[node->parent] += nodes[i];
        if (node->site < now->site_count && !is_recursive(now, node))
            sites[node->site] += nodes[i];
    }
    for (uint32_t i = 0; i < now->site_count; ++i) {
        const struct occupancy_site *site = &now->sites[i];

        if (site->present && is_still(site->kind) &&
            sites[i] != site->row.total)
            occupancy_problem(occupancy, OCCUPANCY_NOT_TOTAL,
                              difference_of(sites[i], site->row.total));
    }
    free(nodes);
    free(sites);
}

void occupancy_check(struct occupancy *occupancy)
{
    const struct occupancy_snapshot *now = &occupancy->now;

    occupancy->time = now->time;
    for (uint32_t i = 0; i < now->site_count; ++i) {
        if (now->sites[i].present && !occupancy->places[i].defined)
            occupancy_problem(occupancy, OCCUPANCY_NO_PLACE,
                              occupancy->places[i].number);
    }
    check_account(occupancy);
    check_calls(occupancy);
    if (now->node_count > 0 && now->nodes_time == now->time)
        check_totals(occupancy);
}

bool occupancy_is_wrong(const struct occupancy *occupancy,
                        enum occupancy_problem_kind kind)
{
    static const bool may_be_missing[OCCUPANCY_PROBLEM_KINDS] = {
        [OCCUPANCY_NO_PLACE] = true,
        [OCCUPANCY_NOT_SITES] = true,
        [OCCUPANCY_NOT_TOTAL] = true,
    };
    bool explained = kind == OCCUPANCY_MISSED ||
                     (may_be_missing[kind] && occupancy->incomplete);

    return occupancy->problems[kind].count > 0 && !explained;
}

const char *occupancy_problem_text(const struct occupancy *occupancy,
                                   enum occupancy_problem_kind kind, char *text)
{
    static const struct {
        const char *before;
        const char *after; /* the number; NULL = it means nothing */
    } texts[] = {
        [OCCUPANCY_MISSED] = {"packets are missing, perhaps with loop "
                              "occupancy",
                              NULL},
        [OCCUPANCY_STRAY] = {"a row of loop occupancy without its account",
                             NULL},
        [OCCUPANCY_TWICE] = {"site ", " has two rows at a time"},
        [OCCUPANCY_NO_PLACE] = {"site ", " is defined nowhere"},
        [OCCUPANCY_NO_BUCKET] = {"no range of a histogram begins at ", ""},
        [OCCUPANCY_NO_KIND] = {"there is no kind ", " of sites"},
        [OCCUPANCY_NOT_WALL] = {"the parts of the account differ from the "
                                "whole by ",
                                " cycles"},
        [OCCUPANCY_NOT_SITES] = {"the sites of a kind differ from their part "
                                 "of the account by ",
                                 " cycles"},
        [OCCUPANCY_NOT_TOTAL] = {"the total of a site differs from that of the "
                                 "tree by ",
                                 " cycles"},
        [OCCUPANCY_NOT_CALLS] = {"site ", " has a call that is longer than all "
                                          "of its calls together"},
        [OCCUPANCY_BACK] = {"counts are less than before", NULL},
        [OCCUPANCY_NOT_KEPT] = {"there are too many sites, or long runs: ", ""},
    };
    const struct occupancy_problem *problem = &occupancy->problems[kind];
    char number[24] = "", more[48] = "";

    if (texts[kind].after != NULL)
        snprintf(number, sizeof number, "%" PRIu64, problem->number);
    if (problem->count > 1)
        snprintf(more, sizeof more, ", and %" PRIu64 " times more",
                 problem->count - 1);
    snprintf(text, OCCUPANCY_TEXT_MAX, "at %" PRIu64 ".%07u s: %s%s%s%s",
             problem->time / PROF_CLOCK_HZ,
             (unsigned)(problem->time % PROF_CLOCK_HZ), texts[kind].before,
             number, texts[kind].after != NULL ? texts[kind].after : "", more);
    return text;
}
