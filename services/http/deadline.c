/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Clients that take too long. Each byte that one sends must not extend its
 * time, or a client could hold a connection for ever with a byte now and then;
 * nor must each byte that one reads.
 */

#include "connection.h"

#include <kernel/clock.h>
#include <kernel/loop.h>

#define SWEEP_NS NS_PER_S
#define SLOWEST_BYTES 1024u /* of a response, each second */

struct http_limits http_limits = {.head_s = 20, .idle_s = 30};

static struct loop_timer sweep_timer;

static bool older(uint64_t since_ns, uint64_t now_ns, uint64_t seconds)
{
    return now_ns - since_ns >= seconds * NS_PER_S;
}

/* A response is not read at all, or too slowly on average. */
static bool reads_too_slowly(const struct http_client *client, uint64_t now_ns)
{
    return older(client->active_ns, now_ns, http_limits.idle_s) ||
           older(client->begun_ns, now_ns,
                 http_limits.idle_s + client->sent / SLOWEST_BYTES);
}

static void disconnect(struct http_client *client)
{
    http_counts.timed_out++;
    if (client->busy)
        net_abort(client->conn);
    else
        net_close(client->conn);
    http_client_forget(client);
}

/* A part of a request has come, but not its end. */
static void refuse_late(struct http_client *client)
{
    http_counts.timed_out++;
    client->busy = client->close = true;
    client->in_count = 0;
    client->no_body = false;
    http_refuse(client, 408, "");
}

/* A response that is produced elsewhere has its own deadline. */
static void sweep(void *unused)
{
    uint64_t now_ns = clock_ns();
    struct http_client *next;

    (void)unused;
    for (struct http_client *each = http_clients; each != NULL; each = next) {
        next = each->next;
        if (each->stopped != NULL)
            continue;
        if (each->busy) {
            if (reads_too_slowly(each, now_ns))
                disconnect(each);
        } else if (each->in_count != 0) {
            if (older(each->wait_ns, now_ns, http_limits.head_s))
                refuse_late(each);
        } else if (older(each->wait_ns, now_ns, http_limits.idle_s)) {
            disconnect(each);
        }
    }
}

void http_deadline_start(void)
{
    loop_every(&sweep_timer, SWEEP_NS, sweep, NULL);
}
