/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Feeds anything to what reads a stream: packets, console text, and the model
 * after them.
 *
 * The first byte of the input says what it is: 1 = console text instead of
 * packets, 2 = the length and the checksum of what looks like a packet are made
 * right, so that the fuzzer gets at the events; the other bits say how long
 * the pieces are that it comes in.
 */

#define _GNU_SOURCE /* memmem() */

#include "fuzz.h"

#include "causal/causal.h"
#include "occupancy/occupancy.h"
#include "tasks/tasks.h"
#include "trace/console.h"
#include "trace/model.h"
#include "mended_packets.h"

#define IS_TEXT 1u
#define MEND 2u

struct readers {
    struct packet_index index;
    struct model model;
    struct tasks tasks;
    struct occupancy occupancy;
    struct causal causal;
};

static void take(void *owner, const struct packet *packet)
{
    struct readers *readers = owner;

    require(packet->events_bytes + PROF_PACKET_BYTES <= packet->total_bytes);
    require(packet->total_bytes <= PROF_PACKET_MAX);
    if (packet_index_add(&readers->index, packet, 0)) {
        model_take(&readers->model, packet);
        tasks_take(&readers->tasks, packet);
        occupancy_take(&readers->occupancy, packet);
        causal_take(&readers->causal, packet);
    }
}

static void read_packets(struct readers *readers, const uint8_t *bytes,
                         size_t count, size_t piece)
{
    struct scanner scanner = {.sink = {take, readers}};

    for (size_t at = 0; at < count; at += piece)
        scanner_feed(&scanner, bytes + at,
                     count - at < piece ? count - at : piece);
    scanner_end(&scanner);
    require(scanner.garbage <= count);
}

static void read_text(struct readers *readers, const uint8_t *bytes,
                      size_t count, size_t piece)
{
    struct console *console = calloc(1, sizeof *console);

    console->sink = (struct packet_sink){take, readers};
    for (size_t at = 0; at < count; at += piece)
        console_feed(console, bytes + at,
                     count - at < piece ? count - at : piece);
    console_end(console);
    free(console);
}

/* Every stack ends within the room that it is given, no event changes a
 * node that means something else, and every sample is in one cell. */
static void look_at(const struct model *model)
{
    uint64_t samples = 0;
    uint32_t stack[64];

    for (uint32_t i = 0; i < MODEL_PSEUDOS && i < model_nodes(model); ++i)
        require(model->nodes[i].address == 0 && model->nodes[i].parent == 0);
    for (uint32_t i = 0; i < model_cells(model); ++i) {
        size_t count = model_stack(model, model->cells[i].node, stack, 64);

        samples += model->cells[i].count.samples;
        require(count > 0 && count <= 64);
        for (size_t j = 0; j < count; ++j)
            require(stack[j] < model_nodes(model));
    }
    require(samples == model_samples(model) + model->dropped.samples);
}

/* Everything that the model of tasks names is there, no stretch has no time,
 * and each text can be made. */
static void look_at_tasks(struct tasks *tasks)
{
    char text[TASKS_TEXT_MAX];

    tasks_finish(tasks);
    for (uint32_t i = 0; i < tasks_objects(tasks); ++i) {
        require(tasks_became(tasks, i) < tasks_objects(tasks));
        require(strlen(tasks_title(tasks, i, text)) < sizeof text);
    }
    for (uint32_t i = 0; i < tasks->stretch_count; ++i) {
        const struct tasks_stretch *stretch = &tasks->stretches[i];

        require(stretch->from < stretch->to);
        require(stretch->object < tasks_objects(tasks));
        require(stretch->before == TASKS_NONE || stretch->before < i);
    }
    for (uint32_t i = 0; i < tasks->edge_count; ++i) {
        uint32_t from = tasks->edges[i].from;

        require(tasks->edges[i].to < tasks_objects(tasks));
        require((from & TASKS_INTERRUPT) != 0
                    ? (from & ~TASKS_INTERRUPT) < tasks->irq_count
                    : from < tasks_objects(tasks));
    }
    for (uint32_t i = 0; i < tasks->problem_count; ++i)
        tasks_problem_text(tasks, &tasks->problems[i], text);
    tasks_free(tasks);
}

