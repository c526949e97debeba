/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Adding up.
 *
 * Nodes are kept at the guest's own numbers, which are dense, and cells by the
 * number of their leaf: the stack itself is looked at when a bucket is closed.
 * So a sample costs a lookup and three additions, whatever its depth.
 */

#include "collect/rollup.h"

#include "base/checked.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_NODES 256u
#define MS 1000
#define CLOCKS_PER_MS (PROF_CLOCK_HZ / 1000u)
#define OTHER_NODES (1u << 31) /* of suspends, which are no samples */

static uint64_t mix(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * 0x9e3779b97f4a7c15ull;
    return hash ^ hash >> 29;
}

/* ---- time: the guest's clock on the host's */

static int64_t clock_ms(const struct rollup *rollup, uint64_t clock)
{
    return rollup->anchor_ms + (int64_t)(clock / CLOCKS_PER_MS);
}

/* (end) is the clock of a packet that came just now. */
static void set_anchor(struct rollup *rollup, uint64_t end, int64_t now)
{
    int64_t time = clock_ms(rollup, end);

    if (rollup->anchored && time <= now + ROLLUP_EARLY_MS &&
        time >= now - ROLLUP_LATE_MS)
        return;
    rollup->anchored = true;
    rollup->anchor_ms = now - (int64_t)(end / CLOCKS_PER_MS);
    ++rollup->anchors;
}

/* ---- buckets */

/* NULL: there is no room for it. */
static struct rollup_cpu *cpu_of(struct rollup *rollup, uint16_t cpu)
{
    for (size_t i = 0; i < rollup->cpu_count; ++i)
        if (rollup->cpus[i].cpu == cpu)
            return &rollup->cpus[i];
    if (rollup->cpu_count == ROLLUP_CPUS_MAX)
        return NULL;
    VECTOR_ADD(rollup->cpus, rollup->cpu_count,
               (struct rollup_cpu){.cpu = cpu, .running = true});
    return &rollup->cpus[rollup->cpu_count - 1];
}

static int64_t bucket_end(const struct rollup *rollup,
                          const struct rollup_bucket *bucket)
{
    return bucket->begin + rollup->bucket_seconds;
}

static void empty_bucket(struct rollup_bucket *bucket)
{
    index_free(&bucket->keys);
    free(bucket->cells);
    free(bucket->accounts);
    *bucket = (struct rollup_bucket){0};
}

/* Notes up to where the samples of each CPU are in closed buckets. */
static void note_closed(struct rollup *rollup,
                        const struct rollup_bucket *bucket)
{
    for (size_t i = 0; i < bucket->account_count; ++i) {
        const struct rollup_account *account = &bucket->accounts[i];
        struct rollup_cpu *cpu = cpu_of(rollup, account->cpu);

        if (cpu == NULL || account->last == 0)
            continue;
        cpu->closed_last = account->last;
        cpu->closed_discarded = account->discarded;
        cpu->closed_sequence = account->sequence;
    }
}

/* Closes the older one, which is the first. */
static void close_first(struct rollup *rollup)
{
    struct rollup_bucket *first = &rollup->open[0];

    note_closed(rollup, first);
    rollup->since = rollup->now;
    rollup->closed_to = bucket_end(rollup, first);
    if (rollup->closed != NULL)
        rollup->closed(rollup->owner, first);
    rollup_waits_clear(&rollup->waits);
    empty_bucket(first);
    rollup->open[0] = rollup->open[1];
    rollup->open[1] = (struct rollup_bucket){0};
}

/* Those that the host's clock, which went back, would not end for long. The one
 * after that of now is not: what is late is put there. */
static void close_future(struct rollup *rollup, int64_t now)
{
    const struct rollup_bucket *last =
        &rollup->open[rollup->open[1].begin != 0 ? 1 : 0];

    while (last->begin != 0 &&
           (last->begin - 2 * rollup->bucket_seconds) * MS > now) {
        close_first(rollup);
        last = &rollup->open[0];
    }
    /* nor is the next bucket there, where one was closed before its end */
    if (rollup->open[0].begin == 0 &&
        (rollup->closed_to - 2 * rollup->bucket_seconds) * MS > now)
        rollup->closed_to = 0;
}

