/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From a closed bucket to rows: of the store, of JSON, or both.
 *
 * Stacks are looked at here, once a bucket and not once a sample. One of whose
 * nodes a definition is missing is unresolved, and its samples are moved from
 * the attributed ones to these, so that the attributed ones are always the sum
 * of the samples that have a row.
 */

#include "collect/parts.h"

#include "base/bytes.h"
#include "base/checked.h"
#include "base/json.h"
#include "base/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NS_PER_CLOCK (1000000000u / PROF_CLOCK_HZ)
#define LIST_MAX 32u /* labels */

static const uint8_t no_build[STORE_BUILD_BYTES];

/* ---- JSON */

static json_t *row_of(const struct collector *collector, const char *table,
                      const struct store_key *key)
{
    json_t *row;
    char text[2 * STORE_BUILD_BYTES + 1];

    if (collector->options.rows == NULL)
        return NULL;
    row = json_object();
    json_set(row, "table", json_string(table));
    json_set(row, "bucket", json_count(key->bucket));
    json_set(row, "service", json_text(key->service));
    bytes_hex(key->build, STORE_BUILD_BYTES, text);
    json_set(row, "build", json_string(text));
    snprintf(text, sizeof text, "%016llx", (unsigned long long)key->guest);
    json_set(row, "guest", json_string(text));
    return row;
}

static void set_id(json_t *row, const char *name, uint64_t id)
{
    char text[24];

    snprintf(text, sizeof text, "%016llx", (unsigned long long)id);
    json_set(row, name, json_string(text));
}

static void put_row(struct collector *collector, json_t *row)
{
    FILE *out = collector->options.rows;

    json_dumpf(row, out, JSON_COMPACT);
    putc('\n', out);
    json_decref(row);
}

static void count_row(struct collector *collector, struct guest_boot *guest)
{
    ++collector->counters.rows;
    ++guest->rows;
}

/* ---- the guest */

void guest_name(struct collector *collector, struct guest_boot *guest)
{
    if (guest->id != 0)
        return;
    if (*guest->line_service != '\0')
        strcpy(guest->service, guest->line_service);
    else if (guest->build == NULL ||
             !build_service(guest->build, guest->service,
                            sizeof guest->service))
        strcpy(guest->service, "unknown");
    guest->id = store_guest_id(guest->service, guest->uuid, collector->host);
}

static void put_guest(struct collector *collector, struct guest_boot *guest,
                      const struct store_key *key)
{
    struct store_guest row = {
        .key = *key,
        .boot = guest->uuid,
        .host = collector->host,
        .target = guest->where,
        .labels = collector->options.labels,
        .label_count = collector->options.label_count,
        .seen = (uint32_t)guest->last_seen,
        .cpus = (uint16_t)guest->rollup.cpu_count,
        .mhz = guest->rollup.rate_mhz,
        .image = guest->build != NULL && guest->build->has_names &&
                         guest->build->image.path != NULL
                     ? guest->build->image.path
                     : "",
    };
    json_t *json;

    if (guest->sent && guest->sent_mhz == row.mhz &&
        guest->sent_cpus == row.cpus)
        return;
    row.key.bucket -= row.key.bucket % STORE_BUCKET_SECONDS;
    guest->sent = true;
    guest->sent_mhz = row.mhz;
    guest->sent_cpus = row.cpus;
    if (collector->options.store != NULL)
        store_add_guest(&collector->batches, &row);
    json = row_of(collector, "guests", key);
    if (json != NULL) {
        char boot[2 * UUID_BYTES + 1];

        bytes_hex(guest->uuid, UUID_BYTES, boot);
        json_set(json, "boot", json_string(boot));
        json_set(json, "host", json_text(row.host));
        json_set(json, "target", json_text(row.target));
        json_set(json, "cpus", json_count(row.cpus));
        json_set(json, "mhz", json_count(row.mhz));
        put_row(collector, json);
    }
    count_row(collector, guest);
}

/* ---- stacks and samples */

struct closing_stack {
    uint64_t addresses[ROLLUP_STACK_MAX]; /* innermost first */
    uint32_t frames[ROLLUP_STACK_MAX];    /* outermost first */
    const char *names[ROLLUP_STACK_MAX];
    size_t count;
    uint64_t id;
};

static void put_stack(struct collector *collector, struct guest_boot *guest,
                      struct closing_stack *stack, const struct store_key *key)
{
    struct build *build = guest->build;
    struct store_stack row = {.build = key->build,
                              .stack = stack->id,
                              .frames = stack->frames,
                              .frame_count = (unsigned)stack->count};
    json_t *json;

