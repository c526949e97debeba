/* SPDX-License-Identifier: Apache-2.0 */
/* Where streams come from: what listens, what is connected, what is to be
 * connected to by a thread of its own, and RAM. */

#define _GNU_SOURCE /* accept4() */

#include "collect/parts.h"

#include "base/log.h"
#include "base/memory.h"
#include "base/text.h"
#include "base/wait.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define BACKLOG 1024
#define AGAIN_SECONDS 1.0
#define READ_BYTES (1u << 16)
#define FILE_READS 16u /* of one round */
#define RAM_AGAIN_MS 250
#define RAM_TRIES_MAX 5u
#define RAM_PIECES 32u /* of 1 MiB: no guest waits for the search in another */
#define FIRST_WORD "parasite "
#define CAPTURE_SECONDS 10
#define CAPTURE_RATE 997
#define CAPTURE_BYTES (8u << 20) /* a second */
#define FIRST_LINE_MS 10000      /* that a connection has for it */

void watch(struct collector *collector, struct handle *handle, uint32_t events,
           bool is_new)
{
    struct epoll_event event = {.events = events, .data.ptr = handle};

    if (epoll_ctl(collector->epoll, is_new ? EPOLL_CTL_ADD : EPOLL_CTL_MOD,
                  handle->file, &event) != 0 &&
        errno != EPERM)
        die("epoll: %s", strerror(errno));
}

/* A process that another thread forks, such as the store, has the file until it
 * has closed it, and so long epoll reports its handle, which may be freed. */
void unwatch_and_close(struct collector *collector, struct handle *handle)
{
    if (handle->file < 0)
        return;
    epoll_ctl(collector->epoll, EPOLL_CTL_DEL, handle->file, NULL);
    close(handle->file);
    handle->file = -1;
}

/* ---- lines */

static void take_packet(void *owner, const struct packet *packet)
{
    guests_take(owner, packet);
}

static void take_answer(void *owner, const char *text)
{
    struct line *line = owner;

    if (line->guest != NULL)
        captures_answer(line->guest, text);
}

static struct line *add_line(struct collector *collector,
                             const struct collector_source *source)
{
    struct line *line = xreallocarray(NULL, 1, sizeof *line);

    *line = (struct line){
        .handle = {HANDLE_LINE, -1}, .collector = collector, .source = source};
    line->scanner.sink = (struct packet_sink){take_packet, line};
    line->console.sink = (struct packet_sink){take_packet, line};
    line->answers = (struct answers){.take = take_answer, .owner = line};
    if (source->service != NULL)
        snprintf(line->service, sizeof line->service, "%s", source->service);
    VECTOR_ADD(collector->lines, collector->line_count, line);
    return line;
}

/* The end of a connection: of a target's, another is tried. */
static void lose_line(struct line *line)
{
    scanner_end(&line->scanner);
    console_end(&line->console);
    line->garbage += line->scanner.garbage;
    line->scanner = (struct scanner){.sink = {take_packet, line}};
    line->console = (struct console){.sink = {take_packet, line}};
    line->answers = (struct answers){.take = take_answer, .owner = line};
    unwatch_and_close(line->collector, &line->handle);
    shared_ring_close(&line->share);
    guests_leave(line);
    line->again = seconds_now() + AGAIN_SECONDS;
    line->gone = line->accepted || line->is_file;
}

static void free_line(struct line *line)
{
    lose_line(line);
    free(line->path);
    free(line);
}

void lines_sweep(struct collector *collector)
{
    size_t kept = 0;

    for (size_t i = 0; i < collector->line_count; ++i) {
        struct line *line = collector->lines[i];

        if (line->gone && !line->connecting)
            free_line(line);
        else
            collector->lines[kept++] = line;
    }
    collector->line_count = kept;
}

/* ---- the first line of a connection */

