/* SPDX-License-Identifier: Apache-2.0 */

#include "internal.h"

#include <kernel/clock.h>
#include <kernel/http_text.h>
#include <kernel/loop.h>
#include <prof/transport.h>
#include <prof/prof.h>
#include <stdlib.h>
#include <string.h>

#define SECONDS_MAX 3600u
#define SECONDS_DEFAULT 10u
#define HZ_DEFAULT 997u
#define NUMBER_MAX 8u /* digits of one, and the end */

/* The profile being taken. */
static struct {
    struct http_client *client; /* NULL = none */
    bool trace;
    bool was_running;
    uint32_t hz; /* before */
    struct loop_timer timer;
} taking;

/* ---- the profiler, before and after */

/* A packet that does not fit is sent again later; without a peer it is
 * discarded. */
static bool send_packet(const void *packet, size_t bytes)
{
    return taking.client == NULL || http_stream(taking.client, packet, bytes);
}

static const struct prof_transport transport = {.name = "http",
                                                .send = send_packet};

/* Returns 0 or an error of prof_start(). */
static int begin_profile(uint32_t hz)
{
    taking.was_running = prof_running();
    taking.hz = (uint32_t)((prof_rate_mhz() + 500) / 1000);
    prof_stop();
    prof_reset();
    if (taking.trace)
        prof_transport_use(&transport);
    prof_set_rate(hz);
    return prof_start();
}

static void restore(void)
{
    prof_stop();
    if (taking.trace)
        prof_transport_end(0);
    prof_set_rate(taking.hz);
    if (taking.was_running)
        (void)prof_start(); /* as before */
}

/* ---- folded stacks */

static void on_stack(const struct prof_stack_row *row, void *context)
{
    struct http_text *text = context;

    for (uint32_t i = row->count; i-- > 0;) {
        /* a return address may be the end of its function */
        http_name_add(text, row->addresses[i] - (i != 0), "");
        http_text_print(text, i != 0 ? ";" : " ");
    }
    http_text_print(text, "%llu\n", (unsigned long long)row->samples);
}

static void send_folded(struct http_client *client)
{
    struct http_text text = {0};
    struct prof_stats stats;

    prof_drain();
    prof_stats(&stats);
    prof_visit_stacks(on_stack, &text);
    if (stats.idle != 0)
        http_text_print(&text, "[idle] %llu\n", (unsigned long long)stats.idle);
    if (!text.failed) {
        http_send(client, 200, "text/plain; charset=utf-8", "", text.bytes,
                  text.count, text.bytes);
        return;
    }
    http_text_free(&text);
    http_refuse(client, 503, "");
}

/* ---- taking a profile */

static void complete(void *unused)
{
    struct http_client *client = taking.client;

    (void)unused;
    restore();
    taking.client = NULL;
    if (taking.trace)
        http_stream_end(client);
    else
        send_folded(client);
}

static void on_time(void *unused)
{
    prof_transport_work(complete, unused);
}

static void on_stopped(void *unused)
{
    (void)unused;
    loop_cancel(&taking.timer);
    taking.client = NULL;
    restore();
}

/* Parses a number in (query), 1 to (limit); if missing, keeps (*value). */
static bool parse_number(const char *query, const char *name, uint32_t limit,
                         uint32_t *value)
{
    char text[NUMBER_MAX], *end;
    unsigned long read;

    if (!http_query_has(query, name))
        return true;
    if (!http_query(query, name, text, sizeof text) || *text < '0' ||
        *text > '9')
        return false;
    read = strtoul(text, &end, 10);
    *value = (uint32_t)read;
    return *end == '\0' && read >= 1 && read <= limit;
}

static bool format(const char *query, bool *trace)
{
    char text[NUMBER_MAX] = "folded";

    if (http_query_has(query, "format") &&
        !http_query(query, "format", text, sizeof text))
        return false;
    *trace = strcmp(text, "trace") == 0;
    return *trace || strcmp(text, "folded") == 0;
}

void profile_forget(void)
{
    taking.client = NULL;
}

bool profile_is_taken(void)
{
    return taking.client != NULL;
}

void profile_take(struct http_client *client, const char *query)
{
    uint32_t seconds = SECONDS_DEFAULT, hz = HZ_DEFAULT;
    bool trace;

    if (!parse_number(query, "seconds", SECONDS_MAX, &seconds) ||
        !parse_number(query, "hz", PROF_HZ_MAX, &hz) ||
        !format(query, &trace)) {
        http_refuse(client, 400, "");
        return;
    }
    if (profile_is_taken() || profile_stream_is_read() ||
        (trace && strcmp(prof_options()->out, "off") != 0)) {
        http_refuse(client, 409, "");
        return;
    }
    taking.trace = trace;
    if (begin_profile(hz) != 0) {
        restore();
        http_refuse(client, 503, "");
        return;
    }
    taking.client = client;
    taking.timer.own = true;
    loop_once(&taking.timer, seconds * NS_PER_S, on_time, NULL);
    if (trace)
        http_stream_begin(client, "application/octet-stream", on_stopped, NULL);
    else
        http_wait(client, on_stopped, NULL);
}
