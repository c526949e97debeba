/* SPDX-License-Identifier: Apache-2.0 */

#include "cli/trace_tables.h"

#include "base/checked.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/text.h"
#include "collect/rollup.h"
#include "collect/waits.h"
#include "profile/samples.h"

#include <prof/format.h>
#include <stdlib.h>
#include <string.h>

#define UNKNOWN_BOOT 86400u
#define NS_PER_SECOND 1000000000u
#define PSEUDO_FRAME 0xffffff00u /* and the node's number */
#define CPU_SHIFT 22
#define MINUTE_SHIFT 30
_Static_assert(MODEL_NODES_MAX <= 1u << CPU_SHIFT, "a key has room for nodes");
_Static_assert(MODEL_CPUS_MAX <= 1u << (MINUTE_SHIFT - CPU_SHIFT),
               "a key has room for CPUs");

/* The samples of a stack on a CPU in a minute. */
struct cell {
    uint64_t key;
    struct model_count count;
};

/* A range of a histogram of a CPU's event loop. */
struct range {
    uint64_t low;
    uint64_t before; /* the last reset, all together */
    uint64_t count;
    uint16_t cpu, site;
    uint8_t measure;
};

/* What the guest itself has counted of its loop, and what its tasks waited
 * for. */
struct guest_counts {
    struct index range_keys;
    struct range *ranges;
    struct index site_keys; /* (cpu, site) */
    struct rollup_site *sites;
    struct strings strings;
    struct waits waits;
    uint32_t current[MODEL_CPUS_MAX]; /* objects */
    uint64_t gaps[MODEL_CPUS_MAX];    /* of which it is known */
};

struct tables {
    struct view *view;
    struct samples samples;
    struct store_batches batches;
    struct store_key key; /* of the guest, its bucket apart */
    uint64_t boot;        /* Unix seconds */
    uint8_t build[STORE_BUILD_BYTES];
    struct index cells, nodes;
    struct cell *rows;
    uint64_t *stacks;   /* by number of (nodes) */
    struct index named; /* numbers of sites that were sent */
};

static void take_sample(void *owner, const struct sample *sample)
{
    struct tables *tables = owner;
    uint64_t minute =
        (tables->boot + sample->time / PROF_CLOCK_HZ) / STORE_BUCKET_SECONDS;
    uint64_t cpu = tables->samples.tracks[sample->track].cpu;
    struct cell row = {.key = minute << MINUTE_SHIFT | cpu << CPU_SHIFT |
                              sample->node};
    uint32_t number;

    if (sample->node == MODEL_IDLE || sample->node == MODEL_DROPPED)
        return; /* they are in the accounts */
    number =
        index_add_row(&tables->cells, row.key, &tables->rows, &row, sizeof row);
    model_count_add(&tables->rows[number].count, &sample->count);
}

/* Sends the stack of (node), and returns its number in the store. */
static uint64_t add_stack(struct tables *tables, uint32_t node)
{
    static struct frame found[VIEW_FRAMES_MAX];
    static uint32_t nodes[MODEL_STACK_MAX], frames[MODEL_STACK_MAX];
    static const char *names[VIEW_FRAMES_MAX];
    const struct model *model = &tables->view->model;
    size_t depth = model_stack(model, node, nodes, MODEL_STACK_MAX);
    size_t count = view_frames(tables->view, node, found);
    struct store_stack row = {
        .build = tables->build,
        .frames = frames,
        .names = names,
        .frame_count = (unsigned)depth,
        .name_count = (unsigned)count,
        .named = true,
    };

    for (size_t i = 0; i < depth; ++i) {
        uint32_t at = nodes[depth - 1 - i];

        frames[i] = at < MODEL_PSEUDOS ? PSEUDO_FRAME | at
                                       : (uint32_t)(model->nodes[at].address -
                                                    model->hello.text_begin);
    }
    for (size_t i = 0; i < count; ++i)
        names[i] =
            names_text(&tables->view->names, found[count - 1 - i].function);
    row.stack = store_stack_id(tables->build, frames, (unsigned)depth);
    store_add_stack(&tables->batches, &row);
    return row.stack;
}

static uint64_t stack_of(struct tables *tables, uint32_t node)
{
    bool is_new;
    uint32_t number = index_add(&tables->nodes, node, &is_new);

    if (is_new) {
        vector_reserve_one(&tables->stacks, number, sizeof *tables->stacks);
        tables->stacks[number] = add_stack(tables, node);
    }
    return tables->stacks[number];
}

