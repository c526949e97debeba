/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every serve is asked to begin at the same second; it does what is to be done
 * at the guests, and sets them back when the time is over, or when we are gone.
 * Then each guest's packets are fetched, one after the other, into a trace.
 *
 * Nobody begins before all have agreed. Where an answer has not come a second
 * before that, connections are closed, which ends what was agreed, and all are
 * asked again, to begin later.
 */

#include "cli/fleet_capture.h"

#include "base/json.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/text.h"
#include "base/wait.h"
#include "input/target.h"
#include "trace/model.h"
#include "trace/trace.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define AHEAD_SECONDS 2 /* until it begins; twice as many each time */
#define AHEAD_MAX 16
#define ANSWER_SECONDS 30.0
#define FIRST_LINE_MAX 511 /* that serve takes */
#define ANSWER_MAX (64u << 20)
#define BOOT_DIGITS 32

/* One serve. */
struct host {
    const char *where;
    int file; /* -1 = closed */
    char *answer;
    size_t bytes;
    bool failed;
};

struct session {
    const struct fleet_capture *wanted;
    struct host *hosts;
    json_t *guests; /* what is printed of each */
    size_t failed;
};

/* ---- asking */

static void close_host(struct host *host)
{
    if (host->file >= 0)
        close(host->file);
    host->file = -1;
}

static void fail(struct session *session, struct host *host, const char *why)
{
    log_error("%s: %s", host->where, why);
    ++session->failed;
    host->failed = true;
    close_host(host);
}

/* The words of (format) to (host), after what identifies us. */
static bool send_line(const struct host *host, const char *text)
{
    return send(host->file, text, strlen(text), MSG_NOSIGNAL) ==
           (ssize_t)strlen(text);
}

static bool open_host(struct host *host, char *why)
{
    struct target target = {.file = -1};

    if (!target_try(&target, host->where, TARGET_COMMANDS, why, TARGET_WHY_MAX))
        return false;
    host->file = target.file;
    return true;
}

/* " token=T", "" without. */
static const char *token_word(void)
{
    static char *word;
    const char *token = getenv("PARASITE_TOKEN");

    if (word == NULL)
        word = token != NULL ? text_format(" token=%s", token) : xstrdup("");
    return word;
}

static char *order_text(const struct fleet_capture *wanted, int64_t begin)
{
    char *text =
        text_format("parasite capture%s service=%s begin=%" PRId64
                    " seconds=%u rate=%u tasks=%d bytes=%.0f",
                    token_word(), wanted->service, begin, wanted->seconds,
                    wanted->rate, (int)wanted->tasks, wanted->budget);

    for (size_t i = 0; i < wanted->guest_count; ++i) {
        char *more = text_format("%s%s%s", text, i == 0 ? " guests=" : ",",
                                 wanted->guests[i]);

        free(text);
        text = more;
    }
    if (strlen(text) >= FIRST_LINE_MAX)
        die_usage("too many guests are named; leave --guest out for all of the "
                  "service");
    strcat(text = xreallocarray(text, strlen(text) + 2, 1), "\n");
    return text;
}

/* Reads what is there; false at the end, or when it is too much. */
static bool read_some(struct host *host)
{
    char bytes[65536];
    ssize_t count = read(host->file, bytes, sizeof bytes);

    if (count < 0)
        return errno == EAGAIN || errno == EINTR;
    if (count == 0 || host->bytes + (size_t)count > ANSWER_MAX)
        return false;
    host->answer =
        xreallocarray(host->answer, host->bytes + (size_t)count + 1, 1);
    memcpy(host->answer + host->bytes, bytes, (size_t)count);
    host->bytes += (size_t)count;
    host->answer[host->bytes] = '\0';
    return true;
}

static const char *no_answer(void)
{
    return signals_caught() ? "interrupted" : "no answer";
}

static bool has_line(const struct host *host)
{
    return host->bytes > 0 && memchr(host->answer, '\n', host->bytes) != NULL;
}

