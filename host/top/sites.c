/* SPDX-License-Identifier: Apache-2.0 */
/* From a live guest's rounds to weights, and to the list of sites. */

#include "top/sites.h"

#include "base/memory.h"
#include "top/model.h"

#include <math.h>
#include <prof/format.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void take_packet(void *owner, const struct packet *packet)
{
    struct top_sites *top = owner;

    if (top->boots != top->live->boots) {
        occupancy_free(&top->occupancy);
        top->rounds = 0;
        top->boots = top->live->boots;
    }
    if (packet->cpu == 0) /* of several, the first one's loop */
        occupancy_take(&top->occupancy, packet);
}

void top_sites_open(struct top_sites *top, struct live *live)
{
    *top = (struct top_sites){.live = live};
    live->also = (struct packet_sink){take_packet, top};
}

/* ---- what is recent */

static void forget_recent(struct top_sites *top)
{
    occupancy_forget(&top->base);
    occupancy_forget(&top->last);
    memset(top->lately_parts, 0, sizeof top->lately_parts);
    top->lately_count = 0;
}

static double weighted_sum(double sum, double kept, uint64_t now,
                           uint64_t before)
{
    return sum * kept + (now > before ? (double)(now - before) : 0);
}

static void add_account(double sums[OCCUPANCY_PARTS], double kept,
                        const struct occupancy_snapshot *now,
                        const struct occupancy_snapshot *before)
{
    uint64_t new[OCCUPANCY_PARTS], old[OCCUPANCY_PARTS];

    occupancy_account(now, new);
    occupancy_account(before, old);
    for (unsigned i = 0; i < OCCUPANCY_PARTS; ++i)
        sums[i] = weighted_sum(sums[i], kept, new[i], old[i]);
}

static void add_site(struct top_weights *sum, double kept,
                     const struct event_loop_row *now,
                     const struct event_loop_row *before)
{
    sum->own = weighted_sum(sum->own, kept, now->own, before->own);
    sum->total = weighted_sum(sum->total, kept, now->total, before->total);
    sum->calls = weighted_sum(sum->calls, kept, now->calls, before->calls);
    sum->delays = weighted_sum(sum->delays, kept, now->delays, before->delays);
    sum->delay = weighted_sum(sum->delay, kept, now->delay, before->delay);
}

static void make_room_for_sites(struct top_sites *top, uint32_t sites)
{
    while (top->lately_count < sites) {
        vector_reserve_one(&top->lately, top->lately_count,
                           sizeof *top->lately);
        top->lately[top->lately_count++] = (struct top_weights){0};
    }
}

/* Adds the stretch from the last snapshot to (now), which becomes the last. */
static void add_stretch(struct top_sites *top,
                        const struct occupancy_snapshot *now)
{
    static const struct event_loop_row none;
    double seconds = (double)(now->time - top->last.time) / PROF_CLOCK_HZ;
    double kept = exp2(-seconds / TOP_HALF_SECONDS);

    add_account(top->lately_parts, kept, now, &top->last);
    make_room_for_sites(top, now->site_count);
    for (uint32_t i = 0; i < now->site_count; ++i)
        add_site(&top->lately[i], kept, &now->sites[i].row,
                 i < top->last.site_count ? &top->last.sites[i].row : &none);
    occupancy_copy(&top->last, now);
}

void top_sites_update(struct top_sites *top, struct top_ui *ui)
{
    struct occupancy_snapshot *now = &top->occupancy.now;
    bool first = top->rounds == 0;

    if (top->rounds == top->occupancy.rounds)
        return;
    if (first) { /* names of another boot are gone */
        top_set_list(ui, NULL, 0);
        top->count = 0;
    }
    if (first || now->account.wall < top->last.account.wall)
        forget_recent(top);
    top->rounds = top->occupancy.rounds;
    if (first && top->live->late) /* what was before is not recent */
        occupancy_copy(&top->last, now);
    else
        add_stretch(top, now);
}

void top_sites_reset(struct top_sites *top)
{
    occupancy_copy(&top->base, &top->last);
    memset(top->lately_parts, 0, sizeof top->lately_parts);
    for (uint32_t i = 0; i < top->lately_count; ++i)
        top->lately[i] = (struct top_weights){0};
}

/* ---- the list */

static double percent_of(const struct top_sites *top, double cycles)
{
    double wall = top->parts[OCCUPANCY_WALL];

    return wall > 0 ? 100 * cycles / wall : 0;
}