    if (build == NULL || !build_must_send(build, stack->id))
        return;
    if (build->has_names) {
        for (size_t i = 0; i < stack->count; ++i)
            stack->names[stack->count - 1 - i] =
                build_name(build, stack->addresses[i], i > 0);
        row.names = stack->names;
        row.name_count = (unsigned)stack->count;
        row.named = true;
    }
    if (collector->options.store != NULL)
        store_add_stack(&collector->batches, &row);
    json = row_of(collector, "stacks", key);
    if (json != NULL) {
        json_t *frames = json_array(), *names = json_array();

        for (size_t i = 0; i < stack->count; ++i)
            json_array_append_new(frames, json_count(stack->frames[i]));
        for (unsigned i = 0; i < row.name_count; ++i)
            json_array_append_new(names, json_text(stack->names[i]));
        set_id(json, "stack", stack->id);
        json_set(json, "frames", frames);
        json_set(json, "names", names);
        put_row(collector, json);
    }
    count_row(collector, guest);
}

static bool find_stack(const struct guest_boot *guest, uint32_t node,
                       const uint8_t *build, struct closing_stack *stack)
{
    uint64_t begin = guest->rollup.text_begin;

    stack->count = rollup_stack(&guest->rollup, node, stack->addresses);
    for (size_t i = 0; i < stack->count; ++i)
        stack->frames[stack->count - 1 - i] =
            (uint32_t)(stack->addresses[i] - begin);
    stack->id = store_stack_id(build, stack->frames, (unsigned)stack->count);
    return stack->count > 0;
}

/* One sum for each stack and CPU: nodes of one stack may have several numbers,
 * such as an address without callers. */
struct sums {
    struct index keys; /* stack and CPU */
    struct store_sample *rows;
};

static void add_sum(struct sums *sums, const struct store_sample *row)
{
    uint64_t key = row->stack ^ (uint64_t)row->cpu * 0x9e3779b97f4a7c15ull;
    struct store_sample fresh = *row;
    uint32_t number;

    fresh.samples = fresh.weight = 0;
    number = index_add_row(&sums->keys, key, &sums->rows, &fresh, sizeof fresh);
    sums->rows[number].samples =
        checked_add(sums->rows[number].samples, row->samples);
    sums->rows[number].weight =
        checked_add(sums->rows[number].weight, row->weight);
}

static void put_sample(struct collector *collector, struct guest_boot *guest,
                       const struct store_sample *row)
{
    json_t *json = row_of(collector, "samples", &row->key);

    if (collector->options.store != NULL)
        store_add_sample(&collector->batches, row);
    if (json != NULL) {
        json_set(json, "cpu", json_count(row->cpu));
        set_id(json, "stack", row->stack);
        json_set(json, "samples", json_count(row->samples));
        json_set(json, "weight", json_count(row->weight));
        put_row(collector, json);
    }
    count_row(collector, guest);
}

/* How many samples of (cpu) have no stack after all. */
static void unresolve(struct rollup_account *accounts, size_t count,
                      uint16_t cpu, uint64_t samples)
{
    for (size_t i = 0; i < count; ++i) {
        if (accounts[i].cpu != cpu)
            continue;
        accounts[i].attributed -= samples;
        accounts[i].unresolved = checked_add(accounts[i].unresolved, samples);
    }
}

static void put_samples(struct collector *collector, struct guest_boot *guest,
                        const struct rollup_bucket *bucket,
                        const struct store_key *key,
                        struct rollup_account *accounts)
{
    struct sums sums = {0};

    for (uint32_t i = 0; i < bucket->keys.count; ++i) {
        const struct rollup_cell *cell = &bucket->cells[i];
        struct closing_stack stack;

        if (!find_stack(guest, cell->node, key->build, &stack)) {
            unresolve(accounts, bucket->account_count, cell->cpu,
                      cell->samples);
            continue;
        }
        put_stack(collector, guest, &stack, key);
        add_sum(&sums, &(struct store_sample){.key = *key,
                                              .cpu = cell->cpu,
                                              .kind = STORE_TIME,
                                              .stack = stack.id,
                                              .samples = cell->samples,
                                              .weight = cell->clocks});
    }
    for (uint32_t i = 0; i < sums.keys.count; ++i)
        put_sample(collector, guest, &sums.rows[i]);
    index_free(&sums.keys);
    free(sums.rows);
}

