/* SPDX-License-Identifier: Apache-2.0 */

#define _GNU_SOURCE /* memrchr(), strcasestr() */

#include "input/http.h"

#include "base/log.h"
#include "base/memory.h"
#include "base/text.h"
#include "base/wait.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define HEAD_MAX 4096u      /* bytes of the answer's head */
#define WHY_MAX 128u        /* of what the guest says of a refusal */
#define PROTOCOL "parasite" /* HTTP_UPGRADE of <kernel/http.h> */

/* ---- the address */

static char *copy_text(const char *text, size_t count)
{
    char *copy = xreallocarray(NULL, count + 1, 1);

    memcpy(copy, text, count);
    copy[count] = '\0';
    return copy;
}

static const char expected[] =
    "expected http://HOST:PORT or http://HOST:PORT/?token=TOKEN";

static const char *set_token(struct http_address *address, const char *text)
{
    static const char query[] = "?token=";
    const char *given = getenv("PARASITE_TOKEN");

    if (*text == '/')
        text++;
    if (strncmp(text, query, sizeof query - 1) == 0)
        given = text + sizeof query - 1;
    else if (*text != '\0')
        return expected;
    if (given == NULL || *given == '\0')
        return NULL;
    for (const char *at = given; *at != '\0'; at++)
        if (!isgraph((unsigned char)*at))
            return "the token has a byte that HTTP cannot send";
    address->token = xstrdup(given);
    return NULL;
}

const char *http_address_parse(struct http_address *address, const char *text)
{
    size_t count = strcspn(text, "/?");
    const char *end = text + count, *colon = memrchr(text, ':', count);

    *address = (struct http_address){.name = copy_text(text, count)};
    if (colon != NULL && memchr(colon, ']', (size_t)(end - colon)) != NULL)
        colon = NULL; /* of an address of IPv6 */
    address->port = colon != NULL
                        ? copy_text(colon + 1, (size_t)(end - colon - 1))
                        : copy_text("80", 2);
    if (colon != NULL)
        end = colon;
    if (end - text > 2 && *text == '[' && end[-1] == ']')
        address->host = copy_text(text + 1, (size_t)(end - text) - 2);
    else
        address->host = copy_text(text, (size_t)(end - text));
    if (*address->host == '\0' || *address->port == '\0')
        return expected;
    return set_token(address, text + count);
}

void http_address_free(struct http_address *address)
{
    free(address->host);
    free(address->port);
    free(address->token);
    free(address->name);
    *address = (struct http_address){0};
}

/* ---- the request and its answer */

static bool send_request(const struct http_address *address, int file,
                         bool commands, double deadline)
{
    char *text;
    size_t count, sent = 0;
    FILE *out = open_memstream(&text, &count);

    if (out == NULL)
        die("out of memory");
    fprintf(out,
            "GET /%s HTTP/1.1\r\nHost: %s\r\nConnection: upgrade\r\n"
            "Upgrade: " PROTOCOL "\r\n",
            commands ? "commands" : "stream", address->name);
    if (address->token != NULL)
        fprintf(out, "Authorization: Bearer %s\r\n", address->token);
    fputs("\r\n", out);
    fclose(out);
    errno = ETIMEDOUT;
    while (sent < count && wait_writable(file, deadline, 0)) {
        ssize_t now = send(file, text + sent, count - sent, MSG_NOSIGNAL);

        if (now < 0 && errno != EINTR && errno != EAGAIN)
            break;
        errno = ETIMEDOUT;
        sent += now > 0 ? (size_t)now : 0;
    }
    free(text);
    return sent == count;
}

/* Reads one byte: what follows the head is not ours. */
static bool read_byte(int file, double deadline, char *byte)
{
    for (;;) {
        ssize_t count;

        errno = ETIMEDOUT;
        if (!wait_readable(file, deadline, 0))
            return false;
        count = read(file, byte, 1);
        if (count > 0)
            return true;
        if (count == 0)
            errno = ECONNRESET;
        if (count == 0 || (errno != EINTR && errno != EAGAIN))
            return false;
    }
}

static bool read_head(int file, double deadline, char head[HEAD_MAX])
{
    size_t used = 0;

    while (used < HEAD_MAX - 1 && read_byte(file, deadline, head + used)) {
        head[++used] = '\0';
        if (used >= 4 && memcmp(head + used - 4, "\r\n\r\n", 4) == 0)
            return true;
    }
    if (used == HEAD_MAX - 1)
        errno = EPROTO;
    head[used] = '\0';
    return false;
}

/* The first line of the body of a refusal. */
static void read_line(int file, double deadline, char line[WHY_MAX])
{
    size_t used = 0;

    while (used < WHY_MAX - 1 && read_byte(file, deadline, line + used) &&
           line[used] != '\n')
        if (isprint((unsigned char)line[used]))
            used++;
    line[used] = '\0';
}

static void explain(const struct http_address *address, int file, int status,
                    double deadline, char *why, size_t room)
{
    char line[WHY_MAX];
    const double soon = seconds_now() + 1;

    if (status == 401) {
        snprintf(why, room,
                 "http://%s: the guest wants its token: give "
                 "http://%s/?token=TOKEN, or set PARASITE_TOKEN",
                 address->name, address->name);
    } else if (status == 403) {
        snprintf(why, room, "http://%s: the guest has another token",
                 address->name);
    } else if (status == 404) {
        snprintf(why, room,
                 "http://%s: the profiler's port is not there; prof.port= says "
                 "where it is",
                 address->name);
    } else {
        read_line(file, soon < deadline ? soon : deadline, line);
        snprintf(why, room, "http://%s: refused (%d): %s", address->name,
                 status, line);
    }
}

bool http_ask(const struct http_address *address, int file, bool commands,
              double deadline, char *why, size_t room)
{
    char head[HEAD_MAX] = "";
    int status = 0;

    if (!send_request(address, file, commands, deadline) ||
        !read_head(file, deadline, head)) {
        snprintf(why, room, "http://%s: no answer: %s", address->name,
                 signals_caught() ? "interrupted" : strerror(errno));
        return false;
    }
    if (sscanf(head, "HTTP/1.%*1[01] %3d ", &status) != 1) {
        snprintf(why, room, "http://%s: what answers there is not HTTP",
                 address->name);
        return false;
    }
    if (status == 101 && strcasestr(head, "\r\nUpgrade: " PROTOCOL "\r\n"))
        return true;
    explain(address, file, status, deadline, why, room);
    return false;
}
