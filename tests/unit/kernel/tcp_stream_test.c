/* SPDX-License-Identifier: Apache-2.0 */
/* Streams over connections that are made up here. */

#include "../unit.h"

#include "promise_blocks.h"

#include <kernel/stream.h>

struct net_conn {
    const struct net_handlers *handlers;
    void *user;
    bool paused, closed;
    size_t room;  /* bytes that it takes */
    size_t taken; /* bytes that it took */
};

static struct net_conn conn;
static const struct net_handlers *listening;
static void *listening_context;
static bool no_route;

/* ---- the network */

int net_listen(uint16_t port, const struct net_handlers *handlers,
               void *context)
{
    (void)port;
    listening = handlers;
    listening_context = context;
    return 0;
}

struct net_conn *net_connect(const struct net_address *address,
                             const struct net_handlers *handlers, void *user)
{
    (void)address;
    conn = (struct net_conn){.handlers = handlers, .user = user};
    return no_route ? NULL : &conn;
}

void net_set_user(struct net_conn *of, void *user)
{
    of->user = user;
}

void *net_user(const struct net_conn *of)
{
    return of->user;
}

struct net_address net_peer(const struct net_conn *of)
{
    (void)of;
    return (struct net_address){0x7f000001, 7};
}

void net_pause(struct net_conn *of)
{
    of->paused = true;
}

void net_resume(struct net_conn *of)
{
    of->paused = false;
}

size_t net_write(struct net_conn *of, const void *bytes, size_t count)
{
    const size_t taken = count < of->room ? count : of->room;

    (void)bytes;
    of->room -= taken;
    of->taken += taken;
    return taken;
}

void net_close(struct net_conn *of)
{
    assert_false(of->closed);
    of->closed = true;
}

void net_abort(struct net_conn *of)
{
    net_close(of);
}

/* ---- its peer */

static struct stream_listener listener;

/* Connects. False: the service did not want it. */
static bool come(void)
{
    conn = (struct net_conn){.handlers = listening};
    return listening->accept(&conn, listening_context);
}

static void say(const char *text)
{
    assert_false(conn.paused);
    conn.handlers->receive(&conn, text, strlen(text));
}

static struct stream *accepted(void)
{
    struct promise *promise = stream_accept(&listener);
    struct promise_result result;

    assert_true(come());
    result = promise_result(promise);
    assert_int_equal(result.state, PROMISE_RESOLVED);
    promise_free(promise);
    return (struct stream *)result.value;
}

static void begin(void)
{
    fresh();
    assert_int_equal(stream_listen(&listener, 7), 0);
}

FIXTURE(begin, nothing_left);

TEST(pieces_are_received)
{
    char buffer[8];
    struct stream *stream = accepted();
    struct promise *promise;

    assert_true(conn.paused);
    promise = stream_receive(stream, buffer, 4);
    fails_with(stream_receive(stream, buffer, 4),
               "the stream is in use by another call");
    say("abcdef");
    assert_true(conn.paused);
    assert_memory_equal(buffer, "abcd", 4);
    ends_as(promise, PROMISE_RESOLVED, 4);
    ends_as(stream_receive(stream, buffer, 8), PROMISE_RESOLVED, 2);
    assert_memory_equal(buffer, "ef", 2);
    promise = stream_receive(stream, buffer, 8);
    conn.handlers->ended(&conn);
    ends_as(promise, PROMISE_RESOLVED, 0);
    stream_close(stream);
    assert_true(conn.closed);
}

TEST(what_is_given_up_is_not_lost)
{
    char buffer[8];
    struct stream *stream = accepted();
    struct promise *promise;

    promise = stream_receive(stream, buffer, 8);
    promise_cancel(promise);
    promise_free(promise);
    say("abc");
    promise_free(stream_receive(stream, buffer, 8)); /* without being read */
    ends_as(stream_receive(stream, buffer, 2), PROMISE_RESOLVED, 2);
    ends_as(stream_receive(stream, buffer, 2), PROMISE_RESOLVED, 1);
    assert_memory_equal(buffer, "c", 1);
    promise = stream_accept(&listener);
    promise_free(promise); /* nobody: the connection is for the next one */
    stream_close(stream);
    promise = stream_accept(&listener);
    assert_true(come());
    promise_free(promise);
    promise = stream_accept(&listener);
    stream = (struct stream *)promise_result(promise).value;
    promise_free(promise);
    stream_abort(stream);
}

