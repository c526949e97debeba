/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pages over libmicrohttpd. One thread answers all requests, so makers need no
 * locks. A page is written to an unnamed file, which is kept for later
 * requests.
 */

#include "serve/http.h"

#include "base/log.h"
#include "base/memory.h"

#include <arpa/inet.h>
#include <errno.h>
#include <microhttpd.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CONNECTIONS_MAX 32u
#define IDLE_SECONDS 60u /* after which a connection is closed */

struct server {
    struct MHD_Daemon *daemon;
    const struct serve_page *pages;
    unsigned count;
    void *owner;
    FILE **made; /* by page, NULL = not yet */
    bool live;   /* pages are made anew */
    unsigned port;
};

static enum MHD_Result answer(struct MHD_Connection *connection, unsigned code,
                              const char *text)
{
    struct MHD_Response *response = MHD_create_response_from_buffer(
        strlen(text), (void *)(uintptr_t)text, MHD_RESPMEM_PERSISTENT);
    enum MHD_Result result;

    if (response == NULL)
        return MHD_NO;
    MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE,
                            "text/plain");
    result = MHD_queue_response(connection, code, response);
    MHD_destroy_response(response);
    return result;
}

static const char *header(struct MHD_Connection *connection, const char *name)
{
    const char *value =
        MHD_lookup_connection_value(connection, MHD_HEADER_KIND, name);

    return value != NULL ? value : "";
}

/* Whether the request's host name is one of ours. */
static bool is_our_host(const struct server *server,
                        struct MHD_Connection *connection)
{
    static const char *const names[] = {"127.0.0.1", "localhost"};
    const char *host = header(connection, MHD_HTTP_HEADER_HOST);
    char ours[64];

    for (size_t i = 0; i < sizeof names / sizeof names[0]; ++i) {
        snprintf(ours, sizeof ours, "%s:%u", names[i], server->port);
        if (strcasecmp(host, ours) == 0)
            return true;
    }
    return false;
}

/* Whether (origin) is one of the sites whose pages may read from us. */
static bool is_viewer(const char *origin)
{
    static const char *const viewers[] = {
        "https://profiler.firefox.com",
        "https://www.speedscope.app",
        "https://ui.perfetto.dev",
    };

    for (size_t i = 0; i < sizeof viewers / sizeof viewers[0]; ++i) {
        if (strcmp(viewers[i], origin) == 0)
            return true;
    }
    return false;
}

static void add_headers(struct MHD_Connection *connection,
                        struct MHD_Response *response, const char *type)
{
    const char *origin = header(connection, MHD_HTTP_HEADER_ORIGIN);

    MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, type);
    MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
    MHD_add_response_header(response, MHD_HTTP_HEADER_VARY, "Origin");
    if (is_viewer(origin)) {
        MHD_add_response_header(
            response, MHD_HTTP_HEADER_ACCESS_CONTROL_ALLOW_ORIGIN, origin);
        MHD_add_response_header(response,
                                "Access-Control-Allow-Private-Network", "true");
    }
}

const char *serve_argument(const struct serve_order *order, const char *name)
{
    const char *value = MHD_lookup_connection_value(
        order->request, MHD_GET_ARGUMENT_KIND, name);

    return value != NULL ? value : "";
}

/* The page as a file, or NULL if it cannot be made. */
static FILE *made_page(struct server *server, unsigned number,
                       struct MHD_Connection *connection)
{
    const struct serve_page *page = &server->pages[number];
    struct serve_order order = {page, server, server->owner, connection};
    FILE *file;

    if (server->made[number] != NULL && server->live) {
        fclose(server->made[number]);
        server->made[number] = NULL;
    }
    if (server->made[number] != NULL)
        return server->made[number];
    file = tmpfile();
    if (file != NULL && page->make(&order, file) && fflush(file) == 0) {
        server->made[number] = file;
        return file;
    }
    log_error("%s cannot be served: %s", page->path, strerror(errno));
    if (file != NULL)
        fclose(file);
    return NULL;
}

static enum MHD_Result send_page(struct server *server, unsigned number,
                                 struct MHD_Connection *connection)
{
    FILE *file = made_page(server, number, connection);
    int copy = file != NULL ? dup(fileno(file)) : -1;
    struct MHD_Response *response;
    enum MHD_Result result;
    off_t bytes;

