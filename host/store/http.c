/* SPDX-License-Identifier: Apache-2.0 */

#include "store/http.h"

#include "base/log.h"
#include "base/memory.h"
#include "base/text.h"
#include "store/embedded.h"

#include <curl/curl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CONNECT_SECONDS 10L
#define ERROR_MAX 8192
#define EXCEPTION_HEADER "X-ClickHouse-Exception-Code:"

struct store_http {
    CURL *curl;
    const char *folder; /* of an embedded store, or NULL */
    char *base;         /* "http://host:port/?" */
    struct curl_slist *text_headers, *gzip_headers;
    atomic_bool cancelled;
};

static void begin_curl(void)
{
    if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
        die("libcurl cannot be used");
}

static struct curl_slist *headers_of(const char *coding)
{
    struct curl_slist *list = curl_slist_append(NULL, "Expect:");

    list = curl_slist_append(list, "Transfer-Encoding: chunked");
    return coding == NULL ? list : curl_slist_append(list, coding);
}

static int check_cancelled(void *owner, curl_off_t a, curl_off_t b,
                           curl_off_t c, curl_off_t d)
{
    struct store_http *http = owner;

    (void)a;
    (void)b;
    (void)c;
    (void)d;
    return atomic_load(&http->cancelled);
}

/* In the form that libcurl wants for them. */
static void set_login(CURL *curl, const struct store_address *address)
{
    if (address->user == NULL && address->password == NULL)
        return;
    curl_easy_setopt(curl, CURLOPT_HTTPAUTH, CURLAUTH_BASIC);
    curl_easy_setopt(curl, CURLOPT_USERNAME,
                     address->user == NULL ? "default" : address->user);
    curl_easy_setopt(curl, CURLOPT_PASSWORD,
                     address->password == NULL ? "" : address->password);
}

struct store_http *store_http_open(const struct store_address *address,
                                   unsigned shard, double seconds)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    struct store_http *http = xreallocarray(NULL, 1, sizeof *http);
    CURL *curl;

    pthread_once(&once, begin_curl);
    curl = curl_easy_init();
    if (curl == NULL)
        die("out of memory");
    *http = (struct store_http){
        .curl = curl,
        .folder = address->folder,
        .base = text_format("http://%s/?", address->hosts[shard]),
        .text_headers = headers_of(NULL),
        .gzip_headers = headers_of("Content-Encoding: gzip"),
    };
    set_login(curl, address);
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_NOPROXY, "*");
    curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http");
    curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT, CONNECT_SECONDS);
    curl_easy_setopt(curl, CURLOPT_LOW_SPEED_LIMIT, 1L);
    curl_easy_setopt(curl, CURLOPT_LOW_SPEED_TIME, (long)(seconds + 0.999));
    curl_easy_setopt(curl, CURLOPT_TCP_KEEPALIVE, 1L);
    curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
    curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, check_cancelled);
    curl_easy_setopt(curl, CURLOPT_XFERINFODATA, http);
    return http;
}

void store_http_close(struct store_http *http)
{
    if (http == NULL)
        return;
    curl_easy_cleanup(http->curl);
    curl_slist_free_all(http->text_headers);
    curl_slist_free_all(http->gzip_headers);
    free(http->base);
    free(http);
}

void store_http_cancel(struct store_http *http)
{
    atomic_store(&http->cancelled, true);
}

