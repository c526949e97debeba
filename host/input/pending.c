/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernel lists connections with their states in /proc/net. One in the queue
 * has no socket yet: its inode is 0 in tcp and tcp6. In unix its state is 2,
 * but several clients of a path cannot be distinguished there; so a newline is
 * sent, and if it is read, we are the client that is served.
 */

#include "input/pending.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <linux/sockios.h>

#define PROBE_MS 100

union address {
    struct sockaddr any;
    struct sockaddr_un local;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
};

/* Whether a client of the socket at (path) is waiting. */
static bool is_queue_at(const char *path)
{
    FILE *in = fopen("/proc/net/unix", "r");
    char line[512], found[256];
    unsigned state;
    bool is = false;

    while (in != NULL && !is && fgets(line, sizeof line, in) != NULL)
        is = sscanf(line, "%*s %*s %*s %*s %*s %x %*s %255[^\n]", &state,
                    found) == 2 &&
             state == 2 && strcmp(found, path) == 0;
    if (in != NULL)
        fclose(in);
    return is;
}

static bool is_unread(int file)
{
    int bytes = 0;

    return ioctl(file, SIOCOUTQ, &bytes) == 0 && bytes > 0;
}

static bool is_pending_local(int file, const char *path)
{
    if (*path == '\0' || !is_queue_at(path))
        return false;
    if (!is_unread(file))
        (void)!send(file, "\n", 1, MSG_NOSIGNAL | MSG_DONTWAIT);
    poll(NULL, 0, PROBE_MS);
    return is_unread(file);
}

static unsigned port_of(const union address *address)
{
    return ntohs(address->any.sa_family == AF_INET6 ? address->v6.sin6_port
                                                    : address->v4.sin_port);
}

/* Looks for the other end of our connection: their port is its local one. */
static bool is_pending_tcp(const char *list, unsigned ours, unsigned theirs)
{
    FILE *in = fopen(list, "r");
    unsigned local, remote, state;
    unsigned long inode;
    char line[512];
    bool is = false;

    while (in != NULL && !is && fgets(line, sizeof line, in) != NULL)
        is = sscanf(line,
                    "%*s %*[0-9A-F]:%x %*[0-9A-F]:%x %x %*s %*s %*s %*s %*s "
                    "%lu",
                    &local, &remote, &state, &inode) == 4 &&
             local == theirs && remote == ours && state == 1 && inode == 0;
    if (in != NULL)
        fclose(in);
    return is;
}

bool pending_connection(int file)
{
    union address us, them;
    socklen_t bytes = sizeof them, our_bytes = sizeof us;

    memset(&them, 0, sizeof them);
    if (getpeername(file, &them.any, &bytes) != 0 ||
        getsockname(file, &us.any, &our_bytes) != 0)
        return false;
    if (them.any.sa_family == AF_UNIX)
        return is_pending_local(file, them.local.sun_path);
    if (them.any.sa_family != AF_INET && them.any.sa_family != AF_INET6)
        return false;
    return is_pending_tcp("/proc/net/tcp", port_of(&us), port_of(&them)) ||
           is_pending_tcp("/proc/net/tcp6", port_of(&us), port_of(&them));
}
