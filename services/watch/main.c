/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Profiles another unikernel over the network, through the profiler's port that
 * it has with prof.port=, and prints its hottest functions.
 *
 *     watch.peer=A.B.C.D:PORT  whom
 *     watch.token=TOKEN        its token ("")
 *     watch.seconds=10         how long each profile takes
 *     watch.hz=997             samples a second
 *     watch.rows=10            functions in a table
 *     watch.times=0            profiles until this image ends, 0 = for ever
 */

#include "folded.h"

#include <kernel/clock.h>
#include <kernel/console.h>
#include <kernel/http.h>
#include <kernel/loop.h>
#include <kernel/net.h>
#include <kernel/service.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ANSWER_MAX (8u << 20) /* bytes of a profile */
#define ROOM_FIRST 65536u
#define REQUEST_MAX 256u
#define AGAIN_NS NS_PER_S           /* after a failure */
#define LOOK_NS (20 * NS_PER_MS)    /* for an address */
#define PATIENCE_NS (20 * NS_PER_S) /* beyond the profile's time */
#define FAILURES_MAX 10u            /* in a row */
#define EXIT_FAILED 1

static struct net_address peer;
static char token[HTTP_TOKEN_MAX + 1];
static uint32_t seconds = 10, hz = 997, rows = 10, times;

static struct {
    struct net_conn *conn; /* NULL: not connected */
    char *bytes;           /* of the answer so far */
    size_t count, room;
    uint32_t taken, failures;
} watch;

static struct loop_timer timer, patience;

/* ---- options */

static bool parse_number(const char *value, uint32_t least, uint32_t most,
                         uint32_t *out)
{
    char *end;
    unsigned long read = strtoul(value, &end, 10);

    if (*value < '0' || *value > '9' || *end != '\0' || read < least ||
        read > most)
        return false;
    *out = (uint32_t)read;
    return true;
}

static bool set_peer(const char *value)
{
    uint32_t ip = 0, part;
    char *end;

    for (unsigned i = 0; i < 4; i++) {
        if (*value < '0' || *value > '9')
            return false;
        part = (uint32_t)strtoul(value, &end, 10);
        if (part > UINT8_MAX || *end != (i < 3 ? '.' : ':'))
            return false;
        ip = ip << 8 | part;
        value = end + 1;
    }
    if (!parse_number(value, 1, UINT16_MAX, &part))
        return false;
    peer = (struct net_address){ip, (uint16_t)part};
    return true;
}

/* It becomes a line of a request's head. */
static bool set_token(const char *value)
{
    if (strlen(value) > HTTP_TOKEN_MAX)
        return false;
    for (const char *at = value; *at != '\0'; at++)
        if (*at <= ' ' || *at > '~')
            return false;
    strcpy(token, value);
    return true;
}

bool service_option(const char *key, const char *value)
{
    if (strcmp(key, "watch.peer") == 0)
        return set_peer(value);
    if (strcmp(key, "watch.token") == 0)
        return set_token(value);
    if (strcmp(key, "watch.seconds") == 0)
        return parse_number(value, 1, 3600, &seconds);
    if (strcmp(key, "watch.hz") == 0)
        return parse_number(value, 1, 20000, &hz);
    if (strcmp(key, "watch.rows") == 0)
        return parse_number(value, 1, 1000, &rows);
    return strcmp(key, "watch.times") == 0 &&
           parse_number(value, 0, UINT32_MAX, &times);
}

/* ---- the table */

static void print_share(uint64_t part, uint64_t whole)
{
    unsigned hundredths = (unsigned)(part * 10000 / whole);

    printf("%4u.%02u %%  ", hundredths / 100, hundredths % 100);
}

/* Names are another machine's. */
static void print_name(const char *name)
{
    for (; *name != '\0'; name++)
        putchar((unsigned char)*name < ' ' || *name == 0x7f ? '?' : *name);
    putchar('\n');
}

static void print_table(const struct folded *folded)
{
    char text[NET_ADDRESS_TEXT];

    printf("--- %s: %llu samples, %llu of them idle, shares of samples ---\n",
           net_address_text(&peer, text), (unsigned long long)folded->samples,
           (unsigned long long)folded->idle);
    puts("     self      total   function");
    for (size_t i = 0; i < folded->count && i < rows; i++) {
        print_share(folded->rows[i].self, folded->samples);
        print_share(folded->rows[i].total, folded->samples);
        print_name(folded->rows[i].name);
    }
    if (folded->bad_lines != 0)
        printf("%lu lines left out, which are no call stacks\n",
               (unsigned long)folded->bad_lines);
    puts("---");
    fflush(stdout);
}

/* ---- the connection */

static void begin_watching(void *unused);

