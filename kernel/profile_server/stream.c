/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The profiler's stream on a connection, and the commands of its reader. A
 * packet that the connection has no room for is refused; the encoder counts
 * what comes until it is taken as discarded, and each packet says how much that
 * was.
 */

#include "internal.h"

#include "../prof_transports.h"

#include <kernel/clock.h>
#include <kernel/console.h>
#include <kernel/net.h>
#include <prof/prof.h>
#include <prof/transport.h>
#include <string.h>

static struct http_client *reader; /* NULL: none */
static bool ends;                  /* the image does, */
static uint64_t ends_ns;           /* and waits for its reader until then */

/* At the image's end a packet waits for room, as nothing follows that could say
 * what was discarded. */
static bool send_packet(const void *packet, size_t bytes)
{
    if (reader == NULL || http_stream(reader, packet, bytes))
        return true;
    if (!ends || clock_real_ns() >= ends_ns)
        return false;
    if (!http_flush(reader))
        ends_ns = 0; /* it does not read: nothing waits any more */
    return reader == NULL || http_stream(reader, packet, bytes);
}

/* Commands come by receive() of the connection; that there is a way for them
 * says that readers can ask for what they lack. */
static int no_byte(void)
{
    return -1;
}

static const struct prof_transport transport = {
    .name = "port", .send = send_packet, .receive = no_byte};

/* No two samples of a stream may have a pause between them that it does not
 * say. */
static void use(const struct prof_transport *which)
{
    bool was_running = prof_running();

    prof_stop();
    prof_transport_use(which);
    if (was_running)
        (void)prof_start(); /* as before */
}

static bool send_answer(const void *line, size_t count)
{
    return http_stream(reader, line, count);
}

static size_t receive_command(void *unused, const char *bytes, size_t count)
{
    size_t line = profile_command_bytes(bytes, count);

    (void)unused;
    if (line != 0 && !ends)
        prof_transports_command(bytes, line, NULL, send_answer);
    return line;
}

static void print_end(void)
{
    struct prof_stats stats;

    prof_stats(&stats);
    console_line("prof: the stream's reader has left: %lu packets, %lu bytes, "
                 "%lu samples discarded",
                 (unsigned long)stats.stream_packets,
                 (unsigned long)stats.stream_bytes,
                 (unsigned long)stats.stream_discarded);
}

static void on_stopped(void *unused)
{
    (void)unused;
    reader = NULL;
    print_end();
    if (!ends)
        use(NULL);
}

void profile_stream(struct http_client *client)
{
    static const struct http_upgrade upgrade = {receive_command, on_stopped};
    char text[NET_ADDRESS_TEXT];
    struct net_address peer = http_peer(client);

    if (profile_stream_is_read() || profile_is_taken()) {
        http_refuse_because(client, 409,
                            "another client is reading the stream\n");
        return;
    }
    if (strcmp(prof_options()->out, "off") != 0) {
        http_refuse_because(client, 409,
                            "the stream goes to where prof.out= says\n");
        return;
    }
    console_line("prof: the stream goes to %s", net_address_text(&peer, text));
    http_upgrade(client, &upgrade, NULL);
    reader = client;
    use(&transport);
}

bool profile_stream_is_read(void)
{
    return reader != NULL;
}

void profile_stream_forget(void)
{
    reader = NULL;
}

void profile_stream_end(int code)
{
    if (reader == NULL)
        return;
    ends = true;
    ends_ns = clock_real_ns() + NET_FLUSH_ALL_S * NS_PER_S;
    prof_transport_end((uint32_t)code);
    if (reader != NULL) /* which becomes NULL */
        http_finish(reader);
}
