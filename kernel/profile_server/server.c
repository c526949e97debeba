/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The profiler's port, whatever the service is:
 *
 *     prof.port=PORT     listens there
 *     prof.token=TOKEN   what clients present: "Authorization: Bearer TOKEN" or
 *                        ?token=TOKEN; "none" lets everybody in
 *
 * It begins in the first turn of the event loop, so that a service that listens
 * on the same port has it.
 */

#include "internal.h"

#include "../options.h"

#include <kernel/console.h>
#include <kernel/loop.h>
#include <kernel/net.h>
#include <prof/prof.h>
#include <stdlib.h>
#include <string.h>

#define CLIENTS_MAX 8u

static uint16_t port; /* 0: none */
static char token[HTTP_TOKEN_MAX + 1];

bool profile_server_option(const char *key, const char *value)
{
    char *end;
    unsigned long number;

    if (strcmp(key, "prof.token") == 0) {
        if (value[0] == '\0' || strlen(value) > HTTP_TOKEN_MAX)
            return false;
        strcpy(token, value);
        return true;
    }
    number = strtoul(value, &end, 10);
    if (*value < '0' || *value > '9' || *end != '\0' || number < 1 ||
        number > UINT16_MAX)
        return false;
    port = (uint16_t)number;
    return true;
}

/* ---- paths */

static const struct path {
    const char *text;
    void (*with_query)(struct http_client *client, const char *query);
    void (*upgraded)(struct http_client *client);
    bool post; /* POST, and nothing else */
} paths[] = {
    {"/profile", profile_take, NULL, false},
    {"/tell", profile_tell, NULL, true},
    {"/stream", NULL, profile_stream, false},
    {"/commands", NULL, profile_commands, false},
};

static void go(const struct path *path, struct http_client *client,
               const struct http_request *request)
{
    if (path->post != (request->method == HTTP_POST))
        http_refuse(client, 405,
                    path->post ? "Allow: POST\r\n" : "Allow: GET, HEAD\r\n");
    else if (request->body)
        http_refuse(client, 413, "");
    else if (path->upgraded == NULL)
        path->with_query(client, request->query);
    else if (request->upgrade && request->method == HTTP_GET)
        path->upgraded(client);
    else
        http_refuse(client, 426,
                    "Connection: Upgrade\r\nUpgrade: " HTTP_UPGRADE "\r\n");
}

bool profile_server_answer(struct http_client *client,
                           const struct http_request *request,
                           const char *needed)
{
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        if (strcmp(request->path, paths[i].text) != 0)
            continue;
        if (needed == NULL || http_allowed(client, request, needed))
            go(&paths[i], client, request);
        return true;
    }
    return false;
}

/* ---- the port */

static const char index_text[] =
    "The profiler of this unikernel.\n"
    "GET /profile?seconds=10&hz=997&format=folded\n"
    "GET /profile?seconds=10&hz=997&format=trace\n"
    "POST /tell?command=report\n"
    "parasite record, top and tell understand http://HOST:PORT\n";

static void answer(struct http_client *client,
                   const struct http_request *request)
{
    const char *needed = strcmp(token, "none") != 0 ? token : NULL;

    if (profile_server_answer(client, request, needed))
        return;
    if (strcmp(request->path, "/") != 0)
        http_refuse(client, 404, "");
    else if (request->method == HTTP_POST)
        http_refuse(client, 405, "Allow: GET, HEAD\r\n");
    else
        http_send(client, 200, "text/plain; charset=utf-8", "", index_text,
                  sizeof index_text - 1, NULL);
}

static struct net_sites sites = NET_SITES("profiler's port");
static struct http_server server = {
    .answer = answer,
    .limits = HTTP_LIMITS,
    .clients_max = CLIENTS_MAX,
    .posts = true,
    .profiler = true,
    .sites = &sites,
};

/* Returns why the port cannot be, or NULL. */
static const char *listen_there(void)
{
    if (token[0] == '\0')
        return "give prof.token=SECRET, or prof.token=none";
    if (net_start() != 0)
        return "no network";
    switch (http_listen(&server, port)) {
    case 0:
        return NULL;
    case NET_EPORT:
        return "the port is in use";
    default:
        return "not enough memory";
    }
}

static void begin_server(void *unused)
{
    const char *why = listen_there();

    (void)unused;
    if (why != NULL)
        console_line("prof: prof.port=%u: the profile is not served: %s",
                     (unsigned)port, why);
    else
        console_line("prof: port %u, %s", (unsigned)port,
                     strcmp(token, "none") == 0 ? "for everybody"
                                                : "behind a token");
}

void profile_server_start(void)
{
    static struct loop_timer timer = {.own = true};

    if (port != 0)
        loop_once(&timer, 0, begin_server, NULL);
}

void profile_server_end(int code)
{
    profile_stream_end(code);
}

void profile_server_panic(void)
{
    profile_forget();
    profile_stream_forget();
}
