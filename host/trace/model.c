/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events, added up.
 *
 * A sample accounts for the time since the one before. Where a packet is
 * missing that time is unknown: the first sample after the gap then counts as
 * one sampling period, or less if the gap is shorter.
 *
 * Samples are not counted for each object, of which there may be millions, but
 * for the site that created it, below the task that did. A site that creates
 * itself, directly or through others, is one task. An object that runs before
 * its creation is known is a task of its own, which gets its site as soon as
 * that comes.
 */

#include "trace/model.h"

#include "base/bytes.h"
#include "base/checked.h"
#include "base/memory.h"

#include <math.h>
#include <prof/trace.h>
#include <stdlib.h>
#include <string.h>

/* Keys of nodes beside the guest's numbers, which have 32 bits. */
#define OVERFLOW_KEY (1ull << 63) /* with a number in overflow_addresses */
#define PSEUDO_KEY (1ull << 62)

/* Of tasks beside (creator, site): objects without a creation. */
#define OBJECT_KEY (1ull << 62)

/* MODEL_UNDEFINED if there is no room for a new one. */
static uint32_t node_number(struct model *model, uint64_t key)
{
    static const struct model_node undefined = {.parent = MODEL_UNDEFINED};
    uint32_t number;

    if (model_nodes(model) < MODEL_NODES_MAX)
        return index_add_row(&model->node_numbers, key, &model->nodes,
                             &undefined, sizeof undefined);
    number = index_find(&model->node_numbers, key);
    return number != INDEX_NONE ? number : MODEL_UNDEFINED;
}

uint32_t model_node(const struct model *model, uint32_t node)
{
    uint32_t number = index_find(&model->node_numbers, node);

    return number != INDEX_NONE ? number : MODEL_UNDEFINED;
}

static void set_up(struct model *model)
{
    node_number(model, 0);
    for (uint32_t i = 1; i < MODEL_PSEUDOS; ++i)
        node_number(model, PSEUDO_KEY | i);
    for (uint32_t i = 0; i < MODEL_PSEUDOS; ++i)
        model->nodes[i] = (struct model_node){.defined = true};
}

const struct model_cpu *model_cpu(const struct model *model, uint32_t cpu)
{
    for (size_t i = 0; i < model->cpu_count; ++i) {
        if (model->cpus[i].cpu == cpu)
            return &model->cpus[i];
    }
    return NULL;
}

double model_clock_error(const struct model *model, const struct model_cpu *cpu)
{
    if (!cpu->has_clock || cpu->clock.error == UINT32_MAX ||
        model->hello.tsc_hz == 0)
        return NAN;
    return 1e6 * cpu->clock.error / (double)model->hello.tsc_hz;
}

size_t model_sampled_cpus(const struct model *model)
{
    size_t count = 0;

    for (size_t i = 0; i < model->cpu_count; ++i)
        count += model->cpus[i].busy.samples + model->cpus[i].idle.samples > 0;
    return count;
}

/* NULL if there is no room for it. */
static struct model_cpu *cpu_of(struct model *model, uint32_t cpu)
{
    const struct model_cpu *known = model_cpu(model, cpu);

    if (known != NULL)
        return &model->cpus[known - model->cpus];
    if (model->cpu_count == MODEL_CPUS_MAX)
        return NULL;
    vector_reserve_one(&model->cpus, model->cpu_count, sizeof *model->cpus);
    model->cpus[model->cpu_count] = (struct model_cpu){.cpu = cpu};
    return &model->cpus[model->cpu_count++];
}

static void take_hello(struct model *model, const struct event_hello *hello)
{
    model->hello = *hello;
    if (hello->build_id_bytes > sizeof hello->build_id)
        model->hello.build_id_bytes = sizeof hello->build_id;
}

static void take_node(struct model *model, const struct event *event)
{
    uint32_t parent = node_number(model, event->parent);
    uint32_t number = node_number(model, event->node);
    struct model_node *node = &model->nodes[number];

    if (!node->defined)
        *node = (struct model_node){event->address, parent, true};
}