/* Its first line is there, if any: a host that does not agree has failed. */
static void take_line(struct session *session, struct host *host)
{
    char *line = host->answer,
         *end = has_line(host) ? strchr(line, '\n') : NULL;

    if (end != NULL && strncmp(line, "ok ", 3) == 0)
        return;
    if (end != NULL)
        *end = '\0';
    fail(session, host,
         end == NULL                        ? no_answer()
         : strncmp(line, "error: ", 7) == 0 ? line + 7
                                            : line);
}

/* Until each has answered with a line, or (deadline); returns one that has
 * not, or NULL. */
static struct host *wait_lines(struct session *session, double deadline)
{
    struct host *late = NULL;

    for (size_t i = 0; i < session->wanted->from_count; ++i) {
        struct host *host = &session->hosts[i];

        while (host->file >= 0 && !has_line(host) &&
               wait_readable(host->file, deadline, 0))
            if (!read_some(host))
                close_host(host);
        if (host->file >= 0 && !has_line(host))
            late = host;
        else if (!host->failed)
            take_line(session, host);
    }
    return late;
}

/* Until all answers are complete, or (deadline). */
static void wait_answers(struct session *session, double deadline)
{
    for (size_t i = 0; i < session->wanted->from_count; ++i) {
        struct host *host = &session->hosts[i];

        while (host->file >= 0 && wait_readable(host->file, deadline, 0))
            if (!read_some(host))
                close_host(host);
        if (host->file >= 0)
            fail(session, host, no_answer());
    }
}

/* ---- fetching */

/* A trace that is written. */
struct writing {
    struct trace_writer writer;
    struct model model;
};

static void take_packet(void *owner, const struct packet *packet)
{
    struct writing *writing = owner;

    if (trace_put(&writing->writer, packet))
        model_take(&writing->model, packet);
}

static void end_trace(struct writing *writing)
{
    trace_finish(&writing->writer, &writing->model);
    packet_index_free(&writing->writer.index);
    free(writing->writer.streams);
    free(writing->writer.path);
    model_free(&writing->model);
}

/* The line that the packets follow, byte by byte: "ok BYTES". */
static bool read_length(const struct host *host, double deadline,
                        unsigned long long *bytes, char *why)
{
    char line[256] = "";
    size_t used = 0;
    char *end;

    while (used < sizeof line - 1 && wait_readable(host->file, deadline, 0)) {
        ssize_t count = read(host->file, line + used, 1);

        if (count < 0 && (errno == EAGAIN || errno == EINTR))
            continue;
        if (count <= 0 || line[used] == '\n')
            break;
        ++used;
    }
    line[used] = '\0';
    if (strncmp(line, "ok ", 3) == 0) {
        *bytes = strtoull(line + 3, &end, 10);
        if (*end == '\0')
            return true;
    }
    snprintf(why, TARGET_WHY_MAX, "%s", used > 0 ? line : "no answer");
    return false;
}

static bool read_packets(const struct host *host, unsigned long long bytes,
                         const char *path, char *why)
{
    static uint8_t piece[1 << 16];
    struct writing writing = {0};
    struct scanner scanner = {.sink = {take_packet, &writing}};
    unsigned long long left = bytes;

    if (!trace_create(&writing.writer, path, why)) {
        free(writing.writer.path);
        return false;
    }
    while (left > 0 &&
           wait_readable(host->file, seconds_now() + ANSWER_SECONDS, 0)) {
        ssize_t count =
            read(host->file, piece, left < sizeof piece ? left : sizeof piece);

        if (count < 0 && (errno == EAGAIN || errno == EINTR))
            continue;
        if (count <= 0)
            break;
        left -= (unsigned long long)count;
        scanner_feed(&scanner, piece, (size_t)count);
    }
    scanner_end(&scanner);
    end_trace(&writing);
    if (left > 0)
        snprintf(why, TARGET_WHY_MAX, "%llu of %llu bytes did not come", left,
                 bytes);
    return left == 0;
}

/* The packets of (boot), of the capture (name) of (where), to the trace at
 * (path). */
