/* SPDX-License-Identifier: Apache-2.0 */
/* The page's payload; see docs/views.md for its columns. */

#include "flame/sides.h"

#include "base/json.h"
#include "base/memory.h"
#include "page/columns.h"
#include "page/page.h"

#include <math.h>
#include <prof/format.h>
#include <stdlib.h>
#include <string.h>

/* The strings, "" for those that the page does not refer to. */
static const char **used_strings(const struct flame *flame)
{
    const struct strings *all = &flame->strings;
    uint32_t count = strings_count(all);
    const char **used = xreallocarray(NULL, count, sizeof *used);

    for (uint32_t i = 0; i < count; ++i)
        used[i] = "";
    used[flame->title] = strings_text(all, flame->title);
    for (uint32_t i = 0; i < flame_functions(flame); ++i) {
        const struct flame_function *one = &flame->functions[i];

        used[one->name] = strings_text(all, one->name);
        used[one->folder] = strings_text(all, one->folder);
    }
    for (uint32_t i = 0; i < flame_nodes(flame); ++i)
        used[flame->nodes[i].line] = strings_text(all, flame->nodes[i].line);
    return used;
}

static void put_strings(const struct flame *flame, struct columns *columns)
{
    uint32_t count = strings_count(&flame->strings);
    const char **used = used_strings(flame);

    COLUMNS_PUT_ALL(columns, "string.bytes", columns_put, count,
                    strlen(used[i]));
    COLUMNS_PUT_ALL(columns, "text", columns_put_text, count, used[i]);
    free(used);
}

static void put_tree(const struct flame *flame, struct columns *columns)
{
    const struct flame_function *functions = flame->functions;
    const struct flame_node *nodes = flame->nodes;
    const struct flame_stack *stacks = flame->stacks;

    COLUMNS_PUT_ALL(columns, "function.name", columns_put_change,
                    flame_functions(flame), functions[i].name);
    COLUMNS_PUT_ALL(columns, "function.folder", columns_put,
                    flame_functions(flame), functions[i].folder);
    COLUMNS_PUT_ALL(columns, "function.language", columns_put,
                    flame_functions(flame), functions[i].language);
    COLUMNS_PUT_ALL(columns, "function.part", columns_put,
                    flame_functions(flame), functions[i].part);
    COLUMNS_PUT_ALL(columns, "node.depth", columns_put_change,
                    flame_nodes(flame), nodes[i].depth);
    COLUMNS_PUT_ALL(columns, "node.function", columns_put, flame_nodes(flame),
                    nodes[i].function + 1);
    COLUMNS_PUT_ALL(columns, "node.line", columns_put, flame_nodes(flame),
                    nodes[i].line);
    COLUMNS_PUT_ALL(columns, "stack.node", columns_put_change,
                    flame_stacks(flame), stacks[i].node);
    COLUMNS_PUT_ALL(columns, "stack.exits", columns_put, flame_stacks(flame),
                    stacks[i].exits);
    if (!flame->is_diff)
        return;
    COLUMNS_PUT_ALL(columns, "base.samples", columns_put, flame_stacks(flame),
                    stacks[i].self[FLAME_BASE].samples);
    COLUMNS_PUT_ALL(columns, "base.clocks", columns_put, flame_stacks(flame),
                    stacks[i].self[FLAME_BASE].clocks);
}

/* A sample usually accounts for the time since the one before: only the
 * difference is written. */
static void put_samples(const struct flame *flame, struct columns *columns)
{
    const struct flame_sample *samples = flame->samples;

    COLUMNS_PUT_ALL(columns, "sample.time", columns_put_change,
                    flame->sample_count, samples[i].time);
    COLUMNS_PUT_ALL(columns, "sample.stack", columns_put, flame->sample_count,
                    samples[i].stack);
    COLUMNS_PUT_ALL(columns, "sample.samples", columns_put, flame->sample_count,
                    samples[i].samples);
    COLUMNS_PUT_ALL(columns, "sample.extra", columns_put_signed,
                    flame->sample_count,
                    (int64_t)(samples[i].clocks - samples[i].time +
                              (i > 0 ? samples[i - 1].time : 0)));
}

static void put_losses(const struct flame *flame, struct columns *columns)
{
    const struct flame_loss *losses = flame->losses;

    COLUMNS_PUT_ALL(columns, "loss.kind", columns_put, flame->loss_count,
                    losses[i].kind);
    COLUMNS_PUT_ALL(columns, "loss.from", columns_put_change, flame->loss_count,
                    losses[i].from);
    COLUMNS_PUT_ALL(
        columns, "loss.length", columns_put, flame->loss_count,
        losses[i].to > losses[i].from ? losses[i].to - losses[i].from : 0);
    COLUMNS_PUT_ALL(columns, "loss.count", columns_put, flame->loss_count,
                    losses[i].count);
}

