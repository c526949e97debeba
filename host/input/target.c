/* SPDX-License-Identifier: Apache-2.0 */
/* Opening the source of a stream. */

#define _GNU_SOURCE /* getaddrinfo_a() */

#include "input/target.h"

#include "base/log.h"
#include "base/memory.h"
#include "base/wait.h"
#include "input/http.h"
#include "input/vsock.h"

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

#include <linux/vm_sockets.h> /* after <sys/socket.h> */

#define CONNECT_SECONDS 10.0
#define AGAIN_SECONDS 0.05 /* to a server whose queue is full */
#define RESOLVE_NAP_NS 100000000
#define HTTP_NAME_MAX 300

struct why {
    char *text;
    size_t room;
};

/* Waits for a connection under way; false with errno set. */
static bool finish_connecting(int file, double deadline)
{
    int problem = 0;

    errno = signals_caught() ? EINTR : ETIMEDOUT;
    if (!wait_writable(file, deadline, 0) ||
        getsockopt(file, SOL_SOCKET, SO_ERROR, &problem,
                   &(socklen_t){sizeof problem}) != 0)
        return false;
    errno = problem;
    return problem == 0;
}

/* A socket, not blocking, that is connected to (address); -1 with errno set. A
 * local server whose queue is full is tried again. */
static int connect_to(const struct sockaddr *address, socklen_t bytes,
                      double deadline)
{
    int file = socket(address->sa_family,
                      SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    int problem;

    if (file < 0)
        return -1;
    while (connect(file, address, bytes) != 0) {
        if (errno == EINPROGRESS || errno == EINTR) {
            if (finish_connecting(file, deadline))
                return file;
        } else if (errno == EAGAIN && seconds_now() < deadline &&
                   wait_until(seconds_now() + AGAIN_SECONDS)) {
            continue;
        }
        problem = errno;
        close(file);
        errno = problem;
        return -1;
    }
    return file;
}

/* (scheme) is for messages. */
static int connect_path(const char *path, const char *scheme, double deadline)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};

    if (strlen(path) >= sizeof address.sun_path)
        die_usage("%s%s: path too long for a socket", scheme, path);
    strcpy(address.sun_path, path);
    return connect_to((struct sockaddr *)&address, sizeof address, deadline);
}

/* ---- a guest behind `parasite serve`: unix:PATH?guest=NAME */

#define GUEST_MARK "?guest="
#define ANSWER_MAX 256

/* What follows the mark, which is cut off from (where); NULL without. */
static char *cut_guest(char *where)
{
    char *mark = strstr(where, GUEST_MARK);

    if (mark == NULL)
        return NULL;
    *mark = '\0';
    return mark + strlen(GUEST_MARK);
}

/* Reads the line that serve answers, byte by byte: a stream follows it. */
static bool read_answer(int file, double deadline, char *line)
{
    size_t used = 0;

    while (used < ANSWER_MAX - 1 && wait_readable(file, deadline, 0)) {
        ssize_t count = read(file, line + used, 1);

        if (count < 0 && (errno == EAGAIN || errno == EINTR))
            continue;
        if (count <= 0)
            break;
        if (line[used] == '\n') {
            line[used] = '\0';
            return true;
        }
        ++used;
    }
    return false;
}

/* Asks for the (guest), on (file), which is connected and otherwise closed. */
static int ask_serve(int file, const char *uri, const char *guest,
                     const struct why *why)
{
    const char *token = getenv("PARASITE_TOKEN");
    char text[512], line[ANSWER_MAX];
    int bytes = snprintf(text, sizeof text, "parasite read%s%s guest=%s\n",
                         token != NULL ? " token=" : "",
                         token != NULL ? token : "", guest);

    if (file < 0)
        return file;
    if (bytes >= (int)sizeof text)
        snprintf(why->text, why->room, "%s: the name is too long", uri);
    else if (send(file, text, (size_t)bytes, MSG_NOSIGNAL) != bytes ||
             !read_answer(file, seconds_now() + CONNECT_SECONDS, line))
        snprintf(why->text, why->room,
                 "%s: no answer; does 'parasite serve' listen there?", uri);
    else if (strcmp(line, "ok") == 0)
        return file;
    else
        snprintf(why->text, why->room, "%s: %s", uri, line);
    close(file);
    return -1;
}