static struct top_row row_of(const struct top_sites *top, uint32_t site,
                             const struct top_weights *weights)
{
    const struct event_loop_row *row = &top->last.sites[site].row;
    double hz = (double)top->occupancy.tsc_hz;
    double wall = top->parts[OCCUPANCY_WALL], delays = weights->delays;

    return (struct top_row){
        .name = occupancy_name(&top->occupancy, site),
        .self = percent_of(top, weights->own),
        .total = percent_of(top, weights->total),
        .rate = wall > 0 ? weights->calls * hz / wall : 0,
        .longest_ms = (double)row->longest * 1000 / hz,
        .delay_ms = delays > 0 ? weights->delay / delays * 1000 / hz : 0,
        .pending = row->pending,
    };
}

static void put_sites(struct top_sites *top, const struct top_weights *weights)
{
    for (uint32_t i = 0; i < top->last.site_count; ++i) {
        const struct occupancy_site *site = &top->last.sites[i];

        if (!site->present || site->future || site->kind == OCCUPANCY_IDLE)
            continue;
        vector_reserve_one(&top->rows, top->count, sizeof *top->rows);
        top->rows[top->count++] = row_of(top, i, &weights[i]);
    }
}

static void put_lately(struct top_sites *top)
{
    make_room_for_sites(top, top->last.site_count);
    memcpy(top->parts, top->lately_parts, sizeof top->parts);
    put_sites(top, top->lately);
}

/* Since the reset by the user, or the guest's. */
static void put_since(struct top_sites *top)
{
    static const struct occupancy_snapshot nothing;
    static const struct event_loop_row none;
    struct occupancy_snapshot since = {0};
    struct top_weights *weights;

    occupancy_copy(&since, &top->last);
    if (top->base.time != 0)
        occupancy_subtract(&since, &top->base);
    weights = xreallocarray(NULL, since.site_count + 1u, sizeof *weights);
    for (uint32_t i = 0; i < since.site_count; ++i) {
        weights[i] = (struct top_weights){0};
        add_site(&weights[i], 0, &since.sites[i].row, &none);
    }
    add_account(top->parts, 0, &since, &nothing);
    put_sites(top, weights);
    free(weights);
    occupancy_forget(&since);
}

void top_sites_list(struct top_sites *top, struct top_ui *ui)
{
    struct top_row *before = top->rows;

    top->rows = NULL;
    top->count = 0;
    if (top->occupancy.tsc_hz != 0 && ui->since_reset)
        put_since(top);
    else if (top->occupancy.tsc_hz != 0)
        put_lately(top);
    top->count = top_rows_filter(top->rows, top->count,
                                 ui->has_regex ? &ui->regex : NULL, true);
    top_rows_sort(top->rows, top->count, ui->sort);
    top_set_list(ui, top->rows, top->count);
    free(before);
}

/* ---- beside the list */

double top_sites_part(const struct top_sites *top, enum occupancy_part part)
{
    return percent_of(top, top->parts[part]);
}

double top_sites_busy(const struct top_sites *top)
{
    double idle = top_sites_part(top, OCCUPANCY_IDLE) +
                  top_sites_part(top, OCCUPANCY_STOLEN);

    return top->parts[OCCUPANCY_WALL] > 0 ? 100 - idle : 0;
}

bool top_sites_warm_up(const struct top_sites *top)
{
    return top->occupancy.rounds == 0;
}

const char *top_sites_silence(const struct top_sites *top)
{
    return top->boots == 0 ? live_silence(top->live)
                           : "nothing of loop occupancy yet; the guest sends "
                             "it with prof.loop=";
}

const char *top_sites_remark(const struct top_sites *top, char *text,
                             size_t bytes)
{
    const struct occupancy *occupancy = &top->occupancy;
    const struct occupancy_freeze *last;

    *text = '\0';
    if (occupancy->freeze_count == 0 || occupancy->tsc_hz == 0)
        return text;
    last = &occupancy->freezes[occupancy->freeze_count - 1];
    snprintf(text, bytes, "%s held the loop for %.0f ms, at %.1f s",
             occupancy_name(occupancy, last->site),
             (double)last->cycles * 1000 / (double)occupancy->tsc_hz,
             (double)last->time / PROF_CLOCK_HZ);
    return text;
}

void top_sites_close(struct top_sites *top)
{
    forget_recent(top);
    occupancy_free(&top->occupancy);
    free(top->lately);
    free(top->rows);
}