/* The bucket of (clock). */
static struct rollup_bucket *bucket_at(struct rollup *rollup, uint64_t clock)
{
    struct rollup_bucket *open = rollup->open;
    int64_t second = clock_ms(rollup, clock) / MS, now = rollup->now / MS;
    int64_t begin;

    /* an event may have any time, whatever its packet says */
    second = second > now + ROLLUP_EARLY_MS / MS ? now
             : second < now - ROLLUP_OLD_MS / MS ? now - ROLLUP_OLD_MS / MS
                                                 : second;
    begin = second - second % rollup->bucket_seconds;
    if (begin < rollup->closed_to)
        begin = rollup->closed_to;
    if (begin <= 0)
        begin = rollup->bucket_seconds;
    if (open[0].begin == 0)
        open[0].begin = begin;
    if (begin <= open[0].begin)
        return &open[0];
    if (open[1].begin == 0)
        open[1].begin = begin;
    if (begin <= open[1].begin)
        return &open[1];
    close_first(rollup);
    open[1].begin = begin;
    return &open[1];
}

static struct rollup_account *account_of(struct rollup_bucket *bucket,
                                         uint16_t cpu)
{
    for (size_t i = 0; i < bucket->account_count; ++i)
        if (bucket->accounts[i].cpu == cpu)
            return &bucket->accounts[i];
    VECTOR_ADD(bucket->accounts, bucket->account_count,
               (struct rollup_account){.cpu = cpu});
    return &bucket->accounts[bucket->account_count - 1];
}

/* ---- what is believed */

static uint64_t believed_seconds(const struct rollup *rollup)
{
    int64_t seconds = (rollup->now - rollup->since) / MS;

    return (uint64_t)((seconds > 0 ? seconds : 0) + rollup->bucket_seconds +
                      rollup->backlog_seconds);
}

/* Adds (more), or what is left until (limit), to a (sum) of the account.
 * Returns what was added. */
static uint64_t add_believed(struct rollup_account *account, uint64_t *sum,
                             uint64_t more, uint64_t limit)
{
    uint64_t left = checked_sub(limit, *sum);

    if (more > left) {
        ++account->implausible;
        more = left;
    }
    *sum += more;
    return more;
}

static uint64_t add_ticks(const struct rollup *rollup,
                          struct rollup_account *account, uint64_t *sum,
                          uint64_t more)
{
    return add_believed(account, sum, more,
                        ROLLUP_RATE_MAX * believed_seconds(rollup));
}

static uint64_t add_clocks(const struct rollup *rollup,
                           struct rollup_account *account, uint64_t *sum,
                           uint64_t more)
{
    return add_believed(account, sum, more,
                        2 * PROF_CLOCK_HZ * believed_seconds(rollup));
}

/* False: there is no room for another cell. */
static bool add_to_cell(struct rollup_bucket *bucket, uint32_t node,
                        uint16_t cpu, uint64_t samples, uint64_t clocks)
{
    uint64_t key = index_pair(cpu, node);
    const struct rollup_cell fresh = {.node = node, .cpu = cpu};
    struct rollup_cell *cell;
    uint32_t number;

    if (bucket->keys.count < ROLLUP_CELLS_MAX)
        number = index_add_row(&bucket->keys, key, &bucket->cells, &fresh,
                               sizeof fresh);
    else
        number = index_find(&bucket->keys, key);
    if (number == INDEX_NONE ||
        samples > UINT32_MAX - bucket->cells[number].samples)
        return false;
    cell = &bucket->cells[number];
    cell->samples += (uint32_t)samples;
    cell->clocks = checked_add(cell->clocks, clocks);
    return true;
}

/* ---- stacks */