static bool fetch(const struct session *session, const char *where,
                  const char *name, const char *boot, const char *path,
                  char *why)
{
    struct host host = {.where = where, .file = -1};
    double most = session->wanted->budget * session->wanted->seconds;
    unsigned long long bytes;
    char *text;
    bool fine = false;

    if (!open_host(&host, why))
        return false;
    text = text_format("parasite captured%s capture=%s boot=%s\n", token_word(),
                       name, boot);
    if (!send_line(&host, text))
        snprintf(why, TARGET_WHY_MAX, "%s", strerror(errno));
    else if (!read_length(&host, seconds_now() + ANSWER_SECONDS, &bytes, why))
        ;
    else if ((double)bytes > most)
        snprintf(why, TARGET_WHY_MAX, "it says %llu bytes, above the budget",
                 bytes);
    else
        fine = read_packets(&host, bytes, path, why);
    free(text);
    close_host(&host);
    return fine;
}

/* ---- what the hosts say */

static const char *text_of(const json_t *object, const char *name)
{
    const char *text = json_string_value(json_object_get(object, name));

    return text != NULL ? text : "";
}

static bool is_boot(const char *text)
{
    return strlen(text) == BOOT_DIGITS &&
           text[strspn(text, "0123456789abcdef")] == '\0';
}

/* A guest of the capture (name): its trace, and a row of what is printed. */
static void take_guest(struct session *session, const struct host *host,
                       const char *name, json_t *guest)
{
    const char *boot = text_of(guest, "boot"), *error = text_of(guest, "error");
    char why[TARGET_WHY_MAX] = "";
    char *path = NULL;

    snprintf(why, sizeof why, "%s", error);
    if (is_boot(boot) &&
        json_integer_value(json_object_get(guest, "packets")) > 0) {
        char problem[TARGET_WHY_MAX] = "";

        path = text_format("%s/%s-%.16s.trace", session->wanted->folder,
                           session->wanted->service, boot);
        if (!fetch(session, host->where, name, boot, path, problem))
            snprintf(why, sizeof why, "%s", problem);
    } else if (*why == '\0') {
        strcpy(why, "nothing came from it");
    }
    json_set(guest, "host", json_text(host->where));
    json_set(guest, "trace", path != NULL ? json_text(path) : json_null());
    json_set(guest, "error", *why != '\0' ? json_text(why) : json_null());
    session->failed += *why != '\0';
    json_array_append(session->guests, guest);
    free(path);
}

static void say_lowered(const struct session *session, const struct host *host,
                        const json_t *head)
{
    json_int_t rate = json_integer_value(json_object_get(head, "rate"));

    if (rate != (json_int_t)session->wanted->rate)
        log_info("%s: %lld Hz instead of %u, for the budget of %.0f bytes/s",
                 host->where, (long long)rate, session->wanted->rate,
                 session->wanted->budget);
    if (session->wanted->tasks && !json_is_true(json_object_get(head, "tasks")))
        log_info("%s: recorders were switched off before the end: more than "
                 "the budget of %.0f bytes/s came",
                 host->where, session->wanted->budget);
}

/* "ok NAME", lines of guests, and one of the capture. */
static void take_host(struct session *session, struct host *host)
{
    char *rest = host->answer, *line;
    json_t *lines, *head = NULL, *one;
    const char *name;
    size_t i;

    if (host->failed)
        return;
    lines = json_array();
    name = strsep(&rest, "\n") + strlen("ok ");
    while ((line = strsep(&rest, "\n")) != NULL && *line != '\0')
        if ((one = json_loads(line, 0, NULL)) != NULL) {
            head = one;
            json_array_append_new(lines, one);
        }
    if (head == NULL || strcmp(text_of(head, "capture"), name) != 0) {
        fail(session, host, "it ended before the capture did");
    } else {
        say_lowered(session, host, head);
        json_array_foreach(lines, i, one) if (one != head)
            take_guest(session, host, name, one);
    }
    json_decref(lines);
}

/* ---- output */