/* The value of (name)= among the words of (text), to (to); "" without. */
static const char *value_of(const char *text, const char *name, char *to,
                            size_t room)
{
    size_t bytes = strlen(name);

    *to = '\0';
    for (const char *at = text; (at = strchr(at, ' ')) != NULL;) {
        ++at;
        if (strncmp(at, name, bytes) == 0 && at[bytes] == '=') {
            at += bytes + 1;
            snprintf(to, room, "%.*s", (int)strcspn(at, " \r\n"), at);
            break;
        }
    }
    return to;
}

/* In a time that does not depend on how many characters are right. */
static bool is_same(const char *one, const char *other)
{
    size_t bytes = strlen(one);
    unsigned differs = 0;

    if (bytes != strlen(other))
        return false;
    for (size_t i = 0; i < bytes; ++i)
        differs |= (unsigned char)(one[i] ^ other[i]);
    return differs == 0;
}

bool token_allows(const struct collector *collector, const char *token,
                  const struct collector_token **found)
{
    *found = NULL;
    for (size_t i = 0; i < collector->options.token_count; ++i)
        if (is_same(token, collector->options.tokens[i].text))
            *found = &collector->options.tokens[i];
    return *found != NULL;
}

static void refuse(struct line *line, const char *why)
{
    char text[FIRST_LINE_MAX];
    struct collector *collector = line->collector;

    snprintf(text, sizeof text, "error: %s\n", why);
    ++collector->counters.refused_connections;
    epoll_ctl(collector->epoll, EPOLL_CTL_DEL, line->handle.file, NULL);
    readers_answer(collector, line->handle.file, text, strlen(text));
    line->handle.file = -1;
    line->gone = true;
}

/* The connection becomes a reader's. */
static void become_reader(struct line *line, struct guest_boot *guest)
{
    epoll_ctl(line->collector->epoll, EPOLL_CTL_DEL, line->handle.file, NULL);
    readers_add(line->collector, line->handle.file, guest);
    line->handle.file = -1;
    line->gone = true;
}

static void answer(struct line *line, const char *text, size_t bytes)
{
    epoll_ctl(line->collector->epoll, EPOLL_CTL_DEL, line->handle.file, NULL);
    readers_answer(line->collector, line->handle.file, text, bytes);
    line->handle.file = -1;
    line->gone = true;
}

static void answer_list(struct line *line)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);

    if (out == NULL)
        die("out of memory");
    collector_guests_locked(line->collector, out);
    fclose(out);
    answer(line, text, bytes);
    free(text);
}

/* The number of (name)= among the words of (text); (without) if it is not
 * there, and UINT64_MAX, which nothing takes, if it is no number. */
static uint64_t number_of(const char *text, const char *name, uint64_t without)
{
    char word[24];
    size_t digits;

    if (*value_of(text, name, word, sizeof word) == '\0')
        return without;
    digits = strspn(word, "0123456789");
    return digits == strlen(word) && digits < 16 ? strtoull(word, NULL, 10)
                                                 : UINT64_MAX;
}

static void answer_capture(struct line *line, const char *text)
{
    struct capture_order order = {
        .begin = (int64_t)number_of(text, "begin", 0),
        .end = (int64_t)number_of(text, "seconds", CAPTURE_SECONDS),
        .budget = number_of(text, "bytes", CAPTURE_BYTES),
    };
    uint64_t rate = number_of(text, "rate", CAPTURE_RATE);
    uint64_t tasks = number_of(text, "tasks", 0);
    char reply[FIRST_LINE_MAX];
    const char *why, *folder;
    uint32_t id;

    if (tasks > 1) {
        refuse(line, "tasks= takes 0 or 1");
        return;
    }
    order.tasks = tasks == 1;
    order.rate = rate < UINT32_MAX ? (unsigned)rate : 0;
    value_of(text, "service", order.service, sizeof order.service);
    value_of(text, "guests", order.names, sizeof order.names);
    why = captures_add(line->collector, &order, &id, &folder);
    if (why != NULL) {
        refuse(line, why);
        return;
    }
    snprintf(reply, sizeof reply, "ok %s\n", folder);
    epoll_ctl(line->collector->epoll, EPOLL_CTL_DEL, line->handle.file, NULL);
    readers_await(line->collector, line->handle.file, reply, id);
    line->handle.file = -1;
    line->gone = true;
}