static void next(uint64_t delay_ns)
{
    loop_cancel(&patience);
    free(watch.bytes);
    watch.bytes = NULL;
    watch.count = watch.room = 0;
    watch.conn = NULL;
    if ((times != 0 && watch.taken == times) || watch.failures == FAILURES_MAX)
        loop_stop();
    else
        loop_once(&timer, delay_ns, begin_watching, NULL);
}

static void fail(const char *why)
{
    char text[NET_ADDRESS_TEXT];

    console_line("watch: %s: %s", net_address_text(&peer, text), why);
    watch.failures++;
    next(AGAIN_NS);
}

/* The first line of the answer, "HTTP/1.1 200 OK". */
static bool is_good(void)
{
    char *end = watch.bytes + strcspn(watch.bytes, "\r\n");

    if (strncmp(watch.bytes, "HTTP/1.", 7) == 0 &&
        strncmp(watch.bytes + 8, " 200 ", 5) == 0)
        return true;
    *end = '\0';
    for (char *at = watch.bytes; *at != '\0'; at++)
        if ((unsigned char)*at < ' ' || *at == 0x7f)
            *at = '?'; /* of another machine */
    fail(*watch.bytes != '\0' ? watch.bytes : "no answer");
    return false;
}

static void take_profile(void)
{
    struct folded folded;
    char *body;

    if (!is_good())
        return;
    body = strstr(watch.bytes, "\r\n\r\n");
    if (body == NULL) {
        fail("an answer without an end");
        return;
    }
    body += 4;
    if (!folded_read(&folded, body,
                     watch.count - (size_t)(body - watch.bytes))) {
        fail("not enough memory for its profile");
        return;
    }
    if (folded.samples == 0) {
        folded_free(&folded);
        fail("a profile without samples");
        return;
    }
    print_table(&folded);
    folded_free(&folded);
    watch.taken++;
    watch.failures = 0;
    next(0);
}

static bool make_room_for_answer(size_t count)
{
    size_t room = watch.room != 0 ? watch.room : ROOM_FIRST;
    char *bytes;

    if (watch.count + count < watch.room)
        return true;
    while (room <= watch.count + count)
        room *= 2;
    if (room > ANSWER_MAX)
        return false;
    bytes = realloc(watch.bytes, room);
    if (bytes == NULL)
        return false;
    watch.bytes = bytes;
    watch.room = room;
    return true;
}

static void on_receive(struct net_conn *conn, const void *bytes, size_t count)
{
    if (!make_room_for_answer(count)) {
        net_abort(conn);
        fail("more than there is room for");
        return;
    }
    memcpy(watch.bytes + watch.count, bytes, count);
    watch.count += count;
    watch.bytes[watch.count] = '\0';
}

static void on_ended(struct net_conn *conn)
{
    net_close(conn);
    if (watch.bytes == NULL)
        fail("no answer");
    else
        take_profile();
}

static void on_gone(struct net_conn *conn, enum net_reason reason)
{
    (void)conn;
    fail(net_reason_text(reason));
}

static void on_late(void *unused)
{
    (void)unused;
    net_abort(watch.conn);
    fail("no answer in time");
}

static bool on_connected(struct net_conn *conn, void *unused)
{
    char request[REQUEST_MAX], text[NET_ADDRESS_TEXT];
    int count = snprintf(
        request, sizeof request,
        "GET /profile?seconds=%u&hz=%u&format=folded HTTP/1.1\r\nHost: %s\r\n"
        "Connection: close\r\n%s%s%s\r\n",
        (unsigned)seconds, (unsigned)hz, net_address_text(&peer, text),
        token[0] != '\0' ? "Authorization: Bearer " : "", token,
        token[0] != '\0' ? "\r\n" : "");

    (void)unused;
    if (net_write(conn, request, (size_t)count) == (size_t)count)
        return true;
    fail("not enough memory"); /* the connection ends without more */
    return false;
}

static void begin_watching(void *unused)
{
    static const struct net_handlers handlers = {
        .accept = on_connected,
        .receive = on_receive,
        .ended = on_ended,
        .gone = on_gone,
    };

    (void)unused;
    if (net_ip() == 0) {
        loop_once(&timer, LOOK_NS, begin_watching, NULL);
        return;
    }
    watch.conn = net_connect(&peer, &handlers, NULL);
    if (watch.conn == NULL)
        fail("no route, or not enough memory");
    else
        loop_once(&patience, seconds * NS_PER_S + PATIENCE_NS, on_late, NULL);
}

int service_main(void)
{
    if (peer.port == 0) {
        console_line("watch: whom? watch.peer=A.B.C.D:PORT");
        return EXIT_FAILED;
    }
    if (net_start() != 0)
        return EXIT_FAILED;
    loop_once(&timer, 0, begin_watching, NULL);
    loop_run();
    return watch.failures != 0 ? EXIT_FAILED : 0;
}