/* ---- cells */

static uint32_t find_cell(const struct model *model, uint32_t node,
                          uint32_t task, uint32_t cpu)
{
    uint32_t where = index_find(&model->cell_tasks, index_pair(task, cpu));

    return where != INDEX_NONE
               ? index_find(&model->cell_keys, index_pair(where, node))
               : INDEX_NONE;
}

static uint32_t find_or_add_cell(struct model *model, uint32_t node,
                                 uint32_t task, uint32_t cpu)
{
    uint32_t where = index_add(&model->cell_tasks, index_pair(task, cpu), NULL);
    const struct model_cell cell = {.node = node, .task = task, .cpu = cpu};

    return index_add_row(&model->cell_keys, index_pair(where, node),
                         &model->cells, &cell, sizeof cell);
}

uint32_t model_cell_of(const struct model *model, uint32_t node, uint32_t task,
                       uint32_t cpu)
{
    uint32_t cell = find_cell(model, node, task, cpu);

    if (cell == INDEX_NONE && model->unkept_samples > 0)
        return model->unkept_cell;
    return cell;
}

#define SWAP(field)                                                            \
    do {                                                                       \
        struct model kept = {.field = to->field};                              \
                                                                               \
        to->field = from->field;                                               \
        from->field = kept.field;                                              \
    } while (0)

void model_swap_cells(struct model *to, struct model *from)
{
    SWAP(cells);
    SWAP(cell_tasks);
    SWAP(cell_keys);
    SWAP(unkept_samples);
    SWAP(unkept_cell);
}
#undef SWAP

static void add_to_cell(struct model *model, uint32_t node,
                        const struct model_cpu *cpu,
                        const struct model_count *count)
{
    bool is_full = model_cells(model) >= MODEL_CELLS_MAX ||
                   model->cell_tasks.count >= MODEL_PLACES_MAX;
    uint32_t cell = is_full
                        ? find_cell(model, node, cpu->task, cpu->cpu)
                        : find_or_add_cell(model, node, cpu->task, cpu->cpu);

    if (cell == INDEX_NONE) {
        cell = find_or_add_cell(model, MODEL_UNDEFINED, 0, model->cpus[0].cpu);
        model->unkept_cell = cell;
        model->unkept_samples += count->samples;
    }
    model_count_add(&model->cells[cell].count, count);
}

/* ---- tasks */

/* The task of that key, 0 if there is no room for a new one. */
static uint32_t task_of_key(struct model *model, uint64_t key, bool *is_new)
{
    uint32_t number = index_find(&model->task_keys, key);

    *is_new = false;
    if (number != INDEX_NONE)
        return 1 + number;
    if (model->task_keys.count >= MODEL_TASKS_MAX)
        return 0;
    *is_new = true;
    if (model->task_keys.count == 0) { /* the first is none */
        vector_reserve_one(&model->tasks, 0, sizeof *model->tasks);
        model->tasks[0] = (struct model_task){0};
    }
    number = 1 + index_add(&model->task_keys, key, NULL);
    vector_reserve_one(&model->tasks, number, sizeof *model->tasks);
    model->tasks[number] = (struct model_task){0};
    return number;
}

/* The task of (creator)'s objects at (site), or (creator) if it is unknown. */
static uint32_t task_at(struct model *model, uint32_t creator, uint32_t site)
{
    unsigned depth = 0;
    uint32_t number;
    bool is_new;

    if (site == 0)
        return creator;
    for (number = creator; number != 0; number = model->tasks[number].creator) {
        if (model->tasks[number].site == site)
            return number;
        if (++depth == MODEL_TASK_DEPTH)
            return creator;
    }
    number = task_of_key(model, index_pair(creator, site), &is_new);
    if (is_new)
        model->tasks[number] =
            (struct model_task){.creator = creator, .site = site};
    return number;
}