/* ---- accounts and losses */

void hand_over_loss(struct collector *collector, struct guest_boot *guest,
                    const char *why, const char *what, uint64_t rows,
                    uint64_t amount, int64_t bucket)
{
    struct store_loss row = {
        .key = {.bucket = (uint32_t)bucket,
                .service = guest->service,
                .build = guest->build != NULL ? guest->build->id : no_build,
                .guest = guest->id},
        .host = collector->host,
        .why = why,
        .what = what,
        .rows = rows,
        .amount = amount,
    };
    json_t *json = row_of(collector, "losses", &row.key);

    if (collector->options.store != NULL)
        store_add_loss(&collector->batches, &row);
    if (json != NULL) {
        json_set(json, "why", json_string(why));
        json_set(json, "what", json_string(what));
        json_set(json, "rows", json_count(rows));
        json_set(json, "amount", json_count(amount));
        put_row(collector, json);
    }
    count_row(collector, guest);
}

static void put_account(struct collector *collector, struct guest_boot *guest,
                        const struct rollup_account *from,
                        const struct store_key *key)
{
    struct store_account row = {
        .key = *key,
        .cpu = from->cpu,
        .attributed = from->attributed,
        .idle = from->idle,
        .unresolved = from->unresolved,
        .dropped = checked_add(from->dropped, from->lost),
        .missed = from->missed,
        .stolen_ns = checked_mul(from->stolen_clocks, NS_PER_CLOCK),
    };
    json_t *json = row_of(collector, "accounts", key);

    row.ticks = checked_add(
        checked_add(row.attributed, row.idle),
        checked_add(checked_add(row.unresolved, row.dropped), row.missed));
    if (collector->options.store != NULL)
        store_add_account(&collector->batches, &row);
    if (json != NULL) {
        json_set(json, "cpu", json_count(row.cpu));
        json_set(json, "ticks", json_count(row.ticks));
        json_set(json, "attributed", json_count(row.attributed));
        json_set(json, "idle", json_count(row.idle));
        json_set(json, "unresolved", json_count(row.unresolved));
        json_set(json, "dropped", json_count(row.dropped));
        json_set(json, "missed", json_count(row.missed));
        json_set(json, "stolen_ns", json_count(row.stolen_ns));
        json_set(json, "irqs_off", json_count(from->masked));
        put_row(collector, json);
    }
    count_row(collector, guest);
    if (from->packets_lost > 0)
        hand_over_loss(collector, guest, "packets missing", STORE_PACKETS,
                       from->packets_lost, from->lost, key->bucket);
    if (from->implausible > 0)
        hand_over_loss(collector, guest, "implausible", "samples",
                       from->implausible, 0, key->bucket);
    guest->samples = checked_add(guest->samples, from->attributed);
    guest->samples = checked_add(guest->samples, from->unresolved);
    guest->idle = checked_add(guest->idle, from->idle);
    guest->dropped = checked_add(guest->dropped, from->dropped);
    guest->lost = checked_add(guest->lost, from->lost);
    guest->missed = checked_add(guest->missed, from->missed);
}

/* ---- the event loop */

static const struct rollup_site *site_of(const struct guest_boot *guest,
                                         const struct rollup_loop *range)
{
    uint32_t number = index_find(&guest->rollup.site_numbers,
                                 index_pair(range->cpu, range->site));

    return number != INDEX_NONE ? &guest->rollup.sites[number] : NULL;
}

/* A site's (name) is kept as that of a stack of one function. */
static void put_site(struct collector *collector, struct guest_boot *guest,
                     uint64_t id, const char *name, const struct store_key *key)
{
    const struct store_stack row = {.build = key->build,
                                    .stack = id,
                                    .names = &name,
                                    .name_count = 1,
                                    .named = true};
    json_t *json;

    if (guest->build == NULL || !build_must_send(guest->build, id))
        return;
    if (collector->options.store != NULL)
        store_add_stack(&collector->batches, &row);
    json = row_of(collector, "stacks", key);
    if (json != NULL) {
        set_id(json, "stack", id);
        json_set(json, "frames", json_array());
        json_set(json, "names", json_pack("[o]", json_text(name)));
        put_row(collector, json);
    }
    count_row(collector, guest);
}

