/* SPDX-License-Identifier: Apache-2.0 */
/* What the collector says of itself: metrics in Prometheus' text format (0.0.4)
 * and a list of the guests. */

#include "collect/parts.h"

#include "base/bytes.h"
#include "base/json.h"
#include "push/push.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

struct metric {
    const char *name, *type, *help;
    uint64_t value;
};

static void put_metrics(FILE *out, const struct metric *metrics, size_t count)
{
    for (size_t i = 0; i < count; ++i)
        fprintf(out,
                "# HELP parasite_serve_%s %s\n# TYPE parasite_serve_%s %s\n"
                "parasite_serve_%s %" PRIu64 "\n",
                metrics[i].name, metrics[i].help, metrics[i].name,
                metrics[i].type, metrics[i].name, metrics[i].value);
}

static uint64_t memory_bytes(void)
{
    unsigned long all, resident = 0;
    FILE *in = fopen("/proc/self/statm", "re");

    if (in != NULL && fscanf(in, "%lu %lu", &all, &resident) != 2)
        resident = 0;
    if (in != NULL)
        fclose(in);
    return (uint64_t)resident * (uint64_t)sysconf(_SC_PAGESIZE);
}

static void put_process(FILE *out)
{
    struct rusage used = {0};

    getrusage(RUSAGE_SELF, &used);
    fprintf(out,
            "# HELP parasite_serve_cpu_seconds_total CPU time used\n"
            "# TYPE parasite_serve_cpu_seconds_total counter\n"
            "parasite_serve_cpu_seconds_total %ld.%06ld\n",
            (long)(used.ru_utime.tv_sec + used.ru_stime.tv_sec +
                   (used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1000000),
            (long)((used.ru_utime.tv_usec + used.ru_stime.tv_usec) % 1000000));
}

#define METRICS(...)                                                           \
    put_metrics(out, (const struct metric[]){__VA_ARGS__},                     \
                sizeof(const struct metric[]){__VA_ARGS__} /                   \
                    sizeof(struct metric))

static void put_store(struct collector *collector, FILE *out)
{
    struct store_state state;

    if (collector->options.store == NULL)
        return;
    store_state(collector->options.store, &state);
    METRICS(
        {"spool_batches", "gauge", "batches that the store has not taken",
         state.spool_batches},
        {"spool_bytes", "gauge", "of these", state.spool_bytes},
        {"store_batches_total", "counter", "batches that the store took",
         state.sent_batches},
        {"store_rows_total", "counter", "rows in them", state.sent_rows},
        {"store_retries_total", "counter", "tries that failed", state.retries},
        {"store_lost_rows_total", "counter", "rows that were given up",
         state.lost_rows},
        {"store_away", "gauge", "servers of the store that take no batches",
         state.away},
        {"store_reachable", "gauge", "1 = all of them do", state.away == 0});
}

static void put_push(struct collector *collector, FILE *out)
{
    struct push_counts counts;

    if (collector->options.push == NULL)
        return;
    push_queue_counts(collector->options.push, &counts);
    METRICS(
        {"pushed_total", "counter", "profiles that were pushed", counts.sent},
        {"push_lost_total", "counter",
         "profiles that were refused, or beyond what may wait", counts.lost},
        {"push_waiting_bytes", "gauge", "profiles that wait", counts.waiting});
}

static void put_refusals(const struct collector *collector, FILE *out)
{
    METRICS({"packets_after_bye_total", "counter",
             "new ones of guests that had said bye: refused",
             collector->counters.after_bye},
            {"guest_moves_total", "counter",
             "times that a packet of a guest came by another line than the one "
             "before, which is still there",
             collector->counters.moves},
            {"refused_for_share_total", "counter",
             "packets of new guests that were refused as their line, token or "
             "service had brought too many",
             collector->counters.refused_for_share});
}

bool collector_metrics(struct collector *collector, FILE *out)
{
    const struct counters *counters = &collector->counters;
    uint64_t connected = 0, samples = 0, idle = 0, lost = 0, dropped = 0,
             bytes = 0, refused = 0, missed = 0, without_build = 0;

    pthread_mutex_lock(&collector->lock);
    for (size_t i = 0; i < collector->guest_count; ++i) {
        const struct guest_boot *guest = collector->guests[i];

        connected += guest->line != NULL;
        bytes += rollup_bytes(&guest->rollup);
        refused += guest->rollup.refused + guest->rollup.waits.refused;
        samples += guest->samples;
        idle += guest->idle;
        lost += guest->lost;
        dropped += guest->dropped;
        missed += guest->missed;
        without_build +=
            guest->build == NULL && guest->rollup.hello.version != 0;
    }
    METRICS({"guests", "gauge", "boots of guests that are known",
             collector->guest_count},
            {"guests_connected", "gauge", "of these, with a line", connected},
            {"guests_without_build", "gauge",
             "beyond the number of builds: without names of functions",
             without_build},
            {"readers", "gauge", "live readers", collector->reader_count},
            {"guest_bytes", "gauge", "memory of the guests' sums", bytes},
            {"tables_bytes", "gauge",
             "memory of guests' tables and what waits for readers",
             collector->memory},
            {"tables_limit_bytes", "gauge", "the most that they may take",
             guests_memory_limit(collector)},
            {"shrunk_total", "counter",
             "times that a guest's tables were emptied for lack of memory",
             counters->shrunk},
            {"refused_for_memory_total", "counter",
             "packets of new guests that were refused for lack of memory",
             counters->refused_for_memory},
            {"memory_bytes", "gauge", "resident memory", memory_bytes()},
            {"packets_total", "counter", "packets received", counters->packets},
            {"packet_bytes_total", "counter", "bytes of these",
             counters->packet_bytes},
            {"packets_repeated_total", "counter", "that came before",
             counters->repeated},
            {"packets_unread_total", "counter", "that could not be decoded",
             counters->unread},
            {"packets_excess_total", "counter", "beyond the rate of a guest",
             counters->excess_packets},
            {"refused_connections_total", "counter",
             "connections that were refused", counters->refused_connections},
            {"connections_waited_total", "counter",
             "times that no file was left for a connection",
             counters->unopened},
            {"refused_guest_packets_total", "counter",
             "packets of guests too many, or of another service",
             counters->refused_guests},
            {"limited_total", "counter",
             "stacks, ranges and sites beyond a limit of a guest", refused},
            {"unnamed_stacks_total", "counter",
             "stacks that were not described, beyond a limit of their build",
             builds_unsent(&collector->builds)},
            {"samples", "gauge", "samples in closed buckets of these guests",
             samples},
            {"idle_samples", "gauge", "idle ones", idle},
            {"dropped_samples", "gauge", "that guests have dropped", dropped},
            {"missed_ticks", "gauge", "ticks that never came", missed},
            {"lost_samples", "gauge", "in packets that never came, estimated",
             lost},
            {"buckets_total", "counter", "buckets that were closed",
             counters->buckets},
            {"rows_total", "counter", "rows in them", counters->rows},
            {"commands_total", "counter", "commands sent to guests",
             counters->commands},
            {"reader_bytes_total", "counter", "sent to readers",
             counters->reader_bytes},
            {"reader_dropped_bytes_total", "counter", "that slow readers lost",
             counters->reader_dropped},
            {"raw_bytes_total", "counter", "packets kept as they came",
             counters->raw_bytes},
            {"raw_failed_total", "counter", "packets that could not be kept",
             counters->raw_failed});
    put_refusals(collector, out);
    put_store(collector, out);
    put_push(collector, out);
    put_process(out);
    pthread_mutex_unlock(&collector->lock);
    return !ferror(out);
}

static json_t *guest_json(const struct collector *collector,
                          const struct guest_boot *guest)
{
    const struct rollup *rollup = &guest->rollup;
    json_t *one = json_object();
    char text[2 * UUID_BYTES + 1];

    (void)collector;
    snprintf(text, sizeof text, "%016llx", (unsigned long long)guest->id);
    json_set(one, "guest", guest->id != 0 ? json_string(text) : json_null());
    bytes_hex(guest->uuid, UUID_BYTES, text);
    json_set(one, "boot", json_string(text));
    json_set(one, "service",
             json_text(*guest->service != '\0' ? guest->service
                                               : guest->line_service));
    if (guest->build != NULL) {
        char build[2 * STORE_BUILD_BYTES + 1];

        bytes_hex(guest->build->id, STORE_BUILD_BYTES, build);
        json_set(one, "build", json_string(build));
    } else {
        json_set(one, "build", json_null());
    }
    json_set(one, "target", json_text(guest->where));
    json_set(one, "connected", json_boolean(guest->line != NULL));
    json_set(one, "ended", json_boolean(rollup->ended));
    json_set(one, "seen", json_count((uint64_t)guest->last_seen));
    json_set(one, "cpus", json_count(rollup->cpu_count));
    json_set(one, "hz", json_real(rollup->rate_mhz / 1000.0));
    json_set(one, "packets", json_count(rollup->packets));
    json_set(one, "repeated", json_count(rollup->repeated));
    json_set(one, "after_bye", json_count(rollup->after_bye));
    json_set(one, "moves", json_count(guest->moves));
    json_set(one, "excess_packets", json_count(guest->excess_packets));
    json_set(one, "samples", json_count(guest->samples));
    json_set(one, "idle", json_count(guest->idle));
    json_set(one, "dropped", json_count(guest->dropped));
    json_set(one, "missed", json_count(guest->missed));
    json_set(one, "lost", json_count(guest->lost));
    json_set(one, "memory", json_count(rollup_bytes(rollup)));
    return one;
}

/* ---- live */

#define LIVE_MS 5000
#define SILENT_SECONDS 10
#define FUNCTIONS 15u

static struct live_counts counts_of(const struct guest_boot *guest, int64_t now)
{
    struct live_counts counts = {
        .at = now,
        .idle = guest->idle,
        .lost = guest->dropped + guest->lost + guest->missed,
    };

    counts.ticks = guest->samples + guest->idle + counts.lost;
    for (int i = 0; i < 2; ++i) {
        const struct rollup_bucket *bucket = &guest->rollup.open[i];

        for (size_t j = 0; j < bucket->account_count; ++j) {
            const struct rollup_account *account = &bucket->accounts[j];
            uint64_t lost = account->dropped + account->lost + account->missed;

            counts.idle += account->idle;
            counts.lost += lost;
            counts.ticks += account->attributed + account->idle +
                            account->unresolved + lost;
        }
    }
    return counts;
}

void live_note(struct guest_boot *guest, int64_t now)
{
    if (guest->live[1].at != 0 && now < guest->live[1].at + LIVE_MS &&
        now >= guest->live[1].at)
        return;
    guest->live[0] = guest->live[1];
    guest->live[1] = counts_of(guest, now);
}

static const char *state_of(const struct guest_boot *guest, int64_t now)
{
    return guest->rollup.ended                              ? "ended"
           : guest->line == NULL                            ? "gone"
           : guest->last_seen + SILENT_SECONDS < now / 1000 ? "silent"
                                                            : "sending";
}

static json_t *live_json(const struct collector *collector,
                         const struct guest_boot *guest, int64_t now)
{
    const struct live_counts *from =
        &guest->live[guest->live[0].at == 0 ? 1 : 0];
    struct live_counts to = counts_of(guest, now);
    json_t *one = guest_json(collector, guest);
    double seconds = (double)(now - from->at) / 1000;
    uint64_t ticks = to.ticks - from->ticks, lost = to.lost - from->lost;
    uint64_t came = ticks - lost;

    json_set(one, "state", json_string(state_of(guest, now)));
    json_set(one, "all_lost", json_count(to.lost));
    json_set(one, "all_ticks", json_count(to.ticks));
    if (from->at == 0 || seconds < 1 || to.ticks < from->ticks ||
        to.lost < from->lost || ticks < lost)
        return one;
    json_set(one, "rate", json_real((double)came / seconds));
    if (came > 0)
        json_set(one, "busy",
                 json_real(1 - (double)(to.idle - from->idle) / (double)came));
    if (ticks > 0)
        json_set(one, "lost_share", json_real((double)lost / (double)ticks));
    return one;
}

/* ---- the functions of one guest, of minutes that are open */

struct hot {
    const char *name;
    uint64_t samples;
};

static int by_samples(const void *one, const void *other)
{
    const struct hot *a = one, *b = other;

    return a->samples != b->samples ? (a->samples < b->samples ? 1 : -1)
                                    : strcmp(a->name, b->name);
}

struct hots {
    struct index names; /* a name's address, which is that of its function */
    struct hot *list;
    uint64_t all, unknown;
};

static void add_hot(struct hots *hots, const struct guest_boot *guest,
                    const struct rollup_cell *cell)
{
    uint64_t addresses[ROLLUP_STACK_MAX];
    size_t count = rollup_stack(&guest->rollup, cell->node, addresses);
    struct hot fresh = {0};
    uint32_t number;

    hots->all += cell->samples;
    if (count == 0 || guest->build == NULL || !guest->build->has_names) {
        hots->unknown += cell->samples;
        return;
    }
    fresh.name = build_name(guest->build, addresses[0], false);
    number = index_add_row(&hots->names, (uintptr_t)fresh.name, &hots->list,
                           &fresh, sizeof fresh);
    hots->list[number].samples += cell->samples;
}

static json_t *functions_of(const struct guest_boot *guest)
{
    struct hots hots = {0};
    json_t *list = json_array(), *all = json_object();
    char uuid[2 * UUID_BYTES + 1];

    for (int i = 0; i < 2; ++i)
        for (uint32_t j = 0; j < guest->rollup.open[i].keys.count; ++j)
            add_hot(&hots, guest, &guest->rollup.open[i].cells[j]);
    if (hots.names.count > 0)
        qsort(hots.list, hots.names.count, sizeof *hots.list, by_samples);
    for (uint32_t i = 0; i < hots.names.count && i < FUNCTIONS; ++i)
        json_array_append_new(
            list, json_pack("{soso}", "name", json_text(hots.list[i].name),
                            "samples", json_count(hots.list[i].samples)));
    bytes_hex(guest->uuid, UUID_BYTES, uuid);
    json_set(all, "boot", json_string(uuid));
    json_set(all, "since", json_count((uint64_t)guest->rollup.open[0].begin));
    json_set(all, "samples", json_count(hots.all));
    json_set(all, "unknown", json_count(hots.unknown));
    json_set(all, "functions", list);
    index_free(&hots.names);
    free(hots.list);
    return all;
}

json_t *collector_live(struct collector *collector, const char *name)
{
    json_t *head = json_object(), *list = json_array(), *top = json_null();
    int64_t now = now_ms();

    pthread_mutex_lock(&collector->lock);
    for (size_t i = 0; i < collector->guest_count; ++i) {
        const struct guest_boot *guest = collector->guests[i];
        char uuid[2 * UUID_BYTES + 1];

        json_array_append_new(list, live_json(collector, guest, now));
        bytes_hex(guest->uuid, UUID_BYTES, uuid);
        if (strcmp(uuid, name) == 0)
            top = functions_of(guest);
    }
    json_set(head, "host", json_text(collector->host));
    json_set(head, "memory", json_count(collector->memory));
    json_set(head, "memory_limit", json_count(guests_memory_limit(collector)));
    json_set(head, "refused", json_count(collector->counters.refused_guests));
    if (collector->options.store != NULL) {
        struct store_state state;

        store_state(collector->options.store, &state);
        json_set(head, "spool_batches", json_count(state.spool_batches));
        json_set(head, "store_problem", json_text(state.problem));
        json_set(head, "lost_rows", json_count(state.lost_rows));
    }
    if (collector->options.push != NULL) {
        struct push_counts counts;

        push_queue_counts(collector->options.push, &counts);
        json_set(head, "push_lost", json_count(counts.lost));
        json_set(head, "push_waiting", json_count(counts.waiting));
        json_set(head, "push_problem", json_text(counts.problem));
    }
    pthread_mutex_unlock(&collector->lock);
    json_set(head, "made", json_count((uint64_t)(now / 1000)));
    json_set(head, "every", json_count(LIVE_MS / 1000));
    json_set(head, "guests", list);
    json_set(head, "top", top);
    return head;
}

bool collector_guests_locked(struct collector *collector, FILE *out)
{
    json_t *all = json_array();

    for (size_t i = 0; i < collector->guest_count; ++i)
        json_array_append_new(all, guest_json(collector, collector->guests[i]));
    json_print(all, out);
    return !ferror(out);
}

bool collector_guests(struct collector *collector, FILE *out)
{
    bool fine;

    pthread_mutex_lock(&collector->lock);
    fine = collector_guests_locked(collector, out);
    pthread_mutex_unlock(&collector->lock);
    return fine;
}