/* Where the task of object (id) is kept; NULL if there is no room. */
static uint32_t *task_of_object(struct model *model, uint32_t id, bool *is_new)
{
    uint32_t number = index_find(&model->objects, id);

    *is_new = false;
    if (number == INDEX_NONE) {
        if (model->objects.count >= MODEL_OBJECTS_MAX)
            return NULL;
        *is_new = true;
        number = index_add(&model->objects, id, NULL);
        vector_reserve_one(&model->object_tasks, number,
                           sizeof *model->object_tasks);
        model->object_tasks[number] = 0;
    }
    return &model->object_tasks[number];
}

/* The task of an object that was mentioned, or of none. */
static uint32_t find_task(struct model *model, uint32_t id)
{
    uint32_t number = index_find(&model->objects, id);

    return number != INDEX_NONE ? model->object_tasks[number] : 0;
}

/* The same for one that runs: it is a task, whatever is known of it. */
static uint32_t running_task(struct model *model, uint32_t id)
{
    bool is_new, is_new_task;
    uint32_t *task;

    if (id == 0 || id == UINT32_MAX)
        return 0;
    task = task_of_object(model, id, &is_new);
    if (task == NULL)
        return 0;
    if (is_new)
        *task = task_of_key(model, OBJECT_KEY | id, &is_new_task);
    if (is_new && *task != 0)
        model->tasks[*task].object = id;
    return *task;
}

static void define_object(struct model *model, uint32_t id, uint32_t creator,
                          uint32_t site)
{
    bool is_new;
    uint32_t *task = task_of_object(model, id, &is_new);
    struct model_task *known;

    if (task == NULL)
        return;
    if (is_new) {
        *task = task_at(model, creator, site);
        return;
    }
    if (*task == 0)
        return;
    known = &model->tasks[*task];
    if (known->object == id && known->site == 0 && known->function == 0 &&
        creator < *task)
        *known = (struct model_task){creator, site, 0, id};
}

static void take_function(struct model *model, const struct event_task *event)
{
    uint32_t task = running_task(model, event->task);

    if (task != 0)
        model->tasks[task].function = event->function;
}

static void forget_task(struct model_cpu *cpu)
{
    cpu->object = UINT32_MAX;
    cpu->task = cpu->irq_depth = 0;
}

static void take_task(struct model *model, struct model_cpu *cpu,
                      const struct event *event)
{
    switch (event->kind) {
    case PROF_EVENT_CREATE:
        define_object(model, event->as_create.object,
                      cpu->irq_depth == 0 ? cpu->task : 0,
                      event->as_create.site);
        break;
    case PROF_EVENT_ALIVE:
        define_object(model, event->as_alive.object,
                      find_task(model, event->as_alive.creator),
                      event->as_alive.site);
        break;
    case PROF_EVENT_SWITCH:
        cpu->object = event->as_switch.task;
        cpu->task = running_task(model, cpu->object);
        break;
    case PROF_EVENT_TASK:
        take_function(model, &event->as_task);
        break;
    case PROF_EVENT_IRQ_ENTER:
        ++cpu->irq_depth;
        break;
    case PROF_EVENT_IRQ_EXIT:
        cpu->irq_depth -= cpu->irq_depth > 0;
        break;
    case PROF_EVENT_LOST:
        forget_task(cpu);
        break;
    default:
        guest_names_take(&model->names, event);
        break;
    }
}

/* ---- samples and their time */

/* Intervals are equal to the period if they differ by one part in so many. */
#define EQUAL_PART 20

/* The time that a sample at (time) accounts for; the next one counts from
 * here. */
static uint64_t clocks_until(struct model *model, struct model_cpu *cpu,
                             uint64_t time)
{
    uint64_t period =
        model->rate_mhz > 0 ? PROF_CLOCK_HZ * 1000ull / model->rate_mhz : 0;
    uint64_t clocks = time > cpu->previous ? time - cpu->previous : 0;

    if (cpu->known && cpu->stolen == 0 && period > 0) {
        model->whole_intervals++;
        model->equal_intervals += clocks >= period - period / EQUAL_PART &&
                                  clocks <= period + period / EQUAL_PART;
    }
    clocks = clocks > cpu->stolen ? clocks - cpu->stolen : 0;
    if (!cpu->known && clocks > period)
        clocks = period;
    cpu->stolen = 0;
    cpu->previous = time;
    cpu->known = true;
    return clocks;
}

