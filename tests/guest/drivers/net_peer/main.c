/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What tests/net talks to: small services of old names, and some that behave
 * badly.
 *
 *     7   echo: what comes goes back; a peer that does not read is not read
 *     9   discard
 *     13  what the stack holds, one "name number" a line, and the end
 *     19  bytes without an end, as fast as they are taken: line numbers
 *     21  is reset at its first byte
 *     22  is refused
 *     23  one line, then the end, whatever comes
 *
 * It never ends; whoever has started it ends it.
 */

#include <kernel/console.h>
#include <kernel/net.h>
#include <kernel/service.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- echo: what could not be written yet is kept, and nothing more read */

struct echo {
    size_t kept;
    char bytes[NET_WINDOW];
};

static bool echo_accept(struct net_conn *conn, void *unused)
{
    struct echo *echo = calloc(1, sizeof *echo);

    (void)unused;
    net_set_user(conn, echo);
    return echo != NULL;
}

static void echo_receive(struct net_conn *conn, const void *bytes, size_t count)
{
    struct echo *echo = net_user(conn);
    size_t written = net_write(conn, bytes, count);

    if (written == count)
        return;
    echo->kept = count - written;
    memcpy(echo->bytes, (const char *)bytes + written, echo->kept);
    net_pause(conn);
}

static void echo_room(struct net_conn *conn)
{
    struct echo *echo = net_user(conn);
    size_t written = net_write(conn, echo->bytes, echo->kept);

    echo->kept -= written;
    memmove(echo->bytes, echo->bytes + written, echo->kept);
    if (echo->kept == 0)
        net_resume(conn);
}

static void echo_ended(struct net_conn *conn)
{
    free(net_user(conn));
    net_close(conn);
}

static void echo_gone(struct net_conn *conn, enum net_reason reason)
{
    struct net_address peer = net_peer(conn);
    char text[NET_ADDRESS_TEXT];

    console_line("echo: %s: %s", net_address_text(&peer, text),
                 net_reason_text(reason));
    free(net_user(conn));
}

static const struct net_handlers echo = {
    .accept = echo_accept,
    .receive = echo_receive,
    .ended = echo_ended,
    .room = echo_room,
    .gone = echo_gone,
};

/* ---- discard */

static const struct net_handlers discard = {0};

/* ---- what there is */

static void write_figure(struct net_conn *conn, const char *name,
                         uint64_t value)
{
    char line[64];

    net_write(conn, line,
              (size_t)snprintf(line, sizeof line, "%s %lu\n", name,
                               (unsigned long)value));
}

static bool stats_accept(struct net_conn *conn, void *unused)
{
    struct net_stats stats;

    (void)unused;
    net_stats(&stats);
    write_figure(conn, "connections", stats.connections);
    write_figure(conn, "closing", stats.closing);
    write_figure(conn, "pcbs", stats.pcbs);
    write_figure(conn, "pcbs_waiting", stats.pcbs_waiting);
    write_figure(conn, "buffers", stats.buffers);
    write_figure(conn, "segments", stats.segments);
    write_figure(conn, "heap_pieces", stats.heap_pieces);
    write_figure(conn, "refusals", stats.refusals);
    write_figure(conn, "accepted", stats.accepted);
    write_figure(conn, "frames_in", stats.frames_in);
    write_figure(conn, "frames_out", stats.frames_out);
    write_figure(conn, "dropped_in", stats.dropped_in);
    write_figure(conn, "dropped_out", stats.dropped_out);
    write_figure(conn, "damaged_in", stats.damaged_in);
    write_figure(conn, "kicks", stats.kicks);
    write_figure(conn, "interrupts", stats.interrupts);
    write_figure(conn, "offload", stats.offload);
    write_figure(conn, "heap_bytes", service_heap_bytes());
    net_close(conn);
    return true;
}

static const struct net_handlers stats = {.accept = stats_accept};

/* ---- without an end */

static void lines_room(struct net_conn *conn)
{
    char line[16];
    uintptr_t number = (uintptr_t)net_user(conn);

    while (net_room(conn) >= sizeof line) {
        snprintf(line, sizeof line, "%014lu\n", (unsigned long)number++);
        if (net_write(conn, line, sizeof line - 1) != sizeof line - 1) {
            net_abort(conn); /* half a line: there was no memory */
            return;
        }
    }
    net_set_user(conn, (void *)number);
}

static bool lines_accept(struct net_conn *conn, void *unused)
{
    (void)unused;
    lines_room(conn);
    return true;
}

static const struct net_handlers lines = {.accept = lines_accept,
                                          .room = lines_room};

/* ---- the rude ones */

static void reset_receive(struct net_conn *conn, const void *bytes,
                          size_t count)
{
    (void)bytes;
    (void)count;
    net_abort(conn);
}

static const struct net_handlers reset = {.receive = reset_receive};

static bool refused_accept(struct net_conn *conn, void *unused)
{
    (void)conn;
    (void)unused;
    return false;
}

static const struct net_handlers refused = {.accept = refused_accept};

static bool word_accept(struct net_conn *conn, void *word)
{
    net_write(conn, word, strlen(word));
    net_close(conn);
    return true;
}

static const struct net_handlers word = {.accept = word_accept};

int service_main(void)
{
    static char farewell[] = "good-bye\n";

    if (net_start() != 0)
        return 1;
    if (net_listen(7, &echo, NULL) != 0 || net_listen(9, &discard, NULL) != 0 ||
        net_listen(13, &stats, NULL) != 0 ||
        net_listen(19, &lines, NULL) != 0 ||
        net_listen(21, &reset, NULL) != 0 ||
        net_listen(22, &refused, NULL) != 0 ||
        net_listen(23, &word, farewell) != 0 ||
        net_listen(7, &echo, NULL) != NET_EPORT)
        return 2;
    console_line("peer: ready");
    return SERVICE_LOOP;
}