/* What each side has lost, the new one first. */
static json_t *sides_of(const struct flame *flame)
{
    static const char *const names[FLAME_LOSS_KINDS] = {
        [FLAME_MISSED] = "missed",   [FLAME_DROPPED] = "dropped",
        [FLAME_PACKETS] = "packets", [FLAME_DISCARDED] = "discarded",
        [FLAME_STOLEN] = "stolen",   [FLAME_OWN] = "own",
    };
    json_t *sides = json_array();

    for (int side = 0; side <= (flame->is_diff || flame->sides != NULL);
         ++side) {
        const struct flame_whole *whole = &flame->wholes[side];
        json_t *losses = json_object();

        for (int kind = 0; kind < FLAME_LOSS_KINDS; ++kind)
            json_set(losses, names[kind], json_count(whole->losses[kind]));
        json_array_append_new(
            sides,
            json_pack("{sIsIsIsosb}", "samples", (json_int_t)whole->samples,
                      "clocks", (json_int_t)whole->clocks, "cpus",
                      (json_int_t)whole->cpus, "losses", losses, "steady",
                      (int)whole->is_steady));
    }
    return sides;
}

static void put_cpus(const struct flame *flame, struct columns *columns)
{
    COLUMNS_PUT_ALL(columns, "sample.cpu", columns_put, flame->sample_count,
                    flame->samples[i].cpu);
    COLUMNS_PUT_ALL(columns, "loss.cpu", columns_put, flame->loss_count,
                    flame->losses[i].cpu);
}

/* What CPUs did at once. */
static void put_ticks(const struct flame *flame, struct columns *columns)
{
    const struct ticks_one *list = flame->ticks.list;

    COLUMNS_PUT_ALL(columns, "sample.tick", columns_put_change,
                    flame->sample_count, flame->samples[i].tick);
    COLUMNS_PUT_ALL(columns, "tick.clocks", columns_put, flame->ticks.ticks,
                    list[i].clocks);
    COLUMNS_PUT_ALL(columns, "tick.count", columns_put, flame->ticks.ticks,
                    list[i].count);
    COLUMNS_PUT_ALL(columns, "tick.busy", columns_put, flame->ticks.ticks,
                    list[i].busy);
}

static json_t *ticks_of(const struct flame *flame)
{
    const struct ticks *ticks = &flame->ticks;
    double error = flame->clock_error;

    return json_pack("{sosososososo}", "samples", json_count(ticks->samples),
                     "joined", json_count(ticks->joined), "bound",
                     json_count(ticks->bound), "median",
                     json_count(ticks_skew(ticks, 0.5)), "worst",
                     json_count(ticks_skew(ticks, 0.99)), "clock_error",
                     isnan(error) ? json_null() : json_real(error));
}

static json_t *cpus_of(const struct flame *flame)
{
    json_t *cpus = json_array();

    for (size_t i = 0; i < flame->cpu_count; ++i)
        json_array_append_new(cpus, json_count(flame->cpus[i]));
    return cpus;
}

static json_t *head_of(const struct flame *flame)
{
    json_t *head = json_object(), *languages = json_array();
    json_t *parts = json_array();

    for (int i = 0; i < SOURCE_LANGUAGES; ++i)
        json_array_append_new(languages, json_string(source_language_name(
                                             (enum source_language)i)));
    for (int i = 0; i < FLAME_PARTS; ++i)
        json_array_append_new(parts,
                              json_string(flame_part_name((enum flame_part)i)));
    /* by number: a path need not be UTF-8, which JSON must be */
    json_set(head, "title", json_integer(flame->title));
    json_set(head, "arch", json_string(flame->arch));
    json_set(head, "hz", json_real(flame->hz));
    json_set(
        head, "clocks",
        json_integer((json_int_t)(flame->end - flame->begin + flame->lead)));
    json_set(head, "clock_hz", json_integer(PROF_CLOCK_HZ));
    json_set(head, "diff", json_boolean(flame->is_diff));
    json_set(head, "waits", json_boolean(flame->is_waits));
    json_set(head, "joined", json_boolean(flame->is_joined));
    json_set(head, "z", json_real(flame_z(flame)));
    json_set(head, "by_time", json_boolean(flame->by_time));
    json_set(head, "served", json_boolean(flame->is_served));
    json_set(head, "sides", sides_of(flame));
    json_set(head, "cpus", cpus_of(flame));
    json_set(head, "irqs_off", json_boolean(flame->has_irqs_off));
    if (flame->ticks.ticks > 0)
        json_set(head, "ticks", ticks_of(flame));
    json_set(head, "languages", languages);
    json_set(head, "parts", parts);
    if (flame->sides != NULL)
        json_set(head, "both", sides_head(flame));
    return head;
}

void flame_put_columns(const struct flame *flame, struct columns *columns)
{
    put_strings(flame, columns);
    put_tree(flame, columns);
    put_samples(flame, columns);
}

bool flame_write_page(const struct flame *flame, FILE *out)
{
    struct columns columns = {0};
    struct page_picture picture = {0};

    page_picture_draw(&picture, flame_draw_less, (void *)(uintptr_t)flame);
    flame_put_columns(flame, &columns);
    put_losses(flame, &columns);
    if (flame->cpu_count > 1)
        put_cpus(flame, &columns);
    if (flame->ticks.ticks > 0)
        put_ticks(flame, &columns);
    if (flame->has_irqs_off)
        COLUMNS_PUT_ALL(&columns, "sample.irqs_off", columns_put,
                        flame->sample_count, flame->samples[i].irqs_off);
    if (flame->sides != NULL)
        sides_put_columns(flame, &columns);
    return page_write_pictured(&page_flame, head_of(flame), &columns, &picture,
                               out);
}
