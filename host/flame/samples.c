/* SPDX-License-Identifier: Apache-2.0 */
/* The samples one by one, and what is missing between them. The packets are
 * read a second time, when all nodes are known: both readings number nodes,
 * tasks and CPUs alike, so the same keys find a sample's cell and its stack. */

#include "flame/flame.h"

#include "base/checked.h"
#include "base/memory.h"
#include "profile/weigh.h"

#include <stdlib.h>

struct reading {
    struct flame *flame;
    struct view *view;
    const uint32_t *stacks; /* by cell */
};

void flame_put_loss(struct flame *flame, const struct flame_loss *loss)
{
    struct flame_loss put = *loss;

    if (loss->to < flame->begin || loss->from > flame->end)
        return;
    put.from = flame->lead + checked_sub(loss->from, flame->begin);
    put.to = flame->lead + checked_sub(loss->to, flame->begin);
    VECTOR_ADD(flame->losses, flame->loss_count, put);
}

void flame_put_sample(struct flame *flame, const struct flame_sample *sample)
{
    vector_reserve_one(&flame->samples, flame->sample_count, sizeof *sample);
    flame->samples[flame->sample_count++] = *sample;
}

static void put_sample(struct reading *reading, const struct event *event,
                       uint32_t node, uint64_t clocks,
                       const struct model_cpu *cpu)
{
    struct flame *flame = reading->flame;
    uint32_t cell =
        model_cell_of(&reading->view->model, node, cpu->task, cpu->cpu);
    struct flame_sample sample = {
        .time = flame->lead +
                (event->time > flame->begin ? event->time - flame->begin : 0),
        .clocks = clocks,
        .samples = event_samples(event),
        .cpu = (uint16_t)cpu->cpu,
        .irqs_off = cpu->irqs_off,
    };
    const struct ticks_sample *ticked =
        ticks_at(&flame->ticks, cpu->cpu, cpu->weighed - 1);

    if (cell == INDEX_NONE || reading->stacks[cell] == FLAME_NONE)
        return;
    sample.stack = reading->stacks[cell];
    sample.tick = ticked != NULL ? ticked->tick : 0;
    flame->has_irqs_off |= sample.irqs_off;
    flame_put_sample(flame, &sample);
}

static uint64_t before(uint64_t time, uint64_t clocks)
{
    return time > clocks ? time - clocks : 0;
}

/* A loss of the last (clocks) before (event). */
static void put_loss(struct flame *flame, enum flame_loss_kind kind,
                     const struct event *event, uint64_t clocks, uint64_t count,
                     const struct model_cpu *cpu)
{
    flame_put_loss(flame,
                   &(struct flame_loss){kind, before(event->time, clocks),
                                        event->time, count, cpu->cpu});
}

static void take_event(void *owner, const struct event *event, uint32_t node,
                       uint64_t clocks, const struct model_cpu *cpu)
{
    struct reading *reading = owner;
    struct flame *flame = reading->flame;
    uint64_t period =
        flame->hz > 0 ? checked_u64(PROF_CLOCK_HZ / flame->hz) : 0;

    switch (event->kind) {
    case PROF_EVENT_MISS:
        put_loss(flame, FLAME_MISSED, event,
                 checked_mul(event->as_miss.ticks, period),
                 event->as_miss.ticks, cpu);
        break;
    case PROF_EVENT_STOLEN:
        put_loss(flame, FLAME_STOLEN, event, event->as_stolen.clocks,
                 event->as_stolen.clocks, cpu);
        break;
    case PROF_EVENT_DROP:
        put_loss(flame, FLAME_DROPPED, event, clocks, event->as_drop.samples,
                 cpu);
        put_sample(reading, event, node, clocks, cpu);
        break;
    case PROF_EVENT_SAMPLE:
    case PROF_EVENT_IDLE:
    case PROF_EVENT_OVERFLOW:
        put_sample(reading, event, node, clocks, cpu);
        break;
    default:
        break;
    }
}

/* What was last of a CPU's packets, in the order of time. */
struct last_packet {
    uint64_t end;
    uint64_t discarded;
    uint32_t sequence;
};

static void find_gap(struct flame *flame, const struct packet *packet,
                     struct last_packet *last, bool is_first)
{
    struct flame_loss missing = {.kind = FLAME_PACKETS,
                                 .from = last->end,
                                 .to = packet->begin,
                                 .cpu = packet->cpu};
    struct flame_loss discarded = {
        .kind = FLAME_DISCARDED,
        .from = is_first ? packet->begin : last->end,
        .to = packet->end,
        .count = checked_sub(packet->discarded, last->discarded),
        .cpu = packet->cpu};