static void print(const struct session *session)
{
    json_t *guest;
    size_t i;

    printf("%-18s%12s%10s%10s  %s\n", "guest", "bytes", "packets", "left out",
           "trace");
    json_array_foreach(session->guests, i, guest)
    {
        const char *number = text_of(guest, "guest"),
                   *trace = text_of(guest, "trace"),
                   *why = text_of(guest, "error");
        char *words = text_format(
            "%s%s%s", trace, *trace != '\0' && *why != '\0' ? ": " : "", why);
        char name[64];

        if (*number == '\0')
            number = text_of(guest, "boot");
        printf(
            "%-18.16s%12lld%10lld%10lld  ",
            printable(number, name, sizeof name),
            (long long)json_integer_value(json_object_get(guest, "bytes")),
            (long long)json_integer_value(json_object_get(guest, "packets")),
            (long long)json_integer_value(json_object_get(guest, "left_out")));
        printable_put(stdout, words);
        putchar('\n');
        free(words);
    }
}

/* ---- beginning */

/* Connects to those that may take part, anew where they were asked before. */
static void open_hosts(struct session *session)
{
    char why[TARGET_WHY_MAX];

    for (size_t i = 0; i < session->wanted->from_count; ++i) {
        struct host *host = &session->hosts[i];

        if (host->failed)
            continue;
        close_host(host);
        host->bytes = 0;
        if (!open_host(host, why))
            fail(session, host, why);
    }
}

/* All of them are to begin in (ahead) seconds. */
static void order_captures(struct session *session, unsigned ahead)
{
    char *text =
        order_text(session->wanted, (int64_t)time(NULL) + (int64_t)ahead);

    for (size_t i = 0; i < session->wanted->from_count; ++i) {
        struct host *host = &session->hosts[i];

        if (!host->failed && !send_line(host, text))
            fail(session, host, strerror(errno));
    }
    free(text);
}

static void begin_captures(struct session *session)
{
    unsigned ahead = AHEAD_SECONDS;
    struct host *late;

    open_hosts(session);
    order_captures(session, ahead);
    while ((late = wait_lines(session, seconds_now() + ahead - 1)) != NULL &&
           ahead < AHEAD_MAX && !signals_caught()) {
        ahead *= 2;
        log_info("%s: no answer within %u s: all are asked again, to begin in "
                 "%u s",
                 late->where, ahead / 2 - 1, ahead);
        open_hosts(session);
        order_captures(session, ahead);
    }
    for (size_t i = 0; i < session->wanted->from_count; ++i) {
        struct host *host = &session->hosts[i];

        if (!host->failed && !has_line(host))
            fail(session, host, no_answer());
    }
}

int fleet_capture(const struct fleet_capture *wanted)
{
    struct session session = {.wanted = wanted, .guests = json_array()};

    if (strpbrk(wanted->service, " /=\n") != NULL)
        die_usage("'%s' is no service: a blank, / or = is in it",
                  wanted->service);
    if (mkdir(wanted->folder, 0777) != 0 && errno != EEXIST)
        die("%s: %s", wanted->folder, strerror(errno));
    signals_catch();
    session.hosts =
        xreallocarray(NULL, wanted->from_count, sizeof *session.hosts);
    for (size_t i = 0; i < wanted->from_count; ++i)
        session.hosts[i] = (struct host){.where = wanted->from[i], .file = -1};
    begin_captures(&session);
    wait_answers(&session,
                 seconds_now() + AHEAD_MAX + wanted->seconds + ANSWER_SECONDS);
    for (size_t i = 0; i < wanted->from_count; ++i)
        take_host(&session, &session.hosts[i]);
    if (json_array_size(session.guests) == 0 && session.failed == 0) {
        log_error("there are no guests of service %s there", wanted->service);
        ++session.failed;
    }
    if (wanted->json)
        json_print(json_incref(session.guests), stdout);
    else if (json_array_size(session.guests) > 0)
        print(&session);
    for (size_t i = 0; i < wanted->from_count; ++i)
        free(session.hosts[i].answer);
    free(session.hosts);
    json_decref(session.guests);
    return session.failed > 0 ? STATUS_DATA : STATUS_OK;
}
