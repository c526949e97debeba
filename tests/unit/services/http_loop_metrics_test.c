/* SPDX-License-Identifier: Apache-2.0 */
/* The metrics of tasks that the web server has none of: loop_metrics.c over the
 * real statistics, with the clock in our hands. */

#include "../unit.h"

#include "../../../services/http/loop_metrics.h"

#include <kernel/clock.h>
#include <prof/loop_stats.h>

extern uint64_t prof_loop_hosted_tsc; /* read by the statistics */

static PROF_TRACE_SITE(server, "serve \"all\" \\ more");
static PROF_TRACE_SITE(worker, "worker");
static struct http_text text;
static void *memory;

uint64_t clock_tsc_hz(void)
{
    return 1000000000u;
}

/* Once: sites keep the numbers that they have been given. */
static void open_statistics(void)
{
    size_t bytes = 2 * PROF_LOOP_MEMORY_MIN;

    if (memory != NULL)
        return;
    memory = aligned_alloc(64, bytes);
    assert_int_equal(prof_loop_open(memory, bytes, clock_tsc_hz()), 0);
}

/* Writes the metrics anew. */
static void scrape(void)
{
    http_text_free(&text);
    http_loop_metrics(&text);
    http_text_add(&text, "", 1);
    assert_false(text.failed);
}

static void has(const char *part)
{
    if (strstr(text.bytes, part) == NULL)
        fail_msg("%s is not there", part);
}

static void has_no(const char *part)
{
    if (strstr(text.bytes, part) != NULL)
        fail_msg("%s is there", part);
}

static void pass_us(uint64_t us)
{
    prof_loop_hosted_tsc += us * 1000;
}

/* A server that waits, and a worker that runs for 5 us, waits, is ready for 50
 * us, runs for 2 ms and fails. */
static void run_tasks(struct prof_loop_task *waiting)
{
    struct prof_loop_task ended = {0};

    prof_loop_create(waiting, &server, 1);
    prof_loop_run(waiting);
    pass_us(7);
    prof_loop_create(&ended, &worker, 2);
    prof_loop_run(&ended);
    pass_us(5);
    prof_loop_pause(&ended);
    prof_loop_pause(waiting);
    pass_us(400);
    prof_loop_wake(&ended);
    pass_us(50);
    prof_loop_run(&ended);
    pass_us(2000);
    prof_loop_end(&ended, PROF_LOOP_FAILED);
    prof_loop_pause(&ended);
}

#define WORKER "site=\"worker\",file=\"" __FILE__ "\",line=\""

FIXTURE(open_statistics, NULL);

/* Whether (metric) of the worker is (value). */
static void is(const char *metric, const char *value)
{
    char begin[256];
    const char *at;

    strcpy(begin, "\n");
    strcat(strcat(begin, metric), "{" WORKER);
    at = strstr(text.bytes, begin);
    assert_non_null(at);
    at = strchr(at, '}');
    assert_memory_equal(at, value, strlen(value));
}

/* Runs of the worker that are no longer than (bound). */
static void is_in_bucket(const char *bound, unsigned runs)
{
    char line[300];

    snprintf(line, sizeof line,
             "\nparasite_loop_run_seconds_bucket{" WORKER "%u\",le=\"%s\"} "
             "%u\n",
             (unsigned)worker.line, bound, runs);
    has(line);
}

TEST(counts_are_right)
{
    struct prof_loop_task waiting = {0};

    prof_loop_reset();
    run_tasks(&waiting);
    scrape();
    is("parasite_loop_site_tasks_total", "} 1\n");
    is("parasite_loop_site_failed_total", "} 1\n");
    is("parasite_loop_site_cancelled_total", "} 0\n");
    is("parasite_loop_site_pending_tasks", "} 0\n");
    is("parasite_loop_run_seconds_count", "} 2\n");
    is("parasite_loop_delay_seconds_count", "} 1\n");
    is("parasite_loop_lifetime_seconds_count", "} 1\n");
    is("parasite_loop_site_self_seconds_total", "} 0.002005000\n");
    is("parasite_loop_site_tree_seconds_total", "} 0.002005000\n");
    is("parasite_loop_site_longest_run_seconds", "} 0.002000000\n");
    is("parasite_loop_run_seconds_sum", "} 0.002005000\n");
    is("parasite_loop_delay_seconds_sum", "} 0.000050000\n");
    is("parasite_loop_lifetime_seconds_sum", "} 0.002455000\n");
    is_in_bucket("0.000003", 0);
    is_in_bucket("0.000010", 1);
    is_in_bucket("0.001000", 1);
    is_in_bucket("0.003000", 2);
    is_in_bucket("+Inf", 2);
    has("\nparasite_loop_seconds_total{part=\"tasks\"} 0.002012000\n");
    has("\nparasite_loop_seconds_total{part=\"loop\"} 0.000450000\n");
    has("\nparasite_loop_wall_seconds_total 0.002462000\n");
    has("\nparasite_loop_site_self_seconds_total{"
        "site=\"serve \\\"all\\\" \\\\ more\",file=\"");
    prof_loop_end(&waiting, PROF_LOOP_CANCELLED);
}

TEST(what_drops_out_disappears)
{
    struct prof_loop_task waiting = {0};

    run_tasks(&waiting);
    scrape();
    has("site=\"worker\"");
    prof_loop_reset();
    scrape();
    has_no("site=\"worker\"");
    has("\nparasite_loop_site_pending_tasks{site=\"serve"); /* it waits still */
    prof_loop_end(&waiting, PROF_LOOP_CANCELLED);
    prof_loop_reset();
    scrape();
    has_no("site=\"serve");
}

static bool holds_bytes(const struct http_text *bytes, const char *part,
                        size_t count)
{
    for (size_t i = 0; i + count <= bytes->count; i++)
        if (memcmp(bytes->bytes + i, part, count) == 0)
            return true;
    return false;
}

/* Runs in more octaves than a site has pages. What is in no range is not in
 * the count of the message, beside which is the sum; the text has all. */
TEST(native_histograms_count_what_is_in_a_range)
{
    static PROF_TRACE_SITE(wide, "wide");
    enum { RUNS = 30, IN_RANGES = 26 };
    static const char counted[] = {0x08, IN_RANGES, 0x11};
    static const char all[] = {0x08, RUNS, 0x11};
    struct http_text messages = {0};

    prof_loop_reset();
    for (unsigned i = 0; i < RUNS; i++) {
        struct prof_loop_frame frame;

        prof_loop_begin(&frame, &wide);
        prof_loop_hosted_tsc += (uint64_t)64 << i;
        prof_loop_leave(&frame);
    }
    http_loop_proto(&messages);
    assert_false(messages.failed);
    assert_true(holds_bytes(&messages, counted, sizeof counted));
    assert_false(holds_bytes(&messages, all, sizeof all));
    http_text_free(&messages);
    scrape();
    has("\nparasite_loop_unbinned_total 4\n");
    has("le=\"+Inf\"} 30\n");
}

/* It is a part of the account. */
TEST(idle_time_is_no_site)
{
    struct prof_loop_frame frame;

    prof_loop_reset();
    prof_loop_idle(&frame);
    pass_us(1000);
    prof_loop_idle_end(&frame);
    scrape();
    has("\nparasite_loop_seconds_total{part=\"idle\"} 0.001000000\n");
    has_no("site=\"(idle)\"");
}

TEST(nothing_is_there_while_nothing_is_counted)
{
    prof_loop_on = 0;
    scrape();
    assert_string_equal(text.bytes, "");
    prof_loop_on = 1;
}
