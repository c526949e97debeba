/* SPDX-License-Identifier: Apache-2.0 */
/* Opening the source of a stream. */

#include "input/target.h"

#include "base/log.h"
#include "base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <termios.h>
#include <unistd.h>

/* Receives the reason of a failure. */
struct why {
    char *text;
    size_t room;
};

static int open_unix(const char *path, const struct why *why)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int file = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (strlen(path) >= sizeof address.sun_path)
        die_usage("unix:%s: path too long for a socket", path);
    strcpy(address.sun_path, path);
    if (file >= 0 &&
        connect(file, (struct sockaddr *)&address, sizeof address) == 0)
        return file;
    snprintf(why->text, why->room,
             "unix:%s: %s; to listen there, QEMU needs -chardev "
             "socket,id=prof,server=on,wait=on,path=%s",
             path, strerror(errno), path);
    if (file >= 0)
        close(file);
    return -1;
}

/* Connects to the first of (found) that accepts. Returns -1 if none does. */
static int connect_first(const struct addrinfo *found)
{
    int file = -1;

    for (; found != NULL && file < 0; found = found->ai_next) {
        file = socket(found->ai_family, found->ai_socktype | SOCK_CLOEXEC, 0);
        if (file < 0 || connect(file, found->ai_addr, found->ai_addrlen) == 0)
            continue;
        close(file);
        file = -1;
    }
    return file;
}

static int open_tcp(const char *where, const struct why *why)
{
    const char *colon = strrchr(where, ':');
    struct addrinfo *found = NULL, want = {.ai_socktype = SOCK_STREAM};
    char *host;
    int file, problem;

    if (colon == NULL)
        die_usage("tcp:%s: expected tcp:HOST:PORT", where);
    host = xstrdup(where);
    host[colon - where] = '\0';
    problem = getaddrinfo(host, colon + 1, &want, &found);
    free(host);
    if (problem != 0) {
        snprintf(why->text, why->room, "tcp:%s: %s", where,
                 gai_strerror(problem));
        return -1;
    }
    file = connect_first(found);
    if (file < 0)
        snprintf(why->text, why->room, "tcp:%s: %s", where, strerror(errno));
    freeaddrinfo(found);
    return file;
}

/* Sets a terminal to raw mode. */
static void make_raw(int file)
{
    struct termios settings;

    if (tcgetattr(file, &settings) != 0)
        return;
    cfmakeraw(&settings);
    tcsetattr(file, TCSANOW, &settings);
}

static bool is_device(const char *path)
{
    struct stat about;

    return stat(path, &about) == 0 && S_ISCHR(about.st_mode);
}

static int open_file(const char *path, bool *two_way, const struct why *why)
{
    int mode = is_device(path) ? O_RDWR | O_NOCTTY : O_RDONLY, file;

    if (strcmp(path, "-") == 0)
        return dup(0);
    file = open(path, mode | O_CLOEXEC);
    *two_way = file >= 0 && mode != O_RDONLY && isatty(file);
    if (*two_way)
        make_raw(file);
    if (file < 0)
        snprintf(why->text, why->room, "%s: cannot be read: %s", path,
                 strerror(errno));
    return file;
}

/* The rest of (uri) after (scheme), or NULL. */
static const char *after_scheme(const char *uri, const char *scheme)
{
    size_t bytes = strlen(scheme);

    return strncmp(uri, scheme, bytes) == 0 ? uri + bytes : NULL;
}

bool target_try(struct target *target, const char *uri, char *text, size_t room)
{
    const struct why why = {text, room};
    const char *path;

    *target = (struct target){.file = -1};
    if ((path = after_scheme(uri, "shm:")) != NULL) {
        target->is_ram = true;
        target->path = path;
        return true;
    }
    if ((path = after_scheme(uri, "unix:")) != NULL) {
        target->file = open_unix(path, &why);
        target->two_way = true;
    } else if ((path = after_scheme(uri, "tcp:")) != NULL) {
        target->file = open_tcp(path, &why);
        target->two_way = true;
    } else {
        if ((path = after_scheme(uri, "file:")) == NULL &&
            (path = after_scheme(uri, "console:")) == NULL)
            path = uri;
        target->file = open_file(path, &target->two_way, &why);
    }
    return target->file >= 0;
}

void target_open(struct target *target, const char *uri)
{
    char why[TARGET_WHY_MAX];

    if (!target_try(target, uri, why, sizeof why))
        die("%s", why);
}