/* Everything that loop occupancy names is there, and each text can be made. */
static void look_at_occupancy(struct occupancy *occupancy)
{
    const struct occupancy_snapshot *now = &occupancy->now;
    uint32_t count, *sites;
    char text[OCCUPANCY_TEXT_MAX];

    occupancy_finish(occupancy);
    for (unsigned i = 0; i < OCCUPANCY_ORDERS; ++i) {
        sites =
            occupancy_sorted(occupancy, now, (enum occupancy_order)i, &count);
        require(count <= now->site_count);
        for (uint32_t j = 0; j < count; ++j)
            require(*occupancy_name(occupancy, sites[j]) != '\0' ||
                    occupancy_line(occupancy, sites[j]) >= 0);
        free(sites);
    }
    for (uint32_t i = 0; i < now->node_count; ++i)
        require(now->nodes[i].parent == OCCUPANCY_NONE ||
                now->nodes[i].parent < i);
    for (uint32_t i = 0; i < occupancy->run_count; ++i)
        require(occupancy->runs[i].site < occupancy->site_numbers.count);
    for (unsigned i = 0; i < OCCUPANCY_PROBLEM_KINDS; ++i)
        occupancy_problem_text(occupancy, (enum occupancy_problem_kind)i, text);
    require(occupancy_lately(occupancy, 10) <= 1);
    occupancy_free(occupancy);
}

/* Latencies and limits, of numbers that exist and of one that does not. */
static void look_at_target(const struct causal *causal, uint32_t target)
{
    for (uint32_t i = 0; i <= causal->speedup_count; ++i) {
        struct causal_part parts[CAUSAL_PARTS_MAX];
        uint32_t count = causal_parts(causal, target, i, parts);
        char text[CAUSAL_TEXT_MAX];
        double all = 0;

        require(count <= CAUSAL_PARTS_MAX);
        for (uint32_t k = 0; k < count; ++k) {
            require(parts[k].part > 0 && parts[k].part <= 1);
            require(*causal_part_name(&parts[k], text) != '\0');
            all += parts[k].part;
        }
        require(all <= 1 + 1e-9);
        for (uint32_t k = 0; k <= causal->kind_numbers.count; ++k) {
            const struct causal_latency *latency =
                causal_latency(causal, target, i, k);

            require(latency == NULL || latency->known);
        }
    }
}

/* Each curve has values in order, and says something that fits. */
static void look_at_causal(struct causal *causal)
{
    char notes[CAUSAL_NOTES_MAX][CAUSAL_TEXT_MAX], text[CAUSAL_TEXT_MAX];
    uint32_t points =
        causal->point_numbers.count < 4 ? causal->point_numbers.count : 4;

    require(causal_notes(causal, notes) <= CAUSAL_NOTES_MAX);
    for (uint32_t i = 0; i < points; ++i) {
        struct causal_curve *curves = causal_curves(causal, i);

        for (uint32_t j = 0; j < causal->target_numbers.count; ++j) {
            const struct causal_curve *curve = &curves[j];

            require(curve->count < CAUSAL_SPEEDUPS_MAX);
            for (uint32_t k = 1; k < curve->count; ++k)
                require(curve->values[k - 1].speedup <=
                        curve->values[k].speedup);
            require(*causal_explain(causal, curve, text) != '\0');
        }
        free(curves);
    }
    for (uint32_t i = 0; i < causal->target_numbers.count; ++i)
        look_at_target(causal, i);
    for (uint32_t i = 0; i < causal->record_count; ++i)
        require(causal->records[i].visits + causal->records[i].event.points <=
                causal->visit_count);
    causal_free(causal);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    struct readers readers = {0};
    uint8_t *copy;
    size_t piece;

    if (bytes < 2)
        return 0;
    piece = (size_t)(data[0] >> 2) * 7 + 1;
    copy = malloc(bytes - 1);
    memcpy(copy, data + 1, bytes - 1);
    if ((data[0] & MEND) != 0)
        mend(copy, bytes - 1);
    if ((data[0] & IS_TEXT) != 0)
        read_text(&readers, copy, bytes - 1, piece);
    else
        read_packets(&readers, copy, bytes - 1, piece);
    packet_index_sort(&readers.index);
    look_at(&readers.model);
    look_at_tasks(&readers.tasks);
    look_at_occupancy(&readers.occupancy);
    look_at_causal(&readers.causal);
    packet_index_free(&readers.index);
    model_free(&readers.model);
    free(copy);
    return 0;
}
