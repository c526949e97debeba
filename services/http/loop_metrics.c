/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Metrics of the event loop. All of them are written anew for each request, so
 * a site that has dropped out leaves no value behind.
 */

#include "loop_metrics.h"

#include "loop_sites.h"
#include "metric_text.h"

#include <string.h>

/* ---- labels */

static void add_escaped(struct http_text *text, const char *value)
{
    for (; *value != '\0'; value++) {
        if (*value == '\n') {
            http_text_add(text, "\\n", 2);
            continue;
        }
        if (*value == '"' || *value == '\\')
            http_text_add(text, "\\", 1);
        http_text_add(text, value, 1);
    }
}

/* NAME{site="...",file="...",line="..." without the closing brace. */
static void begin_metric(struct http_text *text, const char *name,
                         const struct prof_trace_name *site)
{
    http_text_print(text, "%s{site=\"", name);
    add_escaped(text, site->text);
    http_text_print(text, "\",file=\"");
    add_escaped(text, site->file != NULL ? site->file : "");
    http_text_print(text, "\",line=\"%u\"", (unsigned)site->line);
}

/* ---- one metric of all sites */

enum what {
    SELF,
    TOTAL,
    LONGEST,
    OLDEST,
    CALLS,
    FAILED,
    CANCELLED,
    PENDING,
};

static uint64_t value_of(const struct prof_loop_row *row, enum what what)
{
    switch (what) {
    case SELF:
        return row->self_cycles;
    case TOTAL:
        return row->total_cycles;
    case LONGEST:
        return row->longest_cycles;
    case OLDEST:
        return row->oldest_cycles;
    case CALLS:
        return row->calls;
    case FAILED:
        return row->failed;
    case CANCELLED:
        return row->cancelled;
    case PENDING:
        break;
    }
    return row->pending;
}

static void each_site(struct http_text *text, const struct loop_sites *sites,
                      enum what what, const char *name, const char *type,
                      const char *help)
{
    metric_describe(text, name, type, help);
    for (unsigned i = 0; i < sites->ranking.count; i++) {
        uint64_t value = value_of(&sites->row[i], what);

        begin_metric(text, name, sites->row[i].site);
        if (what <= OLDEST)
            metric_seconds(text, "}", value);
        else
            http_text_print(text, "} %llu\n", (unsigned long long)value);
    }
}

static void write_sites(struct http_text *text, const struct loop_sites *sites)
{
    each_site(text, sites, SELF, "parasite_loop_site_self_seconds_total",
              "counter", "Time that the tasks of a site held the event loop.");
    each_site(text, sites, TOTAL, "parasite_loop_site_tree_seconds_total",
              "counter",
              "The same, with all that these tasks created, at every depth.");
    each_site(text, sites, LONGEST, "parasite_loop_site_longest_run_seconds",
              "gauge", "The longest run since the reset.");
    each_site(text, sites, OLDEST, "parasite_loop_site_oldest_seconds", "gauge",
              "Age of the oldest task that has not ended.");
    each_site(text, sites, CALLS, "parasite_loop_site_tasks_total", "counter",
              "Tasks created.");
    each_site(text, sites, FAILED, "parasite_loop_site_failed_total", "counter",
              "Tasks that failed.");
    each_site(text, sites, CANCELLED, "parasite_loop_site_cancelled_total",
              "counter", "Tasks that were cancelled.");
    each_site(text, sites, PENDING, "parasite_loop_site_pending_tasks", "gauge",
              "Tasks that have not ended.");
}

/* ---- classic histograms */

static void write_buckets(struct http_text *text, const char *name,
                          const struct prof_loop_row *row,
                          enum prof_loop_measure measure)
{
    struct loop_buckets buckets;
    char full[64];

    loop_buckets_take(&buckets, row, measure);
    strcpy(full, name);
    strcat(full, "_bucket");
    for (unsigned i = 0; i < LOOP_BOUNDS; i++) {
        uint64_t us = loop_bounds_ns[i] / 1000;

        begin_metric(text, full, row->site);
        http_text_print(text, ",le=\"%llu.%06llu\"} %llu\n",
                        (unsigned long long)(us / 1000000),
                        (unsigned long long)(us % 1000000),
                        (unsigned long long)buckets.values[i]);
    }
    begin_metric(text, full, row->site);
    http_text_print(text, ",le=\"+Inf\"} %llu\n",
                    (unsigned long long)row->sums[measure].count);
}