static int open_unix(const char *uri, const char *where, const struct why *why)
{
    char *path = xstrdup(where);
    const char *guest = cut_guest(path);
    int file = connect_path(path, "unix:", seconds_now() + CONNECT_SECONDS);

    if (file < 0 && guest != NULL)
        snprintf(why->text, why->room,
                 "%s: %s; 'parasite serve --listen' has "
                 "to listen there",
                 uri, strerror(errno));
    else if (file < 0)
        snprintf(why->text, why->room,
                 "unix:%s: %s; to listen there, QEMU needs -chardev "
                 "socket,id=prof,server=on,wait=on,path=%s",
                 path, strerror(errno), path);
    if (guest != NULL)
        file = ask_serve(file, uri, guest, why);
    free(path);
    return file;
}

/* Connects to the first of (found) that accepts. Returns -1 if none does. */
static int connect_first(const struct addrinfo *found, double deadline)
{
    int file = -1;

    for (; found != NULL && file < 0; found = found->ai_next)
        file = connect_to(found->ai_addr, found->ai_addrlen, deadline);
    return file;
}

/* getaddrinfo() that can be interrupted. A request that is still under way is
 * left to itself, with its memory. */
static int resolve(const char *host, const char *port, double deadline,
                   struct addrinfo **found)
{
    static const struct addrinfo want = {.ai_socktype = SOCK_STREAM};
    const struct timespec nap = {.tv_nsec = RESOLVE_NAP_NS};
    struct gaicb *request = xreallocarray(NULL, 1, sizeof *request);
    struct gaicb *list[] = {request};
    int problem;

    *request = (struct gaicb){.ar_name = xstrdup(host),
                              .ar_service = xstrdup(port),
                              .ar_request = &want};
    problem = getaddrinfo_a(GAI_NOWAIT, list, 1, NULL);
    if (problem != 0)
        return problem;
    while ((problem = gai_error(request)) == EAI_INPROGRESS) {
        if (signals_caught() || seconds_now() >= deadline)
            return EAI_AGAIN;
        gai_suspend((const struct gaicb *const *)list, 1, &nap);
    }
    *found = request->ar_result;
    free((void *)request->ar_name);
    free((void *)request->ar_service);
    free(request);
    return problem;
}

/* (name) is how messages name it. */
static int connect_host(const char *host, const char *port, const char *name,
                        double deadline, const struct why *why)
{
    struct addrinfo *found = NULL;
    int problem = resolve(host, port, deadline, &found), file;

    if (problem != 0) {
        snprintf(why->text, why->room, "%s: %s", name, gai_strerror(problem));
        return -1;
    }
    file = connect_first(found, deadline);
    if (file < 0)
        snprintf(why->text, why->room, "%s: %s", name, strerror(errno));
    freeaddrinfo(found);
    return file;
}

static int open_tcp(const char *uri, const char *where, const struct why *why)
{
    char *host = xstrdup(where), *colon;
    const char *guest = cut_guest(host);
    int file;

    colon = strrchr(host, ':');
    if (colon == NULL)
        die_usage("%s: expected tcp:HOST:PORT", uri);
    *colon = '\0';
    file = connect_host(host, colon + 1, uri, seconds_now() + CONNECT_SECONDS,
                        why);
    if (guest != NULL)
        file = ask_serve(file, uri, guest, why);
    free(host);
    return file;
}

