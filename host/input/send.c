/* SPDX-License-Identifier: Apache-2.0 */
/* Commands to a guest: one at a time, repeated until it is answered. */

#define _GNU_SOURCE /* vasprintf() */

#include "input/send.h"

#include "base/log.h"
#include "base/memory.h"
#include "base/wait.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <poll.h>
#include <prof/format.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* ---- answers among the other bytes that a guest sends */

#define MARK_BYTES (sizeof PROF_ANSWER_MARK - 1)

static void look_for_mark(struct answers *answers, char byte)
{
    if (byte == PROF_ANSWER_MARK[answers->matched])
        ++answers->matched;
    else
        answers->matched = byte == PROF_ANSWER_MARK[0];
    if (answers->matched == 1)
        answers->led = answers->fresh;
    answers->fresh = byte == '\n';
}

static void end_answer(struct answers *answers)
{
    size_t used = answers->used;

    answers->bytes += answers->led + MARK_BYTES + used + 1;
    if (used > 0 && answers->text[used - 1] == '\r')
        --used;
    answers->text[used] = '\0';
    answers->matched = answers->used = 0;
    answers->fresh = true;
    answers->take(answers->owner, answers->text);
}

void answers_feed(struct answers *answers, const void *bytes, size_t count)
{
    const char *at = bytes;

    for (size_t i = 0; i < count; ++i) {
        if (answers->matched < MARK_BYTES)
            look_for_mark(answers, at[i]);
        else if (at[i] == '\n')
            end_answer(answers);
        else if (answers->used < SEND_LINE_MAX - 1)
            answers->text[answers->used++] = at[i];
    }
}

/* ---- commands */

/* ---- whether a server has accepted us
 *
 * QEMU serves one client of a socket at a time. connect() succeeds for others
 * too, but they wait in the socket's queue, and what they send is delivered
 * when the first one leaves.
 *
 * The kernel lists connections with their states in /proc/net. One in the queue
 * has no socket yet: its inode is 0 in tcp and tcp6. In unix its state is 2,
 * but several clients of a path cannot be distinguished there; so a newline is
 * sent, and if it is read, we are the client that is served.
 */

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

/* Whether the connected socket (file) is not accepted yet; false if that is
 * unknown: another machine, or no socket. May send a newline, no command. */
static bool pending_connection(int file)
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

/* ---- commands */

#define AGAIN_SECONDS 1.0
#define HELD_SECONDS 1.0  /* until it is reported that others hold the line */
#define HEARD_SECONDS 5.0 /* a guest that sent since then is busy */
#define RATE_TOLERANCE 0.02
#define READS_MAX 64u /* of one call */

void send_add(struct sender *sender, const char *format, ...)
{
    va_list words;
    char *line;

    va_start(words, format);
    if (vasprintf(&line, format, words) < 0)
        die("out of memory");
    va_end(words);
    VECTOR_ADD(sender->lines, sender->count, line);
}

void send_begin(struct sender *sender, int file)
{
    sender->file = file;
    sender->answered = 0;
    sender->begun = 0;
    sender->state = SEND_WAITS;
    sender->accepted = file < 0;
    sender->held_since = 0;
    sender->answers.matched = sender->answers.used = 0;
}

void send_check_rate(double requested, double rate)
{
    if (rate < requested * (1 - RATE_TOLERANCE))
        log_info("the guest capped the rate at %g Hz; %g Hz was requested",
                 rate, requested);
    else if (rate > requested * (1 + RATE_TOLERANCE))
        log_info("the guest samples at %g Hz; %g Hz was requested", rate,
                 requested);
}

bool send_is_held(struct sender *sender)
{
    if (!sender->accepted)
        sender->accepted = !pending_connection(sender->file);
    return !sender->accepted;
}

/* Takes one answer. One that does not match the present command answers
 * another client's, or one that was sent twice. */
static void take_answer(void *owner, const char *text)
{
    struct sender *sender = owner;
    double requested, rate;
    const char *line;
    size_t bytes;

    if (sender->state != SEND_WAITS || sender->count == 0)
        return;
    line = sender->lines[sender->answered];
    bytes = strlen(line);
    if (strncmp(text, "ok ", 3) == 0 && strncmp(text + 3, line, bytes) == 0 &&
        strchr(" ", text[3 + bytes]) != NULL) {
        log_verbose("the guest answers: %s", text);
        if (sender->agreed != NULL)
            sender->agreed(text);
        if (sscanf(text, "ok rate %lf at %lf Hz", &requested, &rate) == 2)
            send_check_rate(requested, rate);
        ++sender->answered;
        sender->begun = 0;
        if (sender->answered == sender->count)
            sender->state = SEND_DONE;
    } else if (strncmp(text, "error: \"", 8) == 0 &&
               strncmp(text + 8, line, bytes) == 0 && text[8 + bytes] == '"') {
        log_error("the guest answers: %s", text);
        sender->state = SEND_FAILED;
    }
}

