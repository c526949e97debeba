/* SPDX-License-Identifier: Apache-2.0 */
/* Clients that take too long: deadline.c, with the clock in our hands. */

#include "../unit.h"

#include "../../../services/http/connection.h"

#include <kernel/clock.h>
#include <kernel/loop.h>

static uint64_t now_ns;
static loop_callback *sweep;
static struct http_client client;
static unsigned closed, aborted, refused_status;

struct http_counts http_counts;
struct http_client *http_clients;

/* ---- what deadline.c calls */

uint64_t clock_ns(void)
{
    return now_ns;
}

void loop_every_at(struct prof_trace_name *site, struct loop_timer *timer,
                   uint64_t period_ns, loop_callback *callback, void *context)
{
    (void)site, (void)timer, (void)period_ns, (void)context;
    sweep = callback;
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
    http_clients = NULL;
}

void http_refuse(struct http_client *late, unsigned status, const char *extra)
{
    assert_ptr_equal(late, &client);
    assert_string_equal(extra, "");
    assert_true(late->close);
    refused_status = status;
    http_clients = NULL;
}

/* ---- the tests */

static void one_client(void)
{
    now_ns = 1000 * NS_PER_S;
    memset(&client, 0, sizeof client);
    memset(&http_counts, 0, sizeof http_counts);
    client.wait_ns = client.begun_ns = client.active_ns = now_ns;
    http_clients = &client;
    closed = aborted = refused_status = 0;
    http_deadline_start();
}

static void seconds_pass(unsigned seconds)
{
    now_ns += seconds * NS_PER_S;
    sweep(NULL);
}

static bool connected(void)
{
    return http_clients != NULL;
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
    assert_int_equal(http_counts.timed_out, 1);
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