static void put_loop(struct collector *collector, struct guest_boot *guest,
                     struct rollup_loop *range, const struct store_key *key)
{
    const struct rollup_site *site = site_of(guest, range);
    struct store_loop row = {
        .key = *key,
        .cpu = range->cpu,
        .measure = (enum store_measure)range->measure,
        .low =
            checked_scale(range->low, 1000000000u, guest->rollup.hello.tsc_hz),
        .count = range->count - range->sent,
    };
    json_t *json;

    /* one whose place is not known yet waits for it */
    if (row.count == 0 || site == NULL || range->measure > STORE_WALL)
        return;
    range->sent = range->count;
    guest->rollup.loop_sent = checked_add(guest->rollup.loop_sent, row.count);
    row.site = site->id;
    put_site(collector, guest, site->id,
             strings_text(&guest->rollup.strings, site->text), key);
    if (collector->options.store != NULL)
        store_add_loop(&collector->batches, &row);
    json = row_of(collector, "loop", key);
    if (json != NULL) {
        json_set(json, "cpu", json_count(row.cpu));
        set_id(json, "site", row.site);
        json_set(json, "measure", json_count(row.measure));
        json_set(json, "low", json_count(row.low));
        json_set(json, "count", json_count(row.count));
        put_row(collector, json);
    }
    count_row(collector, guest);
}

/* What came while another process was to take it, or nobody. */
static void put_loop_lost(struct collector *collector, struct guest_boot *guest,
                          const struct store_key *key)
{
    uint64_t lost = rollup_loop_lost(&guest->rollup);

    if (lost == 0)
        return;
    guest->rollup.loop_lost = checked_add(guest->rollup.loop_lost, lost);
    hand_over_loss(collector, guest, "collector restarted", "loop", 1, lost,
                   key->bucket);
}

/* ---- what tasks waited for */

static const char *text_of(const struct waits *waits,
                           const struct wait_name *name)
{
    return name != NULL ? strings_text(&waits->strings, name->text) : "";
}

static void put_wait(struct collector *collector, struct guest_boot *guest,
                     const struct wait_sum *sum, const struct store_key *key)
{
    const struct waits *waits = &guest->rollup.waits;
    const struct wait_name *site = rollup_waits_name(waits, sum->site);
    struct store_wait row = {
        .key = *key,
        .site =
            site != NULL ? rollup_site_id(text_of(waits, site), site->line) : 0,
        .why = text_of(waits, rollup_waits_name(waits, sum->why)),
        .count = sum->count,
        .ns = checked_mul(sum->clocks, NS_PER_CLOCK),
    };
    json_t *json;

    if (site != NULL)
        put_site(collector, guest, row.site, text_of(waits, site), key);
    if (collector->options.store != NULL)
        store_add_wait(&collector->batches, &row);
    json = row_of(collector, "waits", key);
    if (json != NULL) {
        set_id(json, "site", row.site);
        json_set(json, "why", json_text(row.why));
        json_set(json, "count", json_count(row.count));
        json_set(json, "ns", json_count(row.ns));
        put_row(collector, json);
    }
    count_row(collector, guest);
}

/* ---- all of a bucket */

void hand_over(struct collector *collector, struct guest_boot *guest,
               const struct rollup_bucket *bucket)
{
    struct rollup_account accounts[ROLLUP_CPUS_MAX];
    struct store_key key;

    guest_name(collector, guest);
    if (guest->build != NULL)
        build_look(guest->build, &collector->builds, steady_ms() / 1000);
    key = (struct store_key){
        .bucket = (uint32_t)bucket->begin,
        .service = guest->service,
        .build = guest->build != NULL ? guest->build->id : no_build,
        .guest = guest->id,
    };
    put_guest(collector, guest, &key);
    if (bucket->account_count > 0)
        memcpy(accounts, bucket->accounts,
               bucket->account_count * sizeof *accounts);
    put_samples(collector, guest, bucket, &key, accounts);
    pushes_minute(collector, guest, bucket, &key);
    for (size_t i = 0; i < bucket->account_count; ++i)
        put_account(collector, guest, &accounts[i], &key);
    for (uint32_t i = 0; i < guest->rollup.loop_keys.count; ++i)
        put_loop(collector, guest, &guest->rollup.loop[i], &key);
    put_loop_lost(collector, guest, &key);
    for (uint32_t i = 0; i < guest->rollup.waits.keys.count; ++i)
        put_wait(collector, guest, &guest->rollup.waits.sums[i], &key);
    ++collector->counters.buckets;
    collector->state_due = true;
}