static bool make_room_for_node(struct rollup *rollup, uint32_t node)
{
    uint32_t room = rollup->node_room > 0 ? rollup->node_room : FIRST_NODES;

    if (node >= 2 * ROLLUP_NODES_MAX)
        return false;
    while (room <= node)
        room += room / 2;
    if (room == rollup->node_room)
        return true;
    rollup->nodes = xreallocarray(rollup->nodes, room, sizeof *rollup->nodes);
    for (uint32_t i = rollup->node_room; i < room; ++i)
        rollup->nodes[i] = (struct rollup_node){.parent = ROLLUP_UNDEFINED};
    rollup->node_room = room;
    return true;
}

static void take_node(struct rollup *rollup, const struct event *event)
{
    if (event->node == 0 || event->node >= OTHER_NODES)
        return;
    if (event->node >= ROLLUP_NODES_MAX ||
        !make_room_for_node(rollup, event->node)) {
        ++rollup->refused;
        return;
    }
    rollup->nodes[event->node] = (struct rollup_node){
        (int32_t)(event->address - rollup->text_begin), event->parent};
}

/* The node of an address without callers; 0: no room. Their numbers follow
 * those of the guest. */
static uint32_t overflow_node(struct rollup *rollup, uint64_t address)
{
    uint32_t number = index_find(&rollup->overflows, address);

    if (number == INDEX_NONE && rollup->overflows.count < ROLLUP_NODES_MAX)
        number = index_add(&rollup->overflows, address, NULL);
    if (number == INDEX_NONE ||
        !make_room_for_node(rollup, ROLLUP_NODES_MAX + number)) {
        ++rollup->refused;
        return 0;
    }
    rollup->nodes[ROLLUP_NODES_MAX + number] =
        (struct rollup_node){(int32_t)(address - rollup->text_begin), 0};
    return ROLLUP_NODES_MAX + number;
}

size_t rollup_stack(const struct rollup *rollup, uint32_t node,
                    uint64_t addresses[ROLLUP_STACK_MAX])
{
    size_t count = 0;

    for (; node != 0; ++count) {
        const struct rollup_node *at =
            node < rollup->node_room ? &rollup->nodes[node] : NULL;

        if (at == NULL || at->parent == ROLLUP_UNDEFINED ||
            count == ROLLUP_STACK_MAX)
            return 0;
        addresses[count] = rollup->text_begin + (uint64_t)at->offset;
        if (rollup->hello.pointer_bits == 32)
            addresses[count] &= UINT32_MAX;
        node = at->parent;
    }
    return count;
}

/* ---- samples */

static uint64_t period_of(const struct rollup *rollup)
{
    return rollup->rate_mhz > 0 ? PROF_CLOCK_HZ * 1000ull / rollup->rate_mhz
                                : 0;
}

/* Packets were missing until a sample at (time): how many samples were in them
 * besides those that the guest has counted as discarded. */
static void end_gap(struct rollup *rollup, struct rollup_cpu *cpu,
                    struct rollup_account *account, uint64_t time)
{
    uint64_t period = period_of(rollup), lost = 0;

    if (cpu->running && period > 0 && cpu->previous > 0 && time > cpu->previous)
        lost = checked_sub((time - cpu->previous + period / 2) / period, 1);
    add_ticks(rollup, account, &account->lost,
              checked_sub(lost, cpu->gap_known));
    cpu->in_gap = false;
    cpu->gap_known = 0;
}

/* The time that a sample at (time) accounts for. */
static uint64_t clocks_until(const struct rollup *rollup,
                             struct rollup_cpu *cpu, uint64_t time)
{
    uint64_t clocks = checked_sub(time, cpu->previous);
    uint64_t period = period_of(rollup);

    clocks = checked_sub(clocks, cpu->stolen);
    if (!cpu->known && clocks > period)
        clocks = period;
    cpu->stolen = 0;
    cpu->previous = time;
    cpu->known = cpu->running = true;
    return clocks;
}

