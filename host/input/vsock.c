/* SPDX-License-Identifier: Apache-2.0 */

#include "input/vsock.h"

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

#define LINE_MAX_BYTES 32u /* of the answer: "OK 4294967295\n" and some more */
#define SHOWN_MAX (4 * LINE_MAX_BYTES + 1) /* of it, as it is shown */

/* ---- the address */

/* A number up to (most), and nothing else. */
static bool parse_number(const char *text, uint32_t most, uint32_t *value)
{
    uint64_t sum = 0;

    if (*text == '\0')
        return false;
    for (; *text != '\0'; ++text) {
        if (!isdigit((unsigned char)*text))
            return false;
        sum = sum * 10 + (uint64_t)(*text - '0');
        if (sum > most)
            return false;
    }
    *value = (uint32_t)sum;
    return true;
}

const char *vsock_address_parse(struct vsock_address *address, const char *text)
{
    const char *colon = strrchr(text, ':');

    *address = (struct vsock_address){0};
    if (colon == NULL || colon == text)
        return "expected vsock:PATH:PORT or vsock:CID:PORT";
    if (!parse_number(colon + 1, UINT32_MAX - 1, &address->port) ||
        address->port == 0)
        return "the port is a number from 1 to 4294967294";
    address->path = xstrdup(text);
    address->path[colon - text] = '\0';
    if (address->path[strspn(address->path, "0123456789")] != '\0')
        return NULL;
    if (!parse_number(address->path, UINT32_MAX - 1, &address->cid))
        return "the CID is a number up to 4294967294";
    free(address->path);
    address->path = NULL;
    return NULL;
}

void vsock_address_free(struct vsock_address *address)
{
    free(address->path);
    *address = (struct vsock_address){0};
}

/* ---- the request and its answer */

static bool send_request(uint32_t port, int file)
{
    char text[LINE_MAX_BYTES];
    int bytes = snprintf(text, sizeof text, "CONNECT %u\n", (unsigned)port);

    /* a new connection has room for that */
    return send(file, text, (size_t)bytes, MSG_NOSIGNAL) == bytes;
}

enum line_end { LINE_WHOLE, LINE_CLOSED, LINE_LATE, LINE_LONG };

/* Reads byte by byte: what follows the line is not ours. */
static enum line_end read_line(int file, double deadline,
                               char line[LINE_MAX_BYTES])
{
    size_t used = 0;

    line[0] = '\0';
    while (used < LINE_MAX_BYTES - 1) {
        ssize_t count;

        if (!wait_readable(file, deadline, 0))
            return LINE_LATE;
        count = read(file, line + used, 1);
        if (count < 0 && (errno == EINTR || errno == EAGAIN))
            continue;
        if (count <= 0)
            return LINE_CLOSED;
        line[used + 1] = '\0';
        if (line[used] == '\n') {
            line[used] = '\0';
            return LINE_WHOLE;
        }
        ++used;
    }
    return LINE_LONG;
}

static bool is_ok(const char *line)
{
    uint32_t port;

    return strncmp(line, "OK ", 3) == 0 &&
           parse_number(line + 3, UINT32_MAX, &port);
}

static void explain(const struct vsock_address *address, enum line_end end,
                    const char *line, char *why, size_t room)
{
    char shown[SHOWN_MAX];
    const char *path = address->path;
    unsigned port = (unsigned)address->port;

    printable(line, shown, sizeof shown);
    if (end == LINE_CLOSED && *line == '\0')
        snprintf(why, room,
                 "vsock:%s:%u: no guest listens to port %u: the hypervisor "
                 "closed the connection; the guest needs prof.out=vsock "
                 "prof.vsock=%u",
                 path, port, port, port);
    else if (end == LINE_LATE)
        snprintf(why, room, "vsock:%s:%u: no answer: %s", path, port,
                 signals_caught() ? "interrupted" : "timed out");
    else if (end == LINE_LONG)
        snprintf(why, room,
                 "vsock:%s:%u: what answers there is no hypervisor: its line "
                 "'%s...' does not end",
                 path, port, shown);
    else
        snprintf(why, room,
                 "vsock:%s:%u: what answers there is no hypervisor: '%s' "
                 "instead of 'OK' and a port",
                 path, port, shown);
}

bool vsock_ask(const struct vsock_address *address, int file, double deadline,
               char *why, size_t room)
{
    char line[LINE_MAX_BYTES] = "";
    enum line_end end = LINE_CLOSED;

    /* one that has closed the connection may have said why */
    (void)!send_request(address->port, file);
    end = read_line(file, deadline, line);
    if (end == LINE_WHOLE && is_ok(line))
        return true;
    explain(address, end, line, why, room);
    return false;
}