    if (!is_first && packet->sequence > last->sequence + 1) {
        missing.count = packet->sequence - last->sequence - 1;
        flame_put_loss(flame, &missing);
    }
    if (discarded.count > 0)
        flame_put_loss(flame, &discarded);
    *last =
        (struct last_packet){packet->end, packet->discarded, packet->sequence};
}

/* Between a CPU's packets: missing ones, and the guest's own count. */
static void find_gaps(struct flame *flame, const struct trace *trace)
{
    static const struct last_packet none;
    struct index cpus = {0};
    struct last_packet *lasts = NULL;

    for (size_t i = 0; i < trace->index.count; ++i) {
        const struct packet_entry *entry = &trace->index.packets[i];
        uint32_t before = cpus.count, number;
        struct packet packet;

        if (packet_check(trace->bytes + entry->offset, entry->bytes, &packet) !=
            PACKET_GOOD)
            continue;
        number = index_add_row(&cpus, packet.cpu, &lasts, &none, sizeof none);
        find_gap(flame, &packet, &lasts[number], number == before);
    }
    free(lasts);
    index_free(&cpus);
}

static int by_time(const void *left, const void *right)
{
    const struct flame_sample *a = left, *b = right;

    return (a->time > b->time) - (a->time < b->time);
}

static int by_begin(const void *left, const void *right)
{
    const struct flame_loss *a = left, *b = right;

    return (a->from > b->from) - (a->from < b->from);
}

void flame_sort(struct flame *flame)
{
    if (flame->sample_count > 0)
        qsort(flame->samples, flame->sample_count, sizeof *flame->samples,
              by_time);
    if (flame->loss_count > 0)
        qsort(flame->losses, flame->loss_count, sizeof *flame->losses,
              by_begin);
}

/* What of the trace was asked for: [begin, end). */
static void set_span(const struct model *model, uint64_t *begin, uint64_t *end)
{
    *begin = model->from > model->begin ? model->from : model->begin;
    *end = model->to > 0 && model->to < model->end ? model->to : model->end;
}

void flame_set_span(struct flame *flame, const struct model *model)
{
    set_span(model, &flame->begin, &flame->end);
}

struct flame_whole flame_whole_of(const struct model *model)
{
    uint64_t begin, end;

    set_span(model, &begin, &end);
    return (struct flame_whole){
        .samples = model_samples(model),
        .clocks = end > begin ? end - begin : 0,
        .cpus = model_sampled_cpus(model),
        .is_steady = model_is_steady(model),
        .losses = {[FLAME_MISSED] = model->missed_ticks,
                   [FLAME_DROPPED] = model->dropped.samples,
                   [FLAME_PACKETS] = model->missing_packets,
                   [FLAME_DISCARDED] = model->discarded,
                   [FLAME_STOLEN] = model->stolen_clocks},
    };
}

static int by_number(const void *left, const void *right)
{
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;

    return (a > b) - (a < b);
}

static bool has_cpu(const struct flame *flame, uint32_t cpu)
{
    for (size_t i = 0; i < flame->cpu_count; ++i)
        if (flame->cpus[i] == cpu)
            return true;
    return false;
}

void flame_add_cpus(struct flame *flame, const struct model *model)
{
    for (size_t i = 0; i < model->cpu_count; ++i) {
        const struct model_cpu *cpu = &model->cpus[i];

        if (cpu->busy.samples + cpu->idle.samples > 0 &&
            !has_cpu(flame, cpu->cpu))
            VECTOR_ADD(flame->cpus, flame->cpu_count, cpu->cpu);
    }
    if (flame->cpu_count > 0)
        qsort(flame->cpus, flame->cpu_count, sizeof *flame->cpus, by_number);
}

/* A page of all samples can weigh them by what CPUs did at once. With other
 * weights the command has done so. */
static void find_ticks(struct flame *flame, struct view *view)
{
    flame->is_joined |= view->latency || view->blame != NULL;
    if (flame->sides != NULL || flame->is_diff || view->weighed != NULL)
        return;
    weigh_list(view, &flame->ticks);
    flame->clock_error = weigh_clock_error(&view->model);
}

void flame_add_samples(struct flame *flame, struct view *view,
                       const uint32_t *stacks)
{
    struct reading reading = {flame, view, stacks};

    if (flame->sides == NULL)
        flame_set_span(flame, &view->model);
    find_ticks(flame, view);
    flame->hz = view->model.rate_mhz / 1000.0;
    view_again(view, (struct model_watch){take_event, &reading});
    find_gaps(flame, &view->trace);
    flame_add_cpus(flame, &view->model);
    /* several CPUs send their packets one after the other */
    flame_sort(flame);
}
