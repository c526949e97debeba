/* SPDX-License-Identifier: Apache-2.0 */
/* Opening what a stream is read from. */

#include "target.h"

#include "parasite.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <string.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static int open_unix(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int file = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (strlen(path) >= sizeof address.sun_path)
        misuse("unix:%s: the path is too long for a socket", path);
    strcpy(address.sun_path, path);
    if (file < 0 ||
        connect(file, (struct sockaddr *)&address, sizeof address) != 0)
        fail("unix:%s: %s; QEMU listens there with -chardev "
             "socket,id=prof,server=on,wait=on,path=%s",
             path, strerror(errno), path);
    return file;
}

static int open_tcp(const char *where)
{
    const char *colon = strrchr(where, ':');
    struct addrinfo *found = NULL, want = {.ai_socktype = SOCK_STREAM};
    char *host;
    int file = -1, problem;

    if (colon == NULL)
        misuse("tcp:%s: a target is tcp:HOST:PORT", where);
    host = copied(where);
    host[colon - where] = '\0';
    problem = getaddrinfo(host, colon + 1, &want, &found);
    if (problem != 0)
        fail("tcp:%s: %s", where, gai_strerror(problem));
    for (struct addrinfo *at = found; at != NULL && file < 0;
         at = at->ai_next) {
        file = socket(at->ai_family, at->ai_socktype | SOCK_CLOEXEC, 0);
        if (file >= 0 && connect(file, at->ai_addr, at->ai_addrlen) != 0) {
            problem = errno;
            close(file);
            file = -1;
        }
    }
    if (file < 0)
        fail("tcp:%s: %s", where, strerror(problem));
    freeaddrinfo(found);
    free(host);
    return file;
}

static int open_file(const char *path)
{
    int file =
        strcmp(path, "-") == 0 ? dup(0) : open(path, O_RDONLY | O_CLOEXEC);

    if (file < 0)
        fail("%s: cannot be read: %s", path, strerror(errno));
    return file;
}

/* What follows (scheme) in (uri), or NULL. */
static const char *behind(const char *uri, const char *scheme)
{
    size_t bytes = strlen(scheme);

    return strncmp(uri, scheme, bytes) == 0 ? uri + bytes : NULL;
}

void target_open(struct target *target, const char *uri)
{
    const char *path;

    *target = (struct target){.file = -1};
    if ((path = behind(uri, "shm:")) != NULL) {
        target->is_ram = true;
        target->path = path;
        return;
    }
    if ((path = behind(uri, "unix:")) != NULL) {
        target->file = open_unix(path);
    } else if ((path = behind(uri, "tcp:")) != NULL) {
        target->file = open_tcp(path);
    } else {
        if ((path = behind(uri, "file:")) == NULL &&
            (path = behind(uri, "console:")) == NULL)
            path = uri;
        target->file = open_file(path);
    }
}