static void take_sample(struct rollup *rollup, struct rollup_cpu *cpu,
                        const struct event *event)
{
    struct rollup_bucket *bucket = bucket_at(rollup, event->time);
    struct rollup_account *account = account_of(bucket, cpu->cpu);
    uint64_t samples = event_samples(event), clocks;
    uint64_t *count = &account->attributed;
    uint32_t node = event->node;
    uint64_t taken = rollup_ticks(account);

    if (cpu->in_gap)
        end_gap(rollup, cpu, account, event->time);
    clocks = clocks_until(rollup, cpu, event->time);
    if (event->kind == PROF_EVENT_OVERFLOW)
        clocks = event->as_overflow.clocks;
    clocks = add_clocks(rollup, account, &account->clocks, clocks);
    samples = add_ticks(rollup, account, &taken, samples);
    account->last = event->time;
    account->sequence = cpu->order.next;
    account->discarded = cpu->discarded;
    if (cpu->irqs_off)
        account->masked = checked_add(account->masked, samples);
    cpu->irqs_off = false;
    switch (event->kind) {
    case PROF_EVENT_IDLE:
        count = &account->idle;
        break;
    case PROF_EVENT_DROP:
        count = &account->dropped;
        break;
    case PROF_EVENT_OVERFLOW:
        node = overflow_node(rollup, event->as_overflow.address);
        __attribute__((fallthrough));
    default:
        /* the guest's numbers end where those of its addresses begin */
        if (node == 0 ||
            (event->kind != PROF_EVENT_OVERFLOW && node >= ROLLUP_NODES_MAX) ||
            !add_to_cell(bucket, node, cpu->cpu, samples, clocks)) {
            count = &account->unresolved;
            rollup->refused += node != 0;
        }
        break;
    }
    *count = checked_add(*count, samples);
}

/* ---- the event loop */

uint64_t rollup_range_key(uint16_t cpu, uint16_t site, uint8_t measure,
                          uint64_t low)
{
    return mix(low, index_pair(site, (uint32_t)cpu << 8 | measure));
}

uint64_t rollup_site_id(const char *text, uint32_t line)
{
    uint64_t id = mix(1, line);

    for (const char *at = text; *at != '\0'; ++at)
        id = mix(id, (unsigned char)*at);
    return id + (id == 0);
}

/* (text) is a name, and an at sign and its file. */
static void take_site(struct rollup *rollup, const struct rollup_cpu *cpu,
                      const struct event *event)
{
    const struct event_loop_site *from = &event->as_loop_site;
    static const struct rollup_site fresh = {0};
    uint64_t key = index_pair(cpu->cpu, from->site);
    struct rollup_site *site;
    uint32_t number;

    if (rollup->site_numbers.count >= ROLLUP_SITES_MAX &&
        index_find(&rollup->site_numbers, key) == INDEX_NONE) {
        ++rollup->refused;
        return;
    }
    number = index_add_row(&rollup->site_numbers, key, &rollup->sites, &fresh,
                           sizeof fresh);
    site = &rollup->sites[number];
    if (site->id != 0)
        return;
    site->text = strings_put(&rollup->strings, from->text);
    site->id = rollup_site_id(from->text, from->line);
}

static void take_range(struct rollup *rollup, const struct rollup_cpu *cpu,
                       const struct event *event)
{
    const struct event_loop_bucket *from = &event->as_loop_bucket;
    const struct rollup_loop fresh = {.low = from->low,
                                      .cpu = cpu->cpu,
                                      .site = from->site,
                                      .measure = from->measure};
    uint64_t key =
        rollup_range_key(cpu->cpu, from->site, from->measure, from->low);
    uint32_t number = index_find(&rollup->loop_keys, key);
    struct rollup_loop *range;

    if (number == INDEX_NONE && rollup->loop_keys.count < ROLLUP_LOOP_MAX)
        number = index_add_row(&rollup->loop_keys, key, &rollup->loop, &fresh,
                               sizeof fresh);
    if (number == INDEX_NONE) {
        ++rollup->refused;
        return;
    }
    range = &rollup->loop[number];
    if (rollup->loop_resumes && cpu->loop_rounds < 2 &&
        number == rollup->loop_keys.count - 1 && range->count == 0 &&
        range->sent == 0) {
        range->sent = from->count;
        rollup->loop_sent = checked_add(rollup->loop_sent, from->count);
        rollup->loop_found = checked_add(rollup->loop_found, from->count);
    }
    if (from->count < range->sent) { /* the guest has begun anew */
        rollup->loop_sent = checked_sub(rollup->loop_sent, range->sent);
        range->sent = 0;
    }
    range->count = from->count;
}