static void write_histogram(struct http_text *text,
                            const struct loop_sites *sites,
                            const struct loop_histogram *histogram)
{
    enum prof_loop_measure measure = histogram->measure;
    const char *name = histogram->name;
    char full[64];

    metric_describe(text, name, "histogram", histogram->help);
    for (unsigned i = 0; i < sites->ranking.count; i++) {
        const struct prof_loop_row *row = &sites->row[i];

        if (row->sums[measure].count == 0)
            continue;
        write_buckets(text, name, row, measure);
        strcpy(full, name);
        begin_metric(text, strcat(full, "_sum"), row->site);
        metric_seconds(text, "}", row->sums[measure].cycles);
        strcpy(full, name);
        begin_metric(text, strcat(full, "_count"), row->site);
        http_text_print(text, "} %llu\n",
                        (unsigned long long)row->sums[measure].count);
    }
}

/* ---- the account */

static void write_account(struct http_text *text,
                          const struct prof_loop_account *account)
{
    const struct {
        const char *name;
        uint64_t cycles;
    } parts[] = {
        {"tasks", account->tasks_cycles},
        {"callbacks", account->callbacks_cycles},
        {"others", account->others_cycles},
        {"loop", account->loop_cycles},
        {"profiler", account->profiler_cycles},
        {"idle", account->idle_cycles},
        {"interrupts", account->interrupts_cycles},
        {"sampler", account->sampler_cycles},
        {"stolen", account->stolen_cycles},
    };
    char name[80];

    metric_describe(text, "parasite_loop_seconds_total", "counter",
                    "Where the event loop's time went; the sum is all.");
    for (unsigned i = 0; i < sizeof parts / sizeof *parts; i++) {
        strcpy(name, "parasite_loop_seconds_total{part=\"");
        strcat(name, parts[i].name);
        metric_seconds(text, strcat(name, "\"}"), parts[i].cycles);
    }
    metric_time(text, "parasite_loop_wall_seconds_total", "counter",
                "All of the event loop's time.", account->wall_cycles);
    metric_time(text, "parasite_loop_statistics_seconds_total", "counter",
                "What these statistics have cost.", account->own_cycles);
}

static void write_utilisation(struct http_text *text,
                              const struct prof_loop_account *account)
{
    static const char *const windows[] = {"1s", "10s", "60s"};

    metric_describe(text, "parasite_loop_utilisation_ratio", "gauge",
                    "Share of the last seconds in which the loop was busy.");
    for (unsigned i = 0; i < 3; i++)
        if (account->busy_seconds[i] != 0)
            http_text_print(
                text,
                "parasite_loop_utilisation_ratio{window=\"%s\"} %u.%03u\n",
                windows[i], (unsigned)(account->busy_permille[i] / 1000),
                (unsigned)(account->busy_permille[i] % 1000));
    metric_one(text, "parasite_loop_freezes_total", "counter",
               "Runs that the freeze guard has reported.", account->freezes);
    metric_one(text, "parasite_loop_sites", "gauge",
               "Sites that have been seen.", account->sites);
    metric_one(text, "parasite_loop_sites_refused_total", "counter",
               "Sites without room.", account->sites_refused);
    metric_one(text, "parasite_loop_unbinned_total", "counter",
               "Values in no histogram.", account->unbinned);
    if (prof_loop_has_calls())
        metric_one(text, "parasite_loop_calls_refused_total", "counter",
                   "Tasks that ended, and futures, without room.",
                   account->calls_refused);
}

void http_loop_metrics(struct http_text *text)
{
    static struct loop_sites sites;
    struct prof_loop_account account;

    if (!prof_loop_is_on())
        return;
    prof_loop_account(&account);
    write_account(text, &account);
    write_utilisation(text, &account);
    loop_sites_take(&sites);
    write_sites(text, &sites);
    for (unsigned i = 0; i < loop_histogram_count(); i++)
        write_histogram(text, &sites, &loop_histograms[i]);
}
