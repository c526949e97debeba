/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A web server as a unikernel: serves the files of a tar archive in the first
 * boot module and, with http.token, metrics and profiles.
 *
 *     http.port=80     port to listen on
 *     http.token=...   token required by /metrics, /profile and the other paths
 *                      of <kernel/profile_server.h>
 *     http.head=20     seconds from the first byte of a request to its end
 *     http.idle=30     seconds between requests, and without reading any of a
 *                      response
 *
 * Clients send the token as "Authorization: Bearer TOKEN" or as ?token=TOKEN.
 * Without http.token those paths do not exist.
 *
 * CPU 0 has the network; of several CPUs the others prepare the index and look
 * for files.
 */

#include "files.h"
#include "loop_metrics.h"
#include "metric_proto.h"
#include "metrics.h"

#include <kernel/console.h>
#include <kernel/http.h>
#include <kernel/http_text.h>
#include <kernel/profile_server.h>
#include <kernel/service.h>
#include <stdlib.h>
#include <string.h>

#define PORT_DEFAULT 80u
#define SECONDS_MAX 3600u
#define EXIT_NO_NETWORK 1

static char token[HTTP_TOKEN_MAX + 1];
static uint16_t port = PORT_DEFAULT;
static struct http_server server; /* below */

/* Parses a number, 1 to (most). */
static bool parse_number(const char *value, unsigned long most, uint32_t *out)
{
    char *end;
    unsigned long read = strtoul(value, &end, 10);

    if (*value < '0' || *value > '9' || *end != '\0' || read < 1 || read > most)
        return false;
    *out = (uint32_t)read;
    return true;
}

bool service_option(const char *key, const char *value)
{
    uint32_t read;

    if (strcmp(key, "http.token") == 0 && *value != '\0' &&
        strlen(value) <= HTTP_TOKEN_MAX) {
        strcpy(token, value);
        return true;
    }
    if (strcmp(key, "http.head") == 0)
        return parse_number(value, SECONDS_MAX, &server.limits.head_s);
    if (strcmp(key, "http.idle") == 0)
        return parse_number(value, SECONDS_MAX, &server.limits.idle_s);
    if (strcmp(key, "http.port") != 0 ||
        !parse_number(value, UINT16_MAX, &read))
        return false;
    port = (uint16_t)read;
    return true;
}

/* ---- resources: index and files may be asked of any CPU */

static void send_text(struct http_client *client, const char *type,
                      struct http_text *text)
{
    if (!text->failed) {
        http_send(client, 200, type, "", text->bytes, text->count, text->bytes);
        return;
    }
    http_text_free(text);
    http_refuse(client, 503, "");
}

/* As it is to be requested; the list is shown in terminals, too. */
static void add_path(struct http_text *text, const char *name)
{
    http_text_add(text, "/", 1);
    for (; *name != '\0'; name++) {
        unsigned char c = (unsigned char)*name;

        if (c <= ' ' || c == 0x7f || strchr("%?#", c) != NULL)
            http_text_print(text, "%%%02x", c);
        else
            http_text_add(text, name, 1);
    }
    http_text_add(text, "\n", 1);
}

static void prepare_list(const char *path, struct http_page *page)
{
    struct http_text text = {0};
    struct http_file file;
    size_t bytes = 0, at = 0;
    const void *archive = service_module(0, &bytes);

    (void)path;
    http_text_print(&text, "A unikernel that profiles itself.\n");
    if (token[0] != '\0')
        http_text_print(&text, "/metrics\n"
                               "/profile?seconds=10&hz=997&format=folded\n"
                               "/profile?seconds=10&hz=997&format=trace\n"
                               "POST /tell?command=report\n");
    while (archive != NULL && http_files_next(archive, bytes, &at, &file))
        add_path(&text, file.name);
    if (text.failed) {
        http_text_free(&text);
        page->status = 503;
        return;
    }
    *page = (struct http_page){
        .status = 200,
        .type = "text/plain; charset=utf-8",
        .body = text.bytes,
        .count = text.count,
        .owned = text.bytes,
    };
}

/* Native histograms are only in the protocol buffer format. */
static void send_metrics(struct http_client *client, bool protobuf)
{
    struct http_text text = {0}, messages = {0};

    http_metrics(&text, &server.counts);
    if (!protobuf) {
        send_text(client, METRICS_TYPE, &text);
        return;
    }
    metric_proto(&messages, &text);
    http_loop_proto(&messages);
    http_text_free(&text);
    send_text(client, METRIC_PROTO_TYPE, &messages);
}

/* The archive is never freed, so files are sent from it directly. */
static void prepare_file(const char *path, struct http_page *page)
{
    const char *name = path + 1;
    size_t bytes = 0;
    const void *archive = service_module(0, &bytes);
    struct http_file file;

    if (archive == NULL || !http_files_find(archive, bytes, name, &file))
        page->status = 404;
    else
        *page = (struct http_page){
            .status = 200,
            .type = http_files_type(name),
            .body = file.bytes,
            .count = file.count,
        };
}

/* Whether it is for what needs the token, and was answered. */
static bool answer_privileged(struct http_client *client,
                              const struct http_request *request)
{
    if (token[0] == '\0')
        return false;
    if (strcmp(request->path, "/metrics") != 0)
        return profile_server_answer(client, request, token);
    if (request->method == HTTP_POST)
        http_refuse(client, 405, "Allow: GET, HEAD\r\n");
    else if (http_allowed(client, request, token))
        send_metrics(client, request->protobuf);
    return true;
}

static void http_answer(struct http_client *client,
                        const struct http_request *request)
{
    const char *path = request->path;

    if (request->method != HTTP_POST && strcmp(path, "/") == 0)
        http_send_prepared(client, request, prepare_list);
    else if (answer_privileged(client, request))
        return;
    else if (request->method == HTTP_POST)
        http_refuse(client, 405, "Allow: GET, HEAD\r\n");
    else
        http_send_prepared(client, request, prepare_file);
}

static struct net_sites sites = NET_SITES("http");
static struct http_server server = {
    .answer = http_answer,
    .limits = HTTP_LIMITS,
    .posts = true,
    .sites = &sites,
};

int service_main(void)
{
    if (net_start() != 0)
        return EXIT_NO_NETWORK;
    if (http_listen(&server, port) != 0) {
        console_line("http: cannot listen on port %u", (unsigned)port);
        return EXIT_NO_NETWORK;
    }
    console_line("http: port %u, profiler %s", (unsigned)port,
                 token[0] != '\0' ? "behind a token" : "off");
    return SERVICE_LOOP;
}