static void add_samples(struct tables *tables)
{
    for (uint32_t i = 0; i < tables->cells.count; ++i) {
        const struct cell *cell = &tables->rows[i];
        uint32_t node = (uint32_t)cell->key & ((1u << CPU_SHIFT) - 1);
        struct store_sample row = {
            .key = tables->key,
            .cpu = (uint16_t)(cell->key >> CPU_SHIFT & (MODEL_CPUS_MAX - 1)),
            .kind = STORE_TIME,
            .stack = stack_of(tables, node),
            .samples = cell->count.samples,
            .weight = cell->count.clocks,
        };

        row.key.bucket =
            (uint32_t)(cell->key >> MINUTE_SHIFT) * STORE_BUCKET_SECONDS;
        store_add_sample(&tables->batches, &row);
    }
}

static uint64_t samples_on(const struct tables *tables, uint32_t cpu)
{
    uint64_t samples = 0;

    for (uint32_t i = 0; i < tables->cells.count; ++i)
        if ((tables->rows[i].key >> CPU_SHIFT & (MODEL_CPUS_MAX - 1)) == cpu)
            samples += tables->rows[i].count.samples;
    return samples;
}

static void add_accounts(struct tables *tables)
{
    const struct model *model = &tables->view->model;

    for (size_t i = 0; i < model->cpu_count; ++i) {
        const struct model_cpu *cpu = &model->cpus[i];
        struct store_account row = {
            .key = tables->key,
            .cpu = (uint16_t)cpu->cpu,
            .attributed = samples_on(tables, cpu->cpu),
            .idle = cpu->idle.samples,
            .dropped = checked_add(cpu->dropped, cpu->discarded),
            .missed = cpu->missed,
        };

        if (i == 0) /* it is kept for all CPUs together */
            row.stolen_ns = model->stolen_clocks * MODEL_NS_PER_CLOCK;
        row.ticks = row.attributed + row.idle + row.dropped + row.missed;
        store_add_account(&tables->batches, &row);
    }
}

/* ---- the loop and the waits */

static void take_range(struct guest_counts *counts, uint16_t cpu,
                       const struct event_loop_bucket *from)
{
    const struct range fresh = {.low = from->low,
                                .cpu = cpu,
                                .site = from->site,
                                .measure = from->measure};
    uint64_t key = rollup_range_key(cpu, from->site, from->measure, from->low);
    uint32_t number = index_add_row(&counts->range_keys, key, &counts->ranges,
                                    &fresh, sizeof fresh);
    struct range *range = &counts->ranges[number];

    if (from->count < range->count) /* the guest has begun anew */
        range->before = checked_add(range->before, range->count);
    range->count = from->count;
}

static void take_site(struct guest_counts *counts, uint16_t cpu,
                      const struct event_loop_site *from)
{
    struct rollup_site site = {.id = rollup_site_id(from->text, from->line)};
    uint64_t key = index_pair(cpu, from->site);

    if (index_find(&counts->site_keys, key) != INDEX_NONE)
        return;
    site.text = strings_put(&counts->strings, from->text);
    index_add_row(&counts->site_keys, key, &counts->sites, &site, sizeof site);
}

static void take_event(void *owner, const struct event *event, uint32_t node,
                       uint64_t clocks, const struct model_cpu *cpu)
{
    struct guest_counts *counts = owner;
    uint16_t number = (uint16_t)(cpu->cpu % MODEL_CPUS_MAX);

    (void)node;
    (void)clocks;
    if (cpu->gaps != counts->gaps[number]) {
        counts->gaps[number] = cpu->gaps;
        counts->current[number] = 0;
        rollup_waits_lose(&counts->waits);
    }
    if (event->kind == PROF_EVENT_LOOP_BUCKET)
        take_range(counts, number, &event->as_loop_bucket);
    else if (event->kind == PROF_EVENT_LOOP_SITE)
        take_site(counts, number, &event->as_loop_site);
    else
        rollup_waits_take(&counts->waits, &counts->current[number], event);
}

/* A site's (name) is kept as that of a stack of one function. */
static void add_site(struct tables *tables, uint64_t id, const char *name)
{
    const struct store_stack row = {.build = tables->build,
                                    .stack = id,
                                    .names = &name,
                                    .name_count = 1,
                                    .named = true};
    bool is_new;

    index_add(&tables->named, id, &is_new);
    if (is_new)
        store_add_stack(&tables->batches, &row);
}

