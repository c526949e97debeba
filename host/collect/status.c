/* SPDX-License-Identifier: Apache-2.0 */
/* What the collector says of itself: metrics in Prometheus' text format (0.0.4)
 * and a list of the guests. */

#include "collect/parts.h"

#include "base/bytes.h"
#include "base/json.h"

#include <inttypes.h>
#include <stdio.h>
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
        {"store_retries_total", "counter", "batches sent again", state.retries},
        {"store_lost_rows_total", "counter", "rows that were given up",
         state.lost_rows},
        {"store_reachable", "gauge", "1 = batches can be sent",
         state.problem[0] == '\0'});
}

bool collector_metrics(struct collector *collector, FILE *out)
{
    const struct counters *counters = &collector->counters;
    uint64_t connected = 0, samples = 0, idle = 0, lost = 0, dropped = 0,
             bytes = 0, refused = 0, missed = 0;

    pthread_mutex_lock(&collector->lock);
    for (size_t i = 0; i < collector->guest_count; ++i) {
        const struct guest_boot *guest = collector->guests[i];

        connected += guest->line != NULL;
        bytes += rollup_bytes(&guest->rollup);
        refused += guest->rollup.refused;
        samples += guest->samples;
        idle += guest->idle;
        lost += guest->lost;
        dropped += guest->dropped;
        missed += guest->missed;
    }
    METRICS({"guests", "gauge", "boots of guests that are known",
             collector->guest_count},
            {"guests_connected", "gauge", "of these, with a line", connected},
            {"readers", "gauge", "live readers", collector->reader_count},
            {"guest_bytes", "gauge", "memory of the guests' sums", bytes},
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
    put_store(collector, out);
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
             json_text(*guest->service != '\0' ? guest->service : guest->said));
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
    json_set(one, "heard", json_count((uint64_t)guest->heard));
    json_set(one, "cpus", json_count(rollup->cpu_count));
    json_set(one, "hz", json_real(rollup->rate_mhz / 1000.0));
    json_set(one, "packets", json_count(rollup->packets));
    json_set(one, "repeated", json_count(rollup->repeated));
    json_set(one, "excess_packets", json_count(guest->excess_packets));
    json_set(one, "samples", json_count(guest->samples));
    json_set(one, "idle", json_count(guest->idle));
    json_set(one, "dropped", json_count(guest->dropped));
    json_set(one, "missed", json_count(guest->missed));
    json_set(one, "lost", json_count(guest->lost));
    json_set(one, "memory", json_count(rollup_bytes(rollup)));
    return one;
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
