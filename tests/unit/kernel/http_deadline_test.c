/* SPDX-License-Identifier: Apache-2.0 */
/* Clients that take too long: deadline.c, with the clock in our hands. */

#include "../unit.h"

#include "../../../kernel/http/connection.h"

#include <kernel/clock.h>
#include <kernel/loop.h>
#include <prof/transport.h>

static uint64_t now_ns;
static loop_callback *sweep;
static struct http_client client;
static unsigned closed, aborted, refused_status, works;
static struct http_server server = {.limits = HTTP_LIMITS};

/* ---- what deadline.c calls */

uint64_t clock_ns(void)
{
    return now_ns;
}

void loop_every_at(struct prof_trace_name *site, struct loop_timer *timer,
                   uint64_t period_ns, loop_callback *callback, void *context)
{
    (void)site, (void)timer, (void)period_ns;
    assert_ptr_equal(context, &server);
    sweep = callback;
}

void prof_transport_work(void (*work)(void *context), void *context)
{
    works++;
    work(context);
}

void net_close(struct net_conn *conn)
{
    (void)conn;
    closed++;
}

void net_abort(struct net_conn *conn)
{
    (void)conn;
    aborted++;
}

void http_client_forget(struct http_client *gone)
{
    assert_ptr_equal(gone, &client);
    server.clients = NULL;
}

void http_refuse(struct http_client *late, unsigned status, const char *extra)
{
    assert_ptr_equal(late, &client);
    assert_string_equal(extra, "");
    assert_true(late->close);
    refused_status = status;
    server.clients = NULL;
}

/* ---- the tests */

static void one_client(void)
{
    now_ns = 1000 * NS_PER_S;
    memset(&client, 0, sizeof client);
    server.counts = (struct http_counts){0};
    client.server = &server;
    client.wait_ns = client.begun_ns = client.active_ns = now_ns;
    server.clients = &client;
    closed = aborted = refused_status = 0;
    http_deadline_start(&server);
}

static void seconds_pass(unsigned seconds)
{
    now_ns += seconds * NS_PER_S;
    sweep(&server);
}

static bool connected(void)
{
    return server.clients != NULL;
}

FIXTURE(one_client, NULL);

TEST(a_byte_now_and_then_is_not_enough)
{
    client.in_count = 1;
    seconds_pass(10);
    client.in_count++; /* connection.c leaves wait_ns alone */
    seconds_pass(9);
    assert_true(connected());
    client.in_count++;
    seconds_pass(1);
    assert_int_equal(refused_status, 408);
    assert_int_equal(server.counts.timed_out, 1);
}

TEST(the_idle_are_disconnected)
{
    seconds_pass(29);
    assert_true(connected());
    seconds_pass(1);
    assert_false(connected());
    assert_int_equal(closed, 1);
    assert_int_equal(refused_status, 0);
}

TEST(who_does_not_read_is_reset)
{
    client.busy = true;
    client.sent = 1000000;
    seconds_pass(29);
    assert_true(connected());
    seconds_pass(1);
    assert_false(connected());
    assert_int_equal(aborted, 1);
}

/* 100 bytes a second are progress, but would take for ever. */
TEST(who_reads_too_slowly_is_reset)
{
    unsigned seconds = 0;

    client.busy = true;
    while (connected() && seconds < 1000) {
        client.sent += 100;
        client.active_ns = now_ns;
        seconds_pass(1);
        seconds++;
    }
    assert_in_range(seconds, 30, 40);
    assert_int_equal(aborted, 1);
}

TEST(a_slow_reader_of_much_has_time)
{
    client.busy = true;
    for (unsigned i = 0; i < 3600; i++) {
        client.sent += 1024;
        client.active_ns = now_ns;
        seconds_pass(1);
    }
    assert_true(connected());
}

static void stopped(void *unused)
{
    (void)unused;
}

TEST(who_waits_for_us_has_time)
{
    client.busy = true;
    client.stopped = stopped;
    seconds_pass(3600);
    assert_true(connected());
}

TEST(a_stream_that_is_not_read_ends)
{
    client.busy = true;
    client.stopped = stopped;
    client.refused_ns = now_ns;
    seconds_pass(29);
    assert_true(connected());
    seconds_pass(1);
    assert_false(connected());
    assert_int_equal(aborted, 1);
    assert_int_equal(server.counts.timed_out, 1);
}

TEST(what_was_said_and_is_not_read_ends)
{
    client.busy = true;
    client.stopped = stopped;
    client.body_count = 2;
    client.body_sent = 1;
    seconds_pass(29);
    assert_true(connected());
    client.active_ns = now_ns; /* a byte was read */
    seconds_pass(29);
    assert_true(connected());
    seconds_pass(1);
    assert_false(connected());
    assert_int_equal(aborted, 1);
}

TEST(what_the_profiler_serves_is_its_own_work)
{
    server.profiler = true;
    http_deadline_start(&server);
    assert_true(server.sweep.own);
    works = 0;
    seconds_pass(30);
    assert_int_equal(works, 1);
    assert_int_equal(closed, 1);
    server.profiler = false;
    seconds_pass(1);
    assert_int_equal(works, 1);
}