void rollup_resume_loop(struct rollup *rollup, uint64_t count)
{
    rollup->loop_resumes = true;
    rollup->loop_before = count;
}

uint64_t rollup_loop_lost(const struct rollup *rollup)
{
    return checked_sub(checked_sub(rollup->loop_found, rollup->loop_before),
                       rollup->loop_lost);
}

/* ---- packets */

static void take_start(struct rollup *rollup, struct rollup_cpu *cpu,
                       const struct event *event)
{
    rollup->rate_mhz = event->as_start.rate_mhz;
    rollup->depth = event->as_start.depth;
    /* in a gap, the time of the sample before it is needed to its end */
    if (cpu->in_gap && cpu->running && cpu->previous > 0)
        return;
    cpu->in_gap = false;
    cpu->previous = event->time;
    cpu->stolen = 0;
    cpu->known = cpu->running = true;
}

static void take_rest(struct rollup *rollup, struct rollup_cpu *cpu,
                      const struct event *event)
{
    struct rollup_account *account;

    switch (event->kind) {
    case PROF_EVENT_HELLO:
        rollup->hello = event->as_hello;
        if (rollup->hello.build_id_bytes > sizeof rollup->hello.build_id)
            rollup->hello.build_id_bytes = sizeof rollup->hello.build_id;
        break;
    case PROF_EVENT_START:
        take_start(rollup, cpu, event);
        break;
    case PROF_EVENT_STOP:
        cpu->running = false;
        break;
    case PROF_EVENT_MISS:
        account = account_of(bucket_at(rollup, event->time), cpu->cpu);
        add_ticks(rollup, account, &account->missed, event->as_miss.ticks);
        break;
    case PROF_EVENT_STOLEN:
        account = account_of(bucket_at(rollup, event->time), cpu->cpu);
        add_clocks(rollup, account, &account->stolen_clocks,
                   event->as_stolen.clocks);
        cpu->stolen = checked_add(cpu->stolen, event->as_stolen.clocks);
        break;
    case PROF_EVENT_IRQS_OFF:
    case PROF_EVENT_MASKED:
        cpu->irqs_off = true;
        break;
    case PROF_EVENT_LOOP: /* a round of all ranges begins */
        cpu->loop_rounds += cpu->loop_rounds < 2;
        break;
    case PROF_EVENT_LOOP_SITE:
        take_site(rollup, cpu, event);
        break;
    case PROF_EVENT_LOOP_BUCKET:
        take_range(rollup, cpu, event);
        break;
    case PROF_EVENT_BYE:
        rollup->ended = true;
        break;
    case PROF_EVENT_RECORDED:
        rollup->traced = rollup->now;
        break;
    default: /* of objects and so on */
        rollup->waits.is_later =
            rollup->open[1].begin != 0 &&
            clock_ms(rollup, event->time) >= rollup->open[1].begin * MS;
        rollup_waits_take(&rollup->waits, &cpu->current, event);
        break;
    }
}

static void take_event(struct rollup *rollup, struct rollup_cpu *cpu,
                       const struct event *event)
{
    switch (event->kind) {
    case PROF_EVENT_NODE:
        take_node(rollup, event);
        break;
    case PROF_EVENT_LEAF:
        take_node(rollup, event);
        take_sample(rollup, cpu, event);
        break;
    case PROF_EVENT_SAMPLE:
    case PROF_EVENT_IDLE:
    case PROF_EVENT_OVERFLOW:
    case PROF_EVENT_DROP:
        take_sample(rollup, cpu, event);
        break;
    default:
        take_rest(rollup, cpu, event);
        break;
    }
}