void send_receive(struct sender *sender, const void *bytes, size_t count)
{
    sender->answers.take = take_answer;
    sender->answers.owner = sender;
    sender->heard = seconds_now();
    answers_feed(&sender->answers, bytes, count);
}

/* Whether (line) was sent, or not at all for now: it is sent again later. The
 * newline in front ends what another sender may have left. */
static bool write_line(const struct sender *sender, const char *line)
{
    char text[SEND_LINE_MAX];
    int bytes = snprintf(text, sizeof text, "\n%s\n", line);
    ssize_t sent =
        send(sender->file, text, (size_t)bytes, MSG_NOSIGNAL | MSG_DONTWAIT);

    if (sent < 0 && errno == ENOTSOCK)
        sent = write(sender->file, text, (size_t)bytes);
    return sent >= 0 || errno == EAGAIN || errno == EINTR;
}

void send_hello_request(const struct sender *sender)
{
    if (sender->file >= 0)
        (void)write_line(sender, "hello");
}

static void send_line(struct sender *sender)
{
    const char *line = sender->lines[sender->answered];

    if (write_line(sender, line))
        return;
    log_error("'%s' could not be sent: %s", line, strerror(errno));
    sender->state = SEND_FAILED;
}

/* Reads what is available even if no answer is expected: a console that is not
 * read would block its guest. What never ends is left for the next call. */
static void read_answers(struct sender *sender)
{
    unsigned left = READS_MAX;
    char bytes[4096];

    while (sender->reads && left-- > 0 && wait_readable(sender->file, 0, 0)) {
        ssize_t count = read(sender->file, bytes, sizeof bytes);

        if (count > 0) {
            send_receive(sender, bytes, (size_t)count);
            continue;
        }
        sender->reads = count < 0 && (errno == EINTR || errno == EAGAIN);
        if (sender->reads || sender->count == 0 || sender->state != SEND_WAITS)
            continue;
        log_error("the connection was closed before '%s' was answered",
                  sender->lines[sender->answered]);
        sender->state = SEND_FAILED;
    }
}

/* Another client is served: what is sent would run after we gave up. */
static void wait_for_line(struct sender *sender, double time, double limit)
{
    bool is_new = sender->held_since == 0;

    if (is_new)
        sender->held_since = time;
    if (time - sender->held_since >= limit) {
        log_error("'%s' was not sent: another client, such as top or record, "
                  "is connected to the line, and QEMU serves one at a time",
                  sender->lines[sender->answered]);
        sender->state = SEND_FAILED;
    } else if (!sender->held_reported &&
               time - sender->held_since >= HELD_SECONDS) {
        log_info("another client is connected to the line; waiting");
        sender->held_reported = true;
    }
}

/* A guest that sends is slow, not deaf: its commands queue behind what it is
 * busy with. Its packets come each second, or later if the host is busy. One
 * that listens elsewhere may send for ever. */
static double answer_limit(const struct sender *sender, double time)
{
    if (sender->seconds > 0)
        return sender->seconds;
    if (sender->listens || time - sender->heard < HEARD_SECONDS)
        return SEND_SECONDS_BUSY;
    return SEND_SECONDS;
}

static void send_due(struct sender *sender)
{
    double time = seconds_now(), limit = answer_limit(sender, time);

    if (sender->begun == 0 && send_is_held(sender)) {
        wait_for_line(sender, time, limit);
    } else if (sender->begun == 0) {
        sender->begun = sender->sent = time;
        send_line(sender);
    } else if (time - sender->begun >= limit) {
        log_error(
            "'%s' was not answered within %g s; does the guest listen to this "
            "line (the stream's with prof.out=uart2, virtio or vsock, "
            "otherwise its console), and does its service yield?",
            sender->lines[sender->answered], limit);
        sender->state = SEND_FAILED;
    } else if (!sender->once && time - sender->sent >= AGAIN_SECONDS) {
        sender->sent = time;
        send_line(sender);
    }
}

enum send_state send_step(struct sender *sender)
{
    read_answers(sender);
    if (sender->count == 0)
        return SEND_DONE;
    if (sender->state == SEND_WAITS)
        send_due(sender);
    return sender->state;
}

void send_free(struct sender *sender)
{
    for (size_t i = 0; i < sender->count; ++i)
        free(sender->lines[i]);
    free(sender->lines);
    sender->lines = NULL;
    sender->count = 0;
}