char *store_http_escape(const char *text)
{
    static const char hex[] = "0123456789ABCDEF";
    size_t bytes = strlen(text);
    char *escaped = xreallocarray(NULL, 3 * bytes + 1, 1), *to = escaped;

    for (const char *at = text; *at != '\0'; ++at) {
        unsigned char byte = (unsigned char)*at;

        if ((byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
            (byte >= '0' && byte <= '9') || strchr("-_.~", byte) != NULL) {
            *to++ = (char)byte;
        } else {
            *to++ = '%';
            *to++ = hex[byte >> 4];
            *to++ = hex[byte & 15];
        }
    }
    *to = '\0';
    return escaped;
}

/* ---- one request */

struct exchange {
    const struct store_request *request;
    struct store_reply *reply;
    CURL *curl;
    int code; /* of the header */
    char error[ERROR_MAX];
    size_t error_bytes;
    size_t text_at, text_bytes; /* of the body */
    off_t file_at;
    bool body_ended;
    bool file_failed;
};

static size_t read_body(char *to, size_t one, size_t room, void *owner)
{
    struct exchange *exchange = owner;
    size_t count = exchange->text_bytes - exchange->text_at;
    ssize_t bytes;

    room *= one;
    if (exchange->request->file < 0) {
        if (count > room)
            count = room;
        memcpy(to, exchange->request->text + exchange->text_at, count);
        exchange->text_at += count;
        exchange->body_ended = exchange->text_at == exchange->text_bytes;
        return count;
    }
    bytes = pread(exchange->request->file, to, room, exchange->file_at);
    if (bytes < 0) {
        exchange->file_failed = true;
        return CURL_READFUNC_ABORT;
    }
    exchange->file_at += bytes;
    exchange->body_ended = bytes == 0;
    return (size_t)bytes;
}

static size_t take_header(char *line, size_t one, size_t count, void *owner)
{
    struct exchange *exchange = owner;
    size_t name = sizeof EXCEPTION_HEADER - 1;
    char number[16] = "";

    if (one * count > name && curl_strnequal(line, EXCEPTION_HEADER, name)) {
        size_t bytes = one * count - name;

        if (bytes >= sizeof number)
            bytes = sizeof number - 1;
        memcpy(number, line + name, bytes);
        exchange->code = atoi(number);
    }
    return one * count;
}

static size_t take_answer(char *bytes, size_t one, size_t count, void *owner)
{
    struct exchange *exchange = owner;
    size_t room = sizeof exchange->error - 1 - exchange->error_bytes;
    long status = 0;

    count *= one;
    curl_easy_getinfo(exchange->curl, CURLINFO_RESPONSE_CODE, &status);
    if (status == 200 && exchange->code == 0) {
        if (exchange->request->take == NULL ||
            exchange->request->take(exchange->request->owner, bytes, count))
            return count;
        exchange->reply->stopped = true;
        return 0;
    }
    memcpy(exchange->error + exchange->error_bytes, bytes,
           count < room ? count : room);
    exchange->error_bytes += count < room ? count : room;
    return count;
}

int store_error_code(const char *text)
{
    const char *number = strstr(text, "Code: ");

    return number == NULL ? 0 : atoi(number + strlen("Code: "));
}

void store_error_line(const char *text, char *to, size_t room)
{
    static const char *const begins[] = {"e.displayText() = ",
                                         "DB::Exception: "};
    size_t bytes;

    for (size_t i = 0; i < sizeof begins / sizeof *begins; ++i) {
        const char *begin = strstr(text, begins[i]);

        if (begin != NULL)
            text = begin + strlen(begins[i]);
    }
    bytes = strcspn(text, "\r\n");
    if (bytes >= room)
        bytes = room - 1;
    memcpy(to, text, bytes);
    to[bytes] = '\0';
}

static void set_up(struct store_http *http, struct exchange *exchange,
                   const char *url)
{
    const struct store_request *request = exchange->request;
    CURL *curl = http->curl;

    curl_easy_setopt(curl, CURLOPT_URL, url);
    curl_easy_setopt(curl, CURLOPT_POST, 1L);
    /* no length is known: chunked */
    curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)-1);
    curl_easy_setopt(curl, CURLOPT_POSTFIELDS, NULL);
    curl_easy_setopt(curl, CURLOPT_READFUNCTION, read_body);
    curl_easy_setopt(curl, CURLOPT_READDATA, exchange);
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER,
                     request->file >= 0 ? http->gzip_headers
                                        : http->text_headers);
    curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, take_header);
    curl_easy_setopt(curl, CURLOPT_HEADERDATA, exchange);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take_answer);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, exchange);
}

/* An embedded store is reached by its socket alone. False: there is none. Then
 * nothing may be sent, which would go to a port of this machine. */
static bool perform(struct store_http *http, CURLcode *result)
{
    char *name;
    int folder = -1;

    if (http->folder != NULL) {
        name = embedded_socket(http->folder, &folder);
        if (name == NULL)
            return false;
        *result = curl_easy_setopt(http->curl, CURLOPT_UNIX_SOCKET_PATH, name);
        free(name);
    }
    if (*result == CURLE_OK)
        *result = curl_easy_perform(http->curl);
    if (folder >= 0)
        close(folder);
    return true;
}

bool store_http_ask(struct store_http *http,
                    const struct store_request *request,
                    struct store_reply *reply)
{
    struct exchange *exchange = xreallocarray(NULL, 1, sizeof *exchange);
    char *url = text_format("%s%s", http->base, request->parameters);
    CURLcode result = CURLE_OK;
    bool fine, there;

    *reply = (struct store_reply){0};
    *exchange = (struct exchange){
        .request = request, .reply = reply, .curl = http->curl};
    exchange->text_bytes = request->text == NULL ? 0 : strlen(request->text);
    set_up(http, exchange, url);
    there = perform(http, &result);
    curl_easy_getinfo(http->curl, CURLINFO_RESPONSE_CODE, &reply->status);
    reply->sent = exchange->body_ended;
    fine = there && result == CURLE_OK && reply->status == 200 &&
           exchange->code == 0;
    if (!there) {
        *reply = (struct store_reply){0};
        snprintf(reply->text, sizeof reply->text, "there is no such store");
    } else if (!fine && result == CURLE_OK) {
        exchange->error[exchange->error_bytes] = '\0';
        reply->code = exchange->code != 0 ? exchange->code
                                          : store_error_code(exchange->error);
        store_error_line(exchange->error, reply->text, sizeof reply->text);
        if (reply->text[0] == '\0')
            snprintf(reply->text, sizeof reply->text, "HTTP status %ld",
                     reply->status);
    } else if (!fine) {
        reply->status = 0;
        snprintf(reply->text, sizeof reply->text, "%s",
                 exchange->file_failed ? "the batch cannot be read"
                                       : curl_easy_strerror(result));
    }
    free(url);
    free(exchange);
    return fine;
}