static uint32_t overflow_node(struct model *model, uint64_t address)
{
    uint32_t number = MODEL_UNDEFINED;

    if (index_find(&model->overflow_addresses, address) != INDEX_NONE ||
        model_nodes(model) < MODEL_NODES_MAX)
        number = node_number(
            model, OVERFLOW_KEY |
                       index_add(&model->overflow_addresses, address, NULL));
    if (number >= MODEL_PSEUDOS)
        model->nodes[number] =
            (struct model_node){address, MODEL_OVERFLOW, true};
    return number;
}

static bool is_inside(const struct model *model, uint64_t time)
{
    return time >= model->from && (model->to == 0 || time < model->to);
}

/* What is counted for the CPU alone. */
static void add_to_cpu(struct model_cpu *cpu, const struct event *event,
                       const struct model_count *count, bool irqs_off)
{
    if (event->kind == PROF_EVENT_DROP) {
        cpu->dropped = checked_add(cpu->dropped, count->samples);
        return;
    }
    model_count_add(event->kind == PROF_EVENT_IDLE ? &cpu->idle : &cpu->busy,
                    count);
    if (irqs_off)
        model_count_add(&cpu->off, count);
}

/* Whether the sample counts in a cell, and as what. */
static bool weigh(struct model *model, struct model_cpu *cpu,
                  const struct event *event, uint32_t node,
                  struct model_count *count)
{
    const struct model_weigher *weigher = &model->weigher;
    bool counts = weigher->weigh == NULL ||
                  weigher->weigh(weigher->owner, event, node, cpu, count);

    ++cpu->weighed;
    return counts;
}

static void take_time(struct model *model, struct model_cpu *cpu,
                      const struct event *event)
{
    struct model_count count = {
        .samples = event_samples(event),
        .clocks = clocks_until(model, cpu, event->time),
    };
    struct model_count *total = &model->stacks;
    bool irqs_off = cpu->irqs_off, counts;
    uint32_t node = MODEL_IDLE;

    if (event->kind == PROF_EVENT_SAMPLE) {
        node = node_number(model, event->node);
        node = node == MODEL_EMPTY ? MODEL_UNDEFINED : node;
    } else if (event->kind == PROF_EVENT_IDLE) {
        total = &model->idle;
    } else if (event->kind == PROF_EVENT_OVERFLOW) {
        total = &model->overflowed;
        node = overflow_node(model, event->as_overflow.address);
        count.clocks = event->as_overflow.clocks;
    } else {
        total = &model->dropped;
        node = MODEL_DROPPED;
        count.clocks = event->as_drop.clocks;
    }
    if (!is_inside(model, event->time)) {
        cpu->irqs_off = false;
        return;
    }
    model_count_add(total, &count);
    add_to_cpu(cpu, event, &count, irqs_off);
    counts = weigh(model, cpu, event, node, &count);
    if (counts)
        add_to_cell(model, node, cpu, &count);
    if (counts && model->watch.event != NULL)
        model->watch.event(model->watch.owner, event, node, count.clocks, cpu);
    cpu->irqs_off = false;
}

/* A node and its first sample in one event. */
static void take_leaf(struct model *model, struct model_cpu *cpu,
                      const struct event *event)
{
    struct event sample = *event;

    sample.kind = PROF_EVENT_SAMPLE;
    take_node(model, event);
    take_time(model, cpu, &sample);
}

static void take_start(struct model *model, struct model_cpu *cpu,
                       const struct event *event)
{
    model->rate_mhz = event->as_start.rate_mhz;
    model->depth = event->as_start.depth;
    cpu->previous = event->time;
    cpu->stolen = 0;
    cpu->known = true;
}