/* Samples that the guest could not send: in the first packet, those of before
 * we came, which are not ours to count. */
static void take_discarded(struct rollup *rollup, struct rollup_cpu *cpu,
                           const struct packet *packet, bool first)
{
    uint64_t more = checked_sub(packet->discarded, cpu->discarded);
    struct rollup_account *account;

    if (first && packet->sequence > 0)
        more = 0;
    if (packet->discarded > cpu->discarded)
        cpu->discarded = packet->discarded;
    if (more == 0)
        return;
    account = account_of(bucket_at(rollup, packet->begin), cpu->cpu);
    more = add_ticks(rollup, account, &account->dropped, more);
    if (cpu->in_gap)
        cpu->gap_known = checked_add(cpu->gap_known, more);
}

/* What stands in the packet's head. False: it came before. */
static bool take_head(struct rollup *rollup, struct rollup_cpu *cpu,
                      const struct packet *packet)
{
    enum packet_follows follows;
    struct rollup_account *account;
    uint32_t missing;

    if (cpu->order.begun && packet->sequence < cpu->order.next) {
        ++rollup->repeated;
        return false;
    }
    follows = packet_follow(&cpu->order, packet, &missing);
    if (follows == PACKET_FIRST) {
        cpu->closed_last = packet->begin + (packet->begin == 0);
        cpu->closed_sequence = packet->sequence;
        cpu->closed_discarded = packet->sequence > 0 ? packet->discarded : 0;
    }
    if (follows == PACKET_AFTER_GAP) {
        account = account_of(bucket_at(rollup, packet->begin), cpu->cpu);
        add_ticks(rollup, account, &account->packets_lost, missing);
        cpu->skipped = 0; /* they are among these */
        cpu->current = 0;
        rollup_waits_lose(&rollup->waits);
        cpu->known = cpu->irqs_off = false;
        cpu->in_gap = true;
        cpu->stolen = 0;
    }
    take_discarded(rollup, cpu, packet, follows == PACKET_FIRST);
    return true;
}

bool rollup_take(struct rollup *rollup, const struct packet *packet,
                 int64_t now)
{
    struct rollup_cpu *cpu = NULL;
    struct event_reader reader;
    struct event event;

    if (packet->version == PROF_FORMAT_VERSION)
        cpu = cpu_of(rollup, packet->cpu);
    if (cpu == NULL) {
        ++rollup->unread;
        return false;
    }
    if (rollup->ended &&
        (!cpu->order.begun || packet->sequence >= cpu->order.next)) {
        ++rollup->after_bye;
        return false;
    }
    if (rollup->since == 0)
        rollup->since = now;
    rollup->now = now;
    close_future(rollup, now);
    set_anchor(rollup, packet->end, now);
    rollup->text_begin = packet->text_begin;
    if (!take_head(rollup, cpu, packet))
        return false;
    ++rollup->packets;
    event_begin(&reader, packet);
    while (event_next(&reader, &event))
        take_event(rollup, cpu, &event);
    rollup->unread += !event_all(&reader);
    rollup_close(rollup, now, false);
    return true;
}

void rollup_skip(struct rollup *rollup, const struct packet *packet,
                 int64_t now)
{
    struct rollup_cpu *cpu = NULL;

    if (packet->version == PROF_FORMAT_VERSION)
        cpu = cpu_of(rollup, packet->cpu);
    if (cpu == NULL || rollup->ended ||
        (cpu->order.begun && packet->sequence < cpu->order.next))
        return;
    if (rollup->since == 0)
        rollup->since = now;
    rollup->now = now;
    if (!cpu->order.begun) {
        cpu->order = (struct packet_order){true, packet->sequence};
        cpu->previous = packet->begin;
        cpu->discarded = packet->sequence > 0 ? packet->discarded : 0;
    }
    ++cpu->skipped;
    cpu->skipped_next = packet->sequence + 1;
    cpu->skipped_end = packet->end;
}