TEST(sending_waits_for_room)
{
    static const char data[1000];
    struct stream *stream = accepted();
    struct promise *promise;

    conn.room = 300;
    promise = stream_send(stream, data, sizeof data);
    is(promise, PROMISE_PENDING);
    conn.room = 600;
    conn.handlers->room(&conn);
    is(promise, PROMISE_PENDING);
    conn.room = 600;
    conn.handlers->room(&conn);
    ends_as(promise, PROMISE_RESOLVED, 1000);
    assert_int_equal(conn.taken, 1000);
    promise = stream_send(stream, data, sizeof data);
    stream_close(stream);
    fails_with(promise, "the stream is closed");
}

TEST(the_end_fails_what_is_pending)
{
    char buffer[8];
    struct stream *stream = accepted();
    struct promise *sent, *received;

    sent = stream_send(stream, "x", 1);
    received = stream_receive(stream, buffer, 8);
    conn.handlers->gone(&conn, NET_RESET);
    fails_with(sent, "the connection was reset");
    fails_with(received, "the connection was reset");
    fails_with(stream_send(stream, "x", 1), "the connection was reset");
    fails_with(stream_receive(stream, buffer, 8), "the connection was reset");
    stream_close(stream);
    assert_false(conn.closed);
    stream = accepted();
    received = stream_receive(stream, buffer, 8);
    say("late");
    conn.handlers->gone(&conn, NET_TIMEOUT);
    ends_as(received, PROMISE_RESOLVED, 4);
    fails_with(stream_receive(stream, buffer, 8),
               "the peer no longer responds");
    stream_close(stream);
}

TEST(connecting)
{
    const struct net_address address = {0x7f000001, 9};
    struct promise *promise = stream_connect(&address);
    struct stream *stream;

    assert_true(conn.handlers->accept(&conn, conn.user));
    stream = (struct stream *)promise_result(promise).value;
    assert_int_equal(stream_peer(stream).port, 9);
    promise_free(promise);
    stream_close(stream);
    promise = stream_connect(&address);
    conn.handlers->gone(&conn, NET_RESET);
    fails_with(promise, "the connection was reset");
    no_route = true;
    fails_with(stream_connect(&address), "no memory or no route to connect");
    no_route = false;
    promise = stream_connect(&address);
    promise_cancel(promise);
    promise_free(promise);
    assert_true(conn.closed);
    promise = stream_connect(&address); /* established, and never read */
    assert_true(conn.handlers->accept(&conn, conn.user));
    promise_free(promise);
    assert_true(conn.closed);
}

TEST(memory_is_refused)
{
    const struct net_address address = {0x7f000001, 9};
    char buffer[8];
    bool refused = true;

    for (long n = 0; refused; n++) {
        struct promise *promises[3] = {NULL};
        struct stream *stream = NULL;

        begin();
        refuse_at = n;
        promises[0] = stream_accept(&listener);
        if (come() && promise_state(promises[0]) == PROMISE_RESOLVED)
            stream = (struct stream *)promise_result(promises[0]).value;
        if (stream != NULL) {
            promises[1] = stream_receive(stream, buffer, 8);
            promises[2] = stream_send(stream, "x", 1);
            stream_close(stream);
        }
        for (unsigned i = 0; i < 3; i++) {
            promise_result(promises[i]);
            promise_discard(promises[i]);
        }
        while (!list_empty(&listener.streams)) {
            refuse_at = refuse_at < 0 ? -1 : refuse_at;
            promises[0] = stream_accept(&listener);
            stream_close((struct stream *)promise_result(promises[0]).value);
            promise_free(promises[0]);
        }
        promise_discard(stream_connect(&address));
        refused = refuse_at < 0;
        nothing_left();
        assert_true(refused || n > 6);
    }
}