static void take_stolen(struct model *model, struct model_cpu *cpu,
                        const struct event *event)
{
    uint64_t clocks = event->as_stolen.clocks;

    cpu->stolen = checked_add(cpu->stolen, clocks);
    if (is_inside(model, event->time))
        model->stolen_clocks = checked_add(model->stolen_clocks, clocks);
}

/* A total has grown by so much; one that is less has begun again. */
static uint64_t growth(uint64_t now, uint64_t before)
{
    return now < before ? now : now - before;
}

/* They are totals since the guest's start, whatever part of its time counts. */
static void take_nmis(struct model_cpu *cpu, const struct event_nmi *now,
                      bool is_in)
{
    const struct event_nmi *before = &cpu->last_nmi;

    if (is_in) {
        cpu->nmi.duplicates +=
            (uint32_t)growth(now->duplicates, before->duplicates);
        cpu->nmi.merged =
            checked_add(cpu->nmi.merged, growth(now->merged, before->merged));
    }
    cpu->last_nmi = *now;
    cpu->has_nmis = true;
}

static void take_rest(struct model *model, struct model_cpu *cpu,
                      const struct event *event)
{
    bool is_in = is_inside(model, event->time);

    switch (event->kind) {
    case PROF_EVENT_HELLO:
        take_hello(model, &event->as_hello);
        break;
    case PROF_EVENT_START:
        take_start(model, cpu, event);
        break;
    case PROF_EVENT_MISS:
        if (is_in) {
            model->missed_ticks =
                checked_add(model->missed_ticks, event->as_miss.ticks);
            cpu->missed = checked_add(cpu->missed, event->as_miss.ticks);
        }
        break;
    case PROF_EVENT_IRQS_OFF:
    case PROF_EVENT_MASKED: /* the same, from outside */
        cpu->irqs_off = true;
        break;
    case PROF_EVENT_CPU:
        cpu->clock = event->as_cpu;
        cpu->has_clock = true;
        break;
    case PROF_EVENT_NMI:
        take_nmis(cpu, &event->as_nmi, is_in);
        break;
    case PROF_EVENT_STOLEN:
        take_stolen(model, cpu, event);
        break;
    case PROF_EVENT_STEAL_CLOCK:
        model->steal_clock = true;
        break;
    case PROF_EVENT_STOPPED_WALK:
        model->stopped_walks[event->as_stopped_walk.reason % 8] +=
            event->as_stopped_walk.samples;
        break;
    case PROF_EVENT_SUSPEND_STACK:
        ++model->suspend_stacks;
        break;
    case PROF_EVENT_LOST:
        model->lost_events += is_in ? event->as_lost.events : 0;
        if (is_in && event->as_lost.events > model->lost_at_once)
            model->lost_at_once = event->as_lost.events;
        break;
    case PROF_EVENT_LOOP:
        if (cpu->cpu == 0) /* of several, the first one's */
            model->loop = event->as_loop;
        break;
    case PROF_EVENT_BYE:
        model->ended = true;
        model->code = event->as_bye.code;
        break;
    default: /* or STOP, CLOCK */
        take_task(model, cpu, event);
        break;
    }
    if (model->watch.event != NULL && is_in)
        model->watch.event(model->watch.owner, event, MODEL_EMPTY, 0, cpu);
}

void model_take_event(struct model *model, struct model_cpu *cpu,
                      const struct event *event)
{
    ++model->events;
    switch (event->kind) {
    case PROF_EVENT_NODE:
        take_node(model, event);
        break;
    case PROF_EVENT_LEAF:
        take_leaf(model, cpu, event);
        break;
    case PROF_EVENT_SAMPLE:
    case PROF_EVENT_IDLE:
    case PROF_EVENT_OVERFLOW:
    case PROF_EVENT_DROP:
        take_time(model, cpu, event);
        break;
    default:
        take_rest(model, cpu, event);
        break;
    }
}