static void answer_captured(struct line *line, const char *text)
{
    char name[NAME_MAX_BYTES], boot[NAME_MAX_BYTES], reply[FIRST_LINE_MAX];
    struct stat about;
    int from;

    value_of(text, "capture", name, sizeof name);
    value_of(text, "boot", boot, sizeof boot);
    from = captures_open(line->collector, name, boot);
    if (from < 0 || fstat(from, &about) != 0 || !S_ISREG(about.st_mode)) {
        snprintf(reply, sizeof reply, "%s",
                 errno == EINVAL ? "expected capture=NAME boot=UUID"
                                 : strerror(errno));
        if (from >= 0)
            close(from);
        refuse(line, reply);
        return;
    }
    snprintf(reply, sizeof reply, "ok %lld\n", (long long)about.st_size);
    epoll_ctl(line->collector->epoll, EPOLL_CTL_DEL, line->handle.file, NULL);
    readers_send_file(line->collector, line->handle.file, reply, from);
    line->handle.file = -1;
    line->gone = true;
}

/* "parasite WORD NAME=VALUE...": false, and the line is refused: it makes no
 * sense, or may not be. */
static void take_first_line(struct line *line)
{
    struct collector *collector = line->collector;
    char token[NAME_MAX_BYTES], name[NAME_MAX_BYTES];
    const char *text = line->first + strlen(FIRST_WORD), *why;
    struct guest_boot *guest;

    value_of(text, "token", token, sizeof token);
    if (collector->options.token_count > 0 && (line->tcp || *token != '\0') &&
        !token_allows(collector, token, &line->token)) {
        refuse(line, "wrong token");
        return;
    }
    if (strncmp(text, "send", 4) == 0) {
        if (*value_of(text, "service", name, sizeof name) != '\0')
            strcpy(line->service, name);
        if (line->token != NULL && line->token->service != NULL) {
            if (*line->service != '\0' &&
                strcmp(line->service, line->token->service) != 0)
                refuse(line, "the token is not for this service");
            else
                snprintf(line->service, sizeof line->service, "%s",
                         line->token->service);
        }
    } else if (line->token != NULL && line->token->service != NULL) {
        refuse(line, "the token is for sending only");
    } else if (strncmp(text, "read", 4) == 0) {
        value_of(text, "guest", name, sizeof name);
        guest = guests_find(collector, name, &why);
        if (guest != NULL)
            become_reader(line, guest);
        else
            refuse(line, why);
    } else if (strncmp(text, "list", 4) == 0) {
        answer_list(line);
    } else if (strncmp(text, "captured", 8) == 0) {
        answer_captured(line, text);
    } else if (strncmp(text, "capture", 7) == 0) {
        answer_capture(line, text);
    } else {
        refuse(line, "expected send, read, list, capture or captured");
    }
}

static void take_stream(struct line *line, const void *bytes, size_t count)
{
    if (line->two_way && line->guest != NULL) {
        readers_pass(line->collector, line->guest, bytes, count);
        answers_feed(&line->answers, bytes, count);
    }
    scanner_feed(&line->scanner, bytes, count);
    console_feed(&line->console, bytes, count);
}

/* Until it is known whether a connection begins with a line for us. */
static void take_first(struct line *line, const uint8_t *bytes, size_t count)
{
    size_t word = strlen(FIRST_WORD);

    while (count > 0 && line->undecided) {
        line->first[line->first_bytes++] = (char)*bytes++;
        --count;
        if (line->first_bytes <= word &&
            line->first[line->first_bytes - 1] !=
                FIRST_WORD[line->first_bytes - 1]) {
            line->undecided = false;
            if (line->tcp && line->collector->options.token_count > 0) {
                refuse(line, "a token is needed");
                return;
            }
            take_stream(line, line->first, line->first_bytes);
        } else if (line->first[line->first_bytes - 1] == '\n') {
            line->undecided = false;
            line->first[line->first_bytes - 1] = '\0';
            take_first_line(line);
        } else if (line->first_bytes == sizeof line->first - 1) {
            refuse(line, "the first line is too long");
            return;
        }
    }
    if (count > 0 && !line->gone)
        take_stream(line, bytes, count);
}