static int open_http(const char *where, enum target_use use,
                     const struct why *why)
{
    struct http_address address;
    double deadline = seconds_now() + CONNECT_SECONDS;
    char name[HTTP_NAME_MAX];
    const char *wrong;
    int file;

    wrong = http_address_parse(&address, where);
    if (wrong != NULL)
        die_usage("http://%s: %s", address.name, wrong);
    snprintf(name, sizeof name, "http://%s", address.name);
    file = connect_host(address.host, address.port, name, deadline, why);
    if (file >= 0 && !http_ask(&address, file, use == TARGET_COMMANDS, deadline,
                               why->text, why->room)) {
        close(file);
        file = -1;
    }
    http_address_free(&address);
    return file;
}

/* What the kernel's errors mean for a guest's port. */
static const char *explain_cid(int problem)
{
    switch (problem) {
    case EAFNOSUPPORT:
    case ENODEV:
        return "this host's kernel has no vhost-vsock, or it is not loaded";
    case ECONNRESET:
    case ECONNREFUSED:
        return "no guest listens there; it needs prof.out=vsock";
    case ETIMEDOUT:
        return "no guest has this CID";
    default:
        return strerror(problem);
    }
}

static int connect_cid(const struct vsock_address *address, const char *where,
                       double deadline, const struct why *why)
{
    const struct sockaddr_vm to = {.svm_family = AF_VSOCK,
                                   .svm_cid = address->cid,
                                   .svm_port = address->port};
    int file = connect_to((const struct sockaddr *)&to, sizeof to, deadline);

    if (file < 0)
        snprintf(why->text, why->room, "vsock:%s: %s", where,
                 explain_cid(errno));
    return file;
}

static int connect_hypervisor(const struct vsock_address *address,
                              const char *where, double deadline,
                              const struct why *why)
{
    int file = connect_path(address->path, "vsock:", deadline);

    if (file < 0) {
        snprintf(why->text, why->room, "vsock:%s: %s: %s", where, address->path,
                 errno == ENOENT
                     ? "no such socket; it is the hypervisor's, such as "
                       "Firecracker's uds_path"
                 : errno == ECONNREFUSED
                     ? "connection refused: the hypervisor that has made this "
                       "socket has ended"
                     : strerror(errno));
        return -1;
    }
    if (vsock_ask(address, file, deadline, why->text, why->room))
        return file;
    close(file);
    return -1;
}

static int open_vsock(const char *where, const struct why *why)
{
    struct vsock_address address;
    double deadline = seconds_now() + CONNECT_SECONDS;
    const char *wrong = vsock_address_parse(&address, where);
    int file;

    if (wrong != NULL)
        die_usage("vsock:%s: %s", where, wrong);
    file = address.path != NULL
               ? connect_hypervisor(&address, where, deadline, why)
               : connect_cid(&address, where, deadline, why);
    vsock_address_free(&address);
    return file;
}

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
    int mode = is_device(path) ? O_RDWR | O_NOCTTY | O_NONBLOCK : O_RDONLY;
    int file;

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

bool target_try(struct target *target, const char *uri, enum target_use use,
                char *text, size_t room)
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
        target->file = open_unix(uri, path, &why);
        target->two_way = true;
    } else if ((path = after_scheme(uri, "tcp:")) != NULL) {
        target->file = open_tcp(uri, path, &why);
        target->two_way = true;
    } else if ((path = after_scheme(uri, "http://")) != NULL) {
        target->file = open_http(path, use, &why);
        target->two_way = target->answered = true;
    } else if ((path = after_scheme(uri, "vsock:")) != NULL) {
        target->file = open_vsock(path, &why);
        target->two_way = true;
    } else {
        if ((path = after_scheme(uri, "file:")) == NULL &&
            (path = after_scheme(uri, "console:")) == NULL)
            path = uri;
        target->file = open_file(path, &target->two_way, &why);
    }
    return target->file >= 0;
}

void target_open(struct target *target, const char *uri, enum target_use use)
{
    char why[TARGET_WHY_MAX];

    if (!target_try(target, uri, use, why, sizeof why))
        die("%s", why);
}