/* The packet's header: packets missing before it, and samples discarded. */
static void take_cpu(struct model *model, struct model_cpu *cpu,
                     const struct packet *packet)
{
    uint32_t missing;
    enum packet_follows follows = packet_follow(&cpu->order, packet, &missing);

    if (follows == PACKET_AFTER_GAP || follows == PACKET_AGAIN) {
        model->missing_packets += missing;
        cpu->known = cpu->irqs_off = false;
        ++cpu->gaps;
        cpu->stolen = 0;
        forget_task(cpu);
    }
    if (packet->discarded > cpu->discarded) {
        model->discarded =
            checked_add(model->discarded, packet->discarded - cpu->discarded);
        cpu->discarded = packet->discarded;
    }
}

static void take_head(struct model *model, const struct packet *packet)
{
    if (model->packets++ == 0) {
        set_up(model);
        model->begin = packet->begin;
    }
    if (packet->begin < model->begin)
        model->begin = packet->begin;
    if (packet->end > model->end)
        model->end = packet->end;
}

struct model_cpu *model_begin_packet(struct model *model,
                                     const struct packet *packet)
{
    struct model_cpu *cpu = NULL;

    take_head(model, packet);
    if (packet->version != PROF_FORMAT_VERSION)
        model->hello.version = packet->version;
    else
        cpu = cpu_of(model, packet->cpu);
    if (cpu == NULL)
        ++model->unread_packets;
    else
        take_cpu(model, cpu, packet);
    return cpu;
}

void model_end_packet(struct model *model, bool understood)
{
    model->unread_packets += !understood;
}

void model_take(struct model *model, const struct packet *packet)
{
    struct model_cpu *cpu = model_begin_packet(model, packet);
    struct event_reader reader;
    struct event event;

    if (cpu == NULL)
        return;
    event_begin(&reader, packet);
    while (event_next(&reader, &event))
        model_take_event(model, cpu, &event);
    model_end_packet(model, event_all(&reader));
}

uint64_t model_samples(const struct model *model)
{
    return checked_add(checked_add(model->stacks.samples, model->idle.samples),
                       model->overflowed.samples);
}

uint64_t model_clocks(const struct model *model)
{
    return checked_add(
        checked_add(model->stacks.clocks, model->idle.clocks),
        checked_add(model->overflowed.clocks, model->dropped.clocks));
}

bool model_is_steady(const struct model *model)
{
    return model->equal_intervals > model->whole_intervals / 2;
}

uint64_t model_lost(const struct model *model)
{
    return checked_add(model->dropped.samples, model->discarded);
}

#define EVENTS_A_KIB 8u /* of a recorder's memory */

unsigned model_trace_kib(uint64_t events)
{
    unsigned kib = 2 * PROF_TRACE_KIB_HEAP;

    while (kib < 1u << 20 &&
           (kib - PROF_TRACE_KIB_HEAP) * EVENTS_A_KIB < events)
        kib *= 2;
    return kib;
}

/* A stack that leads back to itself is not from our guest; (room) ends it. */
size_t model_stack(const struct model *model, uint32_t node, uint32_t *stack,
                   size_t room)
{
    size_t count = 0;

    if (room > MODEL_STACK_MAX)
        room = MODEL_STACK_MAX;
    for (; node != MODEL_EMPTY && count < room;
         node = model->nodes[node].parent) {
        if (!model->nodes[node].defined)
            node = MODEL_UNDEFINED;
        stack[count++] = node;
    }
    return count;
}

void model_free(struct model *model)
{
    free(model->nodes);
    free(model->cells);
    free(model->tasks);
    free(model->cpus);
    index_free(&model->node_numbers);
    index_free(&model->overflow_addresses);
    index_free(&model->cell_tasks);
    index_free(&model->cell_keys);
    index_free(&model->task_keys);
    index_free(&model->objects);
    free(model->object_tasks);
    guest_names_free(&model->names);
    *model = (struct model){0};
}