/* False: nothing more comes now. */
static bool read_line(struct line *line)
{
    static uint8_t bytes[READ_BYTES];
    ssize_t count = read(line->handle.file, bytes, sizeof bytes);

    if (count < 0 && (errno == EAGAIN || errno == EINTR))
        return false;
    if (count <= 0) {
        lose_line(line);
        return false;
    }
    line->bytes += (uint64_t)count;
    if (line->undecided)
        take_first(line, bytes, (size_t)count);
    else
        take_stream(line, bytes, (size_t)count);
    return true;
}

/* ---- what listens */

static int listen_unix(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int file = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    int probe = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    struct stat about;
    mode_t mask;
    bool fine;

    if (strlen(path) >= sizeof address.sun_path)
        die_usage("unix:%s: path too long for a socket", path);
    strcpy(address.sun_path, path);
    if (connect(probe, (struct sockaddr *)&address, sizeof address) == 0)
        die("unix:%s: somebody listens there already", path);
    if (errno == ECONNREFUSED && lstat(path, &about) == 0 &&
        S_ISSOCK(about.st_mode))
        unlink(path); /* of one that has ended */
    close(probe);
    /* whoever can connect may read guests and send them commands */
    mask = umask(0177);
    fine = bind(file, (struct sockaddr *)&address, sizeof address) == 0;
    umask(mask);
    if (!fine || listen(file, BACKLOG) != 0)
        die("unix:%s: %s", path, strerror(errno));
    return file;
}

static bool is_loopback(const struct sockaddr *address)
{
    if (address->sa_family == AF_INET)
        return ntohl(((const struct sockaddr_in *)(const void *)address)
                         ->sin_addr.s_addr) >>
                   24 ==
               127;
    return address->sa_family == AF_INET6 &&
           IN6_IS_ADDR_LOOPBACK(
               &((const struct sockaddr_in6 *)(const void *)address)
                    ->sin6_addr);
}

