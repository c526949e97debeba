/* SPDX-License-Identifier: Apache-2.0 */

#include "metrics.h"

#include "loop_metrics.h"
#include "metric_text.h"
#include "ranking.h"

#include <kernel/clock.h>
#include <kernel/cpu.h>
#include <kernel/net.h>
#include <kernel/service.h>
#include <prof/prof.h>

#define PPM 1000000ull

/* The hottest functions found so far, hottest first. */
struct top {
    struct prof_row row[RANKING_ROWS];
    struct ranking ranking;
};

static void ratio(struct http_text *text, const char *name, uint64_t part,
                  uint64_t whole)
{
    uint64_t ppm = whole >= PPM ? part / (whole / PPM) : 0;

    if (ppm > PPM)
        ppm = PPM; /* the division before was rounded */
    http_text_print(text, "%s %llu.%06llu\n", name,
                    (unsigned long long)(ppm / PPM),
                    (unsigned long long)(ppm % PPM));
}

static void profiler(struct http_text *text, const struct prof_stats *stats)
{
    metric_one(text, "parasite_samples_total", "counter",
               "Timer ticks that were sampled, idle ones included.",
               stats->ticks);
    metric_one(text, "parasite_samples_idle_total", "counter",
               "Samples taken while the CPU was halted.", stats->idle);
    metric_one(text, "parasite_samples_unresolved_total", "counter",
               "Samples in no function of the symbol table.",
               stats->unresolved);
    metric_one(text, "parasite_samples_dropped_total", "counter",
               "Samples whose address was lost.", stats->dropped);
    metric_one(text, "parasite_ticks_missed_total", "counter",
               "Timer ticks that were due but not delivered.", stats->missed);
    metric_time(text, "parasite_sampled_seconds_total", "counter",
                "Time represented by the samples.", stats->elapsed_cycles);
    metric_time(text, "parasite_stolen_seconds_total", "counter",
                "Time in which the host did not run the guest; in no sample.",
                stats->stolen_cycles);
    metric_describe(text, "parasite_idle_ratio", "gauge",
                    "Share of the sampled time in which the CPU was halted.");
    ratio(text, "parasite_idle_ratio", stats->idle_cycles,
          stats->elapsed_cycles);
    metric_describe(text, "parasite_profiler_seconds_total", "counter",
                    "Time used by the profiler itself.");
    metric_seconds(text, "parasite_profiler_seconds_total{part=\"interrupt\"}",
                   stats->interrupt_cycles);
    metric_seconds(text, "parasite_profiler_seconds_total{part=\"drain\"}",
                   stats->drain_cycles);
    metric_seconds(text, "parasite_profiler_seconds_total{part=\"report\"}",
                   stats->report_cycles);
}

static void network(struct http_text *text)
{
    struct net_stats stats;

    net_stats(&stats);
    metric_one(text, "parasite_net_connections", "gauge",
               "Open TCP connections.", stats.connections);
    metric_one(text, "parasite_net_accepted_total", "counter",
               "TCP connections accepted.", stats.accepted);
    metric_one(text, "parasite_net_refused_total", "counter",
               "TCP connections refused by net.per_address.", stats.refused);
    metric_one(text, "parasite_net_pcbs", "gauge", "TCP control blocks in use.",
               stats.pcbs);
    metric_one(text, "parasite_net_buffers", "gauge", "Packet buffers in use.",
               stats.buffers);
    metric_one(text, "parasite_net_refusals_total", "counter",
               "Failed allocations of the network stack.", stats.refusals);
    metric_one(text, "parasite_net_frames_in_total", "counter",
               "Frames from the network device.", stats.frames_in);
    metric_one(text, "parasite_net_frames_out_total", "counter",
               "Frames to the network device.", stats.frames_out);
    metric_describe(text, "parasite_net_frames_dropped_total", "counter",
                    "Frames dropped for lack of buffers.");
    http_text_print(text,
                    "parasite_net_frames_dropped_total{way=\"in\"} %llu\n"
                    "parasite_net_frames_dropped_total{way=\"out\"} %llu\n",
                    (unsigned long long)stats.dropped_in,
                    (unsigned long long)stats.dropped_out);
    metric_one(text, "parasite_net_kicks_total", "counter",
               "Notifications of the network device.", stats.kicks);
    metric_one(text, "parasite_net_interrupts_total", "counter",
               "Interrupts raised by the network device.", stats.interrupts);
}

/* Of several CPUs those but the first. */
static void spread(struct http_text *text)
{
    if (cpu_count() == 1)
        return;
    metric_describe(text, "parasite_http_dispatched_total", "counter",
                    "Responses dispatched to each CPU to be prepared.");
    for (unsigned i = 1; i < cpu_count(); i++)
        http_text_print(text,
                        "parasite_http_dispatched_total{cpu=\"%u\"} %llu\n", i,
                        (unsigned long long)http_dispatched_to(i));
}

static void service(struct http_text *text, const struct http_counts *counts)
{
    metric_one(text, "parasite_http_requests_total", "counter",
               "Requests answered.", counts->requests);
    metric_one(text, "parasite_http_refused_total", "counter",
               "Requests answered with an error.", counts->refused);
    metric_one(text, "parasite_http_timed_out_total", "counter",
               "Clients that took too long.", counts->timed_out);
    metric_one(text, "parasite_http_answered_bytes_total", "counter",
               "Bytes of responses.", counts->bytes);
    metric_one(text, "parasite_http_clients", "gauge", "Clients connected.",
               counts->clients);
    spread(text);
    metric_one(text, "parasite_heap_bytes", "gauge",
               "Bytes of RAM in use by the heap.", service_heap_bytes());
}

static void on_row(const struct prof_row *row, void *context)
{
    struct top *top = context;

    if (row->named)
        ranking_take(&top->ranking, row->cycles, top->row, row, sizeof *row);
}

/* The name is written between the label and its value. */
static void functions(struct http_text *text)
{
    struct top top = {.ranking = {.count = 0}};

    prof_visit(on_row, &top);
    metric_describe(text, "parasite_function_seconds_total", "counter",
                    "Time in the hottest functions, without callees.");
    for (unsigned i = 0; i < top.ranking.count; i++) {
        http_text_print(text, "parasite_function_seconds_total{function=\"");
        http_name_add(text, top.row[i].address, "\\\"");
        metric_seconds(text, "\"}", top.row[i].cycles);
    }
}

void http_metrics(struct http_text *text, const struct http_counts *counts)
{
    struct prof_stats stats;

    prof_drain();
    prof_stats(&stats);
    profiler(text, &stats);
    functions(text);
    network(text);
    service(text, counts);
    http_loop_metrics(text);
}