static void add_loop(struct tables *tables, const struct guest_counts *counts)
{
    uint64_t hz = tables->view->model.hello.tsc_hz;

    for (uint32_t i = 0; i < counts->range_keys.count; ++i) {
        const struct range *range = &counts->ranges[i];
        uint32_t site =
            index_find(&counts->site_keys, index_pair(range->cpu, range->site));
        struct store_loop row = {
            .key = tables->key,
            .cpu = range->cpu,
            .measure = (enum store_measure)range->measure,
            .low = checked_scale(range->low, NS_PER_SECOND, hz),
            .count = checked_add(range->before, range->count),
        };

        if (row.count == 0 || site == INDEX_NONE || range->measure > STORE_WALL)
            continue;
        row.site = counts->sites[site].id;
        add_site(tables, row.site,
                 strings_text(&counts->strings, counts->sites[site].text));
        store_add_loop(&tables->batches, &row);
    }
}

static const char *wait_text(const struct waits *waits,
                             const struct wait_name *name)
{
    return name != NULL ? strings_text(&waits->strings, name->text) : "";
}

static void add_waits(struct tables *tables, const struct waits *waits)
{
    for (uint32_t i = 0; i < waits->keys.count; ++i) {
        const struct wait_sum *sum = &waits->sums[i];
        const struct wait_name *site = rollup_waits_name(waits, sum->site);
        const char *name = wait_text(waits, site);
        struct store_wait row = {
            .key = tables->key,
            .site = site != NULL ? rollup_site_id(name, site->line) : 0,
            .why = wait_text(waits, rollup_waits_name(waits, sum->why)),
            .count = sum->count,
            .ns = checked_mul(sum->clocks, MODEL_NS_PER_CLOCK),
        };

        if (site != NULL)
            add_site(tables, row.site, name);
        store_add_wait(&tables->batches, &row);
    }
    if (waits->refused > 0)
        log_error("%s: %llu waits and names are left out of the tables",
                  tables->view->input, (unsigned long long)waits->refused);
}

/* Reads the trace once more, for what its samples do not say. */
static void add_counts(struct tables *tables)
{
    struct guest_counts counts = {0};

    view_again(tables->view, (struct model_watch){take_event, &counts});
    add_loop(tables, &counts);
    add_waits(tables, &counts.waits);
    rollup_waits_free(&counts.waits);
    strings_free(&counts.strings);
    index_free(&counts.range_keys);
    index_free(&counts.site_keys);
    free(counts.ranges);
    free(counts.sites);
}

/* Packets that never came. How many ticks they had is not known of a trace: no
 * account has them. */
static void add_losses(struct tables *tables)
{
    const struct store_loss row = {
        .key = tables->key,
        .host = "",
        .why = "packets missing",
        .what = STORE_PACKETS,
        .rows = tables->view->model.missing_packets,
    };

    if (row.rows > 0)
        store_add_loss(&tables->batches, &row);
}

static void add_guest(struct tables *tables, const char *host)
{
    static const uint8_t no_boot[STORE_BOOT_BYTES];
    const struct model *model = &tables->view->model;
    struct store_guest row = {
        .key = tables->key,
        .boot = no_boot,
        .host = host,
        .target = tables->view->input,
        .seen = (uint32_t)(tables->boot + model->end / PROF_CLOCK_HZ),
        .cpus = (uint16_t)model->cpu_count,
        .mhz = model->rate_mhz,
        .image = tables->view->trace.image,
    };

    store_add_guest(&tables->batches, &row);
}

void trace_tables_send(struct view *view, struct store *store)
{
    static const uint8_t no_boot[STORE_BOOT_BYTES];
    const struct model *model = &view->model;
    const char *image = view->trace.image;
    size_t bytes = model->hello.build_id_bytes;
    struct tables tables = {.view = view, .batches.store = store};
    uint64_t first;

    memcpy(tables.build, model->hello.build_id,
           bytes < sizeof tables.build ? bytes : sizeof tables.build);
    tables.boot = model->hello.unix_seconds != 0 ? model->hello.unix_seconds
                                                 : UNKNOWN_BOOT;
    first = tables.boot + model->begin / PROF_CLOCK_HZ;
    tables.key = (struct store_key){
        .bucket = (uint32_t)(first - first % STORE_BUCKET_SECONDS),
        .service = path_name(image != NULL ? image : view->input),
        .build = tables.build,
    };
    tables.key.guest = store_guest_id(tables.key.service, no_boot, view->input);
    samples_open(&tables.samples, view);
    samples_each(&tables.samples, take_sample, &tables);
    add_samples(&tables);
    add_accounts(&tables);
    add_counts(&tables);
    add_losses(&tables);
    add_guest(&tables, "");
    store_batches_send(&tables.batches);
    store_batches_free(&tables.batches);
    samples_close(&tables.samples);
    index_free(&tables.cells);
    index_free(&tables.nodes);
    index_free(&tables.named);
    free(tables.rows);
    free(tables.stacks);
}