    if (copy < 0)
        return answer(connection, MHD_HTTP_INTERNAL_SERVER_ERROR,
                      "this page cannot be made\n");
    bytes = lseek(copy, 0, SEEK_END);
    response = MHD_create_response_from_fd64((uint64_t)bytes, copy);
    if (response == NULL) {
        close(copy);
        return MHD_NO;
    }
    add_headers(connection, response, server->pages[number].type);
    result = MHD_queue_response(connection, MHD_HTTP_OK, response);
    MHD_destroy_response(response);
    return result;
}

/* A browser's preflight request for a viewer. */
static enum MHD_Result allow(struct MHD_Connection *connection)
{
    struct MHD_Response *response =
        MHD_create_response_from_buffer(0, NULL, MHD_RESPMEM_PERSISTENT);
    enum MHD_Result result;

    if (response == NULL)
        return MHD_NO;
    add_headers(connection, response, "text/plain");
    MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW,
                            "GET, HEAD, OPTIONS");
    result = MHD_queue_response(connection, MHD_HTTP_NO_CONTENT, response);
    MHD_destroy_response(response);
    return result;
}

static enum MHD_Result handle(void *owner, struct MHD_Connection *connection,
                              const char *path, const char *method,
                              const char *version, const char *upload,
                              size_t *upload_bytes, void **state)
{
    struct server *server = owner;

    (void)version;
    (void)upload;
    (void)upload_bytes;
    (void)state;
    if (!is_our_host(server, connection))
        return answer(connection, MHD_HTTP_FORBIDDEN,
                      "this server is 127.0.0.1 and no other\n");
    if (strcmp(method, MHD_HTTP_METHOD_OPTIONS) == 0)
        return allow(connection);
    if (strcmp(method, MHD_HTTP_METHOD_GET) != 0 &&
        strcmp(method, MHD_HTTP_METHOD_HEAD) != 0)
        return answer(connection, MHD_HTTP_METHOD_NOT_ALLOWED,
                      "there is only GET\n");
    for (unsigned i = 0; i < server->count; ++i) {
        if (strcmp(server->pages[i].path, path) == 0)
            return send_page(server, i, connection);
    }
    return answer(connection, MHD_HTTP_NOT_FOUND, "page not found\n");
}

static struct server *begin_server(const struct serve_page *pages,
                                   unsigned count, void *owner, unsigned port,
                                   bool live)
{
    struct sockaddr_in address = {
        .sin_family = AF_INET,
        .sin_port = htons((uint16_t)port),
        .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
    };
    struct server *server = xreallocarray(NULL, 1, sizeof *server);
    const union MHD_DaemonInfo *info;

    *server = (struct server){
        .pages = pages,
        .count = count,
        .owner = owner,
        .live = live,
        .port = port,
    };
    server->made = xreallocarray(NULL, count, sizeof *server->made);
    for (unsigned i = 0; i < count; ++i)
        server->made[i] = NULL;
    server->daemon = MHD_start_daemon(
        MHD_USE_AUTO_INTERNAL_THREAD, (uint16_t)port, NULL, NULL, handle,
        server, MHD_OPTION_SOCK_ADDR, (struct sockaddr *)&address,
        MHD_OPTION_CONNECTION_LIMIT, CONNECTIONS_MAX,
        MHD_OPTION_CONNECTION_TIMEOUT, IDLE_SECONDS, MHD_OPTION_END);
    if (server->daemon == NULL)
        die("cannot listen on 127.0.0.1 port %u: %s", port, strerror(errno));
    info = MHD_get_daemon_info(server->daemon, MHD_DAEMON_INFO_BIND_PORT);
    server->port = info != NULL ? info->port : port;
    return server;
}

struct server *serve_begin(const struct serve_page *pages, unsigned count,
                           void *owner, unsigned port)
{
    return begin_server(pages, count, owner, port, false);
}

struct server *serve_begin_live(const struct serve_page *pages, unsigned count,
                                void *owner, unsigned port)
{
    return begin_server(pages, count, owner, port, true);
}

unsigned serve_port(const struct server *server)
{
    return server->port;
}

void serve_end(struct server *server)
{
    MHD_stop_daemon(server->daemon);
    for (unsigned i = 0; i < server->count; ++i) {
        if (server->made[i] != NULL)
            fclose(server->made[i]);
    }
    free(server->made);
    free(server);
}