static int listen_tcp(const struct collector *collector, const char *where)
{
    static const struct addrinfo want = {.ai_socktype = SOCK_STREAM,
                                         .ai_flags = AI_PASSIVE};
    const char *colon = strrchr(where, ':');
    struct addrinfo *found = NULL;
    char *host;
    int problem, file, yes = 1;

    if (colon == NULL)
        die_usage("tcp:%s: expected tcp:HOST:PORT", where);
    host = strndup(where, (size_t)(colon - where));
    problem = getaddrinfo(host, colon + 1, &want, &found);
    free(host);
    if (problem != 0)
        die("tcp:%s: %s", where, gai_strerror(problem));
    if (!is_loopback(found->ai_addr) && collector->options.token_count == 0)
        die_usage("tcp:%s: other machines can connect there; give --tokens",
                  where);
    file =
        socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (file >= 0)
        setsockopt(file, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (file < 0 || bind(file, found->ai_addr, found->ai_addrlen) != 0 ||
        listen(file, BACKLOG) != 0)
        die("tcp:%s: %s", where, strerror(errno));
    freeaddrinfo(found);
    return file;
}

static void say_port(const struct listener *listener)
{
    struct sockaddr_storage address = {0};
    char host[NI_MAXHOST], port[NI_MAXSERV];

    if (getsockname(listener->handle.file, (struct sockaddr *)&address,
                    &(socklen_t){sizeof address}) == 0 &&
        getnameinfo((struct sockaddr *)&address, sizeof address, host,
                    sizeof host, port, sizeof port,
                    NI_NUMERICHOST | NI_NUMERICSERV) == 0)
        log_info("listening at tcp:%s:%s", host, port);
}

static void open_listener(struct collector *collector,
                          const struct collector_source *source)
{
    struct listener *listener = xreallocarray(NULL, 1, sizeof *listener);

    *listener =
        (struct listener){.handle = {HANDLE_LISTENER, -1}, .source = source};
    if (strncmp(source->where, "unix:", 5) == 0) {
        listener->handle.file = listen_unix(source->where + 5);
        listener->path = xstrdup(source->where + 5);
        if (stat(listener->path, &listener->about) != 0)
            die("%s: %s", source->where, strerror(errno));
        log_info("listening at %s", source->where);
    } else if (strncmp(source->where, "tcp:", 4) == 0) {
        listener->tcp = true;
        listener->handle.file = listen_tcp(collector, source->where + 4);
        say_port(listener);
    } else {
        die_usage("--listen takes unix:PATH or tcp:HOST:PORT, not '%s'",
                  source->where);
    }
    VECTOR_ADD(collector->listeners, collector->listener_count, listener);
    watch(collector, &listener->handle, EPOLLIN, true);
}

/* Has a connection that has sent nothing make room for another. A guest that
 * boots, or does not sample yet, sends nothing either: only the oldest of them,
 * and not at once. False: there is none. */
static bool drop_silent(struct collector *collector)
{
    struct line *longest = NULL;

    for (size_t i = 0; i < collector->line_count; ++i) {
        struct line *line = collector->lines[i];

        if (line->undecided && line->handle.file >= 0 &&
            line->begun + FIRST_LINE_MS < steady_ms() &&
            (longest == NULL || line->begun < longest->begun))
            longest = line;
    }
    if (longest == NULL)
        return false;
    ++collector->counters.refused_connections;
    lose_line(longest);
    return true;
}

/* No more files can be opened: it is asked again a second later, as epoll would
 * tell of the same connection without end. */
static void rest_listener(struct collector *collector,
                          struct listener *listener)
{
    if (collector->counters.unopened++ == 0)
        log_error("%s: a connection waits: %s", listener->source->where,
                  strerror(errno));
    listener->rests = true;
    watch(collector, &listener->handle, 0, false);
}

static void accept_line(struct collector *collector, struct listener *listener)
{
    int file = files_remain(collector)
                   ? accept4(listener->handle.file, NULL, NULL,
                             SOCK_CLOEXEC | SOCK_NONBLOCK)
                   : -1;
    struct line *line;

    if (file < 0) {
        if ((errno == EMFILE || errno == ENFILE) && !drop_silent(collector))
            rest_listener(collector, listener);
        return;
    }
    line = add_line(collector, listener->source);
    line->handle.file = file;
    line->accepted = line->undecided = line->two_way = true;
    line->tcp = listener->tcp;
    line->begun = steady_ms();
    snprintf(line->name, sizeof line->name, "%s#%llu", listener->source->where,
             (unsigned long long)++collector->counters.connections);
    watch(collector, &line->handle, EPOLLIN, true);
}

void lines_event(struct collector *collector, struct handle *handle,
                 uint32_t events)
{
    (void)events;
    if (handle->file < 0)
        return;
    if (handle->kind == HANDLE_LISTENER)
        accept_line(collector, (struct listener *)(void *)handle);
    else
        read_line((struct line *)(void *)handle);
}

/* ---- targets: a few threads connect, as that may take long */

static void *dial_lines(void *owner)
{
    struct collector *collector = owner;

    pthread_mutex_lock(&collector->dial_lock);
    while (!collector->ending) {
        size_t next = dial_next(collector->to_dial, collector->to_dial_count,
                                collector->slow_dials);
        struct line *line;
        double begun = seconds_now();
        unsigned slow;

        if (next == collector->to_dial_count) {
            pthread_cond_wait(&collector->dial, &collector->dial_lock);
            continue;
        }
        line = collector->to_dial[next];
        memmove(collector->to_dial + next, collector->to_dial + next + 1,
                (--collector->to_dial_count - next) * sizeof line);
        slow = line->slow_tries > 0;
        collector->slow_dials += slow;
        pthread_mutex_unlock(&collector->dial_lock);
        line->fine = target_try(&line->opened, line->source->where,
                                TARGET_STREAM, line->why, sizeof line->why);
        line->took = seconds_now() - begun;
        pthread_mutex_lock(&collector->dial_lock);
        collector->slow_dials -= slow;
        VECTOR_ADD(collector->dialled, collector->dialled_count, line);
        (void)!write(collector->wake, &(uint64_t){1}, sizeof(uint64_t));
    }
    pthread_mutex_unlock(&collector->dial_lock);
    return NULL;
}

static void dial(struct collector *collector, struct line *line)
{
    line->connecting = true;
    pthread_mutex_lock(&collector->dial_lock);
    VECTOR_ADD(collector->to_dial, collector->to_dial_count, line);
    pthread_cond_signal(&collector->dial);
    pthread_mutex_unlock(&collector->dial_lock);
}

static void say_problem(struct line *line, const char *why)
{
    if (strcmp(line->problem, why) == 0)
        return;
    snprintf(line->problem, sizeof line->problem, "%s", why);
    log_info("%s", why);
}

static void take_dialled(struct line *line)
{
    struct stat about;

    line->connecting = false;
    line->again = seconds_now() + dial_pause(line, line->took);
    if (!line->fine) {
        say_problem(line, line->why);
        return;
    }
    line->problem[0] = '\0';
    ++line->connections;
    line->handle.file = line->opened.file;
    line->two_way = line->opened.two_way;
    fcntl(line->handle.file, F_SETFL,
          fcntl(line->handle.file, F_GETFL) | O_NONBLOCK);
    line->is_file = !line->two_way;
    if (fstat(line->handle.file, &about) != 0 || !S_ISREG(about.st_mode))
        watch(line->collector, &line->handle, EPOLLIN, true);
}

static void take_all_dialled(struct collector *collector)
{
    pthread_mutex_lock(&collector->dial_lock);
    while (collector->dialled_count > 0)
        take_dialled(collector->dialled[--collector->dialled_count]);
    pthread_mutex_unlock(&collector->dial_lock);
}

/* ---- RAM */

/* Whether a ring is in the RAM's file, at the symbol of an image of -k or where
 * its mark is found, from *at on, which is then its place. Otherwise *at is
 * where to go on; 0 = at the beginning, later. Holes of the file are not read.
 */
static bool find_ring(const struct builds *builds, int file, off_t bytes,
                      uint64_t *at)
{
    static uint8_t piece[1 << 20];
    uint64_t magic, symbol;
    unsigned pieces = 0;
    off_t from = (off_t)*at;

    for (size_t i = 0; i < builds->given_count; ++i)
        if (from == 0 &&
            image_object(&builds->given[i], "prof_share_ring", &symbol) &&
            pread(file, &magic, sizeof magic, (off_t)symbol) == sizeof magic &&
            magic == PROF_SHARE_MAGIC) {
            *at = symbol;
            return true;
        }
    *at = 0;
    while (from < bytes) {
        off_t data = lseek(file, from, SEEK_DATA);
        ssize_t count;

        if (data < 0)
            return false;
        if (pieces++ == RAM_PIECES) {
            *at = (uint64_t)data;
            return false;
        }
        data -= data % (off_t)sizeof magic;
        count = pread(file, piece, sizeof piece, data);
        for (ssize_t i = 0; i + (ssize_t)sizeof(struct prof_share) <= count;
             i += (ssize_t)sizeof magic) {
            struct prof_share share;

            memcpy(&share, piece + i, sizeof share);
            if (share.magic == PROF_SHARE_MAGIC && share.ring_bytes > 0 &&
                (share.ring_bytes & (share.ring_bytes - 1)) == 0 &&
                share.ring_bytes < (uint64_t)bytes &&
                share.ring_address <= (uint64_t)bytes - share.ring_bytes) {
                *at = (uint64_t)(data + i);
                return true;
            }
        }
        if (count <= (ssize_t)sizeof(struct prof_share))
            return false;
        from = data + count - (ssize_t)sizeof(struct prof_share);
    }
    return false;
}

static void open_ram(struct line *line, int64_t now)
{
    char why[SHARED_RING_WHY];
    struct stat about;
    bool found = false;
    int file;

    if (line->searched == 0 &&
        now < line->tried + (RAM_AGAIN_MS
                             << (line->tries < RAM_TRIES_MAX ? line->tries
                                                             : RAM_TRIES_MAX)))
        return;
    if (line->searched == 0)
        ++line->tries;
    line->tried = now;
    file = open(line->path, O_RDWR | O_CLOEXEC | O_NONBLOCK);
    if (file < 0 || fstat(file, &about) != 0) {
        snprintf(why, sizeof why, "%s: %s", line->name, strerror(errno));
        say_problem(line, why);
        line->searched = 0;
        if (file >= 0)
            close(file);
        return;
    }
    if (S_ISREG(about.st_mode))
        found = find_ring(&line->collector->builds, file, about.st_size,
                          &line->searched);
    close(file);
    line->inode = about.st_ino;
    if (!found)
        return;
    if (shared_ring_try(&line->share, line->path, line->searched, why)) {
        ++line->connections;
        line->tries = 0;
        if (line->backlog_of != line->inode)
            line->backlog = shared_ring_room(&line->share);
        line->backlog_of = line->inode;
    } else if (*why != '\0') {
        say_problem(line, why);
    }
    line->searched = 0;
}

/* After a restart the RAM may be another file of the same name. What looks like
 * a ring and is none may come before the true one. */
static void read_ram(struct line *line)
{
    uint64_t behind = line->share.ring + sizeof(uint64_t);

    uint64_t allowed = guests_allowance(line);

    if (allowed == 0)
        return;
    line->share.step = allowed < SHARED_RING_STEP ? allowed : SHARED_RING_STEP;
    shared_ring_read(&line->share, &line->scanner.sink);
    if (!line->share.damaged)
        return;
    say_problem(line, "the ring of a guest is damaged; it is looked for again");
    lose_line(line);
    line->searched = behind;
}

static bool ram_changed(const struct line *line)
{
    struct stat about;

    return stat(line->path, &about) != 0 || about.st_ino != line->inode;
}

/* Opens the RAM, or leaves what is no longer the guest's. */
static void check_ram(struct line *line, int64_t now)
{
    if (line->share.ram == NULL) {
        if (line->scanned && access(line->path, F_OK) != 0)
            line->gone = true;
        else
            open_ram(line, now);
    } else if (ram_changed(line)) {
        line->share.step = 0;
        shared_ring_read_rest(&line->share, &line->scanner.sink);
        lose_line(line);
        line->tries = 0;
    }
}

static bool has_ram(const struct collector *collector, const char *path)
{
    for (size_t i = 0; i < collector->line_count; ++i)
        if (collector->lines[i]->ram &&
            strcmp(collector->lines[i]->path, path) == 0)
            return true;
    return false;
}

static void add_ram(struct collector *collector,
                    const struct collector_source *source, const char *path,
                    bool scanned)
{
    struct line *line = add_line(collector, source);

    line->ram = true;
    line->scanned = scanned;
    line->path = xstrdup(path);
    snprintf(line->name, sizeof line->name, "shm:%s", path);
}

static void scan(struct collector *collector,
                 const struct collector_source *source)
{
    glob_t found;

    if (glob(source->where + 4, GLOB_NOSORT, NULL, &found) != 0)
        return;
    for (size_t i = 0; i < found.gl_pathc; ++i)
        if (!has_ram(collector, found.gl_pathv[i]))
            add_ram(collector, source, found.gl_pathv[i], true);
    globfree(&found);
}

/* ---- all of them */

bool lines_poll(struct collector *collector)
{
    bool any = false;

    for (size_t i = 0; i < collector->line_count; ++i) {
        struct line *line = collector->lines[i];

        if (line->share.ram != NULL) {
            read_ram(line);
            any = true;
        } else if (line->is_file && line->handle.file >= 0) {
            for (unsigned reads = 0; reads < FILE_READS; ++reads)
                if (line->handle.file < 0 || !read_line(line))
                    break;
            any = true;
        }
    }
    return any;
}

void lines_tick(struct collector *collector, int64_t now)
{
    const struct collector_options *options = &collector->options;

    take_all_dialled(collector);
    for (size_t i = 0;
         i < collector->listener_count && collector->scanned != now / 1000; ++i)
        if (collector->listeners[i]->rests) {
            collector->listeners[i]->rests = false;
            watch(collector, &collector->listeners[i]->handle, EPOLLIN, false);
        }
    if (collector->scanned != now / 1000)
        for (size_t i = 0; i < options->source_count; ++i)
            if (options->sources[i].way == COLLECTOR_SCAN)
                scan(collector, &options->sources[i]);
    for (size_t i = 0; i < collector->line_count; ++i) {
        struct line *line = collector->lines[i];

        if (line->ram) {
            if (collector->scanned != now / 1000 || line->share.ram == NULL)
                check_ram(line, now);
        } else if (line->undecided && line->first_bytes > 0 && !line->gone &&
                   line->begun + FIRST_LINE_MS < now) {
            refuse(line, "the rest of the first line did not come");
        } else if (!line->accepted && !line->is_file && !line->connecting &&
                   line->handle.file < 0 && line->again <= seconds_now()) {
            dial(collector, line);
        }
    }
    collector->scanned = now / 1000;
}

bool lines_remain(const struct collector *collector)
{
    if (collector->listener_count > 0 || collector->line_count > 0)
        return true;
    for (size_t i = 0; i < collector->options.source_count; ++i)
        if (collector->options.sources[i].way == COLLECTOR_SCAN)
            return true;
    return false;
}

static void open_source(struct collector *collector,
                        const struct collector_source *source)
{
    struct line *line;

    switch (source->way) {
    case COLLECTOR_LISTEN:
        open_listener(collector, source);
        break;
    case COLLECTOR_SCAN:
        if (strncmp(source->where, "shm:", 4) != 0)
            die_usage("--scan takes shm:PATTERN, not '%s'", source->where);
        break;
    default:
        if (strncmp(source->where, "shm:", 4) == 0) {
            add_ram(collector, source, source->where + 4, false);
            break;
        }
        line = add_line(collector, source);
        snprintf(line->name, sizeof line->name, "%s", source->where);
        break;
    }
}

void lines_open(struct collector *collector)
{
    const struct collector_options *options = &collector->options;

    for (size_t i = 0; i < options->source_count; ++i)
        open_source(collector, &options->sources[i]);
    pthread_mutex_init(&collector->dial_lock, NULL);
    pthread_cond_init(&collector->dial, NULL);
    for (size_t i = 0;
         i < sizeof collector->dialers / sizeof *collector->dialers; ++i)
        if (pthread_create(&collector->dialers[i], NULL, dial_lines,
                           collector) != 0)
            die("no thread: %s", strerror(errno));
}

void lines_close(struct collector *collector)
{
    pthread_mutex_lock(&collector->dial_lock);
    collector->ending = true;
    pthread_cond_broadcast(&collector->dial);
    pthread_mutex_unlock(&collector->dial_lock);
    for (size_t i = 0;
         i < sizeof collector->dialers / sizeof *collector->dialers; ++i)
        pthread_join(collector->dialers[i], NULL);
    for (size_t i = 0; i < collector->line_count; ++i)
        free_line(collector->lines[i]);
    for (size_t i = 0; i < collector->listener_count; ++i) {
        struct listener *listener = collector->listeners[i];
        struct stat about;

        close(listener->handle.file);
        if (listener->path != NULL && stat(listener->path, &about) == 0 &&
            about.st_dev == listener->about.st_dev &&
            about.st_ino == listener->about.st_ino)
            unlink(listener->path); /* nobody has put another there */
        free(listener->path);
        free(listener);
    }
    free(collector->lines);
    free(collector->listeners);
    free(collector->to_dial);
    free(collector->dialled);
}