/* Packets that were skipped, and after which none came. */
static void close_skipped(struct rollup *rollup)
{
    for (size_t i = 0; i < rollup->cpu_count; ++i) {
        struct rollup_cpu *cpu = &rollup->cpus[i];
        uint64_t period = period_of(rollup), lost = 0;
        struct rollup_account *account;

        if (cpu->skipped == 0)
            continue;
        set_anchor(rollup, cpu->skipped_end, rollup->now);
        account = account_of(bucket_at(rollup, cpu->skipped_end), cpu->cpu);
        if (cpu->running && period > 0)
            lost = (checked_sub(cpu->skipped_end, cpu->previous) + period / 2) /
                   period;
        add_ticks(rollup, account, &account->lost,
                  checked_sub(lost, cpu->gap_known));
        add_ticks(rollup, account, &account->packets_lost, cpu->skipped);
        cpu->order.next = cpu->skipped_next;
        cpu->previous = cpu->skipped_end;
        account->last = cpu->skipped_end + (cpu->skipped_end == 0);
        account->sequence = cpu->skipped_next;
        account->discarded = cpu->discarded;
        cpu->known = cpu->irqs_off = cpu->in_gap = false;
        cpu->stolen = cpu->gap_known = 0;
        cpu->skipped = 0;
    }
}

/* ---- the rest */

void rollup_close(struct rollup *rollup, int64_t now, bool all)
{
    if (all)
        close_skipped(rollup);
    close_future(rollup, now);
    while (
        rollup->open[0].begin != 0 &&
        (all ||
         bucket_end(rollup, &rollup->open[0]) * MS + rollup->grace_ms <= now))
        close_first(rollup);
}

/* Its samples have no stacks any more. */
static void unresolve(struct rollup_bucket *bucket)
{
    for (uint32_t i = 0; i < bucket->keys.count; ++i) {
        const struct rollup_cell *cell = &bucket->cells[i];
        struct rollup_account *account = account_of(bucket, cell->cpu);

        account->attributed -= cell->samples;
        account->unresolved = checked_add(account->unresolved, cell->samples);
    }
    index_free(&bucket->keys);
    free(bucket->cells);
    bucket->cells = NULL;
}

void rollup_shrink(struct rollup *rollup, int64_t now)
{
    close_skipped(rollup);
    rollup_close(rollup, now, false);
    while (rollup->open[0].begin != 0 && rollup->open[0].begin * MS <= now)
        close_first(rollup);
    unresolve(&rollup->open[0]);
    unresolve(&rollup->open[1]);
    free(rollup->nodes);
    rollup->nodes = NULL;
    rollup->node_room = 0;
    index_free(&rollup->overflows);
}

size_t rollup_bytes(const struct rollup *rollup)
{
    size_t bytes = rollup->node_room * sizeof *rollup->nodes +
                   rollup->cpu_count * sizeof *rollup->cpus +
                   (rollup->overflows.room + rollup->loop_keys.room +
                    rollup->site_numbers.room) *
                       sizeof(struct index_slot) +
                   rollup->loop_keys.count * sizeof *rollup->loop +
                   rollup_waits_bytes(&rollup->waits);

    for (int i = 0; i < 2; ++i)
        bytes += rollup->open[i].keys.room * sizeof(struct index_slot) +
                 rollup->open[i].keys.count * sizeof(struct rollup_cell) +
                 rollup->open[i].account_count * sizeof(struct rollup_account);
    return bytes;
}

void rollup_free(struct rollup *rollup)
{
    empty_bucket(&rollup->open[0]);
    empty_bucket(&rollup->open[1]);
    free(rollup->nodes);
    free(rollup->cpus);
    free(rollup->loop);
    free(rollup->sites);
    index_free(&rollup->overflows);
    index_free(&rollup->loop_keys);
    index_free(&rollup->site_numbers);
    strings_free(&rollup->strings);
    rollup_waits_free(&rollup->waits);
    *rollup = (struct rollup){0};
}
